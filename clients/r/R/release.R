# Opens the public folder of a release, and answers questions about it.

GROUP <- "group"
OTHERS <- "(others)"
USUAL <- 1.959964

#' Open a release: the folder as delivered, with its codebook and CSV files.
#'
#' `sensitive` names the column that is asked about; it may be left out where there is one. `earlier` are folders of
#' earlier releases of the series, from old to new: their cells count as well.
open_release <- function(folder, sensitive = NULL, earlier = character()) {
  newest <- read_folder(folder, sensitive)
  if (is.null(sensitive)) {
    known <- role_names(newest$codebook, "sensitive")
    known <- intersect(known, names(newest$table))
    if (length(known) != 1) stop("several sensitive columns: name one of ", toString(known), call. = FALSE)
    sensitive <- known
  }
  releases <- c(lapply(earlier, read_folder, sensitive = sensitive), list(newest))
  columns <- intersect(role_names(newest$codebook, "quasi"), names(newest$table))
  axes <- lapply(stats::setNames(nm = columns), axis_told, releases = releases)
  release <- list(
    releases = releases, sensitive = sensitive, columns = columns, axes = axes, codebook = newest$codebook,
    bands = lapply(axes, bands_of)
  )
  release$values <- values_read(release)
  release$cells <- lapply(releases, cells_of_release, release = release)
  structure(release, class = "seriatim_release")
}

print.seriatim_release <- function(x, ...) {
  told <- x$codebook
  cat("release ", told$release, " of ", told$series, ": ", told$people, " people, ", toString(x$columns), " by ",
      x$sensitive, "\n", sep = "")
  invisible(x)
}

role_names <- function(codebook, role) {
  fits <- vapply(codebook$columns, function(one) one$role == role, TRUE)
  vapply(codebook$columns[fits], function(one) one$name, "")
}

read_folder <- function(folder, sensitive = NULL) {
  if (dir.exists(file.path(folder, "public"))) folder <- file.path(folder, "public")
  path <- file.path(folder, "codebook.json")
  if (!file.exists(path)) stop("no codebook.json: name the folder of a release", call. = FALSE)
  codebook <- jsonlite::fromJSON(path, simplifyVector = FALSE)
  own <- codebook$tables
  if (length(own)) {
    names <- vapply(own, function(one) one$sensitive, "")
    at <- match(if (is.null(sensitive)) NA else sensitive, names)
    if (is.na(at)) stop("each sensitive column has a table of its own: name one of ", toString(names), call. = FALSE)
    folder <- file.path(folder, own[[at]]$folder)
  }
  if (file.exists(file.path(folder, "table.parquet"))) {
    stop("the tables are Parquet files: ask the publisher for CSV", call. = FALSE)
  }
  columns <- vapply(codebook$columns, function(one) one$name, "")
  table <- read_table(folder, "table", columns)
  if (is.null(table)) stop("no table.csv: name the folder of a release", call. = FALSE)
  values <- read_table(folder, "values", columns)
  if (!is.null(values)) { # buckets: which value of a group is whose is secret, so any of them will do
    table <- table[order(as.numeric(table[[GROUP]])), , drop = FALSE]
    values <- values[order(as.numeric(values[[GROUP]])), , drop = FALSE]
    table <- cbind(table, values[setdiff(names(values), GROUP)])
  }
  counterfeits <- read_table(folder, "counterfeits", columns)
  # where values are shuffled in groups, no row's weight belongs to its value
  weight <- if (GROUP %in% names(table)) character() else intersect(role_names(codebook, "weight"), names(table))
  weights <- if (length(weight)) as.numeric(table[[weight]]) else rep(1, nrow(table))
  list(
    table = table, counterfeits = counterfeits, plain = read_table(folder, "plain", columns), codebook = codebook,
    weights = weights
  )
}

# A CSV file as text, so that postcodes keep leading zeros; the separator is the one that finds the known columns.
read_table <- function(folder, stem, columns) {
  path <- file.path(folder, paste0(stem, ".csv"))
  if (!file.exists(path)) return(NULL)
  heads <- lapply(c(",", ";", "\t", "|"), function(mark) {
    names(utils::read.csv(path, sep = mark, nrows = 0, check.names = FALSE, encoding = "UTF-8"))
  })
  mark <- c(",", ";", "\t", "|")[which.max(vapply(heads, function(one) sum(one %in% columns), 1L))]
  utils::read.csv(path, sep = mark, colClasses = "character", na.strings = character(), check.names = FALSE, encoding = "UTF-8")
}

# The axis that the labels of all releases span, in the order that the newest one's codebook declares.
axis_told <- function(name, releases) {
  told <- lapply(releases, function(one) Filter(function(column) column$name == name, one$codebook$columns)[[1]])
  labels <- unlist(lapply(releases, function(one) unique(one$table[[name]])))
  nodes <- list()
  for (one in told) {
    for (label in names(one$labels)) nodes[[label]] <- union(nodes[[label]], unlist(one$labels[[label]]))
  }
  axis_of_labels(labels, as.character(unlist(told[[length(told)]]$order)), lapply(nodes, sort, method = "radix"))
}

# The sensitive values of all releases, the number of each row's value, the commonest values and who holds which.
values_read <- function(release) {
  told <- lapply(release$releases, function(one) one$table[[release$sensitive]])
  texts <- unique(unlist(told))
  texts <- c(texts[!is.na(texts)], NA)
  codes <- lapply(told, match, table = texts)
  counts <- tabulate(codes[[length(codes)]], length(texts))
  order <- order(-counts)[seq_len(sum(counts > 0))]
  last <- min(length(order), MOST_VALUES)
  held <- matrix(0, length(texts), last)
  held[cbind(order, pmin(seq_along(order), last))] <- 1
  names <- texts[order[seq_len(last)]]
  if (length(order) > MOST_VALUES) names[last] <- OTHERS
  list(texts = texts, codes = codes, names = names, held = held)
}

codes_of <- function(texts) {
  known <- unique(texts[!is.na(texts)])
  found <- match(texts, known)
  list(codes = ifelse(is.na(found), length(known) + 1L, found), texts = c(known, NA))
}

number_rows <- function(columns) {
  keys <- do.call(paste, c(unname(lapply(columns, function(one) codes_of(one)$codes)), sep = " "))
  match(keys, unique(keys))
}

with_groups <- function(table, columns) {
  if (!(GROUP %in% names(table))) table[[GROUP]] <- as.character(number_rows(table[columns]))
  table
}

# The real people in each group with the same labels; `people` says how many each row stands for.
real_rows <- function(table, counterfeits, columns, people = rep(1, nrow(table))) {
  keys <- c(GROUP, columns)
  both <- table[keys]
  if (!is.null(counterfeits) && nrow(counterfeits)) {
    both <- rbind(both, counterfeits[keys])
    people <- c(people, -as.numeric(counterfeits$counterfeits))
  }
  at <- number_rows(both)
  rows <- both[!duplicated(at), , drop = FALSE]
  rows$people <- as.vector(rowsum(people, at))
  if (any(rows$people < 0)) stop("counterfeits: more than rows in a box: not of the same release", call. = FALSE)
  rows
}

# The people of a release by cell and labels, before any outcome is asked for.
cells_of_release <- function(one, release) {
  columns <- release$columns
  table <- with_groups(one$table, columns)
  groups <- unique(table[[GROUP]])
  weights <- one$weights / max(mean(one$weights), 1e-300)
  rows <- real_rows(table, one$counterfeits, columns, weights)
  box <- number_rows(rows[columns])
  boxes <- rows$people / pmax(as.vector(rowsum(rows$people, box)), 1e-12)[box]
  first <- which(!duplicated(box))
  read <- lapply(columns, labels_read, rows = rows, boxes = boxes, release = release)
  cell <- match(table[[GROUP]], groups)
  list(
    cell = match(rows[[GROUP]], groups), box = box, people = rows$people, cell_of_rows = cell,
    labels = lapply(read, function(one) one$codes[first]), chances = lapply(read, function(one) one$chances),
    ranked = vapply(release$axes, function(axis) axis$ranked || length(axis$values) > MOST_VALUES, TRUE),
    slots = as.vector(row_sums(weights, cell, length(groups))), weights = weights
  )
}

# The number of each row's label, and the chance of every value under each label.
labels_read <- function(name, rows, boxes, release) {
  axis <- release$axes[[name]]
  bands <- release$bands[[name]]
  coded <- codes_of(rows[[name]])
  n <- length(coded$texts)
  covered <- lapply(coded$texts, axis_covered, axis = axis)
  strange <- sum(lengths(covered) == 0)
  if (strange) stop("column '", name, "': ", strange, " labels are not on the axis", call. = FALSE)
  shown <- Map(function(label, all) {
    mark <- if (is.na(label)) "" else substring(label, 1, 1)
    if (mark == "{") all else if (mark == "[") all[c(1, length(all))] else integer()
  }, coded$texts, covered)
  least <- pmin(by_band(bands, shown), 1) * as.vector(row_sums(boxes, coded$codes, n))
  held <- as.vector(row_sums(rows$people, coded$codes, n))
  rounds <- if (is.null(axis$numbers)) 20 else 2
  list(codes = coded$codes, chances = spread_labels(by_band(bands, covered), least, held, rounds))
}

by_band <- function(bands, positions) {
  n <- length(bands$names)
  t(matrix(vapply(positions, function(one) as.numeric(tabulate(bands$of_position[one], n)), numeric(n)), nrow = n))
}

# The chance of every value under each label, where people of wide labels are as those of narrow ones.
spread_labels <- function(sizes, least, people, rounds) {
  least <- least * pmin(1, people / pmax(rowSums(least), 1e-9))
  rest <- pmax(people - rowSums(least), 0)
  spread <- sizes / rowSums(sizes)
  for (round in seq_len(rounds)) {
    dense <- colSums(least + rest * spread) / pmax(apply(sizes, 2, max), 1)
    told <- sweep(sizes, 2, dense, "*")
    spread[people > 0, ] <- told[people > 0, ]
    spread <- spread / pmax(rowSums(spread), 1e-300)
  }
  held <- least + (rest + (people == 0)) * spread
  held / rowSums(held)
}
