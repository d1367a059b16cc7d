"""Every example of Bezzi et al. to its printed digits, with the corrections that recomputing them asks for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaincinv  # scipy.stats takes a second to load

from seriatim import gate
from seriatim_papers.safe_release_counts import BASELINE, FIGURE_2, FIGURE_6, FIGURE_8, FIGURE_9, FIGURE_11


def chi_square_quantile(p: float, freedom: np.ndarray | int) -> np.ndarray:
    return 2 * gammaincinv(np.asarray(freedom) / 2, p)


def information_limit(alpha: float, n: int) -> float:
    return float(chi_square_quantile(1 - alpha, 9 * 5) / (2 * n * np.log(2)))


def divergence_limits(alpha: float, counts: np.ndarray) -> np.ndarray:
    return np.asarray(chi_square_quantile(1 - alpha, 9) / (2 * counts.sum(axis=0) * np.log(2)))


def test_the_tables_have_the_printed_totals() -> None:
    assert FIGURE_2.sum(axis=0).tolist() == [2029, 1299, 1652, 2007, 3013]
    assert FIGURE_2.sum(axis=1).tolist() == [256, 649, 2376, 1967, 1601, 1706, 851, 400, 173, 21]
    assert FIGURE_6.sum(axis=0).tolist() == [319, 165, 269, 293, 444]
    assert FIGURE_8.sum(axis=0).tolist() == [332, 154, 305, 296, 588]
    assert FIGURE_9.sum(axis=0).tolist() == [368, 52, 315, 419, 546]
    assert FIGURE_11.sum(axis=0).tolist() == [387, 230, 302, 390, 661]


def test_example_4_1_mutual_information() -> None:
    assert gate.mutual_information(FIGURE_2, BASELINE) == pytest.approx(0.063285, abs=5e-7)


def test_example_4_2_divergences() -> None:
    printed = [0.047349, 0.358836, 0.013967, 0.007375, 0.010879]
    assert gate.divergences(FIGURE_2, BASELINE) == pytest.approx(printed, abs=5e-7)


def test_example_4_3_pearson_with_eight_significant_digits() -> None:
    statistics, cells = gate.pearson(FIGURE_2, BASELINE)
    assert statistics == pytest.approx([104.532747, 878.201783, 30.837391, 17.340740, 39.875054], abs=5e-7)
    assert cells.tolist() == [9, 10, 9, 9, 9]


def test_example_5_4_significance_of_the_mutual_information() -> None:
    assert gate.mutual_information(FIGURE_6, BASELINE) == pytest.approx(0.025522, abs=5e-7)
    assert information_limit(0.2, 1490) == pytest.approx(0.025527, abs=5e-7)
    assert information_limit(0.05, 10_000) == pytest.approx(0.004448, abs=1e-6)


def test_example_5_8_significance_of_the_divergences() -> None:
    found = gate.divergences(FIGURE_8, BASELINE)
    assert found == pytest.approx([0.026582, 0.056478, 0.028935, 0.029818, 0.014996], abs=1e-6)
    limits = divergence_limits(0.2, FIGURE_8)
    assert limits == pytest.approx([0.026599, 0.057343, 0.028954, 0.029834, 0.015018], abs=1e-6)
    assert (found < limits).all()
    whole = divergence_limits(0.05, FIGURE_2)
    assert whole == pytest.approx([0.006015, 0.009395, 0.007388, 0.006081, 0.004051], abs=1e-6)
    assert (gate.divergences(FIGURE_2, BASELINE) > whole).all()


@pytest.mark.parametrize("merge", ["smallest", "forward"])
def test_example_5_11_chi_square_with_merged_cells(merge: str) -> None:
    statistics, cells = gate.pearson(FIGURE_9, BASELINE, merge=merge)
    # three of the printed values are truncated, not rounded
    assert statistics == pytest.approx([8.550683, 0.961415, 9.717669, 8.293681, 8.554984], abs=1e-6)
    assert cells.tolist() == [7, 2, 8, 9, 7]
    limits = chi_square_quantile(0.8, cells - 1)
    assert limits == pytest.approx([8.558059, 1.642374, 9.803249, 11.030091, 8.558059], abs=1e-6)
    assert (statistics < limits).all()
    _, cells = gate.pearson(FIGURE_2, BASELINE)
    whole = [15.507313, 16.918978, 15.507313, 15.507313, 15.507313]
    assert chi_square_quantile(0.95, cells - 1) == pytest.approx(whole, abs=1e-6)


def test_example_5_13_dixon() -> None:
    distances = gate.divergences(FIGURE_11, BASELINE)
    assert distances == pytest.approx([0.209188, 0.361504, 0.037932, 0.018421, 0.021103], abs=1e-6)
    assert gate.dixon(distances) == pytest.approx(0.443963, abs=2e-6)
    # .886263 comes from rounded distances
    assert gate.dixon(gate.divergences(FIGURE_2, BASELINE)) == pytest.approx(0.8862616, abs=5e-8)


def test_figure_10_critical_values_of_dixon() -> None:
    printed = {
        0.20: [0.781, 0.560, 0.451, 0.386, 0.344, 0.314, 0.290, 0.273],
        0.10: [0.886, 0.679, 0.557, 0.482, 0.434, 0.399, 0.370, 0.349],
        0.05: [0.941, 0.765, 0.642, 0.560, 0.507, 0.468, 0.437, 0.412],
        0.01: [0.988, 0.889, 0.780, 0.698, 0.637, 0.590, 0.555, 0.527],
    }
    for alpha, row in printed.items():
        # Dixon's own table is off by up to .0025
        assert [gate.dixon_critical(n, alpha) for n in range(3, 11)] == pytest.approx(row, abs=0.0026)
    assert gate.dixon_critical(11, 0.2) == pytest.approx(0.2587, abs=5e-5)
    assert gate.dixon_critical(11, 0.05) == pytest.approx(0.3920, abs=5e-5)


def test_figure_18_fitting_the_baseline() -> None:
    fitting = (FIGURE_2 / BASELINE[:, None]).min(axis=0)
    assert fitting == pytest.approx([500, 579.56, 952.38, 952.38, 952.38], abs=0.005)
