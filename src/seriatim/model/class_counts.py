"""Counts by class: all that a promise about one table, and most figures of the audit, may look at.

They hold no rows. Classes are numbered as in ``model.classes``, by first records, for verdict and audit alike; counts
of parts of a table add up to those of the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.kernels.check.class_figures import FIGURES, class_figures
from seriatim.kernels.check.classes import value_counts_by_class
from seriatim.model.classes import (
    CLASS,
    RESPONDENT,
    Classes,
    LongArray,
    PublishedTable,
    class_text_codes,
    numbered_alike,
)
from seriatim.model.scale import FloatArray, IntArray, Scale

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class ValueCounts:
    """One column: class c holds ``value[starts[c]:starts[c + 1]]`` (ascending), each ``count`` times."""

    sizes: LongArray
    """Rows of each class, also those without a published value."""
    starts: LongArray
    value: IntArray
    count: IntArray
    totals: LongArray
    """Rows with each value, over all classes."""

    @classmethod
    def of(cls, classes: Classes, values: IntArray, n_values: int) -> ValueCounts:
        """Count one column by class; a code of -1 is no value and counts only for the size of its class."""
        starts, value, count = value_counts_by_class(classes.of_record, len(classes), values, n_values)
        return cls(classes.sizes, starts, value, count, _totals(value, count, n_values))

    def __len__(self) -> int:
        return len(self.sizes)

    def __repr__(self) -> str:
        return f"ValueCounts({len(self)} classes, {self.n_values} values)"

    @property
    def n_values(self) -> int:
        return len(self.totals)

    @cached_property
    def owner(self) -> npt.NDArray[np.intp]:
        """Return the class of each count."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def valued(self) -> LongArray:
        """Return the rows of each class that have a value."""
        return np.bincount(self.owner, weights=self.count, minlength=len(self)).astype(np.int64)

    @property
    def margin(self) -> FloatArray:
        """Return the share of each value in the whole table."""
        return self.totals / max(int(self.totals.sum()), 1)

    @cached_property
    def figures(self) -> Mapping[str, FloatArray]:
        """Return every figure against the published margin; counted once for all promises, charts and the audit."""
        return self.figures_against(self.margin)

    def figures_against(self, prior: FloatArray, recursive_l: int = 2) -> dict[str, FloatArray]:
        """Return every figure of every class against a prior, by name; nan for a class without values."""
        rows = class_figures(self.starts, self.value, self.count, self.totals, prior, recursive_l)
        return dict(zip(FIGURES, rows, strict=True))

    def dense(self) -> LongArray:
        """Return classes by values, zeros included: only for a few values."""
        full = np.zeros((len(self), self.n_values), dtype=np.int64)
        full[self.owner, self.value] = self.count
        return full

    def only(self, c: int) -> ValueCounts:
        """Return one class alone, its values still counted over all."""
        held = slice(self.starts[c], self.starts[c + 1])
        starts = np.array([0, self.starts[c + 1] - self.starts[c]], dtype=np.int64)
        return ValueCounts(self.sizes[c : c + 1], starts, self.value[held], self.count[held], self.totals)

    def without(self, dropped: BoolArray) -> ValueCounts:
        """Return the same with some classes emptied, as if their rows were withheld."""
        kept = ~dropped[self.owner]
        value, count = self.value[kept], self.count[kept]
        starts = _starts(np.where(dropped, 0, np.diff(self.starts)))
        totals = _totals(value, count, self.n_values)
        return ValueCounts(np.where(dropped, 0, self.sizes), starts, value, count, totals)

    def shown_only(self) -> ValueCounts:
        """Return the same on a scale of the published values alone, in their order."""
        shown = self.totals > 0
        if shown.all():
            return self
        rank = (np.cumsum(shown) - 1).astype(np.int32)
        return ValueCounts(self.sizes, self.starts, rank[self.value], self.count, self.totals[shown])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClassCounts:
    """The classes of a published table: rows, people, and the values of each sensitive column."""

    sizes: LongArray
    """Rows of each class, counterfeits included: what a reader sees."""
    values: Mapping[str, ValueCounts]
    scales: Mapping[str, Scale]
    """The scale of each sensitive column, on which its values are counted."""
    serial: bool = False
    """Whether a class is a group of a series, rather than equal quasi values."""
    offered: int | None = None
    """Records of the view that the table was made from; None if unknown."""
    withheld: int = 0
    labels: pa.Table
    """A row for each class: the cells that make it one, by which parts of a table know the classes they share."""
    named: pa.Table | None = None
    """The publisher's knowledge: who is in which class, for counts of people; None if rows are not known by person."""

    @classmethod
    def of(cls, published: PublishedTable) -> ClassCounts:
        """Count a published table, or a part of one."""
        classes = published.classes
        return cls(
            sizes=classes.sizes,
            values={
                name: ValueCounts.of(classes, column.codes, len(column.scale))
                for name, column in published.sensitive.items()
            },
            scales={name: column.scale for name, column in published.sensitive.items()},
            serial=published.serial,
            offered=published.offered,
            withheld=published.withheld,
            labels=published.labels.take(pa.array(classes.first)),
            named=published.named,
        )

    @classmethod
    def merge(cls, parts: Sequence[ClassCounts]) -> ClassCounts:
        """Add up the counts of parts of one table, coded on the same scales; classes are equal by their labels.

        Whoever has records of a class in several parts counts as one person there.
        """
        first, labels = parts[0], pa.concat_tables([part.labels for part in parts])
        for name, scale in first.scales.items():
            if not all(part.scales[name].texts.equals(scale.texts) for part in parts):
                raise ValueError(f"column {name!r}: parts are coded on different scales")
        coded = [class_text_codes(labels.column(name)) for name in labels.column_names]
        ends = np.cumsum([len(part) for part in parts])
        numbers = numbered_alike([codes + 1 for codes, _ in coded], [len(words) + 1 for _, words in coded], ends[-1])
        places = np.split(numbers.of_record, ends[:-1])
        rows = np.concatenate([part.sizes for part in parts])
        sizes = np.bincount(numbers.of_record, weights=rows, minlength=len(numbers)).astype(np.int64)
        return cls(
            sizes=sizes,
            values={name: _merged([part.values[name] for part in parts], places, sizes) for name in first.values},
            scales=first.scales,
            serial=first.serial,
            offered=None if first.offered is None else sum(part.offered or 0 for part in parts),
            withheld=sum(part.withheld for part in parts),
            labels=labels.take(pa.array(numbers.first)),
            named=_named_together(parts, places),
        )

    def __len__(self) -> int:
        return len(self.sizes)

    def __repr__(self) -> str:
        return f"ClassCounts({len(self)} classes of {self.n_rows} rows, sensitive {[*self.values]})"

    @property
    def n_rows(self) -> int:
        return int(self.sizes.sum())

    @cached_property
    def people(self) -> LongArray | None:
        """Return the different people of each class, without counterfeits; None without a respondent column."""
        if self.named is None:
            return None
        person, names = class_text_codes(self.named.column(RESPONDENT))
        classes = self.named.column(CLASS).to_numpy().astype(np.int64)
        if len(names) < len(classes):  # someone has several records
            classes = np.unique(classes * len(names) + person) // len(names)
        return np.bincount(classes, minlength=len(self)).astype(np.int64)


def _starts(lengths: npt.NDArray[np.integer]) -> LongArray:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))


def _totals(value: IntArray, count: npt.NDArray[np.integer], n_values: int) -> LongArray:
    return np.bincount(value, weights=count, minlength=n_values).astype(np.int64)


def _merged(parts: Sequence[ValueCounts], places: Sequence[IntArray], sizes: LongArray) -> ValueCounts:
    """Return one column's counts of all parts, whose classes have these places among those of the whole."""
    n_values = parts[0].n_values
    owners = [place[part.owner].astype(np.int64) for part, place in zip(parts, places, strict=True)]
    cells = np.concatenate(owners) * n_values + np.concatenate([part.value for part in parts])
    cell, which = np.unique(cells, return_inverse=True)
    count = np.bincount(which, weights=np.concatenate([part.count for part in parts])).astype(np.int32)
    value = (cell % n_values).astype(np.int32)
    starts = _starts(np.bincount(cell // n_values, minlength=len(sizes)))
    return ValueCounts(sizes, starts, value, count, _totals(value, count, n_values))


def _named_together(parts: Sequence[ClassCounts], places: Sequence[IntArray]) -> pa.Table | None:
    known = [(part.named, place) for part, place in zip(parts, places, strict=True) if part.named is not None]
    if len(known) < len(parts):
        return None
    moved = [
        pa.table({RESPONDENT: named[RESPONDENT], CLASS: pa.array(place[named[CLASS].to_numpy()])})
        for named, place in known
    ]
    return pa.concat_tables(moved)
