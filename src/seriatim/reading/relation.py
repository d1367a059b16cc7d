"""What a data user estimates from a release by joining its cells: two-way tables, means, quantiles, regressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import Fault, TableError
from seriatim.model.classes import class_text_codes, classes_of
from seriatim.model.doors import at_door
from seriatim.model.scale import FloatArray, IntArray, span_point
from seriatim.reading.joined import Cells, Joined, inverse_of, joined
from seriatim.reading.published_boxes import GROUP, Axis, Range, box_real_rows

if TYPE_CHECKING:
    from seriatim.reading.published_release import PublishedRelease

MOST_VALUES = 100
"""A column with more values is read in so many bands, in the order of its values."""
ROUNDS, FEW_ROUNDS = 20, 2
"""Rounds in which people of wide labels are spread as those of narrow ones are; few for numbers, which are smooth."""
OTHERS = "(others)"
_WEIGHT = "weight of a row"
USUAL = 1.959964
"""Standard errors either way that hold the truth in 95 of 100 cases."""


@dataclass(frozen=True, eq=False, repr=False)
class Bands:
    """The values of a column, or bands of them where there are many."""

    names: tuple[str, ...]
    of_position: IntArray
    """The band of each position on the axis."""
    numbers: FloatArray | None
    """The middle of each band, if the values are numbers."""

    @classmethod
    def of_axis(cls, axis: Axis) -> Bands:
        n = len(axis.values)
        edges = np.unique(np.linspace(0, n, min(n, MOST_VALUES) + 1).astype(np.int64))
        of_position = np.repeat(np.arange(len(edges) - 1), np.diff(edges)).astype(np.int32)
        ends = [(axis.values[first], axis.values[end - 1]) for first, end in pairwise(edges.tolist())]
        names = tuple(first if first == last else f"[{first},{last}]" for first, last in ends)
        numbers = axis.numbers
        middle = None if numbers is None else np.bincount(of_position, numbers) / np.bincount(of_position)
        return cls(names, of_position, middle)


class Estimated(NamedTuple):
    """An estimate, and the ends of the interval that holds the truth in 95 of 100 cases."""

    value: float
    low: float
    high: float


class Quality(NamedTuple):
    """How well a release answers questions about a sensitive column."""

    of: str
    """What is asked by column: the ``mean`` of a number, or the ``count`` of each value."""
    errors: dict[str, float]
    """For each column the mean standard error: of counts in shares of them, of means in standard deviations."""
    regression: pa.Table | None
    """The terms of all columns of numbers with their standard errors; None without any."""


@at_door
@dataclass(frozen=True, eq=False, repr=False)
class Relation:
    """How the values of a sensitive column go with the other columns, read from all cells of one release or several."""

    releases: tuple[PublishedRelease, ...]
    """Releases of a series, the one that is asked about last."""
    sensitive: str

    def two_way(self, column: str) -> pa.Table:
        """Estimate how many people have each value of a quasi column and each sensitive value, with standard errors."""
        at = self._at(column)
        population = float(self.releases[-1].weights.mean())  # of each row
        people, error = (population * told for told in self._shares.sums(self._block(at)))
        rows, columns = np.indices(people.shape).reshape(2, -1)
        return pa.table(
            {
                column: pa.array(self._bands[at].names).take(rows),
                self.sensitive: self._values[0].take(columns),
                "people": np.maximum(people, 0.0).ravel(),
                "error": error.ravel(),
            }
        )

    def share(self, value: object, where: Mapping[str, Range] | None = None) -> Estimated:
        """Estimate the share of those with this sensitive value among the people of a part of the table."""
        return self._mean(self._held(value), where)

    def mean(self, where: Mapping[str, Range] | None = None) -> Estimated:
        """Estimate the mean of a sensitive number over the people of a part of the table."""
        return self._mean(self._numbers, where)

    def quantile(self, share: float, where: Mapping[str, Range] | None = None) -> Estimated:
        """Estimate the number that this share of the people of a part of the table does not exceed."""
        numbers = self._numbers
        steps = np.unique(numbers)
        if len(steps) > MOST_VALUES:
            shares = (np.arange(MOST_VALUES) + 1) / MOST_VALUES
            steps = np.unique(np.quantile(numbers[self._codes], shares, method="inverted_cdf"))
        people, below, error = self._part((numbers[:, None] <= steps).astype(np.float64), where)
        below, error = np.maximum.accumulate(below) / people, error / people
        below[-1] = 1.0
        ends = [np.maximum.accumulate(below + side * USUAL * error) for side in (0.0, 1.0, -1.0)]
        found = [float(steps[min(int((one < share - 1e-9).sum()), len(steps) - 1)]) for one in ends]
        return Estimated(found[0], found[1], found[2])

    def regression(
        self,
        on: Sequence[str],
        value: object = None,
        numbers: Mapping[str, Mapping[str, float]] | None = None,
    ) -> pa.Table:
        """Estimate the least-squares line of a sensitive number, or of the share with one value, on quasi columns.

        A column of numbers is one term; of any other each value is a term, against the most frequent one. ``numbers``
        makes a column of numbers out of another: {"education": {"HS-grad": 12, ...}}.
        """
        outcome = self._numbers if value is None else self._held(value)
        names, blocks = ["(intercept)"], []
        rows = [self._block(0).sum(axis=0)]
        regressors: list[FloatArray] = [np.zeros((len(bands.names), 0)) for bands in self._bands]
        for column in on:
            at = self._at(column)
            terms, regressors[at] = self._terms(at, (numbers or {}).get(column))
            names += [column if term is None else f"{column}: {term}" for term in terms]
            blocks.append((at, regressors[at]))
        for at, block in blocks:
            rows += list(block.T @ self._block(at))
        middle = float(outcome[self._codes].mean())
        read = self._joined((outcome - middle)[:, None], regressors)
        weights = np.array(rows)
        # terms may say the same, as a value and its only other one do: the pseudo-inverse shares it out
        weights = inverse_of(weights @ read.together @ weights.T) @ weights
        found, error = read.sums(weights)
        # outcomes were taken from their mean, so that ridges draw towards it and not towards 0
        found[0] += middle
        return pa.table({"term": names, "estimate": found[:, 0], "error": error[:, 0]})

    def quality(self) -> Quality:
        """Return how well what can be asked of the release is answered, by standard errors alone.

        Of a number the mean is asked for each value of a column, of anything else how many hold each value. The
        regression is that of the number, or of the share of the commonest value, on all columns of numbers.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # the widest numbers have no variance
            numbered = not np.isnan(self._spans).any() and bool(np.isfinite(self._spans[self._codes].var()))
        told = self._spans[self._codes]
        read = self._joined((self._spans - told.mean())[:, None]) if numbered else self._shares
        size = max(float(told.std()), 1e-12) if numbered else 1.0
        size *= max(float(self._cells[-1].people.sum()), 1e-12)
        errors = {one: float(read.sums(self._block(at))[1].sum()) / size for at, one in enumerate(self.columns)}
        on = [column for column, bands in zip(self.columns, self._bands, strict=True) if bands.numbers is not None]
        shown = pc.drop_null(self._values[0])
        if not numbered and not len(shown):  # every value is missing: nothing has a share
            return Quality("count", errors, None)
        value = None if numbered else shown[0].as_py()
        return Quality("mean" if numbered else "count", errors, self.regression(on, value) if on else None)

    def _terms(self, at: int, given: Mapping[str, float] | None) -> tuple[list[str | None], FloatArray]:
        """Return the terms of a column, and the number of each value in each term."""
        bands = self._bands[at]
        numbers = bands.numbers if given is None else np.array([given.get(name, np.nan) for name in bands.names])
        if numbers is not None:
            if np.isnan(numbers).any():
                found = f"no number for {int(np.isnan(numbers).sum())} of its values"
                raise TableError(Fault(f"column {self.columns[at]!r}", found, "a number for each value"))
            return [None], numbers[:, None]
        cells = self._cells[-1]
        held = cells.chances[at].T @ np.bincount(cells.labels[at][cells.box], cells.people, len(cells.chances[at]))
        others = [place for place in range(len(bands.names)) if place != int(held.argmax()) and held[place] > 0]
        return [bands.names[place] for place in others], np.eye(len(bands.names))[:, others]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Return the quasi columns that the relation is read from."""
        return tuple(self.releases[-1].axes)

    def _at(self, column: str) -> int:
        if column not in self.columns:
            raise TableError(Fault(f"column {column!r}", "not a quasi column of the release", ", ".join(self.columns)))
        return self.columns.index(column)

    @cached_property
    def _bands(self) -> list[Bands]:
        return [Bands.of_axis(axis) for axis in self._axes]

    @cached_property
    def _axes(self) -> list[Axis]:
        return list(self.releases[-1].axes.values())

    def _block(self, at: int) -> FloatArray:
        """Return a row of weights for each value of a column, over the values of all columns."""
        sizes = [len(bands.names) for bands in self._bands]
        return np.eye(sum(sizes))[sum(sizes[:at]) : sum(sizes[: at + 1])]

    @cached_property
    def _read(self) -> tuple[pa.Array, list[IntArray]]:
        """Return the sensitive values of all releases, and the number of the value in each row of each."""
        columns = [table.column(self.sensitive) for table in self._tables]
        texts = [chunk.cast(pa.string()) for column in columns for chunk in column.chunks]
        codes, values = class_text_codes(pa.chunked_array(texts, pa.string()))
        codes = np.where(codes < 0, len(values), codes)  # a missing value is a value like any
        return pa.concat_arrays([values, pa.nulls(1, pa.string())]), np.split(
            codes, np.cumsum([len(one) for one in columns])[:-1]
        )

    @property
    def _codes(self) -> IntArray:
        return self._read[1][-1]

    @cached_property
    def _spans(self) -> FloatArray:
        """Return each sensitive value as a number; not a number for one that is none and that somebody has."""
        values = self._read[0].to_pylist()
        held = np.bincount(np.concatenate(self._read[1]), minlength=len(values)) > 0
        return np.where(held, [span_point(value) for value in values], 0.0)

    @property
    def _numbers(self) -> FloatArray:
        """Return each sensitive value as a number; raise an error if one is none."""
        strange = int(np.isnan(self._spans).sum())
        if strange:
            found, remedy = f"{strange} values are no numbers", "ask for the share of a value"
            raise TableError(Fault(f"column {self.sensitive!r}", found, "numbers", remedy))
        return self._spans

    def _held(self, value: object) -> FloatArray:
        texts = self._read[0].to_pylist()
        if str(value) not in texts:
            raise TableError(Fault(f"column {self.sensitive!r}", "nobody has the value asked for", "a published value"))
        return np.array([text == str(value) for text in texts], dtype=np.float64)

    def _mean(self, outcome: FloatArray, where: Mapping[str, Range] | None) -> Estimated:
        middle = float(outcome[self._codes].mean())
        people, found, error = self._part((outcome - middle)[:, None], where)
        mean, off = middle + found[0] / people, USUAL * error[0] / people
        return Estimated(float(mean), float(mean - off), float(mean + off))

    def _part(self, outcomes: FloatArray, where: Mapping[str, Range] | None) -> tuple[float, FloatArray, FloatArray]:
        """Return the people in a part of the table, and the sums of their outcomes with standard errors.

        The part is a column of its own beside the others, so that it need not be the sum of what they say.
        """
        chosen: list[FloatArray | None] = [None] * len(self.columns)
        for column, wanted in (where or {}).items():
            at = self._at(column)
            first, last = self._axes[at].range_of(column, wanted)
            of_position, n = self._bands[at].of_position, len(self._bands[at].names)
            chosen[at] = np.bincount(of_position[first : last + 1], minlength=n) / np.bincount(of_position)
        read = self._joined(outcomes, part=chosen)
        people = float(read.together[-2, -2])
        # people in a part are expected, not counted: half of one is nobody
        if people < 0.5:
            raise TableError(Fault("where", "nobody is in this part of the table", "a part with people"))
        found, error = read.sums(np.eye(len(read.together))[-2:-1])
        return people, found[0], error[0]

    @cached_property
    def _values(self) -> tuple[pa.Array, FloatArray]:
        """Return the sensitive values, most frequent first, and which is which; the last of many is all the rest."""
        texts, counts = self._read[0], np.bincount(self._codes, minlength=len(self._read[0]))
        order = np.argsort(-counts, kind="stable")[: int((counts > 0).sum())]
        names, last = texts.take(pa.array(order[:MOST_VALUES])), min(len(order), MOST_VALUES) - 1
        if len(order) > MOST_VALUES:
            names = pa.concat_arrays([names[:last], pa.array([OTHERS])])
        held = np.zeros((len(texts), last + 1))
        held[order, np.minimum(np.arange(len(order)), last)] = 1.0
        return names, held

    @cached_property
    def _shares(self) -> Joined:
        return self._joined(self._values[1])

    def _joined(
        self,
        outcomes: FloatArray,
        regressors: Sequence[FloatArray] | None = None,
        part: Sequence[FloatArray | None] | None = None,
    ) -> Joined:
        """Join the cells for outcomes of each value: a column for each."""
        spread = np.asarray(outcomes[self._codes].var(axis=0))
        series = []
        every = zip(self._cells, self._cell_of_rows, self._read[1], self._weights, strict=True)
        for cells, (cell, groups), codes, weights in every:
            told = outcomes[codes] * weights[:, None]
            sums = np.stack([np.bincount(cell, one, len(groups)).astype(np.float64) for one in told.T], axis=1)
            own = cells if part is None else cells.with_part(part)
            series.append(replace(own, outcomes=sums, variances=spread))
        return joined(series, regressors)

    @cached_property
    def _weights(self) -> list[FloatArray]:
        """Return what each row of each release weighs, 1 on average: standard errors are those of the rows."""
        return [one.weights / max(float(one.weights.mean()), 1e-300) for one in self.releases]

    @cached_property
    def _tables(self) -> list[pa.Table]:
        """Return the table of each release by cells: a table without groups has its classes as groups."""
        tables = [one.table_with([self.sensitive, *self.columns]) for one in self.releases]
        return [
            table
            if GROUP in table.column_names
            else table.append_column(GROUP, pa.array(classes_of(table, self.columns).of_record))
            for table in tables
        ]

    @cached_property
    def _cell_of_rows(self) -> list[tuple[IntArray, pa.Array]]:
        """Return the cell of each row of each release, and the groups that the cells are."""
        return [class_text_codes(table.column(GROUP)) for table in self._tables]

    @cached_property
    def _cells(self) -> list[Cells]:
        """Return the people of each release by cell and labels, before any outcome is asked for."""
        found = []
        every = zip(self.releases, self._tables, self._cell_of_rows, self._weights, strict=True)
        for one, table, (cell, groups), weights in every:
            weight = None if one.weight is None else _WEIGHT
            table = table if weight is None else table.append_column(_WEIGHT, pa.array(weights))
            rows = box_real_rows(table, one.counterfeits, list(self.columns), weight)
            people = rows.column("people").to_numpy().astype(np.float64)
            of_box = classes_of(rows, self.columns).of_record
            first = np.unique(of_box, return_index=True)[1]
            boxes = people / np.maximum(np.bincount(of_box, people), 1e-12)[of_box]
            read = [self._labels(rows.column(name), at, people, boxes) for at, name in enumerate(self.columns)]
            found.append(
                Cells(
                    cell=pc.index_in(rows.column(GROUP), value_set=groups).to_numpy().astype(np.int32),
                    box=of_box,
                    people=people,
                    labels=tuple(labels[first] for labels, _ in read),
                    chances=tuple(chances for _, chances in read),
                    ranked=tuple(axis.ranked or len(axis.values) > MOST_VALUES for axis in self._axes),
                    outcomes=np.zeros((len(groups), 0)),
                    slots=np.bincount(cell, weights, minlength=len(groups)).astype(np.float64),
                    variances=np.zeros(0),
                )
            )
        return found

    def _labels(
        self, column: pa.ChunkedArray, at: int, people: FloatArray, boxes: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        """Return the number of each row's label, and the chance of every value under each label."""
        codes, labels = class_text_codes(column)
        codes = np.where(codes < 0, len(labels), codes).astype(np.int32)
        axis, bands = self._axes[at], self._bands[at]
        texts = [*labels.to_pylist(), None]
        covered = [axis.covered(label) for label in texts]
        strange = sum(not len(one) for one in covered)
        if strange:
            remedy = "add all values and hierarchy labels to the axis"
            raise TableError(Fault(f"column {self.columns[at]!r}", f"{strange} labels are not on the axis", "", remedy))
        known = [_shown(label, one) for label, one in zip(texts, covered, strict=True)]
        least = np.minimum(_by_band(bands, known), 1.0) * np.bincount(codes, boxes, len(texts))[:, None]
        rounds = FEW_ROUNDS if axis.numbers is not None else ROUNDS
        held = np.asarray(np.bincount(codes, people, len(texts)), dtype=np.float64)
        return codes, spread_labels(_by_band(bands, covered), np.asarray(least), held, rounds)


def _shown(label: str | None, covered: Sequence[int]) -> Sequence[int]:
    """Return the positions that somebody under a label has: all that a set lists, and the ends of an interval."""
    mark = (label or "")[:1]
    return covered if mark == "{" else (covered[0], covered[-1]) if mark == "[" else ()


def _by_band(bands: Bands, covered: Sequence[Sequence[int]]) -> FloatArray:
    """Return how many of the positions are in each band, for each label."""
    n = len(bands.names)
    found = [np.bincount(bands.of_position[np.asarray(one, dtype=np.int64)], minlength=n) for one in covered]
    return np.asarray(found, dtype=np.float64)


def spread_labels(sizes: FloatArray, least: FloatArray, people: FloatArray, rounds: int) -> FloatArray:
    """Return the chance of every value under each label, where people of wide labels are as those of narrow ones.

    ``sizes`` says how much of each value a label covers, ``least`` how many of its people have the value for sure.
    """
    certain = least.sum(axis=1, keepdims=True)
    least = least * np.minimum(1.0, people[:, None] / np.maximum(certain, 1e-9))
    rest = np.maximum(people[:, None] - certain, 0.0)
    spread = sizes / sizes.sum(axis=1, keepdims=True)
    for _ in range(rounds):
        dense = (least + rest * spread).sum(axis=0) / np.maximum(sizes.max(axis=0), 1.0)
        spread = np.where(people[:, None] > 0, sizes * dense, spread)
        spread /= np.maximum(spread.sum(axis=1, keepdims=True), 1e-300)
    held = least + (rest + (people == 0)[:, None]) * spread
    return np.asarray(held / held.sum(axis=1, keepdims=True))
