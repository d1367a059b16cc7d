"""The people of a forecast: they join and leave as people did so far, and newcomers resemble published people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.defences.series.contract import SerialPriors, SerialView
from seriatim.errors import Fault, InputError
from seriatim.model import History, PastRelease, PriorSets, Scale, scale_of

_POINTS = 64


def drawn_churn(history: History) -> tuple[float, float]:
    """Return the mean shares of people who leave and who join between two releases."""
    if len(history) < 2:
        found = f"{len(history)} releases"
        raise InputError(Fault("forecast", found, "at least 2, to see who joins and leaves", "publish once more"))
    left, came = [], []
    for before, after in zip(history.releases, history.releases[1:], strict=False):
        old, new = before.person[before.person >= 0], after.person[after.person >= 0]
        left.append(1 - np.isin(old, new).mean() if len(old) else 0.0)
        came.append((~np.isin(new, old)).sum() / max(len(old), 1))
    return float(np.mean(left)), float(np.mean(came))


def drawn_changes(history: History) -> float:
    """Return the mean share of people in two releases in a row whose value changed between them."""
    held = np.full(len(history.respondents), -1, dtype=np.int64)
    changed = []
    for before, after in zip(history.releases, history.releases[1:], strict=False):
        held[:] = -1
        real = before.person >= 0
        held[before.person[real]] = before.value[real]
        who, value = after.person[after.person >= 0], after.value[after.person >= 0]
        both = held[who] >= 0
        changed.append(float((held[who[both]] != value[both]).mean()) if both.any() else 0.0)
    return float(np.mean(changed))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DrawnCrowd:
    """Everyone ever published, with their possible values: newcomers are drawn from them."""

    margin: npt.NDArray[np.int64]
    """Indices of people, once for every time they were published."""
    value: npt.NDArray[np.int32]
    prior: npt.NDArray[np.int32]
    """The number of each person's set of possible values."""
    possible: npt.NDArray[np.bool_]
    """possible[set, value]"""
    sets: tuple[frozenset[object], ...]
    """The same as sets, and the first for people who may have any value."""
    priors: dict[object, frozenset[object]] | None
    """The possible values by respondent id, for attacks on the real history."""
    values: pa.Array

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Return for each set whether it is one value, so that the attacker knows its people."""
        return np.array([len(held) == 1 < self.possible.shape[1] for held in self.sets])


def drawn_crowd(history: History, priors: PriorSets | None) -> DrawnCrowd:
    n, domain = len(history.respondents), history.values.to_pylist()
    value = np.full(n, -1, dtype=np.int32)
    for past in history:
        value[past.person[past.person >= 0]] = past.value[past.person >= 0]
    margin = np.concatenate([past.person[past.person >= 0] for past in history]).astype(np.int64)
    named = priors.of_history(history) if priors else {}
    kinds = list(dict.fromkeys(named.values()))
    flags = [np.ones(len(domain), dtype=np.bool_), *(np.array([v in kind for v in domain]) for kind in kinds)]
    number = {kind: at for at, kind in enumerate(kinds, 1)}
    prior = np.array([number[named[who]] if who in named else 0 for who in history.respondents.to_pylist()])
    return DrawnCrowd(
        margin=margin,
        value=value,
        prior=prior.astype(np.int32),
        possible=np.array(flags),
        sets=(frozenset(domain), *kinds),
        priors=named or None,
        values=history.values,
    )


@dataclass(slots=True, kw_only=True)
class DrawnWorld:
    """The people of the forecast; each newcomer copies the value and prior of someone who was published."""

    person: npt.NDArray[np.int64]
    value: npt.NDArray[np.int32]
    """The value of everyone ever, by person; ``prior`` and ``points`` are by person too."""
    prior: npt.NDArray[np.int32]
    points: npt.NDArray[np.int32]
    chance: np.random.Generator
    crowd: DrawnCrowd

    def next(self, leaving: float, joining: float, changing: float = 0.0) -> None:
        stay = self.chance.random(len(self.person)) >= leaving
        if changing:
            other = self.person[stay][self.chance.random(int(stay.sum())) < changing]
            other = other[~self.crowd.known[self.prior[other]]]
            self.value[other] = self.crowd.value[self.chance.choice(self.crowd.margin, len(other))]
        n_new = round(joining * len(self.person))
        first = len(self.value)
        like = self.chance.choice(self.crowd.margin, n_new) if n_new else np.empty(0, dtype=np.int64)
        self.person = np.concatenate((self.person[stay], np.arange(first, first + n_new)))
        self.value = np.concatenate((self.value, self.crowd.value[like]))
        self.prior = np.concatenate((self.prior, self.crowd.prior[like]))
        fresh = self.chance.integers(0, _POINTS, (n_new, 2), dtype=np.int32)
        self.points = np.concatenate((self.points, fresh))

    def view(self) -> SerialView:
        n_values = self.crowd.possible.shape[1]
        scale: Scale = scale_of("interval", pa.array([str(i) for i in range(_POINTS)]), np.arange(float(_POINTS)))
        value = self.value[self.person]
        priors = None
        if len(self.crowd.possible) > 1:
            priors = SerialPriors(self.prior[self.person], self.crowd.possible, self.crowd.known)
        return SerialView(
            quasi=self.points[self.person],
            scales=(scale, scale),
            sensitive=value,
            n_values=n_values,
            person=self.person,
            priors=priors,
        )

    def history(self, pasts: Sequence[PastRelease]) -> History:
        """Return the history of these releases, with people named by number."""
        return History(pa.array(range(len(self.value))), self.crowd.values, tuple(pasts))

    def priors(self) -> dict[object, frozenset[object]] | None:
        if len(self.crowd.possible) == 1:
            return None
        return {who: self.crowd.sets[at] for who, at in enumerate(self.prior.tolist()) if at}


def drawn_world(history: History, chance: np.random.Generator, crowd: DrawnCrowd) -> DrawnWorld:
    last = history.releases[-1]
    points = chance.integers(0, _POINTS, (len(history.respondents), 2), dtype=np.int32)
    person = last.person[last.person >= 0].astype(np.int64)
    return DrawnWorld(
        person=person, value=crowd.value.copy(), prior=crowd.prior, points=points, chance=chance, crowd=crowd
    )
