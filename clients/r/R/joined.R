# Joins all cells of a series: how values follow the other columns, read from what each cell holds.
# The same estimator as seriatim/reading/joined.py, which says why each step is as it is.

RIDGES <- 10^seq(0, 6, by = 0.25)
LIKELY <- 1.92
FEW <- 5
FEWEST <- 8
FREE <- 1e3
ALIKE <- 1e-9
MOST_CELLS <- 20000
MOST_BOXES <- 50000

row_sums <- function(values, by, n) {
  values <- as.matrix(values)
  found <- matrix(0, n, ncol(values))
  told <- rowsum(values, by)
  found[as.integer(rownames(told)), ] <- told
  found
}

even_sample <- function(n, most) if (n <= most) seq_len(n) else floor((seq_len(most) - 1) * ((n - 1) / (most - 1))) + 1

cells_means <- function(cells) cells$outcomes / cells$slots
cells_sizes <- function(cells) as.vector(row_sums(cells$people, cells$cell, length(cells$slots)))

# For each cell the shares of its people with each value, column by column.
cells_shares <- function(cells) {
  n <- length(cells$slots)
  one <- function(label, chances) {
    of_row <- label[cells$box]
    if (n * nrow(chances) > 4 * length(of_row) + 1e6) {
      return(row_sums(chances[of_row, , drop = FALSE] * cells$people, cells$cell, n))
    }
    pairs <- cells$cell + (of_row - 1) * n
    matrix(row_sums(cells$people, pairs, n * nrow(chances)), n) %*% chances
  }
  do.call(cbind, Map(one, cells$labels, cells$chances)) / pmax(cells_sizes(cells), 1e-12)
}

# The cells with one more column: whether people are in a part of the table.
cells_with_part <- function(cells, chosen) {
  inside <- rep(1, length(cells$labels[[1]]))
  for (at in seq_along(chosen)) {
    if (!is.null(chosen[[at]])) inside <- inside * as.vector(cells$chances[[at]] %*% chosen[[at]])[cells$labels[[at]]]
  }
  cells$labels <- c(cells$labels, list(seq_along(inside)))
  cells$chances <- c(cells$chances, list(cbind(inside, 1 - inside, deparse.level = 0)))
  cells$ranked <- c(cells$ranked, FALSE)
  cells
}

cells_chosen <- function(cells, chosen) {
  place <- match(seq_along(cells$slots), chosen)
  rows <- which(!is.na(place[cells$cell]))
  cells$cell <- place[cells$cell[rows]]
  cells$box <- cells$box[rows]
  cells$people <- cells$people[rows]
  cells$outcomes <- cells$outcomes[chosen, , drop = FALSE]
  cells$slots <- cells$slots[chosen]
  cells
}

cells_sampled <- function(cells) {
  n <- length(cells$slots)
  if (n <= MOST_CELLS) cells else cells_chosen(cells, even_sample(n, MOST_CELLS))
}

# The sum of each outcome over the people with each value, where cells say nothing of who is who.
cells_counts <- function(cells) {
  n <- length(cells$slots)
  if (n <= MOST_CELLS) return(crossprod(cells_shares(cells), cells_means(cells) * cells_sizes(cells)))
  told <- cells$people * cells_means(cells)[cells$cell, , drop = FALSE]
  one <- function(label, chances) crossprod(chances, row_sums(told, label[cells$box], nrow(chances)))
  do.call(rbind, Map(one, cells$labels, cells$chances))
}

# The cells of each release that no earlier release has with the same values.
distinct_cells <- function(series) {
  seen <- integer()
  lapply(series, function(cells) {
    keys <- do.call(paste, as.data.frame(cbind(cells$slots, round(cells$outcomes, 6))))
    here <- stats::ave(seq_along(keys), keys, FUN = seq_along)
    before <- ifelse(is.na(seen[keys]), 0L, seen[keys])
    most <- tapply(here, keys, max)
    known <- seen[names(most)]
    seen[names(most)] <<- pmax(ifelse(is.na(known), 0L, known), most)
    cells_chosen(cells, which(here > before))
  })
}

value_features <- function(cells, regressors = NULL) {
  blocks <- lapply(seq_along(cells$chances), function(at) {
    n <- ncol(cells$chances[[at]])
    own <- diag(1, n)
    if (cells$ranked[at]) {
      own <- lower.tri(diag(n))[, seq_len(n - 1), drop = FALSE] * (2 / sqrt(max(n - 1, 1)))
    }
    if (!is.null(regressors)) own <- cbind(own, FREE * regressors[[at]])
    own
  })
  found <- matrix(0, sum(vapply(blocks, nrow, 1L)), sum(vapply(blocks, ncol, 1L)))
  row <- column <- 0
  for (one in blocks) {
    found[row + seq_len(nrow(one)), column + seq_len(ncol(one))] <- one
    row <- row + nrow(one)
    column <- column + ncol(one)
  }
  found
}

# The additive ridge of cell means, each cell weighing as its people, that predicts cells left out best.
ridge_of <- function(features, fitted) {
  shares <- do.call(rbind, lapply(fitted, cells_shares))
  means <- do.call(rbind, lapply(fitted, cells_means))
  sizes <- unlist(lapply(fitted, cells_sizes))
  weight <- sizes / max(sum(sizes), 1e-12)
  x <- sweep(shares, 2, weight %*% shares) %*% features * sqrt(sizes)
  y <- sweep(means, 2, weight %*% means) * sqrt(sizes)
  turning <- eigen(crossprod(x), symmetric = TRUE)
  known <- pmax(turning$values, 0)
  newest <- fitted[[length(fitted)]]
  ridges <- RIDGES * length(newest$labels)
  seen <- x %*% turning$vectors
  met <- crossprod(seen, y)
  wrong <- lapply(ridges, function(penalty) y - seen %*% (met / (known + penalty)))
  lost <- vapply(seq_along(ridges), function(at) {
    own <- as.vector(seen^2 %*% (1 / (known + ridges[at]))) + weight
    sum((wrong[[at]] / (1 - pmin(own, 0.999)))^2)
  }, 1)
  best <- if (length(sizes) >= FEWEST) which.min(lost) else length(ridges)
  penalty <- ridges[best]
  free <- max(length(sizes) - 1 - sum(known / (known + penalty)), 0)
  likelihoods <- log_likelihoods(ridges, known, met, y)
  list(
    features = features, turned = turning$vectors, known = known, penalty = penalty,
    effects = turning$vectors %*% (met / (known + penalty)),
    likely = min(ridges[likelihoods >= max(likelihoods) - LIKELY], penalty),
    spread = (colSums(wrong[[best]]^2) + FEW * newest$variances) / (free + FEW)
  )
}

log_likelihoods <- function(ridges, known, met, y) {
  n <- nrow(y)
  m <- ncol(y)
  total <- pmax(colSums(y^2), 1e-12)
  vapply(ridges, function(penalty) {
    left <- pmax(total - colSums(met^2 / (known + penalty)), 1e-12 * total)
    -0.5 * ((n - 1) * sum(log(left)) + m * sum(log1p(known / penalty)))
  }, 1) * (max(m - 1, 1) / m)
}

# How many people have each two values, and how much of that boxes leave open.
together_of <- function(cells) {
  people <- as.vector(row_sums(cells$people, cells$box, length(cells$labels[[1]])))
  boxes <- which(people != 0)
  scale <- 1
  if (length(boxes) > MOST_BOXES) {
    boxes <- boxes[even_sample(length(boxes), MOST_BOXES)]
    scale <- sum(people) / sum(people[boxes])
  }
  people <- people[boxes]
  own <- Map(function(label, chances) chances[label[boxes], , drop = FALSE], cells$labels, cells$chances)
  each <- do.call(cbind, own)
  together <- crossprod(each * people, each)
  unsure <- matrix(0, ncol(each), ncol(each))
  at <- 0
  for (one in own) {
    block <- at + seq_len(ncol(one))
    together[block, block] <- diag(as.vector(people %*% one), ncol(one))
    unsure[block, block] <- diag(as.vector(people^2 %*% one), ncol(one)) - crossprod(one * people^2, one)
    at <- at + ncol(one)
  }
  list(together = together * scale, unsure = unsure * scale)
}

joined <- function(series, regressors = NULL) {
  newest <- series[[length(series)]]
  sample <- cells_sampled(newest)
  ridge <- ridge_of(value_features(newest, regressors), lapply(distinct_cells(series), cells_sampled))
  found <- together_of(sample)
  shares <- cells_shares(sample)
  apart <- found$together - crossprod(shares * cells_sizes(sample), shares)
  scale <- sum(newest$people) / max(sum(sample$people), 1e-12)
  share <- cells_sizes(newest) / max(sum(cells_sizes(newest)), 1e-12)
  list(
    together = found$together * scale, apart = apart * scale, unsure = found$unsure * scale, ridge = ridge,
    counts = cells_counts(newest), size = as.vector(share %*% cells_means(newest)^2) + ridge$spread
  )
}

# The sum of each outcome over people, for each row of weights by value, and its standard error.
joined_sums <- function(read, weights) {
  ridge <- read$ridge
  inside <- weights %*% read$apart
  moved <- inside %*% ridge$features
  chance <- (ridge$known + ridge$penalty^2 / ridge$likely) / (ridge$known + ridge$penalty)^2
  unsure <- as.vector((moved %*% ridge$turned)^2 %*% chance) + pmax(rowSums(inside * weights), 0)
  variance <- outer(unsure, ridge$spread) + outer(rowSums((weights %*% read$unsure) * weights), read$size)
  list(found = weights %*% read$counts + moved %*% ridge$effects, error = sqrt(pmax(variance, 0)))
}
