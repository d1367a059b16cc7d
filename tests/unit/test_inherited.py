"""What a method inherits from releases of another one, by hand and against enumeration."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.attacks import candidates, complete_share, prepare
from seriatim.defences.series.cohort.newcomers import newcomer_pools
from seriatim.defences.series.contract import SerialView
from seriatim.defences.series.inherited import NewcomerSwaps, SlotsHeld, ValuesLeft, groups_to_keep, short_records
from seriatim.model.history import History, PastRelease


def view_of(value: list[int], possible: list[list[int]], known: set[int] = frozenset()) -> SerialView:  # type: ignore[assignment]
    """Return a view of people with these values, each with a list of the values left to them."""
    n, n_values = len(value), max(value) + 1
    flags = np.array([[v in left for v in range(n_values)] for left in possible])
    people = np.array([who in known for who in range(n)])
    inherited = ValuesLeft(np.arange(n, dtype=np.int32), flags, people)
    quasi = np.zeros((n, 0), dtype=np.int32)
    return SerialView(
        quasi=quasi,
        scales=(),
        sensitive=np.array(value, dtype=np.int32),
        n_values=n_values,
        person=np.arange(n),
        inherited=inherited,
    )


def standing(group: list[int], value: list[int], record: list[int]) -> SlotsHeld:
    return SlotsHeld(np.array(group), np.array(value, dtype=np.int32), np.array(record, dtype=np.int32))


ALL = [0, 1, 2, 3]


def test_newcomers_of_one_value_change_places() -> None:
    # record 0 can hold 0 or 3, and 3 is in the other group only; record 4 has the same value and may hold anything
    value = [0, 1, 2, 1, 0, 3]
    view = view_of(value, [[0, 3], ALL, ALL, ALL, ALL, ALL])
    places = standing([0, 0, 0, 1, 1, 1], value, [0, 1, 2, 3, 4, 5])
    assert short_records(view, places, 2).tolist() == [0]
    place = np.zeros((6, 1), dtype=np.float32)
    left = NewcomerSwaps(view, 2, place, places, np.ones(6, dtype=np.bool_)).settle()
    assert not len(left)
    assert places.record.tolist() == [4, 1, 2, 3, 0, 5]
    assert not len(short_records(view, places, 2))


def test_whom_no_place_suits_is_returned() -> None:
    value = [0, 1, 2, 1, 2, 3]
    view = view_of(value, [[0, 3], ALL, ALL, ALL, ALL, ALL])
    places = standing([0, 0, 0, 1, 1, 1], value, [0, 1, 2, 3, 4, 5])
    left = NewcomerSwaps(view, 2, np.zeros((6, 1), dtype=np.float32), places, np.ones(6, dtype=np.bool_)).settle()
    assert left.tolist() == [0]


def test_somebody_who_waits_takes_the_place() -> None:
    value = [0, 1, 2, 0]
    view = view_of(value, [[0, 3], ALL, ALL, ALL])
    view = SerialView(
        quasi=view.quasi,
        scales=(),
        sensitive=view.sensitive,
        n_values=4,
        person=view.person,
        inherited=ValuesLeft(
            np.arange(4, dtype=np.int32),
            np.array([[v in left for v in ALL] for left in ([0, 3], ALL, ALL, ALL)]),
            np.zeros(4, dtype=np.bool_),
        ),
    )
    places = standing([0, 0, 0], [0, 1, 2], [0, 1, 2])
    left = NewcomerSwaps(view, 2, np.zeros((4, 1), dtype=np.float32), places, np.ones(4, dtype=np.bool_)).settle()
    assert not len(left)
    assert places.record.tolist() == [3, 1, 2]


def test_known_people_are_a_pool_of_their_own() -> None:
    view = view_of([0, 1, 0, 1], [[0], ALL, ALL, [1]], {0, 3})
    pools = newcomer_pools(view, np.ones(4, dtype=np.bool_))
    assert [pool.tolist() for pool in pools] == [[1, 2], [0, 3]]


def test_a_slot_that_somebody_needs_stays() -> None:
    # the counterfeit of value 3 is all that keeps record 0 from being certain
    view = view_of([0, 1, 2, 3], [[0, 3], ALL, ALL, ALL])
    places = standing([0, 0, 0, 0, 1], [0, 1, 2, 3, 3], [0, 1, 2, -1, 3])
    gone = np.array([False, False, False, True, False])
    assert groups_to_keep(view, places, gone, 2).tolist() == [True, False]
    assert groups_to_keep(view, places, np.zeros(5, dtype=np.bool_), 2).tolist() == [False, False]


@st.composite
def small_take_over(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    n = draw(st.integers(4, 8))
    value = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    old = draw(st.lists(st.lists(st.integers(0, 2), min_size=n, max_size=n), min_size=1, max_size=2))
    new = draw(st.lists(st.integers(-1, 1), min_size=n, max_size=n))
    return [*old, new], value


@settings(max_examples=25, deadline=None)
@given(small_take_over())
def test_the_joint_attack_counts_whom_only_both_together_breach(series: tuple[list[list[int]], list[int]]) -> None:
    """People breached before are known and counted no more; of the others the gate finds just those who are certain."""
    groups, value = series
    n = len(value)
    history = _history(groups, value)
    before = candidates(History(history.respondents, history.values, history.releases[:-1]))
    known = {int(who) for who in before.known.to_pylist()}
    assert known == _certain(groups[:-1], value)
    certain = _certain(groups, value) - known
    ground = prepare(history).taken_as_known(before.known, before.until)
    found = complete_share(ground, 0.0, (1,), None, float("inf"))
    assert found.share == pytest.approx(len(certain) / max(n - len(known), 1))


def _history(groups: list[list[int]], value: list[int]) -> History:
    releases = []
    for number, group in enumerate(groups, 1):
        person = np.flatnonzero(np.array(group) >= 0).astype(np.int32)
        own = np.unique(np.array(group)[person], return_inverse=True)[1].astype(np.int32)
        releases.append(PastRelease(number, person=person, group=own, value=np.array(value, dtype=np.int32)[person]))
    return History(pa.array([str(i) for i in range(len(value))]), pa.array(["a", "b", "c"]), tuple(releases))


def _certain(groups: list[list[int]], value: list[int]) -> set[int]:
    """Return who holds the same value in all worlds that fit the releases, by enumeration."""

    def shown(world: tuple[int, ...]) -> list[Counter[tuple[int, int]]]:
        return [Counter((g, v) for g, v in zip(group, world, strict=True) if g >= 0) for group in groups]

    first: dict[int, Counter[int]] = {}
    for who, group in enumerate(groups[0]):
        first.setdefault(group, Counter())[value[who]] += 1
    options = [sorted(first[group]) for group in groups[0]]
    truth = shown(tuple(value))
    worlds = [world for world in product(*options) if shown(world) == truth]
    return {who for who in range(len(value)) if len({world[who] for world in worlds}) == 1}
