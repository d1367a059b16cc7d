"""Forecasts how many people will be inferred with certainty, where values change, and which k would hold.

The ledger keeps who shared a group with whom, not their quasi-identifiers. People of the newest release are put in
line, group by group; in each made-up release some leave, others join, values move by the history's own steps, and the
line, slightly shuffled, is cut into groups of k. The sequence attack then looks back over the real and made-up
releases.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from seriatim.attacks.belief_figures import sequence_figures
from seriatim.attacks.sequence_knowledge import MOST_VALUES, sequence
from seriatim.kernels.arrays import Floats, Ints
from seriatim.knowledge.appearances import appearances_of
from seriatim.knowledge.sequence_model import SequenceModel
from seriatim.knowledge.sequential_adversary import SequentialAdversary
from seriatim.model.chance import open_chance
from seriatim.model.history import History, PastRelease

SEED = 20_263
_TIMES = (1, 2, 4)


@dataclass(frozen=True, slots=True)
class CertaintyCourse:
    """One size of groups, and the share of people inferred with certainty after each made-up release."""

    k: int
    numbers: tuple[int, ...]
    shares: tuple[float, ...]
    before: float = 0.0
    """The share already inferred from the real releases alone."""

    def breaks(self, allowed: float) -> int | None:
        """Return the release at which more than this share would be inferred; None if it holds."""
        return next((n for n, share in zip(self.numbers, self.shares, strict=True) if share > allowed), None)


def for_each_size(
    history: History, releases: int, churn: tuple[float, float], known: SequentialAdversary | None = None
) -> tuple[CertaintyCourse, ...]:
    """Return a course for the usual size of groups, for twice and four times it.

    None where values never change, or where nobody is followed (:func:`n_unfollowed`).
    """
    if not len(history) or _too_many(history, known):
        return ()
    known = _until(known or SequentialAdversary(), history, releases)
    rows = appearances_of(history, known.times_of(past.number for past in history))
    if not rows.changed():
        return ()
    model = known.model_for(rows, history)
    usual = max(int(np.median(rows.groups.sizes)), 2)
    today = sequence_figures(sequence(history, known, "back")).sure.share
    courses = (_course(history, releases, churn, usual * times, model, known) for times in _TIMES)
    return tuple(replace(course, before=today) for course in courses)


def _until(known: SequentialAdversary, history: History, releases: int) -> SequentialAdversary:
    """Return the adversary with times for the releases to come, as far apart as usual."""
    missing = history.releases[-1].number + releases - len(known.times or ())
    if not known.times or missing <= 0:
        return known
    step = max(round(float(np.median(np.diff(known.times)))), 1) if len(known.times) > 1 else 1
    later = [known.times[-1] + step * (at + 1) for at in range(missing)]
    return replace(known, times=(*known.times, *later))


def n_unfollowed(history: History, known: SequentialAdversary | None = None) -> int:
    """Count the people who changed their value and are not followed, since there are too many values to learn from."""
    return appearances_of(history).changed() if _too_many(history, known) else 0


def _too_many(history: History, known: SequentialAdversary | None) -> bool:
    """Return whether the steps between values would be learnt from next to nothing, and nobody gave them."""
    return (known is None or known.model is None) and len(history.values) > MOST_VALUES


def _course(
    history: History,
    releases: int,
    churn: tuple[float, float],
    k: int,
    model: SequenceModel,
    known: SequentialAdversary,
) -> CertaintyCourse:
    chance = open_chance(SEED, f"sure {k}")
    line = _Line.of(history)
    pasts, last = list(history.releases), history.releases[-1].number
    for step in range(1, releases + 1):
        line = line.moved(churn, model, chance)
        place = np.argsort(np.arange(len(line.person)) + chance.normal(0.0, k / 2, len(line.person)))
        n_groups = max(len(place) // k, 1)
        group = np.empty(len(place), dtype=np.int32)
        group[place] = np.minimum(np.arange(len(place)) // k, n_groups - 1)
        pasts.append(PastRelease(last + step, person=line.person, group=group, value=line.value))
    ids = [*history.respondents.cast(pa.string()).to_pylist()]
    ids += [f"made up {i}" for i in range(line.next_person - len(ids))]
    whole = History(pa.array(ids), history.values, tuple(pasts))
    found = sequence_figures(sequence(whole, known, "back"))
    shares = tuple(n / max(found.n_people, 1) for n in found.sure_by_release[len(history) :])
    return CertaintyCourse(k, tuple(range(last + 1, last + releases + 1)), shares)


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """People in line, neighbours near each other, with their current values."""

    person: Ints
    value: Ints
    next_person: int

    @classmethod
    def of(cls, history: History) -> _Line:
        newest = history.releases[-1]
        real = np.flatnonzero(newest.person >= 0)
        order = real[np.argsort(newest.group[real], kind="stable")]
        return cls(newest.person[order], newest.value[order], len(history.respondents))

    def moved(self, churn: tuple[float, float], model: SequenceModel, chance: np.random.Generator) -> _Line:
        """Return the line a release later."""
        leaving, joining = churn
        stays = chance.random(len(self.person)) >= leaving
        person, value = self.person[stays], self.value[stays]
        value = _drawn(model.value_level[value], chance)
        n_new = round(joining * len(self.person))
        fresh = np.arange(self.next_person, self.next_person + n_new, dtype=np.int32)
        at = np.sort(chance.integers(0, len(person) + 1, n_new))
        drawn = _drawn(np.tile(model.margin, (n_new, 1)), chance)
        return _Line(np.insert(person, at, fresh), np.insert(value, at, drawn), self.next_person + n_new)


def _drawn(chances: Floats, chance: np.random.Generator) -> Ints:
    total = chances.cumsum(axis=1)
    drawn = chance.random(len(chances))[:, None] * total[:, -1:]
    found: Ints = np.minimum((drawn >= total).sum(axis=1), chances.shape[1] - 1).astype(np.int32)
    return found
