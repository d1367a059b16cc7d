"""Likeness, disclosure, leakage and bounds judged by plain Python on random tables; remedies are tried out."""

import math
import re
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.errors import PolicyError
from seriatim.model import CodedColumn, Finding, Policy, PromiseTerms, Thresholds, scale_of
from seriatim.model.class_counts import ClassCounts
from seriatim.model.classes import PublishedTable, classes_of
from seriatim.ports import TablePromise
from seriatim.promises import promises_of
from seriatim.promises.single.closeness import (
    basic_likeness,
    disclosure_likeness,
    distribution_leakage,
    dominant_value_likeness,
    enhanced_likeness,
    entropy_leakage,
)
from seriatim.promises.single.value_bounds import value_bounds

VALUES = ["a", "b", "c", "d"]
Row = tuple[int, str]


def published(rows: list[Row]) -> ClassCounts:
    table = pa.table({"q": [str(q) for q, _ in rows], "s": [s for _, s in rows]})
    scale = scale_of("set", pa.array(VALUES), np.arange(4.0))
    coded = CodedColumn("s", np.array([VALUES.index(s) for _, s in rows], np.int32), scale)
    labels = table.select(["q"])
    return ClassCounts.of(PublishedTable(labels=labels, classes=classes_of(labels, ["q"]), sensitive={"s": coded}))


def beliefs(rows: list[Row]) -> tuple[dict[str, float], dict[int, dict[str, float]]]:
    """The published margin, and the shares in each class by the order of first rows."""
    everyone = Counter(s for _, s in rows)
    classes = {q: Counter(s for other, s in rows if other == q) for q, _ in rows}
    prior = {v: everyone[v] / len(rows) for v in VALUES}
    return prior, {n: {v: c[v] / c.total() for v in VALUES} for n, c in enumerate(classes.values())}


def entropy(shares: dict[str, float]) -> float:
    return -sum(p * math.log2(p) for p in shares.values() if p > 0)


def plain_figures(name: str, rows: list[Row]) -> list[float]:
    a, classes = beliefs(rows)
    found = []
    for x in classes.values():
        gains = {v: (x[v] - a[v]) / a[v] for v in VALUES if x[v] > a[v]}
        over = any(gain > -math.log(a[v]) + 1e-9 for v, gain in gains.items())
        ratios = [abs(math.log(x[v] / a[v])) if x[v] else math.inf for v in VALUES if a[v] > 0]
        found.append({
            "alpha_k": max(x.values()),
            "basic": max(gains.values(), default=0.0),
            "enhanced": math.inf if over else max(gains.values(), default=0.0),
            "delta": max(ratios),
            "distribution": math.dist(list(a.values()), list(x.values())),
            "entropy": abs(entropy(a) - entropy(x)),
        }[name])  # fmt: skip
    return found


MAKERS = {
    "alpha_k": dominant_value_likeness,
    "basic": basic_likeness,
    "enhanced": enhanced_likeness,
    "delta": disclosure_likeness,
    "distribution": distribution_leakage,
    "entropy": entropy_leakage,
}

ROWS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from(VALUES)), min_size=1, max_size=40)


def judged(promise: TablePromise, rows: list[Row]) -> Finding:
    return promise.check(published(rows))


@settings(max_examples=200, deadline=None)
@given(ROWS, st.sampled_from(sorted(MAKERS)), st.floats(0.05, 3.0))
def test_findings_equal_the_plain_ones(rows: list[Row], name: str, threshold: float):
    figures = plain_figures(name, rows)
    if any(abs(f - threshold) < 1e-6 for f in figures):
        threshold += 1e-5
    found = judged(MAKERS[name]("s", threshold), rows)
    broken = [c for c, f in enumerate(figures) if f > threshold]
    assert found.kept == (not broken)
    assert found.worst == pytest.approx(max(figures), abs=1e-9)
    assert found.n_classes == len(broken)
    assert set(found.classes) == set(broken)
    numbers = {q: n for n, q in enumerate(dict.fromkeys(q for q, _ in rows))}
    assert found.n_people == sum(numbers[q] in broken for q, _ in rows)
    assert bool(found.remedy) == bool(broken)
    assert ("published margin" in found.detail) == (name != "alpha_k")


@settings(max_examples=100, deadline=None)
@given(ROWS, st.sampled_from(sorted(MAKERS)), st.floats(0.05, 1.0))
def test_the_threshold_in_the_remedy_passes(rows: list[Row], name: str, threshold: float):
    found = judged(MAKERS[name]("s", threshold), rows)
    for text in re.findall(r"= ([0-9.]+) would pass", found.remedy):
        assert judged(MAKERS[name]("s", float(text)), rows).kept


@settings(max_examples=100, deadline=None)
@given(ROWS, st.tuples(st.floats(0, 0.5), st.floats(0.5, 1.0)))
def test_bounds_hold_in_every_class(rows: list[Row], bounds: tuple[float, float]):
    low, high = bounds
    found = judged(value_bounds("s", {"a": [low, high]}), rows)
    _, classes = beliefs(rows)
    misses = [max(low - x["a"], x["a"] - high, 0.0) for x in classes.values()]
    assert found.kept == all(miss <= 1e-9 for miss in misses)
    assert found.worst == pytest.approx(max(misses), abs=1e-9)


def test_bounds_say_by_how_much_they_are_missed():
    found = judged(value_bounds("s", {"a": [0.25, 0.5]}), [(0, "a"), (0, "b"), (0, "b"), (0, "b"), (1, "a"), (1, "a")])
    assert found.classes == (1,)
    assert found.remedy.startswith("bounds wider by 0.5 would pass")


def test_a_bound_on_a_value_nobody_has_is_a_fault():
    with pytest.raises(PolicyError, match="1 values are not in the column"):
        judged(value_bounds("s", {"nowhere": [0.0, 0.5]}), [(0, "a"), (1, "b")])


def test_withholding_in_the_remedy_passes():
    rows = [(0, "a")] * 3 + [(q, v) for q in (1, 2, 3) for v in VALUES for _ in range(2)]
    found = judged(distribution_leakage("s", 0.2), rows)
    assert "withholding 1 class with 3 records would pass" in found.remedy
    assert judged(distribution_leakage("s", 0.2), rows[3:]).kept


def test_enhanced_likeness_is_stricter_for_frequent_values():
    # a has share 1/2, so its gain of 1 is above -ln(1/2) = .693 whatever beta is asked
    rows = [(0, "a"), (0, "a"), (1, "b"), (1, "b")]
    assert judged(basic_likeness("s", 1.0), rows).kept
    strict = judged(enhanced_likeness("s", 100.0), rows)
    assert not strict.kept
    assert strict.worst == math.inf
    assert strict.remedy == (
        "no threshold would pass; cannot be fixed by withholding: more than half of the records would go"
    )


def test_the_policy_names_them_all():
    further = {
        "alpha_k": 0.5, "beta": 1.0, "beta_kind": "enhanced", "delta": 1.0, "value_bounds": {"a": [0.0, 0.5]},
        "distribution_leakage": 0.2, "entropy_leakage": 0.5,
    }  # fmt: skip
    policy = Policy(series="x", columns={}, terms=PromiseTerms(per_column={"s": Thresholds(**further)}), defence=None)
    found = promises_of(policy)
    assert [p.rule for p in found] == [
        "alpha_k", "beta", "delta", "value_bounds", "distribution_leakage", "entropy_leakage",
    ]  # fmt: skip
    assert "enhanced" in found[1].detail  # type: ignore[attr-defined]
