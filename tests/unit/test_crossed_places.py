"""Crossed places across series: what they clear is never certain, by enumeration, and what is planted is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from support.enumeration import enumerated_values
from support.histories import grouped, history_of

from seriatim.attacks import prepare
from seriatim.attacks.complete_search import complete_sample
from seriatim.attacks.crossed_places import CrossedPlaces
from seriatim.attacks.possible_worlds import Worlds, undecided_people
from seriatim.model.history import History, number_elsewhere, series_of_release

NOBODY = np.empty(0, dtype=np.int32)


def in_series(history: History) -> History:
    """The same releases, each of a series of its own."""
    numbers = [1, *(number_elsewhere(at, 1) for at in range(1, len(history)))]
    kept = tuple(replace(past, number=number) for past, number in zip(history.releases, numbers, strict=True))
    return replace(history, releases=kept)


def worlds_of(history: History) -> Worlds:
    run = prepare(history).compromise(NOBODY, keep_log=False)
    return undecided_people(run.traces, run.words)


def four_who_cross() -> History:
    """p and x hold 1, y and z hold 2; p is with y twice and with z once, and x the other way round."""
    held = {"p": "1", "x": "1", "y": "2", "z": "2", "a": "1", "b": "2", "c": "3", "d": "3"}
    return in_series(
        history_of(grouped(held, "pya", "xzbcd"), grouped(held, "pyc", "xzabd"), grouped(held, "pzd", "xyabc"))
    )


def test_numbers_of_releases_say_which_series_they_are_of() -> None:
    assert [series_of_release(number) for number in (1, 999, number_elsewhere(3, 1), number_elsewhere(3, 999))] == [
        0, 0, 3, 3,
    ]  # fmt: skip


def test_four_who_cross_are_found_and_the_groups_keep_their_counts() -> None:
    worlds = worlds_of(four_who_cross())
    names = worlds.traces.history.respondents.to_pylist()
    at = names.index("p")
    found, _ = CrossedPlaces(worlds).clear(int(worlds.class_of[at]))
    assert found is not None
    episodes = [int(worlds.example[one]) for one in found]
    assert {names[worlds.traces.respondent[one]] for one in episodes} == set("pxyz")


def test_without_the_fourth_nothing_is_said() -> None:
    held = {"p": "1", "y": "2", "z": "2", "a": "1", "b": "2", "c": "3", "d": "3"}
    history = in_series(
        history_of(grouped(held, "pya", "zbcd"), grouped(held, "pyc", "zabd"), grouped(held, "pzd", "yabc"))
    )
    worlds = worlds_of(history)
    at = int(worlds.class_of[worlds.traces.history.respondents.to_pylist().index("p")])
    assert at < 0 or CrossedPlaces(worlds).clear(at)[0] is None


def test_nobody_is_cleared_whose_value_is_certain_in_all_worlds() -> None:
    """400 random histories of two or three series: every class that is cleared has another value in some world."""
    chance, n_cleared = np.random.default_rng(5), 0
    for _ in range(400):
        people = [f"p{n}" for n in range(8)]
        held = {who: str(chance.integers(2)) for who in people}
        releases = []
        for _ in range(int(chance.integers(2, 4))):
            mixed = chance.permutation(people).tolist()
            releases.append(grouped(held, mixed[:4], mixed[4:]))
        worlds = worlds_of(in_series(history_of(*releases)))
        places, truth = CrossedPlaces(worlds), None
        for one in np.flatnonzero(worlds.pure).tolist():
            found, work = places.clear(one)
            assert work >= 0
            if found is not None:
                truth = truth or enumerated_values(worlds.traces, set())
                episodes = np.flatnonzero(np.isin(worlds.class_of, found)).tolist()
                assert all(len(truth[episode]) > 1 for episode in episodes)
                n_cleared += 1
    assert n_cleared > 100


def test_who_may_not_hold_the_other_value_does_not_cross() -> None:
    worlds = worlds_of(four_who_cross())
    at = int(worlds.class_of[worlds.traces.history.respondents.to_pylist().index("x")])
    barred = worlds.possible.copy()
    barred[at, :] = False
    barred[at, worlds.value[at]] = True
    places = CrossedPlaces(replace(worlds, possible=barred))
    p = int(worlds.class_of[worlds.traces.history.respondents.to_pylist().index("p")])
    found, _ = places.clear(p)
    assert found is None or at not in found.tolist()


def test_three_series_of_many_people_are_decided_where_solvers_were_stuck() -> None:
    """Three deals of 3,000 people into ten groups: hardly anybody is interchangeable, and all are far from certain."""
    chance = np.random.default_rng(3)
    people = [f"p{n}" for n in range(3_000)]
    held = {who: "112345"[chance.integers(6)] for who in people}
    releases = [grouped(held, *np.split(chance.permutation(people), 10)) for _ in range(3)]
    run = prepare(in_series(history_of(*releases))).compromise(NOBODY, keep_log=False)
    found = complete_sample(run, 100, 1)
    assert len(found.certain) == len(found.undecided) == 0
