"""Posteriors of a group against all its assignments, and what must hold for any group."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.knowledge import posterior
from seriatim.knowledge._posterior import MessageGroups, beliefs_after_groups, write_messages

LEVELS = (0.0, 0.0, 1e-4, 0.02, 0.1, 0.1, 0.3, 0.9)


@st.composite
def groups(draw: st.DrawFn, most: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Beliefs with ties, zeros and scaled rows, and counts of a few values; one value is never published."""
    k, n_values = draw(st.integers(1, most)), draw(st.integers(1, 4))
    levels = st.sampled_from(LEVELS)
    beliefs = np.array(
        draw(st.lists(st.lists(levels, min_size=n_values + 1, max_size=n_values + 1), min_size=k, max_size=k))
    )
    beliefs[:, -1] += 1e-3  # mass outside the group, so that no row is all 0
    scale = np.array(draw(st.lists(st.sampled_from((1.0, 0.5, 1e-6)), min_size=k, max_size=k)))
    owners = draw(st.lists(st.integers(0, n_values - 1), min_size=k, max_size=k))
    return beliefs * scale[:, None], np.bincount(owners, minlength=n_values + 1)


def enumerated(beliefs: np.ndarray, counts: np.ndarray, product: bool) -> np.ndarray:
    k = len(beliefs)
    multiset = np.repeat(np.arange(len(counts)), counts)
    found, total = np.zeros_like(beliefs), 0.0
    for order in set(permutations(multiset.tolist())) if product else permutations(multiset.tolist()):
        parts = beliefs[np.arange(k), order]
        weight = float(parts.prod() if product else parts.sum())
        total += weight
        found[np.arange(k), order] += weight
    return found / total if total > 0 else np.tile(counts / k, (k, 1))


@settings(max_examples=150, deadline=None)
@given(groups())
def test_bayes_is_enumeration(group: tuple[np.ndarray, np.ndarray]) -> None:
    beliefs, counts = group
    np.testing.assert_allclose(posterior(beliefs, counts), enumerated(beliefs, counts, True), atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(groups(most=5))
def test_sum_is_enumeration(group: tuple[np.ndarray, np.ndarray]) -> None:
    beliefs, counts = group
    np.testing.assert_allclose(posterior(beliefs, counts, "sum"), enumerated(beliefs, counts, False), atol=1e-9)


def test_bayes_is_enumeration_for_seven_people() -> None:
    rng = np.random.default_rng(1)
    beliefs = rng.choice(LEVELS, (7, 5)) * rng.choice((1.0, 1e-5), (7, 1))
    beliefs[:, -1] += 0.01
    counts = np.array([3, 2, 1, 1, 0])
    np.testing.assert_allclose(posterior(beliefs, counts), enumerated(beliefs, counts, True), atol=1e-9)


@settings(max_examples=100, deadline=None)
@given(groups(most=6), st.sampled_from(("bayes", "sum", "omega")), st.randoms())
def test_rows_are_distributions_and_names_do_not_matter(
    group: tuple[np.ndarray, np.ndarray], rule: str, chance
) -> None:
    beliefs, counts = group
    found = posterior(beliefs, counts, rule)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)
    if rule != "omega":
        np.testing.assert_allclose(found.sum(axis=0), counts, atol=1e-8)
    people, values = list(range(len(beliefs))), list(range(len(counts)))
    chance.shuffle(people)
    chance.shuffle(values)
    again = posterior(beliefs[people][:, values], counts[values], rule)
    np.testing.assert_allclose(again, found[people][:, values], atol=1e-7)


@pytest.mark.parametrize("k", [6, 12, 24])
def test_belief_propagation_keeps_the_counts_and_is_near_exact(k: int) -> None:
    rng = np.random.default_rng(k)
    beliefs = rng.dirichlet(np.full(6, 0.5), k)
    counts = np.bincount(rng.integers(0, 6, k), minlength=6)
    here = np.flatnonzero(counts).astype(np.int32)
    one = MessageGroups(np.array([0, k]), np.array([0, len(here)]), here, counts[here].astype(np.int32))
    lam = np.empty_like(beliefs)
    assert write_messages(beliefs, one, lam, exact_states=1).tolist() == [1]
    near = beliefs * lam
    near /= near.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(near.sum(axis=0), counts, atol=1e-5)
    assert np.abs(near - posterior(beliefs, counts)).sum(axis=1).max() / 2 < 0.08


def test_large_groups_are_propagated_and_told() -> None:
    rng = np.random.default_rng(5)
    beliefs = rng.dirichlet(np.full(12, 0.7), 40)
    counts = np.bincount(np.arange(40) % 12, minlength=12).astype(np.int32)
    one = MessageGroups(np.array([0, 40]), np.array([0, 12]), np.arange(12, dtype=np.int32), counts)
    found = beliefs_after_groups(beliefs, one)
    assert (found.n_exact, found.n_propagated, found.n_impossible) == (0, 40, 0)
    np.testing.assert_allclose(found.beliefs.sum(axis=0), counts, atol=1e-6)
    np.testing.assert_allclose(found.beliefs.sum(axis=1), 1.0, atol=1e-6)
