"""Examples 1 to 4 of the Cor-Split paper, as corrected in our notes."""

from __future__ import annotations

from support.histories import paper_history

from seriatim.attacks import exclusion, prepare

ALL = {"AIDS", "bronchitis", "cancer"}


def test_without_a_compromised_tuple_nobody_is_breached() -> None:
    found = exclusion(paper_history(), [])
    assert found.breached == {}
    assert all(held == ALL for held in found.candidates.values())
    assert found.wrong == 0


def test_carl_gives_away_erica_and_narrows_grace_and_hanna() -> None:
    found = exclusion(paper_history(), ["Carl"])
    assert found.breached == {"Erica": "AIDS"}
    rest = {"bronchitis", "cancer"}
    assert found.candidates == {
        "Alice": rest, "Betty": rest, "Carl": {"AIDS"}, "Doris": rest, "Erica": {"AIDS"}, "Fiona": rest,
        "Grace": rest, "Hanna": rest,
    }  # fmt: skip
    assert (found.wrong, found.conflicts) == (0, 0)


def test_the_chain_names_the_releases_and_groups_that_fixed_erica() -> None:
    chain = exclusion(paper_history(), ["Carl"]).chain("Erica")
    assert (chain[0].respondent, chain[0].rule, chain[0].left) == ("Carl", "compromised", {"AIDS"})
    last = chain[-1]
    assert (last.respondent, last.left) == ("Erica", {"AIDS"})
    assert (1, 1) in last.groups
    assert {(2, 0)} <= {place for step in chain for place in step.groups}
    assert {step.respondent for step in chain} <= {"Carl", "Doris", "Fiona", "Erica"}


def test_one_round_is_enough_here_and_never_finds_more_than_the_fixed_point() -> None:
    ground = prepare(paper_history())
    told = ground.traces.episodes_of(["Carl"])
    assert ground.compromise_once(told).candidates == ground.compromise(told).candidates
