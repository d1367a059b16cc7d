"""Subtraction and union: histories that pass the paper's checks and still force two people to be equal."""

from __future__ import annotations

from support.histories import subtraction, union

from seriatim.attacks import exclusion, twins


def test_subtraction_makes_twins() -> None:
    assert twins(subtraction()) == [{"f", "g"}]


def test_union_makes_twins() -> None:
    assert twins(union()) == [{"f", "z"}]


def test_a_known_twin_gives_the_other_away() -> None:
    assert exclusion(subtraction(), []).breached == {}
    assert exclusion(subtraction(), ["f"]).breached == {"g": "3"}
    assert exclusion(union(), []).breached == {}
    assert exclusion(union(), ["f"]).breached == {"z": "6"}
