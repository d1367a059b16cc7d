"""Joins all cells of a series: how values follow the other columns, read from what each cell holds.

Inside a cell (a group, or a class where a table has no groups) nobody knows whose value is whose. But cells differ:
where more men are, more of the well paid are. So each cell is one data point: the shares of its values, by the shares
of its people in the other columns. One additive ridge over all cells, chosen by leaving one cell out, reads the
relation; what it says of a cell is then moved to the cell's exact counts. Every estimate is a weighted sum over people,
so it needs counts alone, and its standard error has a closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from seriatim.model.scale import FloatArray, IntArray

RIDGES = 10.0 ** np.arange(0.0, 6.25, 0.25)
"""Ridges to choose from, times the number of columns: a column cannot explain more than its part of the variance."""
LIKELY = 1.92
"""Ridges whose log-likelihood is at most so far below the best: 95 of 100 true ones."""
FEW = 5.0
"""So many cells' worth of trust in the spread of single values, beside the spread between cells."""
FEWEST = 8
"""Fewer cells cannot say which ridge predicts best: by chance it is often one that finds relations where none are."""
FREE = 1e3
"""How many times as far as a value a regressor may move the outcome, so that nothing draws it to 0."""
COMMON, RARE = 0.05, 0.01
"""A common value is held by so many; the fit believes nobody to have a value less than so much of its share."""
RAKES = 30
"""Rounds in which what is believed of a cell's people is moved to the cell's counts."""
ALIKE = 1e-9
"""Terms of a regression that differ by less are one: their difference is rounding."""
MOST_OWN, MOST_PEOPLE = 500, 20_000
"""Of more cells or people an even sample says how much a cell adds."""
MOST_CELLS, MOST_BOXES = 20_000, 50_000
"""Of more cells or boxes an even sample reads the relation; counts are always those of all."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Cells:
    """The people of a table by cell and box, and the outcomes of each cell: counts of values, or sums of a number."""

    cell: IntArray
    """The cell of each row."""
    box: IntArray
    """The box of each row."""
    people: FloatArray
    """How many real people are in each row."""
    labels: tuple[IntArray, ...]
    """For each column the number of each box's label."""
    chances: tuple[FloatArray, ...]
    """For each column the chance of every value under each label."""
    ranked: tuple[bool, ...]
    """For each column whether neighbours in the order of its values are alike."""
    outcomes: FloatArray
    """The sum of each outcome in each cell, counterfeits included; for a value, how many hold it."""
    slots: FloatArray
    """The number of values in each cell, counterfeits included."""
    variances: FloatArray
    """The variance of each outcome over all values."""

    @cached_property
    def means(self) -> FloatArray:
        return np.asarray(self.outcomes / self.slots[:, None])

    @cached_property
    def sizes(self) -> FloatArray:
        """Return the real people of each cell."""
        return np.bincount(self.cell, self.people, len(self.slots)).astype(np.float64)

    @cached_property
    def of_boxes(self) -> FloatArray:
        """Return the real people of each box."""
        return np.bincount(self.box, self.people, len(self.labels[0])).astype(np.float64)

    @cached_property
    def shares(self) -> FloatArray:
        """Return for each cell the shares of its people with each value, column by column."""
        n_cells = len(self.slots)
        found: list[FloatArray] = []
        for label, chances in zip(self.labels, self.chances, strict=True):
            if n_cells * len(chances) > 4 * len(self.cell) + 1_000_000:  # small cells hold few of the labels
                own = chances.T[:, label[self.box]] * self.people
                found.append(np.stack([np.bincount(self.cell, one, n_cells) for one in own], axis=1))
            else:
                pairs = self.cell.astype(np.int64) * len(chances) + label[self.box]
                counts = np.bincount(pairs, self.people, n_cells * len(chances))
                found.append(counts.reshape(n_cells, len(chances)) @ chances)
        return np.asarray(np.hstack(found) / np.maximum(self.sizes, 1e-12)[:, None])

    def with_part(self, chosen: Sequence[FloatArray | None]) -> Cells:
        """Return the cells with one more column: whether people are in a part of the table.

        ``chosen`` says for each column which share of each value is in the part; None is all.
        """
        inside = np.ones(len(self.labels[0]))
        for label, chances, wanted in zip(self.labels, self.chances, chosen, strict=True):
            inside *= 1.0 if wanted is None else (chances @ wanted)[label]
        return replace(
            self,
            labels=(*self.labels, np.arange(len(inside), dtype=np.int32)),
            chances=(*self.chances, np.column_stack((inside, 1 - inside))),
            ranked=(*self.ranked, False),
        )

    def of_cells(self, chosen: npt.NDArray[np.int64]) -> Cells:
        """Return these cells alone, in this order."""
        place = np.full(len(self.slots), -1, dtype=np.int32)
        place[chosen] = np.arange(len(chosen), dtype=np.int32)
        rows = np.flatnonzero(place[self.cell] >= 0)
        return replace(
            self,
            cell=place[self.cell[rows]],
            box=self.box[rows],
            people=self.people[rows],
            outcomes=self.outcomes[chosen],
            slots=self.slots[chosen],
        )

    def counts(self) -> FloatArray:
        """Return the sum of each outcome over the people with each value, where cells say nothing of who is who."""
        if len(self.slots) <= MOST_CELLS:
            return np.asarray(self.shares.T @ (self.means * self.sizes[:, None]))
        told = [
            [np.bincount(label[self.box], self.people * mean[self.cell], len(chances)) for mean in self.means.T]
            for label, chances in zip(self.labels, self.chances, strict=True)
        ]
        return np.vstack(
            [chances.T @ np.array(of_label).T for chances, of_label in zip(self.chances, told, strict=True)]
        )


def cells_of_codes(columns: Sequence[IntArray], ranked: Sequence[bool], cell: IntArray, value: IntArray) -> Cells:
    """Return the cells of people whose columns are known exactly, a row for each; the outcomes are all values."""
    n, n_values, n_cells = len(cell), int(value.max(initial=0)) + 1, int(cell.max(initial=-1)) + 1
    held = np.bincount(cell.astype(np.int64) * n_values + value, minlength=n_cells * n_values)
    shares = np.bincount(value, minlength=n_values) / max(n, 1)
    return Cells(
        cell=cell,
        box=np.arange(n, dtype=np.int32),
        people=np.ones(n),
        labels=tuple(columns),
        chances=tuple(np.eye(int(codes.max(initial=0)) + 1) for codes in columns),
        ranked=tuple(ranked),
        outcomes=held.reshape(n_cells, n_values).astype(np.float64),
        slots=np.bincount(cell, minlength=n_cells).astype(np.float64),
        variances=shares * (1 - shares),
    )


def sampled_cells(cells: Cells) -> Cells:
    """Return every so many cells, with all their people, if there are more than the fit needs."""
    n = len(cells.slots)
    return cells if n <= MOST_CELLS else cells.of_cells(np.linspace(0, n - 1, MOST_CELLS).astype(np.int64))


def distinct_cells(series: Sequence[Cells]) -> list[Cells]:
    """Return the cells of each release that no earlier release has with the same values.

    A cohort stays as it is over many releases and must count once. Two cells of one release may well have the same
    values, so as many of a kind are kept as the release with most of them has.
    """
    seen: dict[bytes, int] = {}
    found = []
    for cells in series:
        here: dict[bytes, int] = {}
        chosen = []
        for at, content in enumerate(np.column_stack((cells.slots, cells.outcomes.round(6)))):
            # by content: cells have no name that lasts from release to release
            key = content.tobytes()
            here[key] = here.get(key, 0) + 1
            if here[key] > seen.get(key, 0):
                seen[key] = here[key]
                chosen.append(at)
        found.append(cells.of_cells(np.array(chosen, dtype=np.int64)))
    return found


@dataclass(frozen=True, eq=False, repr=False)
class Joined:
    """What a table says once all cells are joined: sums of outcomes over any weights of its people."""

    cells: Cells
    together: FloatArray
    """How many people have each two values."""
    apart: FloatArray
    """How far two values go together inside cells: where they do not, a cell's counts already say all."""
    unsure: FloatArray
    """The variance of how many people have each two values, where boxes leave that open."""
    ridge: Ridge

    @cached_property
    def counts(self) -> FloatArray:
        return self.cells.counts()

    @cached_property
    def _size(self) -> FloatArray:
        """Return the mean square of each outcome, as far as it matters who is where."""
        people = self.cells.sizes / max(self.cells.sizes.sum(), 1e-12)
        return np.asarray(people @ self.cells.means**2 + self.ridge.spread)

    def sums(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the sum of each outcome over people, for each row of weights by value, and its standard error."""
        inside = weights @ self.apart
        found, variance = self.ridge.of(inside, (inside * weights).sum(axis=1))
        variance += ((weights @ self.unsure) * weights).sum(axis=1)[:, None] * self._size
        return weights @ self.counts + found, np.sqrt(np.maximum(variance, 0.0))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Ridge:
    """The additive fit: what each value adds to each outcome, and how sure that is."""

    features: FloatArray
    middle: tuple[FloatArray, FloatArray]
    """The mean share of each value and the mean of each outcome, where the fit is exact."""
    effects: FloatArray
    turned: FloatArray
    """The directions in which cells differ."""
    known: FloatArray
    """How much is known about each: the cells' people times the square of how far they differ."""
    penalty: float
    likely: float
    """The least penalty that is likely too: relations may be so strong."""
    spread: FloatArray
    """The variance of each outcome that no value explains."""

    def of(self, weights: FloatArray, own: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what the fit says of each row of weights by value, and its variance; ``own`` is that of the people."""
        moved = weights @ self.features
        chance = (self.known + self.penalty**2 / self.likely) / (self.known + self.penalty) ** 2
        unsure = (moved @ self.turned) ** 2 @ chance + np.maximum(own, 0.0)
        return moved @ self.effects, unsure[:, None] * self.spread


def joined(series: Sequence[Cells], regressors: Sequence[FloatArray] | None = None) -> Joined:
    """Return what the last table of a series says once the cells of all are joined.

    ``regressors`` hold for each column the numbers of each value that a regression is asked for: nothing draws their
    effects to 0.
    """
    newest = series[-1]
    sample = sampled_cells(newest)
    fitted = [sampled_cells(cells) for cells in distinct_cells(series)]
    ridge = _ridge(value_features(newest, regressors), fitted)
    together, unsure = _together(sample)
    apart = together - (sample.shares * sample.sizes[:, None]).T @ sample.shares
    scale = newest.people.sum() / max(sample.people.sum(), 1e-12)
    return Joined(newest, together * scale, apart * scale, unsure * scale, ridge)


def own_part(cells: Cells, fit: Ridge) -> FloatArray:
    """Return for each person how much their own cell raises the odds of a common value, at most, beyond all others.

    The attacker knows everyone's other columns and has joined all other cells. In large tables this is measured for an
    even sample of cells, and of the people in them. A row must be one person.
    """
    weight = cells.sizes / cells.sizes.sum()
    x = (cells.shares - fit.middle[0]) @ fit.features @ fit.turned
    known = fit.known + fit.penalty
    held = cells.sizes * (x**2 / known).sum(axis=1) + weight
    wrong = cells.means - fit.middle[1] - (cells.shares - fit.middle[0]) @ fit.features @ fit.effects
    common = fit.middle[1] >= COMMON
    order = np.argsort(cells.cell, kind="stable")
    each_of = max(1, len(order) // MOST_PEOPLE)
    rows = [one[::each_of] for one in np.split(order, np.cumsum(np.bincount(cells.cell, minlength=len(weight)))[:-1])]
    found = []
    for at in np.unique(np.linspace(0, len(weight) - 1, MOST_OWN).astype(np.int64)):
        # leaving a cell out changes its own residual by its leverage: no second fit is needed
        lost = wrong[at] / max(1 - held[at], 1e-3)
        # and so does what it takes out of the effects
        others = fit.effects - cells.sizes[at] * np.outer(fit.turned @ (x[at] / known), lost)
        effects = fit.features @ others
        own = [label[cells.box[rows[at]]] for label in cells.labels]
        each = np.hstack([chances[label] for label, chances in zip(own, cells.chances, strict=True)])
        before = np.maximum(fit.middle[1] - weight[at] * lost + (each - fit.middle[0]) @ effects, RARE * fit.middle[1])
        before /= before.sum(axis=1, keepdims=True)
        after = before.copy()
        # the cell shows its values exactly, whatever the fit believes of its people
        for _ in range(RAKES):
            after *= cells.means[at] * len(own[0]) / np.maximum(after.sum(axis=0), 1e-300)
            after /= after.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            growth = (after / (1 - after)) / (before / (1 - before))
        found.append(np.nan_to_num(growth[:, common], posinf=np.inf).max(axis=1, initial=1.0))
    return np.concatenate(found)


def inverse_of(products: FloatArray) -> FloatArray:
    """Return the inverse of sums of products of terms, whatever their units; a term that says nothing gets nothing."""
    size = np.sqrt(np.maximum(np.diag(products), 1e-300))
    units = np.outer(size, size)
    return np.asarray(np.linalg.pinv(products / units, rcond=ALIKE, hermitian=True) / units)


def value_features(cells: Cells, regressors: Sequence[FloatArray] | None = None) -> FloatArray:
    """Return the features of each value: steps from neighbour to neighbour, or the value itself where none is near."""
    blocks = []
    for at, (chances, ranked) in enumerate(zip(cells.chances, cells.ranked, strict=True)):
        n = chances.shape[1]
        # drawing steps to 0 makes neighbours alike; drawing values to 0 would make all alike
        steps = np.tri(n, n - 1, -1) * (2 / np.sqrt(max(n - 1, 1)))
        own = [steps if ranked else np.eye(n)]
        if regressors is not None:
            own.append(FREE * regressors[at])
        blocks.append(np.hstack(own))
    found = np.zeros((sum(len(one) for one in blocks), sum(one.shape[1] for one in blocks)))
    row = column = 0
    for one in blocks:
        found[row : row + len(one), column : column + one.shape[1]] = one
        row, column = row + len(one), column + one.shape[1]
    return found


def _ridge(features: FloatArray, fitted: Sequence[Cells]) -> Ridge:
    """Return the additive ridge of cell means, each cell weighing as its people, that predicts cells left out best."""
    shares = np.vstack([cells.shares for cells in fitted])
    means = np.vstack([cells.means for cells in fitted])
    sizes = np.concatenate([cells.sizes for cells in fitted])
    weight = sizes / max(sizes.sum(), 1e-12)
    root = np.sqrt(sizes)[:, None]
    x, y = (shares - weight @ shares) @ features * root, (means - weight @ means) * root
    known, turned = np.linalg.eigh(x.T @ x)
    known = np.maximum(known, 0.0)
    ridges = RIDGES * len(fitted[-1].labels)
    seen = x @ turned
    met = seen.T @ y
    # each cell's leverage, for every ridge at once
    own = (seen[None] ** 2 @ (1 / (known + ridges[:, None]))[:, :, None])[..., 0] + weight
    wrong = np.array([y - seen @ (met / (known + penalty)[:, None]) for penalty in ridges])
    lost = ((wrong / (1 - np.minimum(own, 0.999))[..., None]) ** 2).sum(axis=(1, 2))
    # few cells: the largest ridge finds no relation at all
    best = int(lost.argmin()) if len(sizes) >= FEWEST else len(ridges) - 1
    penalty = float(ridges[best])
    free = max(len(sizes) - 1 - float((known / (known + penalty)).sum()), 0.0)
    # a handful of cells may fit by luck: the spread of single values counts as a few of them
    spread = ((wrong[best] ** 2).sum(axis=0) + FEW * fitted[-1].variances) / (free + FEW)
    likelihoods = _log_likelihoods(ridges, known, met, y)
    likely = ridges[likelihoods >= likelihoods.max() - LIKELY].min()
    return Ridge(
        features=features,
        middle=(weight @ shares, weight @ means),
        effects=turned @ (met / (known + penalty)[:, None]),
        turned=turned,
        known=known,
        penalty=penalty,
        likely=min(float(likely), penalty),
        spread=spread,
    )


def _log_likelihoods(ridges: FloatArray, known: FloatArray, met: FloatArray, y: FloatArray) -> FloatArray:
    """Return the log-likelihood of each ridge, where effects are normal; shares sum to 1."""
    n, m = y.shape
    total = np.maximum((y**2).sum(axis=0), 1e-12)
    found = []
    for penalty in ridges:
        left = np.maximum(total - (met**2 / (known + penalty)[:, None]).sum(axis=0), 1e-12 * total)
        found.append(-0.5 * ((n - 1) * np.log(left).sum() + m * np.log1p(known / penalty).sum()))
    return np.asarray(np.array(found) * (max(m - 1, 1) / m))


def _together(cells: Cells) -> tuple[FloatArray, FloatArray]:
    """Return how many people have each two values, and how much of that boxes leave open.

    Inside a box columns are independent, as far as anyone can see; what it leaves open may be alike for all its people.
    """
    people, scale = cells.of_boxes, 1.0
    boxes = np.flatnonzero(people)
    if len(boxes) > MOST_BOXES:
        boxes = boxes[np.linspace(0, len(boxes) - 1, MOST_BOXES).astype(np.int64)]
        scale = people.sum() / people[boxes].sum()
    people = people[boxes]
    each = np.hstack([chances[label[boxes]] for label, chances in zip(cells.labels, cells.chances, strict=True)])
    together = (each * people[:, None]).T @ each
    unsure, at = np.zeros_like(together), 0
    for chances in cells.chances:
        block, own = slice(at, at + chances.shape[1]), each[:, at : at + chances.shape[1]]
        together[block, block] = np.diag(people @ own)
        unsure[block, block] = np.diag(people**2 @ own) - (own * people[:, None] ** 2).T @ own
        at = block.stop
    return together * scale, unsure * scale
