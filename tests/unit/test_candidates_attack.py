"""Candidates: the values possible after some releases are those of all worlds that fit them."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.attacks import candidates
from seriatim.model.candidate_values import candidates_remembered
from seriatim.model.history import History, PastRelease


def history_of(groups: list[list[int]], value: list[int], n_values: int) -> History:
    """Return releases in which everyone has a group, -1 for being absent."""
    releases = []
    for number, group in enumerate(groups, 1):
        person = np.flatnonzero(np.array(group) >= 0).astype(np.int32)
        _, own = np.unique(np.array(group)[person], return_inverse=True)
        releases.append(
            PastRelease(
                number, person=person, group=own.astype(np.int32), value=np.array(value, dtype=np.int32)[person]
            )
        )
    names = pa.array([f"p{i}" for i in range(len(value))])
    return History(names, pa.array([f"v{i}" for i in range(n_values)]), tuple(releases))


def by_enumeration(groups: list[list[int]], value: list[int], n_values: int) -> list[set[int]]:
    """Return the values of everyone over all worlds that fit."""

    def shown(world: tuple[int, ...]) -> list[list[tuple[int, int]]]:
        return [sorted((g, v) for g, v in zip(group, world, strict=True) if g >= 0) for group in groups]

    truth = shown(tuple(value))
    found: list[set[int]] = [set() for _ in value]
    for world in itertools.product(range(n_values), repeat=len(value)):
        if shown(world) == truth:
            for who, held in enumerate(world):
                found[who].add(held)
    return found


@st.composite
def small_series(draw: st.DrawFn) -> tuple[list[list[int]], list[int], int]:
    n, n_values = draw(st.integers(3, 7)), draw(st.integers(2, 3))
    value = draw(st.lists(st.integers(0, n_values - 1), min_size=n, max_size=n))
    group = st.lists(st.integers(-1, 2), min_size=n, max_size=n)
    return [[0] * n, *draw(st.lists(group, min_size=1, max_size=3))], value, n_values


@settings(max_examples=25, deadline=None)
@given(small_series())
def test_candidates_are_those_of_all_worlds(series: tuple[list[list[int]], list[int], int]) -> None:
    groups, value, n_values = series
    found = candidates(history_of(groups, value, n_values))
    sets = [set(np.flatnonzero(row).tolist()) for row in found.flags(pa.array([f"v{i}" for i in range(n_values)]))]
    own = found.sets_of(pa.array([f"p{i}" for i in range(len(value))]))
    assert [sets[at] for at in own] == by_enumeration(groups, value, n_values)


@pytest.fixture
def crossed() -> History:
    """Return two releases: a and b share a group twice; c is with d, then with e, and both hold what c does not."""
    return history_of([[0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 1, 2]], [0, 1, 0, 1, 1, 2], 3)


def test_known_by_hand(crossed: History) -> None:
    found = candidates(crossed)
    # release 1: {a, b} = {0, 1}, {c, d} = {0, 1}, {e, f} = {1, 2}; release 2: {c, e} = {0, 1}, {d, f} = {1, 2}
    # d is 0 or 1, and 1 or 2: so 1; then c is 0, e is 1, f is 2. Nothing tells a from b.
    assert found.known.to_pylist() == ["p2", "p3", "p4", "p5"]
    assert found.sizes.tolist() == [2, 2, 1, 1, 1, 1]
    assert found.until == 2


def test_a_ledger_gives_back_what_it_remembers(crossed: History) -> None:
    found = candidates(crossed)
    again = candidates_remembered(found.table())
    people = pa.array(["p0", "p3", "stranger"])
    domain = pa.array(["v2", "v0", "v1", "new"])
    assert again.until == 2
    for one in (found, again):
        flags = one.flags(domain)[one.sets_of(people)]
        assert flags.tolist() == [[False, True, True, False], [False, False, True, False], [True] * 4]
    assert again.known.to_pylist() == found.known.to_pylist()


def test_whoever_holds_another_value_now_may_hold_any(crossed: History) -> None:
    found = candidates(crossed).anew(pa.array(["p3"]))
    assert "p3" not in found.known.to_pylist()
    assert found.flags(pa.array(["v0", "v1", "v2"]))[found.sets_of(pa.array(["p3"]))].all()
