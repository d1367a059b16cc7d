"""Each promise about the places of lineages, broken alone, is found alone; a fair series breaks none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.lineages import Stand, claimed

from seriatim.attacks._exclusion import exclusion
from seriatim.model.history import History
from seriatim.model.judged import JudgedHistory
from seriatim.promises.series.lineages import closed_lineages, fair_lineages
from seriatim.promises.series.slots import lasting_places

M = 2
PARTS = ("with a rare value refilled", "refilled by too few", "that drop people who came at different times",
         "that drop too few", "whose slots do not last", "joined by too few", "with an unfair part",
         "that people who return joined beside others")  # fmt: skip
FOUNDERS: list[Stand] = [(p, 0, p, p % 4) for p in range(16)]
"""Sixteen people in sixteen places; four of each value."""


def without(stands: list[Stand], *places: int) -> list[Stand]:
    return [(-1 if place in places else person, at, place, value) for person, at, place, value in stands]


def filled(stands: list[Stand], first: int, *places: int) -> list[Stand]:
    """Newcomers from number ``first`` on in these places."""
    numbers = {place: first + i for i, place in enumerate(places)}
    return [(numbers.get(place, person), at, place, value) for person, at, place, value in stands]


def dropped(stands: list[Stand], *places: int) -> list[Stand]:
    return [stand for stand in stands if stand[2] not in places]


def in_lineage(number: int, stands: list[Stand]) -> list[Stand]:
    return [(person, number, place, value) for person, _, place, value in stands]


def broken(history: History) -> list[str]:
    found = lasting_places(JudgedHistory(history), M)
    assert found.kept == (not found.n_classes)
    return [part for part in PARTS if f"0 {part}" not in found.detail]


LEFT = without(FOUNDERS, 0, 1, 2, 3, 4, 5, 6, 7)
REFILLED = filled(LEFT, 20, 0, 1, 2, 3)
JOINED: list[Stand] = [(20 + p, 0, 20 + p, p % 4) for p in range(8)]
"""Eight newcomers with places of their own, two of each value."""
GIVEN_UP = dropped(LEFT, 0, 1, 2, 3)
REJOINED: list[Stand] = [(p, 0, 30 + p, p % 4) for p in range(4)]
"""Four people who return after their places were given up, with new ones."""
NEW: list[Stand] = [(p + 50, 0, p + 50, v) for p, _, _, v in FOUNDERS]
"""Sixteen newcomers in a lineage of their own."""


@pytest.mark.parametrize(
    "course",
    [
        [FOUNDERS, LEFT, REFILLED],
        [FOUNDERS, LEFT, dropped(LEFT, 0, 1, 2, 3)],
        [FOUNDERS, LEFT, FOUNDERS],
        [FOUNDERS, LEFT, [], [(p + 30, 1, p + 30, v) for p, _, _, v in FOUNDERS]],
        [FOUNDERS, LEFT, filled(REFILLED, 0), dropped(without(REFILLED, 0, 1, 2, 3), 0, 1, 2, 3)],
        [FOUNDERS, FOUNDERS + JOINED],
        [FOUNDERS, LEFT, GIVEN_UP, GIVEN_UP + REJOINED],
        [*(in_lineage(1, part) for part in (FOUNDERS, LEFT, GIVEN_UP)), NEW + in_lineage(1, GIVEN_UP + REJOINED)],
        [FOUNDERS, FOUNDERS + JOINED, dropped(FOUNDERS + JOINED, 20, 21, 22, 23)],
        [FOUNDERS, FOUNDERS + JOINED, dropped(FOUNDERS + JOINED, *range(20, 28))],
        [FOUNDERS, LEFT, dropped(LEFT, 4, 5, 6, 7) + JOINED],
        [FOUNDERS, LEFT, REFILLED, dropped(without(REFILLED, *range(8)), 0, 1, 2, 4, 5, 7)],
    ],
    ids=[
        "a batch",
        "a drop",
        "everyone comes back to his own place",
        "closed",
        "a batch leaves and is dropped whole",
        "some join",
        "some rejoin",
        "some rejoin while others start a lineage",
        "some who joined are dropped",
        "all who joined are dropped",
        "some go and some join",
        "three of each time are dropped",
    ],
)
def test_a_series_that_keeps_the_promises(course: list[list[Stand]]) -> None:
    history = claimed(*course)
    assert broken(history) == []
    assert closed_lineages(JudgedHistory(history)).kept
    assert fair_lineages(JudgedHistory(history), M).kept


def test_a_value_held_twice_is_not_refilled() -> None:
    rare = [(person, at, place, 4 if place in (0, 4) else value) for person, at, place, value in FOUNDERS]
    assert broken(claimed(rare, without(rare, 0, 1, 2, 3), filled(rare, 20, 0, 1, 2, 3))) == [PARTS[0]]
    # two others of the value stay when one place of four is given up in the same release, but not when two are
    gone = without(FOUNDERS, *range(12))
    for given_up, found in (((4, 5, 6, 7), []), ((4, 8, 5, 6), [PARTS[0]])):
        assert broken(claimed(FOUNDERS, gone, dropped(filled(gone, 20, 0, 1, 2, 3), *given_up))) == found


def test_the_middle_of_a_chain_is_given_away_where_two_hold_the_value() -> None:
    """Found by attacking 20,000 made-up people of whom a tenth was known: the other holder stayed and was known too."""
    for holders, found in (((0, 4), {20: 4}), ((0, 4, 8), {})):
        rare = [(person, at, place, 4 if place in holders else value) for person, at, place, value in FOUNDERS]
        second = filled(rare, 20, 0, 1, 2, 3)
        history = claimed(rare, second, filled(second, 30, 0, 5, 6, 7))
        assert exclusion(history, [0, 4, 30]).breached == found
        assert broken(history) == ([PARTS[0]] if found else [])


def test_a_small_batch_is_counted_out() -> None:
    """Found there too: of six newcomers five were known, and what they hold together followed from other releases."""
    for places, found in (((0, 1, 2), {22: 2}), ((0, 1, 2, 3), {})):
        history = claimed(FOUNDERS, filled(FOUNDERS, 20, *places))
        assert exclusion(history, [0, 1, 2, 20, 21]).breached == found
        assert broken(history) == ([PARTS[1]] if found else [])


def test_who_comes_back_to_the_own_place_refills_nothing_but_anyone_else_does() -> None:
    rare = [(person, at, place, 4 if place == 0 else value) for person, at, place, value in FOUNDERS]
    assert broken(claimed(rare, without(rare, 0), rare)) == []
    swapped = [(person ^ 4, at, place, value) for person, at, place, value in FOUNDERS]
    assert broken(claimed(FOUNDERS, without(FOUNDERS, *range(8)), dropped(swapped, 8))) == [PARTS[3], PARTS[6]]
    one = [(4, 0, 0, 0), *without(FOUNDERS, 0, 4)[1:]]
    assert broken(claimed(FOUNDERS, without(FOUNDERS, 0, 4), one)) == [PARTS[1]]


def test_who_goes_beside_older_people_is_given_away_once_these_are_known() -> None:
    """Why three of each time must go together: the value that nobody older can hold any more is his."""
    rare = [(person, at, place, 4 if place in (0, 4) else value) for person, at, place, value in FOUNDERS]
    second = filled(rare, 20, 0, 1, 2, 3)
    for gone, found in (((0, 9, 10, 11), {20: 4}), ((0, 1, 2, 9, 10, 11), {})):
        history = claimed(rare, second, without(second, *gone), dropped(second, *gone))
        assert exclusion(history, [0, 4]).breached == found
        assert (PARTS[2] in broken(history)) == bool(found)


def test_three_are_too_few_to_join() -> None:
    assert broken(claimed(FOUNDERS, FOUNDERS + JOINED[:3])) == [PARTS[5], PARTS[6]]
    assert broken(claimed(FOUNDERS, FOUNDERS + JOINED[:4])) == []
    assert fair_lineages(JudgedHistory(claimed(FOUNDERS, FOUNDERS + JOINED[:4])), M).kept


def test_what_joins_and_what_is_left_of_it_is_fair() -> None:
    alike = [(person, at, place, 0 if place < 23 else value) for person, at, place, value in JOINED[:5]]
    assert broken(claimed(FOUNDERS, FOUNDERS + alike)) == [PARTS[6]]
    left = dropped(FOUNDERS + JOINED, 20, 21, 22, 23, 24)
    assert broken(claimed(FOUNDERS, FOUNDERS + JOINED, left)) == [PARTS[6]], "three are left"
    left = dropped(FOUNDERS + JOINED, 21, 22, 25, 26)
    assert broken(claimed(FOUNDERS, FOUNDERS + JOINED, left)) == []
    left = dropped(FOUNDERS + alike * 0 + [(s[0], 0, s[2], s[3] % 2) for s in JOINED], 21, 23, 25)
    joined = [(person, at, place, value % 2) for person, at, place, value in JOINED]
    assert PARTS[6] in broken(claimed(FOUNDERS, FOUNDERS + joined, left))


def test_a_value_that_joined_is_not_refilled() -> None:
    """Three hold it, but none of the founders does: whoever of them stands beside it cannot hide it."""
    joined = [(person, at, place, 4 + value) for person, at, place, value in JOINED]
    both = FOUNDERS + joined + [(30 + p, 0, 30 + p, 4 + p % 4) for p in range(8)]
    gone = without(both, 20, 21, 30, 31)
    assert broken(claimed(FOUNDERS, FOUNDERS + joined, both, gone, filled(gone, 40, 20, 21, 30, 31))) == [PARTS[0]]


def test_a_lineage_that_ended_is_not_joined() -> None:
    other = [(p + 40, 1, p + 40, v) for p, _, _, v in FOUNDERS]
    assert broken(claimed(FOUNDERS + other, other, other + JOINED)) == [PARTS[4]]


def test_newcomers_beside_people_who_return_are_given_away() -> None:
    """Found by attacking lineages in which both joined together: what no founder holds can only be the newcomer's."""
    away = dropped(FOUNDERS, 0, 1, 2, 3)
    back = [(p, 0, 20 + p, p % 4) for p in range(3)]
    history = claimed(FOUNDERS, away, [*away, *back, (20, 0, 23, 4)])
    assert exclusion(history, []).breached[20] == 4


def test_who_rejoins_does_so_among_returning_people_of_several_values_that_founders_hold() -> None:
    def rejoined(*stands: Stand) -> list[str]:
        return broken(claimed(FOUNDERS, LEFT, GIVEN_UP, [*GIVEN_UP, *stands]))

    assert rejoined(*REJOINED) == []
    assert rejoined(*REJOINED, *JOINED) == [PARTS[7]]
    gone = dropped(LEFT, 0, 1, 4, 5)
    two_values = [(p, 0, 30 + p, p % 4) for p in (0, 1, 4, 5)]
    assert broken(claimed(FOUNDERS, LEFT, gone, gone + two_values)) == [PARTS[7]]
    rare = [(person, at, place, 4 if place in (0, 8, 12) else value) for person, at, place, value in FOUNDERS]
    away = dropped(without(rare, *range(8)), 0, 1, 2, 3)
    back = [(p, at, 30 + p, value) for p, at, _, value in rare[:4]]
    assert broken(claimed(rare, without(rare, *range(8)), away, away + back)) == [PARTS[7]], "two founders are left"


def test_three_are_too_few_to_be_refilled_and_to_be_dropped() -> None:
    gone = without(FOUNDERS, 0, 1, 2)
    assert broken(claimed(FOUNDERS, gone, filled(gone, 20, 0, 1, 2))) == [PARTS[1]]
    assert broken(claimed(FOUNDERS, gone, dropped(gone, 0, 1, 2))) == [PARTS[3]]
    assert lasting_places(JudgedHistory(claimed(FOUNDERS, gone, filled(gone, 20, 0, 1, 2))), M - 1).kept


def test_people_who_came_apart_are_not_dropped_together_unless_three_of_each_time_are() -> None:
    late = without(REFILLED, 0, 1)
    assert broken(claimed(FOUNDERS, LEFT, REFILLED, late, dropped(late, 0, 1, 6, 7))) == [PARTS[2]]
    late = without(REFILLED, 0, 1, 2)
    assert broken(claimed(FOUNDERS, LEFT, REFILLED, late, dropped(late, 0, 1, 2, 4, 5, 7))) == []
    assert broken(claimed(FOUNDERS, LEFT, REFILLED, late, dropped(late, 0, 1, 2, 7))) == [PARTS[2]]
    assert broken(claimed(FOUNDERS, LEFT, REFILLED, late, dropped(late, 4, 5, 6, 7))) == []


@pytest.mark.parametrize(
    "last",
    [
        [(p, at, place, 1 if place == 0 else value) for p, at, place, value in FOUNDERS],
        [*FOUNDERS[:-1], (15, 0, 14, 3)],
    ],
    ids=["another value", "two in one place"],
)
def test_places_that_do_not_last(last: list[Stand]) -> None:
    assert PARTS[4] in broken(claimed(FOUNDERS, last))


def test_a_place_does_not_come_back() -> None:
    gone = dropped(LEFT, 0, 1, 2, 3)
    assert broken(claimed(FOUNDERS, LEFT, gone, LEFT)) == [PARTS[4]]
    assert broken(claimed(FOUNDERS, [], FOUNDERS)) == [PARTS[4]]


def test_one_lineage_is_one_group() -> None:
    history = claimed(FOUNDERS, [(p, p % 2, place, value) for p, _, place, value in FOUNDERS])
    assert PARTS[4] in broken(history)
    first, second = claimed(FOUNDERS, FOUNDERS).releases
    split = replace(history, releases=(first, replace(second, group=second.person % 2)))
    assert PARTS[4] in broken(split)


def test_only_the_newest_release_is_asked_about_when_told_so() -> None:
    gone = without(FOUNDERS, 0, 1, 2)
    history = claimed(FOUNDERS, gone, dropped(gone, 0, 1, 2), dropped(gone, 0, 1, 2))
    assert not lasting_places(JudgedHistory(history), M).kept
    assert lasting_places(JudgedHistory(history), M, newest=True).kept


def test_without_a_word_about_places_nothing_is_shown() -> None:
    history = claimed(FOUNDERS, FOUNDERS)
    first, second = history.releases
    found = lasting_places(JudgedHistory(replace(history, releases=(first, replace(second, marks={})))), M)
    assert not found.kept
    assert "1 releases do not say" in found.detail


def test_of_a_drop_and_an_addition_only_the_difference_shows() -> None:
    """Six are given up and eight come, fair both; but what is seen is two places more of one value."""
    left = without(FOUNDERS, 1, 2, 3, 5, 6, 7)
    at_once = claimed(FOUNDERS, left, dropped(left, 1, 2, 3, 5, 6, 7) + JOINED)
    one_by_one = claimed(FOUNDERS, left, dropped(left, 1, 2, 3, 5, 6, 7), dropped(left, 1, 2, 3, 5, 6, 7) + JOINED)
    assert not fair_lineages(JudgedHistory(at_once), M).kept
    assert fair_lineages(JudgedHistory(one_by_one), M).kept
    assert lasting_places(JudgedHistory(at_once), M).kept
    assert lasting_places(JudgedHistory(one_by_one), M).kept
