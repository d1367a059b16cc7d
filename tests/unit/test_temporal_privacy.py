"""Temporal privacy leakage equals brute force on small chains, and the figures that its authors give."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.command_line import seriatim

from seriatim.knowledge import SequenceModel
from seriatim.knowledge.temporal_privacy import growth, leakage_over_time, limit_of


def tables(most: int = 4) -> st.SearchStrategy[np.ndarray]:
    def scaled(rows: list[list[int]]) -> np.ndarray:
        table = np.array(rows, dtype=float) + np.eye(len(rows)) * 0.5
        return table / table.sum(axis=1, keepdims=True)

    sizes = st.integers(2, most)
    return sizes.flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=n, max_size=n)
    ).map(scaled)


@given(tables(), st.floats(0.01, 3))
def test_one_step_is_the_largest_ratio_over_all_corners(rows: np.ndarray, leakage: float) -> None:
    """A ratio of two linear functions is largest at a corner: every entry is 1 or e^a."""
    corners = np.array(list(product((1.0, np.exp(leakage)), repeat=len(rows))))
    dots = corners @ rows.T
    assert growth(rows, leakage).leakage == pytest.approx(float(np.log((dots[:, :, None] / dots[:, None, :]).max())))


@given(tables(2), st.integers(1, 3), st.sampled_from([0.1, 0.7]))
def test_of_two_values_all_outcomes_of_all_releases_leak_no_more(rows: np.ndarray, n: int, epsilon: float) -> None:
    model = SequenceModel.from_matrix(rows, ["a", "b"], [0.4, 0.6])
    back = rows * np.array([[0.4], [0.6]])
    back = (back / back.sum(axis=0)).T
    found, (backward, forward) = leakage_over_time(model, [epsilon] * n), by_outcomes(rows, back, n, epsilon)
    assert (np.array(found.backward) >= np.array(backward) - 1e-9).all()
    assert (np.array(found.forward) >= np.array(forward) - 1e-9).all()


@given(st.floats(0, 1), st.integers(1, 4), st.sampled_from([0.1, 0.7]))
def test_where_values_are_alike_they_leak_as_much(stay: float, n: int, epsilon: float) -> None:
    """Neither value is worse than the other, so the worst of one step can also be the worst of the next."""
    rows = np.array([[stay, 1 - stay], [1 - stay, stay]])
    found = leakage_over_time(SequenceModel.from_matrix(rows, ["a", "b"], [0.5, 0.5]), [epsilon] * n)
    backward, forward = by_outcomes(rows, rows, n, epsilon)
    assert (found.backward, found.forward) == (pytest.approx(backward), pytest.approx(forward))
    assert found.total == pytest.approx([b + f - epsilon for b, f in zip(backward, forward, strict=True)])


def by_outcomes(rows: np.ndarray, back: np.ndarray, n: int, epsilon: float) -> tuple[list[float], list[float]]:
    """Every release answers with chances that differ by e^epsilon; hidden values are summed over one by one."""
    kinds = (np.array([1, np.exp(epsilon)]), np.array([np.exp(epsilon), 1]))
    backward, forward = [0.0] * n, [0.0] * n
    for answers in product(kinds, repeat=n):
        for at in range(n):
            before = answers[at] * after(back, answers[:at][::-1])
            later = answers[at] * after(rows, answers[at + 1 :])
            backward[at] = max(backward[at], abs(float(np.log(before[0] / before[1]))))
            forward[at] = max(forward[at], abs(float(np.log(later[0] / later[1]))))
    return backward, forward


def after(table: np.ndarray, others: tuple[np.ndarray, ...]) -> np.ndarray:
    """The chance of the other answers, nearest first, by value at this time: over all paths of hidden values."""
    found = np.zeros(2)
    for here in range(2):
        for path in product(range(2), repeat=len(others)):
            chance, last = 1.0, here
            for answer, value in zip(others, path, strict=True):
                chance, last = chance * table[last, value] * answer[value], value
            found[here] += chance
    return found


@settings(deadline=None, max_examples=50)
@given(tables(3), st.sampled_from([0.05, 0.3, 1.0]))
def test_the_limit_is_what_the_recursion_approaches(rows: np.ndarray, epsilon: float) -> None:
    limit, leakage = limit_of(rows, epsilon), epsilon
    for _ in range(200):
        leakage = growth(rows, leakage).leakage + epsilon
    if np.isfinite(limit):
        assert leakage <= limit + 1e-9
        assert growth(rows, limit).leakage + epsilon == pytest.approx(limit)
    else:
        assert growth(rows, leakage).leakage + epsilon > leakage


def test_the_figures_of_the_authors() -> None:
    """Their Figures 3 and 4: a strong correlation adds up to t epsilon, none stays at epsilon, a moderate one ends."""
    stays = SequenceModel.from_matrix(np.eye(2), ["a", "b"])
    assert leakage_over_time(stays, [0.1] * 10).backward == pytest.approx([0.1 * t for t in range(1, 11)])
    assert leakage_over_time(stays, [0.1] * 10).total == pytest.approx([1.0] * 10)
    none = SequenceModel.from_matrix([[0.5, 0.5], [0.5, 0.5]], ["a", "b"])
    assert leakage_over_time(none, [0.1] * 10).total == pytest.approx([0.1] * 10)
    moderate = np.array([[0.8, 0.2], [0.0, 1.0]])
    assert limit_of(moderate, 0.15) < np.inf == limit_of(moderate, 0.23)  # log(1 / .8) = .223: above it nothing bounds
    assert limit_of(np.array([[0.8, 0.2], [0.1, 0.9]]), 0.23) == pytest.approx(0.7923, abs=1e-3)


def test_the_command_shows_it(tmp_path: Path) -> None:
    rows = "respondent,release,sensitive\n" + "".join(
        f"p{who},{at},{'xyx'[(who + at * (who % 2)) % 3]}\n" for who in range(20) for at in range(4)
    )
    (tmp_path / "long.csv").write_text(rows)
    assert seriatim(tmp_path, "knowledge", "mine", "long.csv", "--order", "1").code == 0
    told = seriatim(tmp_path, "knowledge", "show", "knowledge.toml", "--epsilon", "0.5", "--releases", "4")
    assert told.code == 0, told.err
    assert "4 releases of epsilon 0.5 each" in told.out
    assert seriatim(tmp_path, "knowledge", "show", "knowledge.toml", "--epsilon", "-1").code == 2
