"""Refusals: what it says about leavers of a cohort that they had to wait.

``cohort`` gives leavers up all at once, where they and those who stay are fair, and anyone who knows it knows of those
who wait that they were not. How often each value occurs in a cell is public. So worlds are drawn from these counts
alone, and kept where the leavers had to wait whenever they did.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Flags, Floats, Ints, Longs
from seriatim.model.chance import open_chance
from seriatim.model.history import History
from seriatim.model.verdict import Estimate

COHORTS, RUNS, WORLDS = 40, 5, 1_000
"""Cohorts that are looked at, at most; repetitions for each, and worlds in each of these."""
STUDENT = 2.776
"""Half of a 95 % interval of the mean of five runs, in standard errors."""
TENTH = 1.1
"""A belief this many times its cap counts."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ExitRule:
    """When leavers of a cohort are given up: they and those who stay are enough, and no value is above its limit."""

    least: int
    limits: Callable[[int, int], Longs]
    """How many of each value some people may have: by the release's position in the history, and their number."""
    caps: Floats
    """The share of every value that a belief should not exceed."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RefusalBeliefs:
    """What is believed about people of cohorts whose leavers had to wait, by classes that nothing tells apart."""

    size: Longs
    waited: Flags
    belief: Floats
    """Class by value, given that the leavers did not go."""
    off: Floats
    """How far off that may be, 95 times in 100."""
    control: Floats
    """The same, sampled alike, of someone who does not know when leavers go."""
    caps: Floats
    n_refused: int
    """How often leavers who were enough had to wait, so that everyone knows that a value was too frequent."""
    n_unjudged: int
    """People of cohorts that were not looked at, or whose refusals too few worlds explain."""

    @property
    def estimate(self) -> Estimate:
        """Return the share of the people who had to wait about whom a belief is more than a tenth above its cap."""
        size, bar = np.where(self.waited, self.size, 0), TENTH * self.caps
        n = max(int(size.sum()), 1)
        share, low, high, control = (
            float(size[(found > bar).any(axis=1)].sum()) / n
            for found in (self.belief, self.belief - self.off, self.belief + self.off, self.control)
        )
        everyone = float(self.size[(self.belief > bar).any(axis=1)].sum()) / max(int(self.size.sum()), 1)
        detail = {
            "control": control,
            "worst_in_caps": float((self.belief / self.caps).max(initial=0.0)),
            "of_their_cohorts": everyone,
            "refused": self.n_refused,
            "unjudged": self.n_unjudged,
        }
        return Estimate("refused exits", share, low, high, n_people=int(size.sum()), detail=detail)


def refused_exits(history: History, rule: ExitRule, seed: int = 1, most: int = COHORTS) -> RefusalBeliefs:
    """Return what a series of cohorts reveals by not giving leavers up, where they go all at once or not at all.

    The truth only says which refusals another rule may have made: these are left out.
    """
    chance = open_chance(seed, "refused exits")
    cohorts, n_unjudged = _waiting_cohorts(history, rule, chance, most)
    found = []
    for cohort in cohorts:
        runs = [_drawn_worlds(cohort, chance, True) for _ in range(RUNS)]
        told = [run for run in runs if run is not None]
        if len(told) == RUNS:
            found.append((cohort, np.array(told), _drawn_worlds(cohort, chance, False)))
        else:
            n_unjudged += len(cohort.cell)
    shapes = np.empty((0, len(rule.caps)))
    return RefusalBeliefs(
        size=np.concatenate([np.empty(0, dtype=np.int64), *(cohort.sizes for cohort, _, _ in found)]),
        waited=np.concatenate([np.empty(0, dtype=np.bool_), *(cohort.waited for cohort, _, _ in found)]),
        belief=np.concatenate([shapes, *(runs.mean(axis=0) for _, runs, _ in found)]),
        off=np.concatenate([shapes, *(STUDENT * runs.std(axis=0, ddof=1) / RUNS**0.5 for _, runs, _ in found)]),
        control=np.concatenate([shapes, *(control for _, _, control in found if control is not None)]),
        caps=rule.caps,
        n_refused=sum(len(cohort.refusals) for cohort, _, _ in found),
        n_unjudged=n_unjudged,
    )


class _Refusal(NamedTuple):
    """A time when leavers had to wait: which classes they are, what their cohort held, and both limits."""

    classes: Ints
    standing: Longs
    of_leavers: Longs
    of_others: Longs


@dataclass(frozen=True, slots=True, eq=False)
class _WaitingCohort:
    """The slots of a cohort: their cell, and their class of people whom no cell and no refusal tells apart."""

    cell: Ints
    value: Ints
    of_class: Ints
    refusals: list[_Refusal]

    @property
    def sizes(self) -> Longs:
        return np.bincount(self.of_class)

    @property
    def waited(self) -> Flags:
        """Return which classes had to wait."""
        out = np.zeros(len(self.sizes), dtype=np.bool_)
        out[[one for refusal in self.refusals for one in refusal.classes]] = True
        return out


def _waiting_cohorts(
    history: History, rule: ExitRule, chance: np.random.Generator, most: int
) -> tuple[list[_WaitingCohort], int]:
    """Return some of the cohorts whose leavers had to wait though they were enough, and how many people of others."""
    if not history.releases or any(not {"lineage", "slot"} <= past.marks.keys() for past in history):
        return [], 0
    n_slots, n = (1 + max(int(past.marks[name].max(initial=-1)) for past in history) for name in ("slot", "lineage"))
    cohort, value, first, last = np.full((4, n_slots), -1, dtype=np.int64)
    enough = np.zeros(n, dtype=np.bool_)
    for at, past in enumerate(history):
        lasts = past.marks["slot"] >= 0  # people known by name have none
        slot, own = past.marks["slot"][lasts], past.marks["lineage"][lasts]
        first[slot[first[slot] < 0]] = at
        cohort[slot], value[slot], last[slot] = own, past.value[lasts], at
        left = np.bincount(own[past.person[lasts] < 0], minlength=n)
        enough |= (left >= rule.least) & (np.bincount(own, minlength=n) - left >= rule.least)
    order = np.argsort(cohort, kind="stable")
    starts = np.searchsorted(cohort[order], np.arange(n + 1))
    drawn = chance.permutation(np.flatnonzero(enough))
    slots = [order[starts[one] : starts[one + 1]] for one in drawn[:most]]
    told: list[list[tuple[int, Flags, Flags]]] = [[] for _ in slots]
    for at, past in enumerate(history):
        away = np.zeros(n_slots, dtype=np.bool_)
        away[past.marks["slot"][past.person < 0]] = True
        for mine, times in zip(slots, told, strict=True):
            there = (first[mine] <= at) & (at <= last[mine])
            if _refused(value[mine], away[mine], there, at, rule):
                times.append((at, away[mine], there))
    found = [
        _waiting_cohort(last[mine], value[mine], times, rule) for mine, times in zip(slots, told, strict=True) if times
    ]
    return found, int(sum(starts[one + 1] - starts[one] for one in drawn[most:]))


def _refused(value: Longs, away: Flags, there: Flags, at: int, rule: ExitRule) -> bool:
    """Return whether leavers waited since a value was too frequent, and not since they or the others were too few."""
    left, stay = value[away], value[there & ~away]
    if min(len(left), len(stay)) < rule.least:
        return False
    over = [np.bincount(part, minlength=len(rule.caps)) > rule.limits(at, len(part)) for part in (left, stay)]
    return bool(np.any(over))


def _waiting_cohort(last: Longs, value: Longs, told: list[tuple[int, Flags, Flags]], rule: ExitRule) -> _WaitingCohort:
    _, cell = np.unique(last, return_inverse=True)
    kinds, of_class = np.unique(np.column_stack([cell, *(away for _, away, _ in told)]), axis=0, return_inverse=True)
    refusals = [
        _Refusal(
            np.flatnonzero(kinds[:, 1 + number]).astype(np.int32),
            np.bincount(value[there], minlength=len(rule.caps)),
            rule.limits(at, int(away.sum())),
            rule.limits(at, int(there.sum() - away.sum())),
        )
        for number, (at, away, there) in enumerate(told)
    ]
    return _WaitingCohort(cell.astype(np.int32), value.astype(np.int32), of_class.ravel().astype(np.int32), refusals)


def _drawn_worlds(cohort: _WaitingCohort, chance: np.random.Generator, knowing: bool) -> Floats | None:
    """Return the share of each value in each class, over worlds in which every refusal happens; None if none is found.

    Classes are drawn when their people first have to wait. Worlds in which the leavers would have gone then are
    replaced by copies of others.
    """
    every, sizes, n_values = np.arange(WORLDS), cohort.sizes, len(cohort.refusals[0].standing)
    decks = [np.tile(cohort.value[cohort.cell == one], (WORLDS, 1)) for one in range(int(cohort.cell.max()) + 1)]
    taken = np.zeros(len(decks), dtype=np.int64)
    cell_of = np.zeros(len(sizes), dtype=np.int64)
    cell_of[cohort.of_class] = cohort.cell
    drawn = np.zeros((len(sizes), WORLDS, n_values), dtype=np.int32)
    done = np.zeros(len(sizes), dtype=np.bool_)
    for refusal in cohort.refusals:
        for one in refusal.classes[~done[refusal.classes]].tolist():
            deck, done[one] = decks[cell_of[one]], True
            for at in range(taken[cell_of[one]], taken[cell_of[one]] + sizes[one]):
                pick = at + (chance.random(WORLDS) * (deck.shape[1] - at)).astype(np.int64)
                drawn[one, every, deck[every, pick]] += 1
                deck[every, pick], deck[:, at] = deck[:, at], deck[every, pick]
            taken[cell_of[one]] += sizes[one]
        if not knowing:
            continue
        left = drawn[refusal.classes].sum(axis=0)
        over = (left > refusal.of_leavers) | (refusal.standing - left > refusal.of_others)
        kept = np.flatnonzero(over.any(axis=1))
        if not len(kept):
            return None
        again = chance.choice(kept, WORLDS)
        drawn, decks = drawn[:, again], [deck[again] for deck in decks]
    held = np.zeros((len(decks), n_values))
    np.add.at(held, (cohort.cell, cohort.value), 1)
    mean = drawn.mean(axis=1)
    np.subtract.at(held, cell_of[done], mean[done])
    mean[~done] = held[cell_of[~done]]  # those who never had to wait: one class in each cell
    return np.asarray(mean / sizes[:, None])
