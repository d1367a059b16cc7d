"""Reads the boxes of a published table: labels become ranges, and counterfeits are subtracted."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import Fault, InputError, TableError
from seriatim.model.scale import span_of, span_point

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
GROUP, COUNTERFEITS, TOP = "group", "counterfeits", "*"
Range = tuple[object, object] | object
"""First and last value, both included; or a single value or label."""
MOST_NUMBERS = 20_000
"""Whole numbers over a wider range are read at the ends of the boxes alone."""
_LAST = chr(0x10FFFF)
_MOST = 10_000_000
"""Sorts after every text with the same beginning."""


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """Published boxes: lowest and highest code per column, both included, and the number of real people in each."""

    low: IntArray
    high: IntArray
    people: FloatArray


@dataclass(frozen=True)
class Axis:
    """A column's values in order, as texts, and the labels that cover several of them.

    If the values are numbers, or dates such as 2024-01-31, ranges are read in all the usual spellings. If the values
    are in the order of their texts, so are prefixes (``1070*``, ``2024-01``). Parts of a label outside the axis are
    ignored.
    """

    values: Sequence[str]
    nodes: Mapping[str, tuple[str, str]]
    """The first and last value under each label of a hierarchy."""
    ranked: bool = False
    """Whether neighbours on the axis are alike, as with numbers and dates."""

    @classmethod
    def whole_numbers(cls, low: int, high: int) -> Axis:
        if high - low >= _MOST:
            raise InputError(Fault("high", "too many numbers", f"at most {_MOST:,} from low to high"))
        return cls([str(number) for number in range(low, high + 1)], {}, ranked=True)

    @classmethod
    def dates(cls, first: date, last: date) -> Axis:
        """Return an axis with every day from the first to the last."""
        return cls([str(first + timedelta(days=n)) for n in range((last - first).days + 1)], {}, ranked=True)

    @classmethod
    def ordered(
        cls, values: Sequence[str], nodes: Mapping[str, tuple[str, str]] | None = None, ranked: bool = False
    ) -> Axis:
        """Return an axis of these values; ``ranked`` says that their order means something."""
        return cls(list(values), dict(nodes or {}), ranked)

    @classmethod
    def of_labels(
        cls,
        labels: Iterable[str | None],
        order: Sequence[str] = (),
        nodes: Mapping[str, Sequence[str]] | None = None,
    ) -> Axis:
        """Return the axis that published labels span.

        ``order`` is that of the policy, if it declares one; ``nodes`` has the values under labels of a hierarchy.
        """
        shown = {label for label in labels if label is not None and label != TOP}
        if nodes:
            return cls._of_nodes(shown, nodes)
        if len(order) == 0 and (numbers := cls._of_numbers(shown)) is not None:
            return numbers
        members = {member for label in shown for member in box_members(label) or (label,)}
        try:
            days = sorted(date.fromisoformat(member) for member in members)
        except ValueError:
            days = []
        # days between those that occur are values too: a label may begin or end on one
        if days:
            return cls.dates(days[0], days[-1])
        known = [*order, *sorted(members - {*order})]
        return cls([one for one in known if not _is_mask(one, known)], {}, ranked=len(order) > 0)

    @classmethod
    def _of_numbers(cls, shown: set[str]) -> Axis | None:
        """Return the axis that labels span if all of them are numbers or ranges of numbers."""
        spans = [span_of(label) for label in shown]
        ends = sorted({end for span in spans if span for end in (span.low, span.high) if math.isfinite(end)})
        if not ends or not all(spans):
            return None
        # whole numbers stand for all between them, unless that is more than can be listed
        if all(end.is_integer() for end in ends) and ends[-1] - ends[0] <= MOST_NUMBERS:
            return cls.whole_numbers(int(ends[0]), int(ends[-1]))
        return cls([f"{end:.12g}" for end in ends], {}, ranked=True)

    @classmethod
    def _of_nodes(cls, shown: set[str], nodes: Mapping[str, Sequence[str]]) -> Axis:
        """Return an axis on which the values under each label stand together."""
        used = {label: {*members} for label, members in nodes.items() if label in shown or label == TOP}
        leaves = set().union(*used.values()) | (shown - used.keys())
        wide = sorted(used.values(), key=len, reverse=True)
        # by the widest label first, so that labels inside it stay together as well
        values = sorted(leaves, key=lambda leaf: ([leaf not in one for one in wide], leaf))
        if numbers := not any(math.isnan(span_point(leaf)) for leaf in leaves):
            values = sorted(leaves, key=span_point)
        place = {value: at for at, value in enumerate(values)}
        ends = {label: sorted(place[leaf] for leaf in members) for label, members in used.items()}
        return cls(values, {label: (values[at[0]], values[at[-1]]) for label, at in ends.items()}, numbers)

    def covered(self, label: str | None) -> range | list[int]:
        """Return the positions a label covers; none for a label that this axis does not have."""
        if label is not None and label[:1] == "{" and (members := box_members(label)):
            return [self._place[member] for member in members if member in self._place]
        span = self.span(label)
        return range(0) if span is None else range(span[0], span[1] + 1)

    def span(self, label: str | None) -> tuple[int, int] | None:
        """Return the first and last position a label covers; None for a label that this axis does not have."""
        place = self._place
        if label is None or label == TOP:
            return 0, len(self.values) - 1
        if label in place:
            return place[label], place[label]
        ends = self.nodes.get(label) or box_members(label)
        if ends and all(end in place for end in ends):
            found = [place[end] for end in ends]
            return min(found), max(found)
        first, end = self._between(label)
        return (first, end - 1) if first < end else None

    def range_of(self, name: str, wanted: Range) -> tuple[int, int]:
        """Return the first and last position of what is asked for; ``name`` is the column's, for the error."""
        first, last = wanted if isinstance(wanted, tuple) else (wanted, wanted)
        spans = self.span(str(first)), self.span(str(last))
        if spans[0] is None or spans[1] is None:
            raise TableError(Fault(f"column {name!r}", "a range that is not on its axis", "values of the axis"))
        return spans[0][0], spans[1][1]

    def _between(self, label: str) -> tuple[int, int]:
        """Return the values within a range or with a prefix, by bisection; nothing for any other label."""
        if self.numbers is not None and (span := span_of(label)) is not None:
            low = bisect_right if span.low_open else bisect_left
            high = bisect_left if span.high_open else bisect_right
            return low(self.numbers, span.low), high(self.numbers, span.high)
        # a prefix is a stretch of the axis only where texts rise
        if not self._sorted:
            return 0, 0
        ends = box_members(label) if label.startswith("[") else ()
        low_text, high_text = ends if len(ends) == 2 else (label.rstrip(TOP),) * 2
        return bisect_left(self.values, low_text.strip()), bisect_right(self.values, high_text.strip() + _LAST)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {value: i for i, value in enumerate(self.values)}

    @cached_property
    def numbers(self) -> list[float] | None:
        """Return the values as numbers, if all of them are numbers in ascending order."""
        numbers = [span_point(value) for value in self.values]
        return numbers if all(a < b for a, b in pairwise(numbers)) and not any(map(math.isnan, numbers)) else None

    @cached_property
    def _sorted(self) -> bool:
        return all(a < b for a, b in pairwise(self.values))


def _is_mask(label: str, known: Sequence[str]) -> bool:
    """Return whether a label such as ``107*`` stands for others that are known."""
    return label[-1:] == TOP and any(one.startswith(label.rstrip(TOP)) for one in known if one != label)


def box_members(label: str) -> tuple[str, ...]:
    """Return the ends of ``[a,b]`` or the members of ``{x,y}``; a quoted member keeps its commas."""
    if label[:1] == "[" and label[-1:] == "]":
        return tuple(label[1:-1].split(","))
    if label[:1] != "{" or label[-1:] != "}":
        return ()
    members, at, text = [""], 0, label[1:-1]
    quoted = False
    while at < len(text):
        # a doubled quote inside quotes is one of the text
        if text[at] == '"' and quoted and text[at : at + 2] == '""':
            members[-1] += '"'
            at += 1
        elif text[at] == '"':
            quoted = not quoted
        elif text[at] == "," and not quoted:
            members.append("")
        else:
            members[-1] += text[at]
        at += 1
    return tuple(members)


def read_boxes(table: pa.Table, counterfeits: pa.Table | None, axes: Mapping[str, Axis]) -> Boxes:
    """Return the boxes of a published table over the columns of ``axes``, with the number of real people in each."""
    for told in (table, *([] if counterfeits is None else [counterfeits])):
        if missing := len(set(axes).difference(told.column_names)):
            raise TableError(Fault("axes", f"{missing} columns that the table lacks", "columns of the table"))
    return covered_boxes(box_real_rows(table, counterfeits, list(axes)), axes)


def box_real_rows(
    table: pa.Table, counterfeits: pa.Table | None, names: list[str], weight: str | None = None
) -> pa.Table:
    """Count the real people (column ``people``) in each group with the same labels; a row stands for its ``weight``."""
    keys = [GROUP, *names] if GROUP in table.column_names else names
    rows = _counted(table, keys, weight)
    if counterfeits is not None and counterfeits.num_rows:
        rows = _subtracted(rows, _counted(counterfeits, keys, COUNTERFEITS), keys)
    return rows


def covered_boxes(rows: pa.Table, axes: Mapping[str, Axis]) -> Boxes:
    """Return the boxes that labels cover on their axes."""
    names = list(axes)
    low = np.empty((rows.num_rows, len(names)), dtype=np.int32)
    high = np.empty_like(low)
    for d, name in enumerate(names):
        labels = _texts(rows.column(name)).dictionary_encode().combine_chunks()
        spans = [axes[name].span(label) for label in labels.dictionary.to_pylist()]
        strange = sum(span is None for span in spans)
        if strange:
            remedy = "add all values and hierarchy labels to the axis"
            raise TableError(Fault(f"column {name!r}", f"{strange} labels are not on the axis", "", remedy))
        ends = np.array([span or (0, 0) for span in spans] + [(0, len(axes[name].values) - 1)], dtype=np.int32)
        at = labels.indices.fill_null(len(spans)).to_numpy(zero_copy_only=False)
        low[:, d], high[:, d] = ends[at, 0], ends[at, 1]
    return Boxes(low, high, rows.column("people").to_numpy().astype(np.float64))


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.cast(column, pa.string())


def _counted(table: pa.Table, keys: list[str], weight: str | None) -> pa.Table:
    columns = {key: table.column(key) if key == GROUP else _texts(table.column(key)) for key in keys}
    n = table.num_rows
    # a table has a row per record, a table of counterfeits their number
    columns["people"] = table.column(weight) if weight else pa.chunked_array([pa.array(np.ones(n, dtype=np.int64))])
    counted = pa.table(columns).group_by(keys, use_threads=False).aggregate([("people", "sum")])
    return counted.rename_columns([*keys, "people"])


def _subtracted(rows: pa.Table, counterfeits: pa.Table, keys: list[str]) -> pa.Table:
    minus = counterfeits.set_column(len(keys), "people", pc.negate(counterfeits.column("people")))
    both = pa.concat_tables([rows, minus.select(rows.column_names).cast(rows.schema)])
    left = both.group_by(keys, use_threads=False).aggregate([("people", "sum")]).rename_columns([*keys, "people"])
    if pc.min(left.column("people")).as_py() < 0:
        raise TableError(
            Fault("counterfeits", "more counterfeits than rows in a box", "", "use the file of the same release")
        )
    return left
