"""The bell of noise, and what an attacker makes of a noisy number: against plain sums."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from seriatim.measures.averaged_noise import beliefs_after_seeing, noise_hits
from seriatim.model import CodedColumn, scale_of
from seriatim.model.nearness import window_of
from seriatim.model.noise_bell import SPREAD, amounts_of, chance_below, chances_of_cells, quantiles_at


def test_it_is_a_binomial_that_is_even_within_its_steps() -> None:
    chance = np.linspace(0.0005, 0.9995, 1000)
    bell = quantiles_at(chance)
    assert chance_below(bell) == pytest.approx(chance)
    assert np.abs(bell).max() < 0.5
    assert bell.mean() == pytest.approx(0, abs=1e-12)
    steps = np.floor((bell + 1) * 65 / 2).astype(int)
    counts = np.bincount(steps, minlength=65) / 1000
    assert counts == pytest.approx([math.comb(64, n) / 2**64 for n in range(65)], abs=0.0015)
    assert (np.diff(bell) > 0).all(), "no two chances share a number"


def test_its_spread() -> None:
    finely = quantiles_at((np.arange(200_000) + 0.5) / 200_000)
    assert finely.std() == pytest.approx(SPREAD, rel=1e-4)
    assert pytest.approx(1 / 8, rel=0.02) == SPREAD
    assert quantiles_at(np.array([0.0, 1.0])).tolist() == pytest.approx([-1, 1], abs=0.4)
    assert amounts_of(np.array([-50.0, 0.0, 10.0]), "20%").tolist() == [10, 0, 2]


@pytest.mark.parametrize("amount", ["40", "30%"])
def test_chances_of_noisy_numbers_sum_to_one(amount: str) -> None:
    values = np.array([-120.0, 0.0, 50.0, 51.0, 200.0])
    shown = np.arange(-300, 300, 1.0)
    chances = chances_of_cells(shown, values, amount, 1.0)
    assert chances.sum(axis=0) == pytest.approx(np.ones(5))
    drawn = np.rint(200 + amounts_of(values, amount)[-1] * quantiles_at(np.random.default_rng(1).random(20_000)))
    assert (drawn == 204).mean() == pytest.approx(chances[shown == 204, -1][0], abs=0.01)


def test_beliefs_are_bayes_rule() -> None:
    values, prior = np.array([100.0, 110.0, 130.0]), np.array([0.2, 0.5, 0.3])
    (found,) = beliefs_after_seeing(np.array([106.0]), values, prior, "40", 1.0)
    weights = [p * (chance_below(np.array([(106.5 - v) / 40])) - chance_below(np.array([(105.5 - v) / 40])))[0]
               for v, p in zip(values, prior, strict=True)]  # fmt: skip
    assert found == pytest.approx(np.array(weights) / sum(weights))
    assert beliefs_after_seeing(np.array([900.0]), values, prior, "40", 1.0)[0] == pytest.approx(prior)


def test_huge_numbers_are_guessed_as_well_as_small_ones() -> None:
    """A step of 1 is lost in the rounding of 1e17; the attacker is not."""
    numbers = np.arange(100.0, 160.0)
    hits = []
    for unit in (1.0, 1e15, 1e-9):
        scale = scale_of("interval", pa.array([f"{n * unit:g}" for n in numbers]), numbers * unit)
        hits.append(noise_hits(CodedColumn("v", np.arange(60, dtype=np.int32), scale), "20%", window_of("±5%"))[0])
    assert hits[1] == pytest.approx(hits[0], abs=0.02)
    assert hits[2] == pytest.approx(hits[0], abs=0.02)


def test_hits_behind_noise() -> None:
    """Noise far below the window hides nothing, noise far above the range leaves what the population tells."""
    numbers = np.arange(1000.0, 2000.0, 10.0)
    scale = scale_of("interval", pa.array([f"{n:g}" for n in numbers]), numbers)
    column = CodedColumn("income", np.arange(100, dtype=np.int32).repeat(3), scale)
    near = window_of("±50")
    none, whole = noise_hits(column, "80", near)
    assert whole == pytest.approx(0.11)
    assert none > 0.999
    assert noise_hits(column, "100000", near)[0] == pytest.approx(whole, abs=0.01)
    some = [noise_hits(column, amount, near)[0] for amount in ("400", "800", "3200")]
    assert sorted(some, reverse=True) == some
    joint = chances_of_cells(np.arange(0, 3001, 1.0), numbers, "800", 1.0) / 100
    windows = [joint[:, first : first + 11].sum(axis=1) for first in range(90)]
    assert some[1] == pytest.approx(np.max(windows, axis=0).sum(), abs=0.03), "over all numbers that may be shown"
