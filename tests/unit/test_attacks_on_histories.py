"""The attacks' corners: wide domains, priors, episodes, shares, registers, leavers, bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from support.histories import grouped, history_of, paper_history

import seriatim as sr
from seriatim.api import attack_report
from seriatim.attacks import (
    exclusion,
    exclusion_share,
    intersection,
    intersection_by_register,
    reveal_leavers,
    shrinking,
    shrinking_by_register,
    twins,
)
from seriatim.attacks.traces_by_person import trace
from seriatim.attacks.twin_sets import certain_by_sharing
from seriatim.errors import AdversaryError, TableError
from seriatim.model.history import History


def test_a_domain_of_more_than_one_word_gives_the_same_answer() -> None:
    paper = paper_history()
    wide = History(paper.respondents, pa.array([*paper.values.to_pylist(), *(f"v{i}" for i in range(150))]))
    shifted = tuple(
        replace(past, value=(past.value * 70).astype(np.int32), marks={}, withheld=None) for past in paper.releases
    )
    names = wide.values.to_pylist()
    names[0], names[70], names[140] = "AIDS", "bronchitis", "cancer"
    found = exclusion(History(paper.respondents, pa.array(names), shifted), ["Carl"])
    assert found.breached == {"Erica": "AIDS"}
    assert found.candidates["Hanna"] == {"bronchitis", "cancer"}
    assert found.wrong == 0


def test_priors_narrow_and_an_impossible_prior_is_refused() -> None:
    held = dict(zip("abc", "xyz", strict=True))
    history = history_of(grouped(held, "abc"))
    found = exclusion(history, ["a"], priors={"b": {"x", "y"}})
    assert found.breached == {"b": "y", "c": "z"}
    with pytest.raises(AdversaryError):
        exclusion(history, [], priors={"b": {"w"}})


def test_two_episodes_of_one_person_bound_each_other() -> None:
    first = [("a", 0, "x"), ("b", 0, "y")]
    second = [("a", 0, "y"), ("c", 0, "x")]
    history = history_of(first, second)
    assert exclusion(history, []).breached == {}
    found = exclusion(history, ["b"])
    assert found.episodes("a") == [{"x"}, {"y"}]
    assert found.breached == {"a": "y", "c": "x"}
    assert any(step.rule == "episode" for step in found.chain("a"))
    stays = np.array([[True, False], [True, True]])
    told = exclusion(history, [], follows=np.array([[False, True], [False, False]]))
    assert told.episodes("a") == [{"x"}, {"y"}]
    assert exclusion(history_of(first, first), [], follows=stays).breached == {}


def test_a_counterfeit_weakens_what_a_group_says() -> None:
    rows = [("a", 0, "x"), ("b", 0, "y"), (None, 0, "z")]
    assert exclusion(history_of(rows), ["a"]).candidates["b"] == {"y", "z"}
    whole = [("a", 0, "x"), ("b", 0, "y"), ("c", 0, "z")]
    assert exclusion(history_of(whole), ["a", "c"]).breached == {"b": "y"}


def test_share_is_seeded_and_counts_wrong_inferences() -> None:
    once = exclusion_share(paper_history(), 0.3, seeds=[1, 2, 3, 4])
    again = exclusion_share(paper_history(), 0.3, seeds=[1, 2, 3, 4])
    assert (once.share, once.low, once.high) == (again.share, again.low, again.high)
    assert once.low <= once.share <= once.high
    assert (once.n_people, once.wrong) == (8, 0)
    assert exclusion_share(paper_history(), 0.0, seeds=[1]).high > 0
    assert exclusion_share(paper_history(), 0.0, seeds=[1, 2]).high == 0
    with pytest.raises(AdversaryError):
        exclusion_share(paper_history(), 0.1, seeds=[])


def test_unknown_ids_and_people_twice_in_a_release_are_refused() -> None:
    with pytest.raises(AdversaryError) as caught:
        exclusion(paper_history(), ["Zoe"])
    assert "Zoe" not in str(caught.value)
    with pytest.raises(TableError):
        exclusion(history_of([("a", 0, "x"), ("a", 1, "y")]), [])


def test_intersection_and_how_fast_it_shrinks() -> None:
    held = dict(zip("abcdef", "xyzxyw", strict=True))
    history = history_of(grouped(held, "abc", "def"), grouped(held, "ae", "bd"))
    assert intersection(history) == {
        "a": {"x", "y"}, "b": {"x", "y"}, "c": {"x", "y", "z"}, "d": {"x", "y"}, "e": {"x", "y"},
        "f": {"x", "y", "w"},
    }  # fmt: skip
    assert [(s.n_people, s.below, s.single) for s in shrinking(history, 3)] == [(6, 0, 0), (4, 4, 0)]


def test_a_register_widens_the_candidates_to_every_box_that_fits() -> None:
    held = dict(zip("abcd", "xyzw", strict=True))
    history = history_of(grouped(held, "ab", "cd"))
    table = pa.table({"age": ["[30,40]", "[30,40]", "[38,50]", "[38,50]"], "town": ["{P,Q}", "{P,Q}", "*", "*"]})
    register = pa.table({"respondent": ["a", "b", "c", "d"], "age": [39, 31, 45, 50], "town": ["P", "Q", "R", "P"]})
    found = intersection_by_register(history, [table], register, {})
    assert found == {"a": {"x", "y", "z", "w"}, "b": {"x", "y"}, "c": {"z", "w"}, "d": {"z", "w"}}


def test_a_group_of_several_boxes_may_hold_whoever_fits_one_of_them() -> None:
    """Cohorts publish finer boxes inside a group; strangers and people whom the register misplaces stay untouched."""
    held = dict(zip("abcd", "xyzw", strict=True))
    history = history_of(grouped(held, "ab", "cd"))
    table = pa.table({"age": ["[30,34]", "[35,39]", "[60,64]", "60+"]})
    register = pa.table({"respondent": ["a", "b", "d"], "age": [31, 38, 10]})
    everything = {"x", "y", "z", "w"}
    found = intersection_by_register(history, [table], register)
    assert found == {"a": {"x", "y"}, "b": {"x", "y"}, "c": everything, "d": everything}
    assert [(s.n_people, s.below) for s in shrinking_by_register(history, [table], register, 3)] == [(2, 2)]


def test_revealed_leavers_stand_where_their_value_was_kept() -> None:
    held = dict(zip("abcd", "xyzx", strict=True))
    first = grouped(held, "abc")
    second = [("b", 0, "y"), ("c", 0, "z"), (None, 0, "x")]
    third = grouped(held, "dbc")
    history = history_of(first, second, third)
    told = reveal_leavers(history)
    assert told.releases[1].person.tolist() == [1, 2, 0]
    assert told.releases[2].person.tolist() == history.releases[2].person.tolist()
    assert exclusion(history, ["a"]).breached == {"d": "x"}
    assert exclusion(told, []).wrong == 0


def test_erased_people_stay_apart() -> None:
    paper = paper_history()
    names = [None if who in ("Alice", "Erica") else who for who in paper.respondents.to_pylist()]
    found = exclusion(History(pa.array(names, pa.string()), paper.values, paper.releases), ["Carl"])
    assert found.breached == {("erased", names.index(None, 1)): "AIDS"}
    assert len(found.candidates) == 8


def test_twins_share_what_is_possible_of_each() -> None:
    """b and d are forced equal: in a|b|c and a|d|c they hold the same place. What b cannot have, d cannot either."""
    held = dict(zip("abcd", "xyzy", strict=True))
    history = history_of(grouped(held, "abc"), grouped(held, "adc"))
    assert twins(history) == [{"b", "d"}]
    traces = trace(history)
    sets = twins(history)
    assert certain_by_sharing(traces, traces.everything(), sets) == set()
    known = {"b": {"x", "y"}, "d": {"y", "z"}}
    assert certain_by_sharing(traces, traces.everything(known), sets) == {"b", "d"}
    # whoever is certain already is not found by their twins
    assert certain_by_sharing(traces, traces.everything(known | {"b": {"y"}}), sets) == {"d"}


def test_people_who_change_among_many_values_are_counted_as_not_followed() -> None:
    """With 120 values nobody is followed unless knowledge of sequences is given; the page says so."""
    people = [f"p{i}" for i in range(120)]
    first, second = ([(who, i // 4, f"v{(i + moved) % 120}") for i, who in enumerate(people)] for moved in (0, 4))
    found = sr.attack(history_of(first, second))
    assert found.sequence is None
    assert found.n_unfollowed == 120
    assert "120 people changed their value and were not judged" in attack_report(found, "s").to_html()
    assert sr.attack(history_of(first, first)).n_unfollowed == 0


def test_the_page_gives_no_reason_that_is_nothing() -> None:
    history = history_of([(who, place // 3, "xyz"[place % 3]) for place, who in enumerate("abcdef")])
    found = replace(sr.attack(history, compromised=0.0), n_determined=2)
    told = attack_report(found, "s").to_html()
    assert "The value of 2 people follows from the groups alone." in told
    assert "0 people of the last release" not in told
    assert "0 people are breached once" not in told
