"""Forecasts of people believed right with certainty: larger groups hold longer, and constant values need none."""

from __future__ import annotations

import numpy as np
from support.joint_chains import history_of_arrays

from seriatim.usecases.forecast.sure_people import sure_people_courses


def made(stay: float, n_people: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(6)
    value, values = rng.integers(0, 8, n_people), []
    for _ in range(3):
        value = np.where(rng.random(n_people) < stay, value, rng.integers(0, 8, n_people))
        values.append(value)
    place = np.arange(n_people)
    groups = [np.argsort(np.argsort(place + rng.normal(0, 4, n_people))) // 4 for _ in range(3)]
    return np.array(groups), np.array(values)


def test_larger_groups_hold_longer() -> None:
    history = history_of_arrays(*made(0.85), "abcdefgh")
    small, twice, large = sure_people_courses(history, 4, (0.05, 0.05))
    assert (small.k, twice.k, large.k) == (4, 8, 16)
    assert small.numbers == (4, 5, 6, 7)
    assert small.shares == tuple(sorted(small.shares))
    assert small.shares[-1] > large.shares[-1]
    assert small.breaks(0.01) is not None
    assert small.breaks(1.0) is None


def test_values_that_never_change_are_left_to_the_other_attacks() -> None:
    assert sure_people_courses(history_of_arrays(*made(1.0), "abcdefgh"), 4, (0.05, 0.05)) == ()
