"""What a single table needs beyond its cuts: records suppressed before, small groups joined after.

If all records together break a promise, no grouping can keep it, so some are suppressed first.

Neighbouring groups are joined until each has k people, since k records may belong to fewer people. Methods that cut by
records know nothing of people. If everyone has one record, nothing changes. Otherwise groups that are neighbours in the
order of the cuts are near each other, so joining them costs least. Joining two groups keeps every promise that both
keep (l, t and the likeness promises are about shares, which a join averages). Only entropy leakage, which also bounds
how even a class may be, can break by joining: the verdict would say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seriatim.defences.labels import LabelPieces
from seriatim.kernels.single import acceptance
from seriatim.kernels.single.acceptance import L_ENTROPY, L_RECURSIVE, ClassTests
from seriatim.model import CodedColumn, Policy, Thresholds, View
from seriatim.model.classes import class_text_codes
from seriatim.model.nearness import Nearness, has_distances, window_of, window_reach

_L_KINDS = {
    "distinct": acceptance.L_DISTINCT,
    "entropy": acceptance.L_ENTROPY,
    "recursive": acceptance.L_RECURSIVE,
}
_T_KINDS = {
    "equal": acceptance.T_EQUAL,
    "ordered": acceptance.T_ORDERED,
    "hierarchical": acceptance.T_HIERARCHICAL,
}


def class_tests(
    sensitive: tuple[CodedColumn, ...], per_column: Mapping[str, Thresholds], rows: npt.NDArray[np.bool_] | None = None
) -> ClassTests:
    """Return the tests every class must pass; the prior is the margin of ``rows``, those that will be published."""
    found: list[tuple[int, int, float, float]] = []
    windows = _Windows()
    for index, column in enumerate(sensitive):
        asked = per_column.get(column.name, Thresholds())
        if asked.l is not None:
            found.append((_L_KINDS[asked.l_kind], index, float(asked.l), float(asked.l_c or 0.0)))
        if asked.t is not None:
            declared = acceptance.DECLARED if column.scale.form == "set" else 0.0
            found.append((_T_KINDS[asked.t_distance], index, float(asked.t), declared))
        found.extend((kind, index, limit, second) for kind, limit, second in _further(column, asked))
        if has_distances(column.scale):
            found.extend((kind, index, limit, second) for kind, limit, second in windows.tests(column, asked))
    counts = [column.counts(rows) for column in sensitive]
    starts = [column.scale.starts.ravel() for column in sensitive]
    return ClassTests(
        np.array([test[0] for test in found], dtype=np.int64),
        np.array([test[1] for test in found], dtype=np.int64),
        np.array([test[2] for test in found], dtype=np.float64),
        np.array([test[3] for test in found], dtype=np.float64),
        _offsets([len(c) for c in counts]),
        np.concatenate(counts) if counts else np.zeros(0, dtype=np.int64),
        np.concatenate(starts) if starts else np.zeros(0, dtype=np.int32),
        _offsets([len(s) for s in starts]),
        np.array([column.scale.top for column in sensitive], dtype=np.int64),
        np.concatenate(windows.reach) if windows.reach else np.zeros(0, dtype=np.int64),
    )


class _Windows:
    """Tests about numbers: their windows, laid out flat for the kernel."""

    def __init__(self) -> None:
        self.reach: list[npt.NDArray[np.int64]] = []

    def tests(self, column: CodedColumn, asked: Thresholds) -> Iterator[tuple[int, float, float]]:
        """Yield kind, limit and the place of the windows in ``reach``."""
        hit = acceptance.HIT_CHANCE if asked.hit_chance_kind == "chance" else acceptance.HIT_LIFT
        for kind, limits in ((hit, asked.max_hit_chance_at), (acceptance.ENTROPY_AT, asked.min_entropy_at)):
            for text, limit in (limits or {}).items():
                yield kind, float(limit), float(self._place(window_of(text), column))

    def _place(self, near: Nearness, column: CodedColumn) -> int:
        place = sum(len(part) for part in self.reach)
        self.reach.append(window_reach(column.scale, near))
        return place


def _further(column: CodedColumn, asked: Thresholds) -> Iterator[tuple[int, float, float]]:
    """Yield kind, limit and second parameter of the tests beyond l and t."""
    beta = acceptance.BETA_ENHANCED if asked.beta_kind == "enhanced" else acceptance.BETA_BASIC
    limits = (
        (acceptance.ALPHA, asked.alpha_k),
        (beta, asked.beta),
        (acceptance.DELTA, asked.delta),
        (acceptance.DISTRIBUTION_LEAKAGE, asked.distribution_leakage),
        (acceptance.ENTROPY_LEAKAGE, asked.entropy_leakage),
    )
    for kind, limit in limits:
        if limit is not None:
            yield kind, float(limit), 0.0
    for value, (low, high) in (asked.value_bounds or {}).items():
        code = column.scale.texts.index(value).as_py()
        if code >= 0:  # the promise reports a value that does not occur
            yield acceptance.AT_LEAST, float(low), float(code)
            yield acceptance.AT_MOST, float(high), float(code)


def only_those(tests: ClassTests, which: npt.NDArray[np.bool_]) -> ClassTests:
    """Return only these tests."""
    return tests._replace(
        kinds=tests.kinds[which],
        columns=tests.columns[which],
        limits=tests.limits[which],
        seconds=tests.seconds[which],
    )


def whole_passes(tests: ClassTests, counts: npt.NDArray[np.int64], size: int) -> bool:
    """Return whether all records together pass: if they do not, no grouping can."""
    scratch = np.empty(2 * int(tests.offsets[-1]) + 2, dtype=np.float64)
    return bool(acceptance.passes_tests(tests, counts, size, scratch)) if size else True


def _offsets(lengths: list[int]) -> npt.NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(np.asarray(lengths, dtype=np.int64)))).astype(np.int64)


class TrimmedView(NamedTuple):
    """The records that are grouped, and the tests that every group must pass."""

    keep: npt.NDArray[np.bool_]
    tests: ClassTests


def trimmed_view(view: View, policy: Policy, chance: np.random.Generator) -> TrimmedView:
    """Return what a method groups by; with blind cuts everyone, and no test but k: the verdict judges l and t."""
    if policy.defence is not None and policy.defence.options.cuts == "blind":
        return TrimmedView(~view.suppressed, class_tests(view.sensitive, {}, ~view.suppressed))
    keep = publishable_records(view.sensitive, policy, view.suppressed, chance)
    return TrimmedView(keep, class_tests(view.sensitive, policy.terms.per_column, keep))


def publishable_records(
    sensitive: tuple[CodedColumn, ...], policy: Policy, withheld: npt.NDArray[np.bool_], chance: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Return which records can be published: the excess of a value too frequent for l is removed.

    The series' secret draws which records of a too frequent value go, so nobody can aim at them. What suppression
    cannot repair (fewer than k records, fewer than l values) stays as it is: the verdict then names the broken promise,
    unless the policy would rather publish nothing (suppress = 1).
    """
    terms, keep = policy.terms, ~withheld
    hopeless = np.zeros_like(keep) if policy.defence is not None and policy.defence.allowed >= 1 else keep.copy()
    if keep.sum() < terms.least_people:
        return hopeless
    # trimming one column changes the others, so a few rounds; each round only removes records
    for _ in range(len(sensitive) + 1):
        tests = class_tests(sensitive, terms.per_column, keep)
        if whole_passes(tests, tests.prior, int(keep.sum())):
            return keep if keep.sum() >= terms.least_people else hopeless
        for index, column in enumerate(sensitive):
            keep &= _within_cap(column, _cap(tests, index), keep, chance)
        if not keep.any():
            break
    return hopeless


def _cap(tests: ClassTests, index: int) -> int:
    """Return the largest count per value at which the column's diversity tests pass; 0 if there is none."""
    begin, end = int(tests.offsets[index]), int(tests.offsets[index + 1])
    mine = (tests.columns == index) & np.isin(tests.kinds, (L_ENTROPY, L_RECURSIVE))
    others = tests.kinds[tests.columns == index]
    counts = tests.prior[begin:end]
    only = tests._replace(
        kinds=tests.kinds[mine],
        columns=np.zeros(int(mine.sum()), dtype=np.int64),
        limits=tests.limits[mine],
        seconds=tests.seconds[mine],
        offsets=np.array([0, end - begin], dtype=np.int64),
        prior=counts,
    )
    if not len(others):
        return int(counts.max(initial=0))
    # a smaller cap passes whenever a larger one does: bisection finds the largest
    low, high = 0, int(counts.max(initial=0))
    while low < high:
        cap = (low + high + 1) // 2
        capped = np.minimum(counts, cap)
        if whole_passes(only, capped, int(capped.sum())):
            low = cap
        else:
            high = cap - 1
    return low


def _within_cap(
    column: CodedColumn, cap: int, keep: npt.NDArray[np.bool_], chance: np.random.Generator
) -> npt.NDArray[np.bool_]:
    within = np.ones_like(keep)
    counts = column.counts(keep)
    for value in np.flatnonzero(counts > cap):
        rows = np.flatnonzero(keep & (column.codes == value))
        # by the secret: nobody can aim at who goes
        within[chance.permutation(rows)[cap:]] = False
    return within


def with_enough_people(pieces: LabelPieces, view: View, k: int) -> LabelPieces:
    """Return the pieces, joined where one has fewer than k different respondents."""
    if view.respondent is None or view.once or k < 2 or pieces.n_groups < 2:
        return pieces
    person, names = class_text_codes(view.cells(view.respondent))
    if len(names) == len(person):
        return pieces
    return LabelPieces(pieces.order, bounds_with_enough_people(person[pieces.order], pieces.bounds, k))


def bounds_with_enough_people(
    person: npt.NDArray[np.int32], bounds: npt.NDArray[np.int64], k: int
) -> npt.NDArray[np.int64]:
    """Return some of the bounds, with k different people between any two; the outermost two if none suffice."""
    people = _people_by_piece(person, bounds)
    n_pieces = len(people)
    starts: list[int] = []
    place = 0
    while place < n_pieces:
        first, place = place, place + 1
        if people[first] >= k:
            starts.append(first)
            continue
        # one person may be in several pieces, so numbers of people do not add up
        inside = set(person[bounds[first] : bounds[place]].tolist())
        while len(inside) < k and (place < n_pieces or starts):
            if place < n_pieces and _rightwards(people, bounds, starts, first, place, k):
                inside.update(person[bounds[place] : bounds[place + 1]].tolist())
                place += 1
            else:
                last, first = first, starts.pop()
                inside.update(person[bounds[first] : bounds[last]].tolist())
        starts.append(first)
    return np.append(bounds[starts], bounds[-1])


def _rightwards(
    people: npt.NDArray[np.int64], bounds: npt.NDArray[np.int64], starts: list[int], first: int, place: int, k: int
) -> bool:
    """Return whether to join with the right neighbour: one that is short too, else the smaller one."""
    if not starts or people[place] < k:
        return True
    return bool(bounds[place + 1] - bounds[place] <= bounds[first] - bounds[starts[-1]])


def _people_by_piece(person: npt.NDArray[np.int32], bounds: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    n_pieces, n_people = len(bounds) - 1, int(person.max(initial=0)) + 1
    piece = np.repeat(np.arange(n_pieces, dtype=np.int64), np.diff(bounds))
    pairs = np.unique(piece * n_people + person)
    return np.bincount(pairs // n_people, minlength=n_pieces).astype(np.int64)
