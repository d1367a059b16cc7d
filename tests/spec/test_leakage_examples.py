"""The examples of Ren and Li, with the corrected values."""

import math

import numpy as np
import pytest

from seriatim.measures._leakage import figures_by_class, leakage
from seriatim.model.class_counts import ValueCounts
from seriatim.model.classes import numbered_alike


def figures(values: list[int], classes: list[int], n_values: int) -> dict[str, np.ndarray]:
    found = numbered_alike([np.array(classes, np.int32)], [max(classes) + 1], len(classes))
    return figures_by_class(ValueCounts.of(found, np.array(values, np.int32), n_values))


def test_example_1_third_class_leaks_root_32_over_12():
    prior = [7 / 12, 3 / 12, 2 / 12]
    first, third = leakage(prior, [3 / 4, 1 / 4, 0]), leakage(prior, [1 / 4, 1 / 4, 2 / 4])
    assert first.distribution == pytest.approx(math.sqrt(8) / 12, abs=1e-12)
    assert first.entropy == pytest.approx(0.573, abs=5e-4)
    assert third.distribution == pytest.approx(math.sqrt(32) / 12, abs=1e-12)
    assert third.distribution == pytest.approx(0.4714, abs=5e-5)
    assert third.entropy == pytest.approx(-0.116, abs=5e-4)  # the adversary is less certain than before


def test_example_2_a_uniform_class_leaks_most_shape_and_loses_certainty():
    prior = [10 / 16, 2 / 16, 2 / 16, 2 / 16]
    uniform = leakage(prior, [1 / 4] * 4)
    skewed = leakage(prior, [12 / 16, 4 / 16, 0, 0])
    assert uniform.distribution == pytest.approx(math.sqrt(48) / 16, abs=1e-12)
    assert skewed.distribution == pytest.approx(4 / 16, abs=1e-12)
    assert (uniform.entropy, skewed.entropy) == (pytest.approx(-0.451, abs=5e-4), pytest.approx(0.738, abs=5e-4))


def test_example_3_the_table_is_one_third_close():
    # flu, heart disease, cancer
    found = figures([0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 2, 2], [0] * 4 + [1] * 4 + [2] * 4, 3)
    assert found["size"].tolist() == [4, 4, 4]
    assert found["distinct_l"].tolist() == [2, 2, 3]
    assert found["tv"].tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 3], abs=1e-12)
    assert found["l_d"].tolist() == pytest.approx([math.sqrt(8) / 12, math.sqrt(8) / 12, math.sqrt(32) / 12])
    assert found["l_e"].tolist() == pytest.approx([0.573, 0.573, -0.116], abs=5e-4)
    assert found["n_missing"].tolist() == [1, 1, 0]
    assert found["n_exclusive"].tolist() == [0, 0, 1]  # whoever has cancer is in the third class
    assert found["delta"].tolist()[:2] == [math.inf, math.inf]
    assert math.isfinite(found["delta"][2])


def test_example_4_in_its_right_order():
    prior = np.full(9, 1 / 9)
    spread, pure = np.zeros(9), np.zeros(9)
    spread[:3] = 1 / 3  # 3K, 4K, 5K
    pure[4] = 1.0  # 7K three times
    assert leakage(prior, spread).distribution == pytest.approx(0.4714, abs=5e-5)
    assert leakage(prior, pure).distribution == pytest.approx(0.9428, abs=5e-5)
    assert leakage(prior, spread).entropy == pytest.approx(1.585, abs=5e-4)
    assert leakage(prior, pure).entropy == pytest.approx(3.170, abs=5e-4)
    assert abs(prior - spread).max() == pytest.approx(0.22, abs=3e-3)  # what the paper printed
    assert abs(prior - pure).max() == pytest.approx(0.89, abs=3e-3)


@pytest.mark.parametrize(
    ("salaries", "emd"),
    [([3, 5, 9], 0.1667), ([6, 11, 8], 0.1667), ([4, 7, 10], 0.0833), ([3, 4, 5], 0.375), ([7, 7, 7], 0.2778)],
)
def test_example_4_ordered_distances(salaries: list[int], emd: float):
    # every salary once in the table; the class is set beside it
    values = [s - 3 for s in salaries]
    classes = numbered_alike([np.array([0, 0, 0], np.int32)], [1], 3)
    uniform = np.full(9, 1 / 9)
    found = figures_by_class(ValueCounts.of(classes, np.array(values, np.int32), 9), uniform)
    assert found["emd"][0] == pytest.approx(emd, abs=1e-4)


def test_the_public_name_is_a_function():
    import seriatim.measures as measures

    assert measures.leakage([0.5, 0.5], [1.0, 0.0]) == measures.Leakage(math.sqrt(0.5), 1.0)


def test_theorem_1_uses_the_population_standard_deviation():
    shares = np.array([0.5, 0.3, 0.1, 0.1])
    found = leakage(np.full(4, 0.25), shares)
    assert found.distribution == pytest.approx(shares.std(ddof=0) * math.sqrt(4), abs=1e-12)


def test_a_permutation_leaks_shape_but_no_entropy():
    found = leakage([0.6, 0.3, 0.1], [0.1, 0.6, 0.3])
    assert found.entropy == pytest.approx(0.0, abs=1e-12)
    assert found.distribution > 0.5


def test_entropy_leakage_is_not_monotone_under_merging():
    """Two classes that leak little can be merged into one that leaks more, so no search may prune by it."""
    one, other = np.array([0.9, 0.1]), np.array([0.1, 0.9])
    skewed = np.array([0.89, 0.11])
    apart = max(abs(leakage(skewed, one).entropy), abs(leakage(skewed, other).entropy))
    together = abs(leakage(skewed, (one + other) / 2).entropy)
    assert together > apart
