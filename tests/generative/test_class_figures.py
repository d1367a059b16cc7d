"""The kernels beside plain twins, and the identities of leakage."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.kernels.check.class_figures import FIGURES
from seriatim.kernels.check.classes import class_ids, number_by_hash
from seriatim.measures._leakage import figures_by_class
from seriatim.model.class_counts import ValueCounts
from seriatim.model.classes import numbered_alike

LIMITS = settings(max_examples=150, deadline=None)


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int]:
    n = draw(st.integers(2, 60))
    n_values = draw(st.integers(1, 8))
    columns = draw(st.integers(1, 3))
    codes = draw(st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=columns, max_size=columns))
    values = draw(st.lists(st.integers(0, n_values - 1), min_size=n, max_size=n))
    return np.array(codes, np.int32), np.array(values, np.int32), n_values


def plain_ids(columns: list[list[int]]) -> list[int]:
    numbers: dict[tuple[int, ...], int] = {}
    return [numbers.setdefault(row, len(numbers)) for row in zip(*columns, strict=True)]


def plain_figures(members: list[int], everyone: list[int], prior: list[float]) -> dict[str, float]:
    m, n = len(prior), len(members)
    held, overall = Counter(members), Counter(everyone)
    x = [held[v] / n for v in range(m)]
    gap, reached, moved = [b - a for a, b in zip(prior, x, strict=True)], 0.0, 0.0
    for g in gap:
        reached += g
        moved += abs(reached)
    h = [-sum(p * math.log2(p) for p in d if p > 0) for d in (prior, x)]
    gains = [(b - a) / a for a, b in zip(prior, x, strict=True) if a > 0 and b > a]
    fits = all((b - a) / a <= -math.log(a) for a, b in zip(prior, x, strict=True) if a > 0 and b > a)
    ratios = [abs(math.log(b / a)) for a, b in zip(prior, x, strict=True) if b > 0]
    missing = sum(a > 0 and b == 0 for a, b in zip(prior, x, strict=True))
    ordered = sorted(held.values(), reverse=True)
    return {
        "size": n,
        "distinct_l": len(held),
        "entropy_l": 2 ** h[1],
        "recursive_c": ordered[0] / sum(ordered[1:]) if len(ordered) > 1 else math.inf,
        "tv": sum(map(abs, gap)) / 2,
        "emd": moved / (m - 1) if m > 1 else 0.0,
        "l_d": math.sqrt(sum(g * g for g in gap)),
        "l_e": h[0] - h[1],
        "kl": sum(b * math.log2(b / a) for a, b in zip(prior, x, strict=True) if b > 0),
        "beta": max(gains, default=0.0),
        "beta_enhanced": max(gains, default=0.0) if fits else math.inf,
        "delta": math.inf if missing else max(ratios),
        "delta_present": max(ratios),
        "max_p": max(x),
        "n_missing": missing,
        "n_exclusive": sum(held[v] == overall[v] for v in held),
    }


@LIMITS
@given(tables())
def test_class_numbers_equal_the_plain_ones(table: tuple[np.ndarray, np.ndarray, int]):
    codes, _, _ = table
    expected = plain_ids(codes.tolist())
    ids, n = class_ids([(column, 4) for column in codes], codes.shape[1])
    assert ids.tolist() == expected
    assert n == max(expected) + 1


@LIMITS
@given(st.lists(st.integers(0, 2**62), min_size=1, max_size=200))
def test_hashed_numbers_equal_the_plain_ones(keys: list[int]):
    ids, n = number_by_hash(np.array(keys, np.int64))
    assert ids.tolist() == plain_ids([keys])
    assert n == len(set(keys))


def test_hashing_doubles_and_wide_spaces_are_folded_in_steps():
    chance = np.random.default_rng(5)
    columns = [chance.integers(0, 1 << 20, 20_000).astype(np.int32) for _ in range(4)]
    columns.append(chance.integers(0, 3, 20_000).astype(np.int32))
    ids, n = class_ids(zip(columns, [1 << 20] * 4 + [3], strict=True), 20_000)  # 2^80 and more cannot be one key
    assert ids.tolist() == plain_ids([c.tolist() for c in columns])
    assert n == 20_000


@LIMITS
@given(tables(), st.booleans())
def test_figures_equal_the_plain_ones(table: tuple[np.ndarray, np.ndarray, int], uniform: bool):
    codes, values, m = table
    classes = numbered_alike(list(codes), [4] * len(codes), codes.shape[1])
    tab = ValueCounts.of(classes, values, m)
    prior = np.full(m, 1 / m) if uniform else tab.margin
    found = figures_by_class(tab, prior)
    for c in range(len(classes)):
        members = values[classes.of_record == c].tolist()
        expected = plain_figures(members, values.tolist(), prior.tolist())
        for name in FIGURES:
            assert found[name][c] == pytest.approx(expected[name], abs=1e-9), name
    assert tab.dense().sum() == len(values)


@LIMITS
@given(tables())
def test_identities_of_the_published_margin(table: tuple[np.ndarray, np.ndarray, int]):
    codes, values, m = table
    classes = numbered_alike(list(codes), [4] * len(codes), codes.shape[1])
    tab = ValueCounts.of(classes, values, m)
    found = figures_by_class(tab)
    weight = classes.sizes / len(values)
    joint = tab.dense() / len(values)
    information = sum(
        joint[c, v] * math.log2(joint[c, v] / (weight[c] * tab.margin[v]))
        for c, v in product(range(len(classes)), range(m))
        if joint[c, v] > 0
    )
    assert (weight * found["l_e"]).sum() == pytest.approx(information, abs=1e-9)
    assert (weight * found["kl"]).sum() == pytest.approx(information, abs=1e-9)
    assert (found["l_d"] <= math.sqrt(2) * found["tv"] + 1e-12).all()
    assert (found["tv"] <= math.sqrt(m) * found["l_d"] / 2 + 1e-12).all()
    for tv, l_e in zip(found["tv"], found["l_e"], strict=True):
        h = -sum(p * math.log2(p) for p in (tv, 1 - tv) if p > 0)
        assert abs(l_e) <= tv * math.log2(max(m - 1, 1)) + h + 1e-9
    gaps = tab.dense() / classes.sizes[:, None] - tab.margin
    assert (weight[:, None] * gaps).sum(axis=0) == pytest.approx(np.zeros(m), abs=1e-12)


@LIMITS
@given(tables(), st.data())
def test_emptying_classes_equals_tabulating_the_rest(table: tuple[np.ndarray, np.ndarray, int], data: st.DataObject):
    codes, values, m = table
    classes = numbered_alike(list(codes), [4] * len(codes), codes.shape[1])
    dropped = np.array(data.draw(st.lists(st.booleans(), min_size=len(classes), max_size=len(classes))))
    rest = ValueCounts.of(classes, values, m).without(dropped)
    expected = np.bincount(values[~dropped[classes.of_record]], minlength=m)
    assert rest.totals.tolist() == expected.tolist()
    assert (rest.dense()[dropped] == 0).all()
    assert rest.sizes.tolist() == np.where(dropped, 0, classes.sizes).tolist()


def test_a_value_that_is_not_published_counts_for_the_size_only():
    classes = numbered_alike([np.array([0, 0, 1], np.int32)], [2], 3)
    found = figures_by_class(ValueCounts.of(classes, np.array([0, -1, -1], np.int32), 2), np.array([0.5, 0.5]))
    assert found["size"].tolist() == [2, 1]
    assert found["n_valued"].tolist() == [1, 0]
    assert found["max_p"][0] == 1.0
    assert np.isnan(found["max_p"][1])
