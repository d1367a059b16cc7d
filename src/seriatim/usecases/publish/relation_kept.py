"""How much of the relation between columns and values a draft keeps, for who reads its cells one by one or joins them.

For a quasi column x and a sensitive column v: 1 - sum |P - T| / sum |I - T|, over the two-way table of people. T is the
truth, P has the shares of the values that the reader estimates for the people of each row of T (how well boxes tell
who has which x is another measure), and I has the margins of T and no relation. 100 % is the truth, 0 % the margins.
Numbers, dates and declared orders with many values are read in bands. Where the truth has no more relation than chance
makes, there is none to keep.

What all groups of cohorts show together about people who are alike is shown on purpose. So two more figures are stated:
how much a group read alone raises the odds of a value, and how much one's own group adds to what all others show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.kernels.arrays import Ints, Longs
from seriatim.model import TOP, CodedColumn, Draft, Generalised, Measure, View
from seriatim.model.methods import METHODS
from seriatim.model.policy import Policy
from seriatim.model.scale import FloatArray, IntArray
from seriatim.reading.joined import Cells, cells_of_codes, joined, own_part
from seriatim.reading.published_boxes import box_members
from seriatim.reading.relation import spread_labels

BANDS, CATEGORIES = 20, 60
"""So many bands of a column in order; of categories the most frequent ones, and all others as one."""
ROUNDS = 5
MOST_CELLS = 200_000
"""Of more cells an even sample is read: all their people, and nobody else's."""
HARDLY = 0.25
CHANCE = 1.5
"""A relation is one where the truth is farther from the margins than this many times what chance does."""


@dataclass(frozen=True, slots=True, eq=False)
class _Banded:
    """A column read in bands: the band of every code of its scale, and of every person."""

    name: str
    of_code: IntArray
    of_person: IntArray
    ranked: bool

    @property
    def size(self) -> int:
        return int(self.of_code.max(initial=-1)) + 1

    @classmethod
    def of(cls, column: CodedColumn) -> _Banded:
        counts = np.bincount(column.codes, minlength=len(column.scale)).astype(np.int64)
        ranked = column.scale.form == "interval" or column.scale.ranked
        if not ranked and len(counts) > CATEGORIES:
            place = np.empty(len(counts), dtype=np.int32)
            place[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
            of_code = np.minimum(place, CATEGORIES - 1)
        elif ranked and len(counts) > BANDS:
            # bands of about as many people each: a value belongs where the middle of its people lies
            middle = counts.cumsum() - counts / 2
            of_code = np.unique((middle * BANDS / max(len(column.codes), 1)).astype(np.int64), return_inverse=True)[1]
        else:
            of_code = np.arange(len(counts))
        of_code = of_code.astype(np.int32)
        return cls(column.name, of_code, of_code[column.codes], ranked)


def relation_kept(told: FloatArray, truth: FloatArray) -> float | None:
    """Return the share of the relation in a two-way table that what is told keeps; None if there is none to keep."""
    people = truth.sum()
    alone = np.outer(truth.sum(axis=1), truth.sum(axis=0)) / max(people, 1e-12)
    there = float(np.abs(alone - truth).sum())
    # sqrt(2 n / pi) is the mean distance of a count from n, where only chance moves it
    if there <= CHANCE * float(np.sqrt(2 * alone / np.pi).sum()):
        return None
    rows = told.sum(axis=1, keepdims=True)
    # a row about which nothing was told is guessed from the margins
    shares = np.where(rows > 0, told / np.maximum(rows, 1e-12), truth.sum(axis=0) / max(people, 1e-12))
    told = shares * truth.sum(axis=1, keepdims=True)
    return 1.0 - float(np.abs(told - truth).sum()) / there


def of_draft(view: View, draft: Draft) -> tuple[Measure, ...]:
    """Return how much of the relation a draft keeps, column by column; empty where none is or with noise."""
    wanted = [column for column in view.sensitive if column.name in draft.sensitive]
    if not view.quasi or not wanted or not (draft.grouping.group >= 0).any() or _noisy(view, draft):
        return ()
    quasi = [_Banded.of(column) for column in view.quasi]
    pairs: dict[str, dict[str, float | None]] = {}
    for column in wanted:
        values = _Banded.of(column)
        naive, all_joined = _told(view, draft, quasi, column, values)
        for each, alone, together in zip(quasi, naive, all_joined, strict=True):
            truth = _two_way(each, values)
            name = each.name if len(wanted) == 1 else f"{each.name}, {values.name}"
            pairs[name] = {"naive": relation_kept(alone, truth), "joined": relation_kept(together, truth)}
    kept = [one for one in pairs.values() if one["joined"] is not None]
    if not kept:
        return ()
    means = {reader: float(np.mean([one[reader] for one in kept])) for reader in ("naive", "joined")}
    return (Measure("relation_kept", means["joined"], "share", {"naive": means["naive"], "columns": pairs}),)


def remarks(measures: Sequence[Measure], draft: Draft) -> tuple[str, ...]:
    """Say if a table shows hardly more than how often each value occurs."""
    kept = [one for one in measures if one.name == "relation_kept"]
    if not kept or kept[0].value >= HARDLY:
        return ()
    groups = len(pc.unique(draft.groups.column("group"))) if draft.by_group else draft.grouping.n_groups
    told = f"relation kept {max(kept[0].value, 0.0):.0%}, number of groups {groups:,}"
    return (
        f"{told}: this table tells how often each value occurs and hardly how values go with columns; compare methods, "
        "or name the columns that matter in [defence] relation",
    )


def _noisy(view: View, draft: Draft) -> bool:
    """Return whether what is published are other values than those of the view, so that codes are not comparable."""
    shown = {column.name: len(column.scale) for column in view.sensitive}
    moved = any(len(draft.sensitive[name].scale) > size for name, size in shown.items() if name in draft.sensitive)
    known = {column.name: len(column.scale) for column in view.quasi}
    outside = any(one.high is not None and int(one.high.max(initial=0)) >= known[one.name] for one in draft.generalised)
    return moved or outside or "noise" in draft.counters


def _two_way(column: _Banded, values: _Banded) -> FloatArray:
    pairs = column.of_person.astype(np.int64) * values.size + values.of_person
    counts = np.bincount(pairs, minlength=column.size * values.size)
    return counts.reshape(column.size, values.size).astype(np.float64)


def _told(
    view: View, draft: Draft, quasi: Sequence[_Banded], column: CodedColumn, values: _Banded
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return the two-way table of every quasi column with the values, as each of the two readers estimates it."""
    cells = _cells(view, draft, quasi, column, values)
    ends = np.cumsum([one.size for one in quasi])[:-1]
    naive = np.split(cells.counts(), ends)
    sums, _ = joined([cells]).sums(np.eye(sum(one.size for one in quasi)))
    return naive, np.split(np.maximum(sums, 0.0), ends)


def _cells(view: View, draft: Draft, quasi: Sequence[_Banded], column: CodedColumn, values: _Banded) -> Cells:
    """Return what a reader sees: cells with their values, and boxes with the people and labels of each."""
    box = draft.grouping.group
    cell, value, n_cells = _slots(draft, column, values)
    labels, chances = _labels(view, draft, quasi)
    if n_cells > MOST_CELLS:
        place = np.full(n_cells, -1, dtype=np.int64)
        place[np.linspace(0, n_cells - 1, MOST_CELLS).astype(np.int64)] = np.arange(MOST_CELLS)
        cell, n_cells = np.where(cell >= 0, place[cell], -1), MOST_CELLS
    real = np.flatnonzero((box >= 0) & (cell[: len(box)] >= 0))
    if draft.buckets:
        # buckets publish everyone's columns as they are: each person is a box of their own
        box, labels = np.arange(len(box), dtype=np.int32), tuple(one.of_person for one in quasi)
    seen, people = np.unique(cell[real] * (int(box.max()) + 1) + box[real], return_counts=True)
    held = np.bincount(cell[cell >= 0] * values.size + value[cell >= 0], minlength=n_cells * values.size)
    outcomes = held.reshape(n_cells, values.size).astype(np.float64)
    share = outcomes.sum(axis=0) / max(outcomes.sum(), 1.0)
    return Cells(
        cell=(seen // (int(box.max()) + 1)).astype(np.int32),
        box=(seen % (int(box.max()) + 1)).astype(np.int32),
        people=people.astype(np.float64),
        labels=labels,
        chances=chances,
        ranked=tuple(one.ranked for one in quasi),
        outcomes=outcomes,
        slots=np.maximum(outcomes.sum(axis=1), 1e-12),
        variances=share * (1 - share),
    )


def _slots(draft: Draft, column: CodedColumn, values: _Banded) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the cell and band of every record, then of every counterfeit, and the number of cells; -1 is nowhere."""
    box = draft.grouping.group.astype(np.int64)
    if not draft.by_group:
        return box, values.of_person.astype(np.int64), draft.grouping.n_groups
    cell = pc.fill_null(draft.groups.column("group"), -1).to_numpy().astype(np.int64)
    n = len(box)
    texts = draft.groups.column(column.name).slice(n).cast(pa.string())
    codes = pc.fill_null(pc.index_in(texts, value_set=column.scale.texts.cast(pa.string())), -1).to_numpy()
    made_up = np.where(codes >= 0, values.of_code[codes], -1)
    # a counterfeit whose value nobody has holds no band, and counts nowhere
    cell[n:] = np.where(made_up >= 0, cell[n:], -1)
    known, numbers = np.unique(cell[cell >= 0], return_inverse=True)
    cell[cell >= 0] = numbers
    return cell, np.concatenate((values.of_person.astype(np.int64), made_up)), len(known)


def _labels(view: View, draft: Draft, quasi: Sequence[_Banded]) -> tuple[tuple[IntArray, ...], tuple[FloatArray, ...]]:
    """Return the label of each box in every column, and the chance of each band under each label."""
    if draft.buckets:
        return (), tuple(np.eye(one.size) for one in quasi)
    box = draft.grouping.group
    of_box = np.bincount(box[box >= 0], minlength=draft.grouping.n_groups)
    shown = {one.name: one for one in draft.generalised}
    labels, chances = [], []
    for column, banded in zip(view.quasi, quasi, strict=True):
        label = shown[column.name].label_of_group.astype(np.int32)
        n = len(shown[column.name].labels)
        sizes = _covered(shown[column.name], column, banded)
        people = np.bincount(label, of_box, n).astype(np.float64)
        labels.append(label)
        chances.append(spread_labels(sizes, np.zeros_like(sizes), people, ROUNDS))
    return tuple(labels), tuple(chances)


def _covered(shown: Generalised, column: CodedColumn, banded: _Banded) -> FloatArray:
    """Return how many values of each band a label covers, for each label."""
    n, size = len(shown.labels), banded.size
    each = np.eye(size)[banded.of_code]
    if shown.low is not None and shown.high is not None:
        label, first = np.unique(shown.label_of_group, return_index=True)
        upto = np.vstack((np.zeros(size), each.cumsum(axis=0)))
        out = np.ones((n, size))
        out[label] = upto[shown.high[first] + 1] - upto[shown.low[first]]
        return out
    place = {text: code for code, text in enumerate(column.scale.texts.to_pylist())}
    whole = each.sum(axis=0)
    out = np.empty((n, size))
    for at, text in enumerate(shown.labels):
        members = [place[one] for one in (box_members(text or "") or (text,)) if one in place]
        out[at] = each[members].sum(axis=0) if members and text != TOP else whole
    return out


COMMON = 0.05
"""A value that this share of the rows hold, or more, is common."""
JOINED_BANDS = 50
"""A column with more values is joined in so many bands of neighbours."""
FEWEST = 4
"""Fewer groups say nothing about each other."""
ALMOST = 0.99
"""The share of people whose own group adds at most the figure stated."""


def joined_group_measures(view: View, draft: Draft, policy: Policy) -> tuple[Measure, ...]:
    """Return the odds in a group, and what one's own group adds to what all others show."""
    row = METHODS.get(policy.defence.method) if policy.defence is not None else None
    if row is None or "blind" not in row.marks or len(view.sensitive) != 1 or not draft.table.num_rows:
        return ()
    common = {"values": f"with {COMMON:.0%} of the rows or more"}
    odds = Measure("odds_in_group", _odds_in_group(draft), "times", common)
    group = pc.fill_null(draft.groups.column("group").slice(0, len(view)), -1).to_numpy()
    inside = np.flatnonzero(group >= 0).astype(np.int64)
    cell, value = np.unique(group[inside], return_inverse=True)[1].astype(np.int32), _common(view.sensitive[0], inside)
    if cell.max(initial=-1) + 1 < FEWEST or not value.any():
        return (odds,)
    codes = [_banded(column, inside) for column in view.quasi]
    cells = cells_of_codes(codes, [column.scale.form == "interval" for column in view.quasi], cell, value)
    own = float(np.quantile(own_part(cells, joined([cells]).ridge), ALMOST))
    return (odds, Measure("own_part", own, "times", {**common, "people": f"{ALMOST:.0%}"}))


def _odds_in_group(draft: Draft) -> float:
    """Return how much more likely a common value is in a group than in the table, as odds; the table shows it."""
    shown = next(iter(draft.sensitive.values()))
    _, group = np.unique(draft.table.column("group").to_numpy(), return_inverse=True)
    held = np.zeros((int(group.max()) + 1, len(shown.scale)))
    np.add.at(held, (group, shown.codes), 1)
    base, inside = held.sum(axis=0) / held.sum(), held / held.sum(axis=1, keepdims=True)
    common = (base >= COMMON) & (base < 1)
    with np.errstate(divide="ignore"):
        odds = inside[:, common] / (1 - inside[:, common]) / (base[common] / (1 - base[common]))
    return float(odds.max(initial=1.0))


def _common(column: CodedColumn, inside: Longs) -> Ints:
    """Return the number of each person's value among the common ones, from 1; all others are one value, 0."""
    codes = column.codes[inside]
    counts = np.bincount(codes, minlength=len(column.scale))
    number = np.zeros(len(counts), dtype=np.int32)
    often = np.flatnonzero(counts >= COMMON * len(codes))
    number[often] = 1 + np.arange(len(often))
    return number[codes]


def _banded(column: CodedColumn, inside: Longs) -> Ints:
    n, codes = len(column.scale), column.codes[inside].astype(np.int64)
    bands = codes if n <= JOINED_BANDS else codes * JOINED_BANDS // n
    return np.unique(bands, return_inverse=True)[1].astype(np.int32)
