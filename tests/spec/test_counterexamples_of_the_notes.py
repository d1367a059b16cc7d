"""Subtraction and union: histories that pass the paper's checks and still force two people to be equal."""

from __future__ import annotations

from serial_worlds import grouped, history_of

from seriatim.attacks import exclusion, twins
from seriatim.model.history import History


def subtraction() -> History:
    held = dict(zip("abcdefg", "123 123 3".replace(" ", ""), strict=True))
    return history_of(grouped(held, "abc", "def"), grouped(held, "abcdeg"))


def union() -> History:
    held = dict(zip("abcdefghixywz", "1234561231236", strict=True))
    held |= dict(zip("ghixyw", "456123", strict=True)) | {"z": "6"}
    return history_of(grouped(held, "abcdef", "ghixyw"), grouped(held, "abcghi", "dezxyw"))


def test_subtraction_makes_twins() -> None:
    assert twins(subtraction()) == [{"f", "g"}]


def test_union_makes_twins() -> None:
    assert twins(union()) == [{"f", "z"}]


def test_a_known_twin_gives_the_other_away() -> None:
    assert exclusion(subtraction(), []).breached == {}
    assert exclusion(subtraction(), ["f"]).breached == {"g": "3"}
    assert exclusion(union(), []).breached == {}
    assert exclusion(union(), ["f"]).breached == {"z": "6"}
