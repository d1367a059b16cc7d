"""The running example of JS-reduce (tables 3 and 4), to four digits, under each rule."""

from __future__ import annotations

import numpy as np
import pytest

from seriatim.knowledge import SequenceModel, posterior

VALUES = ("MAM-pos", "CX-neg", "CX-pos", "BS-neg", "BCM-pos", "PNE-pos")
FOLLOWS = {"BCM-pos": (0.6, 0.02, 0.02, 0.02), "PNE-pos": (0.02, 0.08, 0.6, 0.02)}


def model() -> SequenceModel:
    matrix = np.zeros((6, 6))
    for value, chances in FOLLOWS.items():
        matrix[:4, VALUES.index(value)] = chances
    prior = [0.002, 0.05, 0.0003, 0.2, 0.001, 0.001]
    return SequenceModel.from_matrix(matrix, VALUES, prior)


def first_release() -> tuple[np.ndarray, np.ndarray]:
    """Alice and Betty, then Carol and Doris: equal beliefs inside each group."""
    known = model().at_start(4).beliefs
    one = posterior(known[:2], [1, 1, 0, 0, 0, 0])
    two = posterior(known[2:], [0, 0, 1, 1, 0, 0])
    return one, two


def test_equal_beliefs_leave_one_half_each() -> None:
    one, two = first_release()
    np.testing.assert_allclose(one[:, :2], 0.5)
    np.testing.assert_allclose(two[:, 2:4], 0.5)


def revised() -> np.ndarray:
    one, two = first_release()
    seen = np.array([one[0], two[0]])
    return model().revise(None, seen).beliefs


def test_revised_beliefs_are_those_of_table_4b() -> None:
    np.testing.assert_allclose(revised()[:, 4:], [[0.31, 0.05], [0.02, 0.31]], atol=5e-5)


@pytest.mark.parametrize(("rule", "alice"), [("sum", 0.8986), ("bayes", 0.9897), ("omega", 0.8712)])
def test_posteriors_of_the_second_release(rule: str, alice: float) -> None:
    found = posterior(revised(), [0, 0, 0, 0, 1, 1], rule=rule)
    assert round(float(found[0, 4]), 4) == alice
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_a_certain_adversary_is_certain_under_bayes_alone() -> None:
    certain = np.eye(4)
    assert np.diag(posterior(certain, [1, 1, 1, 1])).tolist() == [1.0] * 4
    assert posterior(certain, [1, 1, 1, 1], "sum")[0, 0] == pytest.approx(2 / 4)
