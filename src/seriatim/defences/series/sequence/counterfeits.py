"""People left over stay in sight: a row with a counterfeit value takes their place in a neighbouring group.

JS-reduce's third answer to people whom no group can take (Riboni, Pareschi and Bettini, section 6.2): being dropped
tells something about them, being missed by nobody does not. The box of the group covers them, the value of their row is
drawn by the margin among those with which the group still keeps its promises, whatever they hold, and only the ledger
knows which rows are counterfeit. They count as withheld, so ``[defence] suppress`` is the cap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from seriatim.defences.labels import label_column
from seriatim.defences.series.sequence.blind_cuts import leaks_values_pass
from seriatim.kernels.arrays import Floats, Longs
from seriatim.kernels.series.belief_segments import SegmentRows, SegmentRules
from seriatim.knowledge._posterior import entropies_for_divergence
from seriatim.model import CodedColumn, Draft, Grouping, View
from seriatim.model.draft import TABLE

REACH = 6
"""Groups on either side along the curve that are asked."""
_ROUNDS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Counterfeits:
    """Where people left over are covered: positions along the order, the end of their group, and what they show."""

    position: Longs
    end: Longs
    value: Longs

    def __len__(self) -> int:
        return len(self.position)

    def kept(self, which: Longs) -> Counterfeits:
        return Counterfeits(self.position[which], self.end[which], self.value[which])


def groups_for_leftovers(
    rows: SegmentRows, rules: SegmentRules, end: Longs, most: int, chance: np.random.Generator
) -> Counterfeits:
    """Find a group for everyone left over, up to ``most`` of them; nobody if there are more, who would be refused."""
    none = np.empty(0, dtype=np.int64)
    left = np.flatnonzero(end < 0)
    if not len(left) or len(left) > most or len(left) == len(end):
        return Counterfeits(none, none, none)
    groups = _Segments.of(rows, end, len(rules.whole))
    found = []
    for at in left.tolist():
        for g in groups.near(at):
            fits = groups.fitting(g, rows, rules, at)
            if len(fits):
                # drawn as the table has them, so that the value says nothing about the person it stands for
                share = rules.whole[fits] / rules.whole[fits].sum()
                value = int(chance.choice(fits, p=share))
                groups.add(g, rows, at, value)
                found.append((at, int(groups.ends[g]), value))
                break
    made = np.array(found, dtype=np.int64).reshape(-1, 3)
    return _with_new_margin(Counterfeits(made[:, 0], made[:, 1], made[:, 2]), rows, rules, end)


def _with_new_margin(found: Counterfeits, rows: SegmentRows, rules: SegmentRules, end: Longs) -> Counterfeits:
    """Give up counterfeits whose group fails once the margin counts all of them."""
    n_values, placed = len(rules.whole), np.flatnonzero(end >= 0)
    for _ in range(_ROUNDS):
        value: Longs = np.concatenate((rows.value[placed].astype(np.int64), found.value))
        own = np.concatenate((end[placed], found.end))
        ends, group = np.unique(own, return_inverse=True)
        counts = np.zeros((len(ends), n_values), dtype=np.int64)
        np.add.at(counts, (group, value), 1)
        margin = rules._replace(whole=counts.sum(axis=0))
        broken = ends[[not leaks_values_pass(one, margin) for one in counts]]
        if not len(broken) or not len(found):
            return found
        less = np.flatnonzero(~np.isin(found.end, broken))
        # where groups without counterfeits break alone, only a margin without any helps
        found = found.kept(less if len(less) < len(found) else less[:0])
    return found.kept(np.empty(0, dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class _Segments:
    """The groups along the order, with running sums."""

    start: Longs
    ends: Longs
    counts: Longs
    sums: Floats
    entropy: Floats

    @classmethod
    def of(cls, rows: SegmentRows, end: Longs, n_values: int) -> _Segments:
        placed = np.flatnonzero(end >= 0)
        ends, first, group = np.unique(end[placed], return_index=True, return_inverse=True)
        counts, sums = np.zeros((len(ends), n_values), dtype=np.int64), np.zeros((len(ends), rows.beliefs.shape[1]))
        np.add.at(counts, (group, rows.value[placed]), 1)
        np.add.at(sums, group, rows.beliefs[placed].astype(np.float64))
        entropy = np.zeros(len(ends))
        np.add.at(entropy, group, rows.entropy[placed].astype(np.float64))
        return cls(placed[first], ends, counts, sums, entropy)

    def near(self, at: int) -> list[int]:
        """Return groups by their distance along the order."""
        after = int(np.searchsorted(self.start, at))
        here = np.arange(max(after - REACH, 0), min(after + REACH, len(self.start)))
        far = np.where(self.start[here] > at, self.start[here] - at, at + 1 - self.ends[here])
        found: list[int] = here[np.argsort(far, kind="stable")].tolist()
        return found

    def fitting(self, g: int, rows: SegmentRows, rules: SegmentRules, at: int) -> Longs:
        """Return the values with which a group keeps its promises if someone is added to it."""
        size = int(self.counts[g].sum()) + 1
        mixed = entropies_for_divergence(((self.sums[g] + rows.beliefs[at]) / size)[None, :])[0]
        if rules.j < 1e9 and mixed - (self.entropy[g] + rows.entropy[at]) / size > rules.j:
            return np.empty(0, dtype=np.int64)
        known = np.flatnonzero(rules.whole > 0)
        ones = np.eye(len(rules.whole), dtype=np.int64)
        return np.array([s for s in known.tolist() if leaks_values_pass(self.counts[g] + ones[s], rules)], dtype=int)

    def add(self, g: int, rows: SegmentRows, at: int, value: int) -> None:
        self.counts[g, value] += 1
        self.sums[g] += rows.beliefs[at]
        self.entropy[g] += rows.entropy[at]


def withhold_covered(draft: Draft, view: View, records: Longs, value: Longs, chance: np.random.Generator) -> Draft:
    """Return a draft in which these records, which their groups cover, are withheld behind rows with these values.

    A counterfeit row copies the plain cells of a random person of its group: nothing of the record is published.
    """
    group = draft.grouping.group.copy()
    covered = group[records].copy()
    group[records] = -1
    real = np.flatnonzero(group >= 0)
    donors = np.array([chance.choice(real[group[real] == g]) for g in covered.tolist()], dtype=np.int64)
    order = chance.permutation(len(real) + len(records))
    record, own = np.concatenate((real, donors))[order], np.concatenate((group[real], covered))[order]
    column = view.sensitive[0]
    codes = np.concatenate((column.codes[real], value)).astype(np.int32)
    holder = np.zeros(len(column.scale), dtype=np.int64)
    shown = np.flatnonzero(~view.suppressed)  # suppressed records have code 0, whatever their cell says
    holder[column.codes[shown]] = shown
    labels = {one.name: label_column(one, own) for one in draft.generalised}
    cells = {name: view.cells(name) for name in view.published_names() if name not in labels}
    names = list(view.published_names())
    columns = [
        labels[name]
        if name in labels
        else cells[name].take(pa.array(holder[codes[order]] if name == column.name else record))
        for name in names
    ]
    return replace(
        draft,
        files={**draft.files, TABLE: pa.table(columns, names=names)},
        sensitive={column.name: CodedColumn(column.name, codes[order], column.scale)},
        grouping=Grouping(group, draft.grouping.n_groups),
        groups=_with_rows_of_nobody(draft, group, covered, cells[column.name].take(pa.array(holder[value]))),
        counters={**draft.counters, "counterfeits": len(records)},
    )


def _with_rows_of_nobody(draft: Draft, group: np.ndarray, covered: np.ndarray, shown: pa.ChunkedArray) -> pa.Table:
    """Return release.groups with the records withheld, and a row for each counterfeit after them."""
    whole, n = draft.groups, len(covered)
    whole = whole.set_column(whole.column_names.index("group"), "group", pa.array(group, mask=group < 0))
    whole = whole.set_column(whole.column_names.index("suppressed"), "suppressed", pa.array(group < 0))
    known = {
        "respondent": pa.nulls(n, whole.schema.field("respondent").type),
        "group": pa.array(covered, whole.schema.field("group").type),
        "counterfeit": pa.array(np.ones(n, dtype=bool)),
        "suppressed": pa.array(np.zeros(n, dtype=bool)),
    }
    name = next(iter(draft.sensitive))
    added = {field.name: known.get(field.name, shown if field.name == name else None) for field in whole.schema}
    return pa.concat_tables([whole, pa.table(added).cast(whole.schema)])
