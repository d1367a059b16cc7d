"""The parts of the study of JS-reduce: kinds of knowledge, cut points, query error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, Longs
from seriatim.knowledge.sequence_model import SequenceModel
from seriatim_papers.js_reduce import JsReduceRun
from seriatim_papers.worlds.patients import VALUES, PatientWeek

_SIDES = ((45, 30), (1, 2), (60, 30))


def js_reduce_part_corpus(weeks: list[PatientWeek], order: int, unseen: str = "backoff") -> SequenceModel:
    """Return knowledge mined from views: a corpus of others, or the defender's own (Algorithm 5)."""
    rows: dict[int, tuple[list[str], list[int], str]] = {}
    for number, week in enumerate(weeks):
        for person, value, cls in zip(week.person.tolist(), week.value.tolist(), week.cls.tolist(), strict=True):
            held = rows.setdefault(person, ([], [], str(cls)))
            held[0].append(VALUES[value])
            held[1].append(number)
    printed = unseen == "zero"
    return SequenceModel.mine(
        [row[0] for row in rows.values()],
        order,
        times=None if printed else [row[1] for row in rows.values()],
        classes=[row[2] for row in rows.values()],
        values=VALUES,
        unseen="zero" if printed else "backoff",
        denominators="printed" if printed else "continued",
    )


def js_reduce_part_past(weeks: list[PatientWeek], order: int) -> list[SequenceModel]:
    """Return what can be mined before each view from the earlier ones alone; before the first, its own shares."""
    return [js_reduce_part_corpus(weeks[: max(at, 1)], order) for at in range(len(weeks))]


def js_reduce_part_snapshot(model: SequenceModel) -> SequenceModel:
    """Return the knowledge of someone who knows no sequences: every step starts again from the prior."""
    return model.tempered(1.0)


@dataclass(frozen=True, slots=True)
class CutPoints:
    """What the ends of greedy groups say about their last people (the method is public)."""

    exposed: float
    """Share of groups that did not close one person earlier for their values."""
    before: float
    after: float
    """Mean confidence in the last person's value there: by the counts, and by knowing that the group was not closed."""


def js_reduce_part_cut_points(run: JsReduceRun, k: int, t: float) -> CutPoints:
    """Measure the leak of cut points: a group larger than k was not t-close without its last person.

    Cuts by k and by divergence use public facts and say nothing; only groups larger than k whose counts fail t without
    the last person are exposed.
    """
    exposed = groups = 0
    before, after = [], []
    for week, group in zip(run.weeks, run.groups, strict=True):
        whole = np.bincount(week.value, minlength=len(VALUES)).astype(np.int64)
        n = int(whole.sum())
        for g in range(int(group.max(initial=-1)) + 1):
            rows = np.flatnonzero(group == g)
            groups += 1
            counts = np.bincount(week.value[rows], minlength=len(VALUES)).astype(np.int64)
            size = len(rows) - 1
            held = np.flatnonzero(counts)
            fails = np.array([_off(counts, v, whole) > 2 * t * n * size for v in held.tolist()])
            if size < k or not fails.any() or fails.all():
                continue
            exposed += 1
            share = counts[held] / counts.sum()
            left = share * fails / (share * fails).sum()
            before.append(float((share * left).sum()))
            after.append(float((left * left).sum()))
    mean = (float(np.mean(before)), float(np.mean(after))) if before else (0.0, 0.0)
    return CutPoints(exposed / max(groups, 1), *mean)


def _off(counts: Longs, last: int, whole: Longs) -> int:
    """Return how far a group without one person of value ``last`` is from the whole, in whole numbers."""
    size, n = int(counts.sum()) - 1, int(whole.sum())
    less = counts.copy()
    less[last] -= 1
    return int(np.abs(less * n - whole * size).sum())


def js_reduce_part_suppression(run: JsReduceRun) -> float:
    """Return how far the values of dropped people are from those of the others (total variation); 0 if nobody is."""
    dropped, kept = np.zeros(len(VALUES)), np.zeros(len(VALUES))
    for week, group in zip(run.weeks, run.groups, strict=True):
        dropped += np.bincount(week.value[group < 0], minlength=len(VALUES))
        kept += np.bincount(week.value[group >= 0], minlength=len(VALUES))
    if not dropped.sum() or not kept.sum():
        return 0.0
    return float(np.abs(dropped / dropped.sum() - kept / kept.sum()).sum() / 2)


def js_reduce_part_query_error(run: JsReduceRun, selectivity: float, n_queries: int = 10_000) -> float:
    """Return the median relative error of random range counts over all releases (Figure 8b)."""
    rng = np.random.default_rng(11)
    sides = np.array([n for _, n in _SIDES])
    each = -(-n_queries // len(run.weeks))
    errors = [
        _range_errors(view, group, ranges_of_volume(sides, selectivity, each, rng), sides)
        for view, group in zip(run.weeks, run.groups, strict=True)
    ]
    return float(np.median(np.concatenate(errors)))


def ranges_of_volume(sides: Ints, volume: float, n: int, rng: np.random.Generator) -> tuple[Longs, Longs]:
    """Draw boxes with this share of the domain: one gender or both, and the rest from age and weight alike."""
    width = np.empty((n, 3), dtype=np.int64)
    width[:, 1] = rng.integers(1, 3, n)
    rest = np.minimum(volume * sides[1] / width[:, 1], 1.0) ** 0.5
    width[:, [0, 2]] = np.maximum(np.round(rest[:, None] * sides[[0, 2]]), 1)
    low = np.floor(rng.random((n, 3)) * (sides - width + 1)).astype(np.int64)
    return low, low + width


def _range_errors(view: PatientWeek, group: Longs, ranges: tuple[Longs, Longs], sides: Ints) -> Floats:
    codes = np.stack([view.age - 45, view.gender - 1, view.weight - 60], axis=1)
    counts = np.zeros(sides)
    np.add.at(counts, tuple(codes.T), 1.0)
    true, told = (_within(grid, *ranges) for grid in (counts, _spread_over_boxes(codes, group, sides)))
    there = true > 0.5
    errors: Floats = np.abs(told - true)[there] / true[there]
    return errors


def _spread_over_boxes(codes: Ints, group: Longs, sides: Ints) -> Floats:
    """Return how many people each cell has if those of a group are anywhere in its box."""
    grid = np.zeros(sides)
    for g in range(int(group.max(initial=-1)) + 1):
        own = codes[group == g]
        first, last = own.min(axis=0), own.max(axis=0) + 1
        grid[tuple(slice(a, b) for a, b in zip(first, last, strict=True))] += len(own) / (last - first).prod()
    return grid


def _within(grid: Floats, low: Longs, high: Longs) -> Floats:
    """Return the sum of a grid over many boxes, by sums up to every corner."""
    sums = np.pad(grid.cumsum(0).cumsum(1).cumsum(2), ((1, 0), (1, 0), (1, 0)))
    total = np.zeros(len(low))
    for corner in np.ndindex(2, 2, 2):
        at = np.where(np.array(corner) == 1, high, low)
        total += (-1) ** (3 - sum(corner)) * sums[at[:, 0], at[:, 1], at[:, 2]]
    return total
