"""The made-up census: same seed same people, the churn that was asked for, families that leave together."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from seriatim_papers.worlds.census import DOMAINS, N_INCOMES, CensusChurn, census, census_releases


def test_people_are_in_their_domains_and_repeatable():
    people = census(5_000, 3)
    assert (people.quasi.min(axis=0) >= 0).all()
    assert (people.quasi.max(axis=0) < np.array(DOMAINS)).all()
    shares = np.bincount(people.income, minlength=N_INCOMES) / 5_000
    assert shares.argmax() == 0
    assert 1 / 10 < shares[0] < 1 / 6
    assert np.corrcoef(people.income, people.quasi[:, 2])[0, 1] > 0.1
    assert np.array_equal(people.quasi, census(5_000, 3).quasi)
    assert not np.array_equal(people.quasi, census(5_000, 4).quasi)


@pytest.mark.parametrize("departures", ["alone", "families", "wards"])
def test_churn(departures: str):
    churn = CensusChurn(2_000, 0.2, 5, departures, returning=0.3)
    people = census(churn.n_people, 1)
    series = census_releases(people, churn, 1)
    seen: set[int] = set()
    for before, after in itertools.pairwise(series):
        seen |= set(before.tolist())
        stayed = len(np.intersect1d(before, after))
        assert len(np.unique(after)) == len(after) == 2_000
        assert stayed >= 1_600
    back = [p for p in series[-1].tolist() if p in seen and p not in set(series[-2].tolist())]
    assert back


def test_wards_leave_together():
    churn = CensusChurn(4_000, 0.2, 2, "wards")
    people = census(churn.n_people, 1)
    first, second = census_releases(people, churn, 1)
    gone = np.setdiff1d(first, second)
    assert len(np.unique(people.ward[gone])) < 5
