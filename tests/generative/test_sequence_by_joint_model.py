"""The engine of the sequence attack against exact joint models of small histories."""

from __future__ import annotations

import numpy as np
import pytest
from support.joint_chains import drawn_groups, drawn_values, exact_beliefs, history_of_arrays
from support.joint_sampling import sampled_beliefs

from seriatim.attacks import exclusion, sequence
from seriatim.knowledge import SequenceModel
from seriatim.knowledge.smoothing import SweepPace, is_bold, look_back, no_evidence


def sticky_table(n_values: int, stay: float, rng: np.random.Generator) -> np.ndarray:
    """A table as real panels have it: people stay with some values and leave others, mostly for common ones."""
    margin = rng.dirichlet(np.full(n_values, 2.0))
    own = np.clip(rng.normal(stay, 0.25, n_values), 0.05, 0.95)
    return own[:, None] * np.eye(n_values) + (1 - own)[:, None] * margin[None, :]


def engine_on(groups: np.ndarray, values: np.ndarray, model: SequenceModel, look: str) -> np.ndarray:
    found = sequence(history_of_arrays(groups, values, model.values), model, look)
    shaped = np.zeros((*values.shape, len(model.values)))
    for row, who in enumerate(found.rows.person.tolist()):
        shaped[found.rows.release[row], who] = found.beliefs[row]
    return shaped


def gain_of(beliefs: np.ndarray, groups: np.ndarray, values: np.ndarray) -> float:
    gains = []
    for t in range(len(values)):
        for r in range(values.shape[1]):
            share = (values[t][groups[t] == groups[t, r]] == values[t, r]).mean()
            gains.append((beliefs[t, r, values[t, r]] - share) / (1 - share) if share < 1 else 0.0)
    return float(np.mean(gains))


@pytest.mark.parametrize("kind", ["swap", "regrouped"])
def test_looking_back_is_near_the_exact_joint_model(kind: str) -> None:
    rng = np.random.default_rng(7)
    T = sticky_table(8, 0.6, rng)
    prior = np.full(8, 1 / 8)
    model = SequenceModel.from_matrix(T, [f"v{i}" for i in range(8)], prior)
    distances, exact_gains, gains, ahead = [], [], [], []
    for _ in range(8):
        groups, values = drawn_groups(kind, 6, rng), drawn_values(T, prior, (6, 8), rng)
        both, forward = exact_beliefs(groups, values, T, prior)
        found = engine_on(groups, values, model, "back")
        distances.append(np.abs(found - both).sum(axis=2).mean() / 2)
        exact_gains.append(gain_of(both, groups, values))
        gains.append(gain_of(found, groups, values))
        ahead.append(np.abs(engine_on(groups, values, model, "forward") - forward).sum(axis=2).mean() / 2)
    assert np.mean(distances) <= 0.10
    assert abs(np.mean(gains) - np.mean(exact_gains)) <= 0.2 * np.mean(exact_gains)
    assert np.mean(ahead) <= 0.12  # forward forgets how people of a group depend on each other


@pytest.mark.parametrize("kind", ["swap", "regrouped"])
def test_nearly_certain_beliefs_are_so_in_the_exact_joint_model(kind: str) -> None:
    """Loops count some evidence twice: it must not show where it would matter most."""
    rng = np.random.default_rng(29)
    T, prior = sticky_table(8, 0.9, rng), np.full(8, 1 / 8)
    model = SequenceModel.from_matrix(T, [f"v{i}" for i in range(8)], prior)
    nearly = []
    for _ in range(12):
        groups, values = drawn_groups(kind, 6, rng), drawn_values(T, prior, (6, 8), rng)
        both, _ = exact_beliefs(groups, values, T, prior)
        found = engine_on(groups, values, model, "back")
        there = found.max(axis=2) > 0.99
        nearly.extend(np.take_along_axis(both, found.argmax(axis=2)[:, :, None], 2)[:, :, 0][there].tolist())
    assert len(nearly) > 10
    assert np.mean(nearly) >= 0.99


def test_sampling_finds_the_exact_joint_model_and_the_engine_is_near_it_in_larger_groups() -> None:
    """Two groups of four are counted; groups of ten can only be sampled."""
    rng = np.random.default_rng(31)
    T, prior = sticky_table(6, 0.7, rng), np.full(6, 1 / 6)
    model = SequenceModel.from_matrix(T, "abcdef", prior)
    groups, values = drawn_groups("swap", 4, rng), drawn_values(T, prior, (4, 8), rng)
    both, _ = exact_beliefs(groups, values, T, prior)
    few = sequence(history_of_arrays(groups, values, model.values), model, "back").rows
    np.testing.assert_allclose(sampled_beliefs(few, model, 10_000, 1), both[few.release, few.person], atol=0.03)
    groups, values = np.array([rng.permutation(60) // 10 for _ in range(4)]), drawn_values(T, prior, (4, 60), rng)
    found = sequence(history_of_arrays(groups, values, model.values), model, "back")
    sampled = sampled_beliefs(found.rows, model, 10_000, 1)
    truth = np.arange(len(sampled)), found.rows.value
    assert np.abs(found.beliefs - sampled).sum(axis=1).mean() / 2 <= 0.08  # about half of it is the sampling
    assert found.beliefs[truth].mean() == pytest.approx(sampled[truth].mean(), abs=0.02)


@pytest.mark.parametrize("kind", ["stable", "swap"])
def test_values_that_never_change(kind: str) -> None:
    rng = np.random.default_rng(11)
    T, prior = np.eye(6), np.full(6, 1 / 6)
    model = SequenceModel.from_stay(1.0, prior, [f"v{i}" for i in range(6)])
    distances = []
    for _ in range(8):
        groups, values = drawn_groups(kind, 8, rng), drawn_values(T, prior, (8, 8), rng)
        both, _ = exact_beliefs(groups, values, T, prior)
        found = engine_on(groups, values, model, "back")
        distances.append(np.abs(found - both).sum(axis=2).mean() / 2)
        breached = exclusion(history_of_arrays(groups, values, model.values)).breached
        certain = {f"p{r}" for r in range(8) if found[-1, r].max() > 0.999}
        assert set(breached) <= certain
    assert np.mean(distances) <= 0.01


def test_six_people_in_three_releases() -> None:
    rng = np.random.default_rng(3)
    distances = []
    for _ in range(30):
        T, prior = sticky_table(5, 0.7, rng), np.full(5, 0.2)
        model = SequenceModel.from_matrix(T, "abcde", prior)
        groups = np.array([rng.permutation(np.repeat([0, 1], 3)) for _ in range(3)])
        values = drawn_values(T, prior, (3, 6), rng)
        both, _ = exact_beliefs(groups, values, T, prior)
        distances.append(np.abs(engine_on(groups, values, model, "back") - both).sum(axis=2).mean() / 2)
    assert np.mean(distances) <= 0.05


def test_everyone_once_is_one_release() -> None:
    rng = np.random.default_rng(5)
    T, prior = sticky_table(4, 0.5, rng), np.array([0.4, 0.3, 0.2, 0.1])
    model = SequenceModel.from_matrix(T, "abcd", prior)
    values = drawn_values(T, prior, (1, 8), rng)
    groups = np.repeat([0, 1], 4)[None, :]
    found = sequence(history_of_arrays(groups, values, "abcd"), model, "back")
    np.testing.assert_allclose(found.beliefs, found.once.beliefs, atol=1e-9)
    np.testing.assert_allclose(found.forward.beliefs, found.once.beliefs, atol=1e-9)


def test_a_fifth_of_a_belief_is_the_careful_reading_and_nothing_impossible_becomes_possible() -> None:
    T = np.array([[0.6, 0.4, 0.0], [0.0, 0.7, 0.3], [0.0, 0.0, 1.0]])  # nobody goes back
    model = SequenceModel.from_matrix(T, "abc", [0.5, 0.3, 0.2])
    groups, values = np.zeros((3, 4), dtype=int), np.array([[0, 0, 1, 2], [0, 1, 1, 2], [1, 1, 2, 2]])
    found = sequence(history_of_arrays(groups, values, "abc"), model, "back")
    evidence = no_evidence(found.rows)
    bold, careful = (
        look_back(found.rows, model, evidence, found.forward, SweepPace(fading=fading)).beliefs for fading in (1.5, 0.0)
    )
    assert ((found.beliefs > 0) == (bold > 0)).all()
    assert np.abs(bold - careful).max() > 0.01
    np.testing.assert_allclose(found.beliefs, 0.8 * bold + 0.2 * careful, atol=1e-12)


def test_beliefs_that_claim_more_than_they_know_are_told() -> None:
    rng = np.random.default_rng(8)
    beliefs = rng.dirichlet(np.ones(4), 2_000)
    truth = (rng.random(2_000)[:, None] > beliefs.cumsum(axis=1)).sum(axis=1)
    assert not is_bold(beliefs, truth)
    bolder = beliefs**2 / (beliefs**2).sum(axis=1, keepdims=True)
    assert is_bold(bolder, truth)
    assert not is_bold(bolder[:20], truth[:20])  # too few to tell


def test_forty_seven_values() -> None:
    """Too many for any exact joint model: beliefs sum to one, are calibrated, and looking back loses nothing."""
    rng = np.random.default_rng(47)
    T, prior = sticky_table(47, 0.7, rng), rng.dirichlet(np.full(47, 0.7))
    names = tuple(f"v{at:02}" for at in range(47))
    values = drawn_values(T, prior, (5, 300), rng)
    groups = np.stack([rng.permutation(300) // 6 for _ in range(5)])
    found = sequence(history_of_arrays(groups, values, names), SequenceModel.from_matrix(T, names, prior), "back")
    np.testing.assert_allclose(found.beliefs.sum(axis=1), 1.0)
    truth = found.rows.value
    told = [one[np.arange(len(truth)), truth] for one in (found.once.beliefs, found.forward.beliefs, found.beliefs)]
    once, forward, back = (-np.log(np.maximum(one, 1e-12)).mean() for one in told)
    assert back < forward < once
    assert told[2].mean() == pytest.approx((found.beliefs**2).sum(axis=1).mean(), abs=0.03)


def test_compromised_values_are_evidence() -> None:
    from seriatim.knowledge.sequential_adversary import SequentialAdversary

    model = SequenceModel.from_stay(0.9, [1, 1], ["a", "b"])
    groups, values = np.zeros((2, 2), dtype=int), np.array([[0, 1], [0, 1]])
    history = history_of_arrays(groups, values, ["a", "b"])
    found = sequence(history, SequentialAdversary(model=model, compromised=frozenset({"p0"})), "back")
    assert found.of("p1") == [{"b": 1.0}, {"b": 1.0}]
    assert len(found.judged) == 2
