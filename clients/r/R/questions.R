# Counts, two-way tables, means, quantiles and regressions, with the names that seriatim.reading has for them.

#' Estimate how many people hold each value of a column, without counterfeits.
counts <- function(release, column = release$sensitive) {
  one <- release$releases[[length(release$releases)]]
  table <- table_with(one, column)
  weights <- if (identical(table, one$table)) real_share_of_rows(one) * one$weights else rep(1, nrow(table))
  coded <- codes_of(table[[column]])
  people <- as.vector(row_sums(weights, coded$codes, length(coded$texts)))
  held <- tabulate(coded$codes, length(coded$texts)) > 0
  stats::setNames(data.frame(coded$texts[held], people[held]), c(column, "people"))
}

#' Estimate the number of people in a part of the table, spread evenly over their boxes.
#'
#' `where` has a value, a label or the two ends of a range for columns that were made coarser; `having` a value for
#' columns published as they are: list(age = c(60, 99)), list(disease = "asthma").
count <- function(release, where = list(), having = list()) {
  one <- release$releases[[length(release$releases)]]
  table <- table_with(one, names(having))
  columns <- if (length(where)) names(where) else release$columns[1]
  axes <- lapply(stats::setNames(nm = columns), function(name) release$axes[[at_column(release, name)]])
  meant <- rep(TRUE, nrow(table))
  for (name in names(having)) meant <- meant & table[[name]] %in% as.character(having[[name]])
  if (GROUP %in% names(table)) {
    rows <- real_rows(one$table, one$counterfeits, columns)
    people <- rows$people * tapply(meant, one$table[[GROUP]], mean)[rows[[GROUP]]]
  } else {
    rows <- table[meant, , drop = FALSE]
    people <- if (identical(table, one$table)) one$weights[meant] else rep(1, nrow(rows))
  }
  for (name in names(where)) people <- people * inside_share(axes[[name]], name, rows[[name]], where[[name]])
  sum(people)
}

#' Estimate how many people have each value of a column and each sensitive value, with standard errors.
two_way <- function(release, column) {
  at <- at_column(release, column)
  told <- joined_sums(joined_for(release, release$values$held), block_of(release, at))
  names <- release$bands[[at]]$names
  values <- release$values$names
  made <- data.frame(rep(names, each = length(values)), rep(values, length(names)))
  population <- mean(release$releases[[length(release$releases)]]$weights)
  made$people <- population * pmax(as.vector(t(told$found)), 0)
  made$error <- population * as.vector(t(told$error))
  stats::setNames(made, c(column, release$sensitive, "people", "error"))
}

#' Estimate the mean of a sensitive number, or the share of those with one `value`, over a part of the people.
means <- function(release, where = list(), value = NULL) {
  outcome <- outcome_of(release, value)
  middle <- mean(outcome[newest_codes(release)])
  part <- part_of(release, as.matrix(outcome - middle), where)
  mean <- middle + part$found[1] / part$people
  off <- USUAL * part$error[1] / part$people
  c(value = mean, low = mean - off, high = mean + off)
}

#' Estimate the number that this share of the people of a part does not exceed.
quantiles <- function(release, share, where = list()) {
  numbers <- outcome_of(release)
  steps <- sort(unique(numbers))
  if (length(steps) > MOST_VALUES) {
    sorted <- sort(numbers[newest_codes(release)])
    steps <- unique(sorted[pmax(ceiling(seq_len(MOST_VALUES) / MOST_VALUES * length(sorted) - 1e-9), 1)])
  }
  part <- part_of(release, outer(numbers, steps, "<=") * 1, where)
  below <- cummax(part$found) / part$people
  error <- part$error / part$people
  below[length(below)] <- 1
  one <- function(share, side) {
    steps[min(sum(cummax(below + side * USUAL * error) < share - 1e-9) + 1, length(steps))]
  }
  c(value = one(share, 0), low = one(share, 1), high = one(share, -1))
}

#' Estimate the least-squares line of a sensitive number, or of the share with one `value`, on other columns.
#'
#' `numbers` makes a column of numbers out of another: list(education = c("HS-grad" = 12, ...)).
regression <- function(release, on, value = NULL, numbers = list()) {
  outcome <- outcome_of(release, value)
  regressors <- lapply(release$bands, function(bands) matrix(0, length(bands$names), 0))
  terms <- "(intercept)"
  rows <- matrix(colSums(block_of(release, 1)), 1)
  for (column in on) {
    at <- at_column(release, column)
    made <- terms_of(release, at, numbers[[column]])
    regressors[[at]] <- made$numbers
    terms <- c(terms, if (is.null(made$terms)) column else paste0(column, ": ", made$terms))
    rows <- rbind(rows, crossprod(made$numbers, block_of(release, at)))
  }
  middle <- mean(outcome[newest_codes(release)])
  read <- joined_for(release, as.matrix(outcome - middle), regressors)
  told <- joined_sums(read, inverse(rows %*% read$together %*% t(rows)) %*% rows)
  told$found[1] <- told$found[1] + middle
  data.frame(term = terms, estimate = told$found[, 1], error = told$error[, 1])
}

#' How well the release answers, as its codebook says: mean standard errors by column.
quality <- function(release) {
  told <- release$codebook$quality[[release$sensitive]]
  if (is.null(told)) return(NULL)
  data.frame(column = names(told$errors), of = told$of, error = unlist(told$errors, use.names = FALSE))
}

table_with <- function(one, names) {
  for (table in list(one$table, one$plain)) if (!is.null(table) && all(names %in% names(table))) return(table)
  stop("no table of the release has ", toString(names), call. = FALSE)
}

real_share_of_rows <- function(one) {
  group <- one$table[[GROUP]]
  if (is.null(group) || is.null(one$counterfeits)) return(rep(1, nrow(one$table)))
  names <- unique(group)
  at <- match(group, names)
  made_up <- row_sums(as.numeric(one$counterfeits$counterfeits), match(one$counterfeits[[GROUP]], names), length(names))
  (1 - as.vector(made_up) / tabulate(at, length(names)))[at]
}

# The share of each row's box that is inside what is asked for.
inside_share <- function(axis, name, labels, wanted) {
  ends <- axis_range(axis, name, wanted)
  coded <- codes_of(labels)
  spans <- lapply(coded$texts, axis_span, axis = axis)
  strange <- sum(vapply(spans, is.null, TRUE))
  if (strange) stop("column '", name, "': ", strange, " labels are not on the axis", call. = FALSE)
  share <- vapply(spans, function(one) max(min(one[2], ends[2]) - max(one[1], ends[1]) + 1, 0) / (one[2] - one[1] + 1), 1)
  share[coded$codes]
}

at_column <- function(release, column) {
  at <- match(column, release$columns)
  if (is.na(at)) stop("column '", column, "': not one of ", toString(release$columns), call. = FALSE)
  at
}

newest_codes <- function(release) release$values$codes[[length(release$values$codes)]]

# Each sensitive value as a number, or whether it is the value asked for.
outcome_of <- function(release, value = NULL) {
  texts <- release$values$texts
  if (!is.null(value)) {
    if (!(as.character(value) %in% texts)) stop("nobody has the value asked for", call. = FALSE)
    return(as.numeric(texts %in% as.character(value)))
  }
  numbers <- as_number(texts)
  held <- seq_along(texts) %in% unlist(release$values$codes)
  if (anyNA(numbers[held])) stop(sum(is.na(numbers[held])), " values are no numbers: ask for a value", call. = FALSE)
  ifelse(is.na(numbers), 0, numbers)
}

# A row of weights for each value of a column, over the values of all columns.
block_of <- function(release, at) {
  sizes <- vapply(release$bands, function(bands) length(bands$names), 1L)
  diag(sum(sizes))[sum(sizes[seq_len(at - 1)]) + seq_len(sizes[at]), , drop = FALSE]
}

terms_of <- function(release, at, given) {
  bands <- release$bands[[at]]
  numbers <- if (is.null(given)) bands$numbers else unname(given[bands$names])
  if (!is.null(numbers)) {
    if (anyNA(numbers)) stop("column '", release$columns[at], "': no number for some of its values", call. = FALSE)
    return(list(numbers = matrix(numbers)))
  }
  cells <- release$cells[[length(release$cells)]]
  chances <- cells$chances[[at]]
  people <- row_sums(cells$people, cells$labels[[at]][cells$box], nrow(chances))
  held <- as.vector(crossprod(chances, people))
  others <- setdiff(which(held > 0), which.max(held))
  list(terms = bands$names[others], numbers = diag(length(held))[, others, drop = FALSE])
}

# The inverse of sums of products of terms, whatever their units; a term that says nothing gets nothing.
inverse <- function(products) {
  size <- sqrt(pmax(diag(products), 1e-300))
  found <- eigen(products / outer(size, size), symmetric = TRUE)
  known <- abs(found$values) > ALIKE * max(abs(found$values))
  vectors <- found$vectors[, known, drop = FALSE]
  vectors %*% (t(vectors) / found$values[known]) / outer(size, size)
}

# Join the cells for outcomes of each value: a column for each.
joined_for <- function(release, outcomes, regressors = NULL, part = NULL) {
  told <- outcomes[newest_codes(release), , drop = FALSE]
  variances <- colMeans(sweep(told, 2, colMeans(told))^2)
  series <- Map(function(cells, codes) {
    cells$outcomes <- row_sums(outcomes[codes, , drop = FALSE] * cells$weights, cells$cell_of_rows, length(cells$slots))
    cells$variances <- variances
    if (is.null(part)) cells else cells_with_part(cells, part)
  }, release$cells, release$values$codes)
  joined(series, regressors)
}

# The people in a part of the table, and the sums of their outcomes with standard errors.
part_of <- function(release, outcomes, where) {
  chosen <- vector("list", length(release$columns))
  for (column in names(where)) {
    at <- at_column(release, column)
    bands <- release$bands[[at]]
    ends <- axis_range(release$axes[[at]], column, where[[column]])
    n <- length(bands$names)
    chosen[[at]] <- tabulate(bands$of_position[ends[1]:ends[2]], n) / tabulate(bands$of_position, n)
  }
  read <- joined_for(release, outcomes, part = chosen)
  last <- nrow(read$together) - 1
  people <- read$together[last, last]
  if (people < 0.5) stop("nobody is in this part of the table", call. = FALSE)
  told <- joined_sums(read, diag(nrow(read$together))[last, , drop = FALSE])
  list(people = people, found = told$found[1, ], error = told$error[1, ])
}
