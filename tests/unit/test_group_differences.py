"""Differences of groups say the same as the groups, in fewer words."""

from __future__ import annotations

import numpy as np
import pytest

from seriatim.attacks import group_differences


def matrix(*groups: str) -> np.ndarray:
    return np.array([[who in group for who in "abcdefgh"] for group in groups], dtype=np.int64)


def differences(inside: np.ndarray, exact: list[bool]) -> np.ndarray:
    at, who = np.nonzero(inside)
    made = group_differences.group_differences(group_differences.membership(at, who, *inside.shape), np.array(exact))
    return np.asarray(made.todense())


def test_a_group_that_hardly_changes_is_said_by_its_change() -> None:
    inside = matrix("abcdef", "abcdeg", "bcdeg", "gh")
    made = differences(inside, [True] * 4)
    rows = np.abs(made @ inside).sum(axis=1)
    assert rows.sum() == 2 + 1 + 2 + 5  # f or g, without a, gh, and one whole group
    assert np.linalg.matrix_rank(made) == 4, "every group can be put together again"


def test_equal_groups_leave_one_row() -> None:
    inside = matrix("abc", "abc", "def")
    rows = np.abs(differences(inside, [True] * 3) @ inside).sum(axis=1)
    assert sorted(rows.tolist()) == [0, 3, 3]


def test_groups_with_counterfeits_stay_as_they_are() -> None:
    inside = matrix("abcdef", "abcdeg", "abcde")
    made = differences(inside, [True, False, True])
    assert made[1].tolist() == [0, 1, 0]
    assert made[[0, 2], 1].tolist() == [0, 0]


def test_too_many_pairs_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_differences, "MOST_PAIRS", 3)
    assert differences(matrix("abcdef", "abcdeg"), [True, True]).tolist() == [[1, 0], [0, 1]]


def test_nobody() -> None:
    assert differences(np.zeros((0, 8), dtype=np.int64), []).shape == (0, 0)
