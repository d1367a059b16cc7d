"""A made-up census: people with age, birthplace, education, gender and income, who join, leave and return.

It replaces the IPUMS extract of the Cor-Split paper (section 5): four quasi-identifiers, and fifty skewed income
classes that depend a little on age, education and gender. Nobody in it exists; equal seeds give equal people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from seriatim.model.chance import open_chance
from seriatim.model.scale import IntArray

N_AGES, N_BIRTHPLACES, N_EDUCATIONS, N_GENDERS, N_INCOMES = 75, 57, 14, 2, 50
QUASI = ("age", "birthplace", "education", "gender")
DOMAINS = (N_AGES, N_BIRTHPLACES, N_EDUCATIONS, N_GENDERS)
WARD_SIZE = 400

LongArray = npt.NDArray[np.int64]
Departures = Literal["alone", "families", "wards"]


@dataclass(frozen=True, slots=True, eq=False)
class CensusPeople:
    """Everyone who will ever appear; a person is a row number."""

    quasi: IntArray
    """Age minus 16, birthplace, education, gender: one column each."""
    income: IntArray
    family: IntArray
    ward: IntArray
    domains: tuple[int, ...] = DOMAINS
    """How many values each column of ``quasi`` may have."""
    n_values: int = N_INCOMES

    def __len__(self) -> int:
        return len(self.income)


@dataclass(frozen=True, slots=True)
class CensusChurn:
    """How a table changes: its size, the share that leaves before each release, and who joins instead."""

    size: int
    share: float
    releases: int
    departures: Departures = "alone"
    """Whether people leave alone, with their family, or with their whole ward."""
    returning: float = 0.0
    """Share of each release's arrivals drawn from people who left before, if there are any."""

    @property
    def n_people(self) -> int:
        """Return how many people are enough for every arrival to be new."""
        return self.size + (self.releases - 1) * round(self.size * self.share)


FAST_CHURN = CensusChurn(60_000, 0.33, 24)
SLOW_CHURN = CensusChurn(200_000, 0.10, 21)


def census(n: int, seed: int) -> CensusPeople:
    """Return ``n`` people. Neighbours in number are family: they share ward and mostly birthplace."""
    chance = open_chance(seed, "census")
    family = np.cumsum(chance.random(n) < 0.4).astype(np.int32)
    n_families = int(family[-1]) + 1 if n else 0
    ward_of_family = np.arange(n_families) * 5 // (2 * WARD_SIZE)
    home = _skewed(chance, N_BIRTHPLACES, 1.1, n_families)
    moved = chance.random(n) < 0.25
    birthplace = np.where(moved, _skewed(chance, N_BIRTHPLACES, 0.9, n), home[family])
    gender = chance.integers(0, N_GENDERS, n)
    age = np.minimum(chance.beta(1.3, 2.0, n) * N_AGES, N_AGES - 1).astype(np.int64)
    schooling = 6.0 + 0.02 * (40 - age) + chance.normal(0, 2.6, n)
    education = np.clip(np.rint(schooling), 0, N_EDUCATIONS - 1).astype(np.int64)
    means = 0.14 * (education - 6) - ((age - 32) / 40.0) ** 2 + 0.25 * gender + chance.normal(0, 1.2, n)
    quasi = np.column_stack([age, birthplace, education, gender]).astype(np.int32)
    return CensusPeople(quasi, _income(means), family, ward_of_family[family].astype(np.int32))


def census_releases(people: CensusPeople, churn: CensusChurn, seed: int) -> list[LongArray]:
    """Return who is present in each release, in a random order."""
    chance = open_chance(seed, "churn")
    unused = _Unseen(
        chance.permutation(len(people)) if churn.departures == "alone" else _by_unit(people, churn, chance)
    )
    present = unused(churn.size)
    away = np.empty(0, dtype=np.int64)
    out = [chance.permutation(present)]
    for _ in range(churn.releases - 1):
        leaving = _leavers(people, churn, present, chance)
        n_back = min(round(churn.returning * leaving.sum()), len(away))
        back = chance.permutation(len(away)) < n_back
        arrivals = np.concatenate((away[back], unused(int(leaving.sum()) - n_back)))
        away = np.concatenate((away[~back], present[leaving]))
        present = np.concatenate((present[~leaving], arrivals))
        out.append(chance.permutation(present))
    return out


class _Unseen:
    """The people nobody has seen yet, in order."""

    def __init__(self, order: LongArray) -> None:
        self.order, self.at = order, 0

    def __call__(self, n: int) -> LongArray:
        self.at += n
        return self.order[self.at - n : self.at]


def _unit(people: CensusPeople, churn: CensusChurn) -> IntArray:
    return people.family if churn.departures == "families" else people.ward


def _by_unit(people: CensusPeople, churn: CensusChurn, chance: np.random.Generator) -> LongArray:
    """Return an order in which families or wards also arrive together."""
    unit = _unit(people, churn)
    rank = chance.permutation(int(unit.max()) + 1 if len(unit) else 0)
    return np.argsort(rank[unit], kind="stable").astype(np.int64)


def _leavers(
    people: CensusPeople, churn: CensusChurn, present: LongArray, chance: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Draw exactly the churn's share, whole units in order, the last one cut."""
    n_leaving = round(len(present) * churn.share)
    if churn.departures == "alone":
        return np.asarray(chance.permutation(len(present)) < n_leaving)
    unit = _unit(people, churn)
    rank = chance.permutation(int(unit.max()) + 1)
    leaving = np.zeros(len(present), dtype=np.bool_)
    leaving[np.argsort(rank[unit[present]], kind="stable")[:n_leaving]] = True
    return leaving


def _skewed(chance: np.random.Generator, n_values: int, power: float, n: int) -> LongArray:
    return np.searchsorted(_shares(n_values, power).cumsum()[:-1], chance.random(n), side="right").astype(np.int64)


def _shares(n_values: int, power: float) -> npt.NDArray[np.float64]:
    weights = np.arange(1, n_values + 1, dtype=np.float64) ** -power
    return np.asarray(weights / weights.sum())


def _income(means: npt.NDArray[np.float64]) -> IntArray:
    """Return skewed classes in order of means: the poorest class is the largest, with 12 % of all."""
    rank = np.empty(len(means))
    rank[np.argsort(means, kind="stable")] = (np.arange(len(means)) + 0.5) / max(len(means), 1)
    return np.searchsorted(_shares(N_INCOMES, 0.7).cumsum()[:-1], rank, side="right").astype(np.int32)
