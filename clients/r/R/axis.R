# The values of a column in order, and the labels that cover several of them.

TOP <- "*"
MOST_NUMBERS <- 20000 # whole numbers over a wider range are read at the ends of the boxes alone
MOST_VALUES <- 100 # a column with more values is read in so many bands

as_number <- function(text) {
  plain <- grepl("^\\s*[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?\\s*$", text)
  ifelse(!is.na(text) & plain, suppressWarnings(as.numeric(text)), NA_real_)
}

# The range that a label is, as Seriatim writes ranges; NULL if it is none.
span_of <- function(label) {
  value <- as_number(label)
  if (!is.na(value)) return(list(low = value, high = value, open = FALSE))
  parts <- regmatches(label, regexec("^\\[\\s*([^,]+?)\\s*,\\s*([^,]+?)\\s*([])])$", label, perl = TRUE))[[1]]
  ends <- as_number(parts[2:3])
  if (length(parts) == 0 || anyNA(ends)) return(NULL)
  list(low = ends[1], high = ends[2], open = parts[4] == ")")
}

# The ends of [a,b] or the members of {x,y}; a quoted member keeps its commas.
box_members <- function(label) {
  last <- substring(label, nchar(label))
  inner <- substring(label, 2, nchar(label) - 1)
  if (startsWith(label, "[") && last == "]") return(strsplit(inner, ",", fixed = TRUE)[[1]])
  if (!startsWith(label, "{") || last != "}") return(character())
  scan(text = inner, what = "", sep = ",", quote = "\"", quiet = TRUE, na.strings = character(), encoding = "UTF-8")
}

new_axis <- function(values, nodes = list(), ranked = FALSE) {
  numbers <- as_number(values)
  list(
    values = values, nodes = nodes, ranked = ranked,
    numbers = if (!anyNA(numbers) && all(diff(numbers) > 0)) numbers,
    sorted = !is.unsorted(match(values, sort(values, method = "radix")))
  )
}

# The axis that published labels span; `order` is that of the policy, `nodes` has the values under labels.
axis_of_labels <- function(labels, order = character(), nodes = list()) {
  shown <- setdiff(unique(labels[!is.na(labels)]), TOP)
  if (length(nodes)) return(axis_of_nodes(shown, nodes))
  if (length(order) == 0 && !is.null(numbers <- axis_of_numbers(shown))) return(numbers)
  members <- unique(unlist(lapply(shown, function(label) if (length(all <- box_members(label))) all else label)))
  days <- if (all(grepl("^[0-9]{4}-[0-9]{2}-[0-9]{2}$", members))) as.Date(members, optional = TRUE) else NA
  if (length(members) && !anyNA(days)) {
    return(new_axis(format(seq(min(days), max(days), by = "day")), ranked = TRUE))
  }
  known <- c(order, sort(setdiff(members, order), method = "radix"))
  masks <- vapply(known, is_mask, TRUE, known = known, USE.NAMES = FALSE)
  new_axis(known[!masks], ranked = length(order) > 0)
}

axis_of_numbers <- function(shown) {
  spans <- lapply(shown, span_of)
  if (length(spans) == 0 || any(vapply(spans, is.null, TRUE))) return(NULL)
  ends <- sort(unique(unlist(lapply(spans, function(one) c(one$low, one$high)))))
  low <- ends[1]
  high <- ends[length(ends)]
  if (all(ends == floor(ends)) && high - low <= MOST_NUMBERS) {
    return(new_axis(sprintf("%.0f", seq(low, high)), ranked = TRUE))
  }
  new_axis(sprintf("%.12g", ends), ranked = TRUE)
}

# An axis on which the values under each label stand together.
axis_of_nodes <- function(shown, nodes) {
  used <- lapply(nodes[names(nodes) %in% c(shown, TOP)], unlist)
  leaves <- unique(c(unlist(used, use.names = FALSE), setdiff(shown, names(used))))
  wide <- used[order(-lengths(used))]
  numbers <- as_number(leaves)
  values <- if (!anyNA(numbers)) {
    leaves[order(numbers)]
  } else {
    keys <- c(lapply(unname(wide), function(one) !(leaves %in% one)), list(leaves))
    leaves[do.call(order, c(keys, method = "radix"))]
  }
  ends <- lapply(used, function(members) values[range(match(members, values))])
  new_axis(values, ends, ranked = !anyNA(numbers))
}

# Whether a label such as 107* stands for others that are known.
is_mask <- function(label, known) {
  endsWith(label, TOP) && any(startsWith(setdiff(known, label), sub("\\*+$", "", label)))
}

# The first and last position that a label covers; NULL for a label that this axis does not have.
axis_span <- function(axis, label) {
  if (is.na(label) || label == TOP) return(c(1L, length(axis$values)))
  if (!is.na(place <- match(label, axis$values))) return(c(place, place))
  ends <- axis$nodes[[label]]
  if (is.null(ends)) ends <- box_members(label)
  found <- match(ends, axis$values)
  if (length(found) && !anyNA(found)) return(range(found))
  inside <- axis_between(axis, label)
  if (length(inside)) range(inside)
}

# The positions within a range or with a prefix.
axis_between <- function(axis, label) {
  span <- span_of(label)
  if (!is.null(axis$numbers) && !is.null(span)) {
    below <- if (span$open) axis$numbers < span$high else axis$numbers <= span$high
    return(which(axis$numbers >= span$low & below))
  }
  if (!axis$sorted) return(integer())
  ends <- if (startsWith(label, "[")) box_members(label)
  ends <- trimws(if (length(ends) == 2) ends else rep(sub("\\*+$", "", label), 2))
  order <- rank_text(c(axis$values, ends[1], paste0(ends[2], "\U10FFFF")))
  n <- length(axis$values)
  which(order[seq_len(n)] >= order[n + 1] & order[seq_len(n)] <= order[n + 2])
}

rank_text <- function(texts) match(texts, sort(unique(texts), method = "radix"))

# The positions that a label covers.
axis_covered <- function(axis, label) {
  if (!is.na(label) && startsWith(label, "{") && length(members <- box_members(label))) {
    found <- match(members, axis$values)
    return(found[!is.na(found)])
  }
  span <- axis_span(axis, label)
  if (is.null(span)) integer() else seq(span[1], span[2])
}

# The first and last position of what is asked for: a value, a label, or the two ends of a range.
axis_range <- function(axis, name, wanted) {
  first <- axis_span(axis, as.character(wanted[[1]]))
  last <- axis_span(axis, as.character(wanted[[length(wanted)]]))
  if (is.null(first) || is.null(last)) {
    stop("column '", name, "': a range that is not on its axis", call. = FALSE)
  }
  c(first[1], last[2])
}

# The values of a column, or bands of them where there are many: names, band of each position, middle of each band.
bands_of <- function(axis) {
  n <- length(axis$values)
  k <- min(n, MOST_VALUES)
  edges <- unique(c(trunc(seq_len(k) - 1) * (n / k), n) %/% 1)
  sizes <- diff(edges)
  band <- rep(seq_along(sizes), sizes)
  first <- axis$values[edges[-length(edges)] + 1]
  last <- axis$values[edges[-1]]
  list(
    names = ifelse(first == last, first, paste0("[", first, ",", last, "]")), of_position = band,
    numbers = if (!is.null(axis$numbers)) as.vector(rowsum(axis$numbers, band)) / sizes
  )
}
