"""Hit chances, entropies and areas of classes by plain Python, and every grouping defence under them."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import plain_equivocation as plain

import seriatim as sr
from seriatim.measures.equivocation_rows import class_areas
from seriatim.model import CodedColumn, Finding, scale_of
from seriatim.model.class_counts import ClassCounts
from seriatim.model.classes import PublishedTable, classes_of
from seriatim.model.nearness import positions_or_nan, window_of
from seriatim.promises.single import equivocation

ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(-6, 30)), min_size=1, max_size=24)
WIDTHS = ("3", "±2", "20%", "±10%", "±10% or 2", "0")


def published(rows: list[tuple[int, int]]) -> ClassCounts:
    domain = sorted({value for _, value in rows})
    table = pa.table({"q": [str(q) for q, _ in rows]})
    scale = scale_of("interval", pa.array([str(v) for v in domain]), np.array(domain, dtype=np.float64))
    codes = np.array([domain.index(value) for _, value in rows], np.int32)
    sensitive = {"s": CodedColumn("s", codes, scale)}
    return ClassCounts.of(PublishedTable(labels=table, classes=classes_of(table, ["q"]), sensitive=sensitive))


def by_class(rows: list[tuple[int, int]]) -> list[list[int]]:
    return [[v for other, v in rows if other == q] for q in dict.fromkeys(q for q, _ in rows)]


def areas_of(counts: ClassCounts) -> list[float]:
    """The area of every class, the smallest first."""
    return sorted(class_areas(counts.values["s"], positions_or_nan(counts.scales["s"])).tolist())


def near(low: int, high: int, width: str) -> bool:
    """Whether one window holds both: by the words of the policy page."""
    sides = 2 if width.startswith("±") else 1
    first, _, floor = width.lstrip("±").partition(" or ")
    if first.endswith("%"):
        middle = abs(Fraction(low + high, 2))
        return high - low <= max(sides * Fraction(first[:-1]) / 100 * middle, sides * Fraction(floor or "0"))
    return high - low <= sides * Fraction(first)


def hit_chance(values: list[int], width: str) -> float:
    return max(sum(low <= v and near(low, v, width) for v in values) for low in values) / len(values)


@settings(max_examples=150, deadline=None)
@given(ROWS, st.sampled_from(WIDTHS))
def test_hit_chances(rows: list[tuple[int, int]], width: str) -> None:
    table = published(rows)
    chances = [hit_chance(values, width) for values in by_class(rows)]
    whole = hit_chance([v for _, v in rows], width)
    finding = equivocation.hit_chance("s", {width: 0.0}, "chance").check(table)
    assert finding.worst == pytest.approx(max(chances))
    lifted = equivocation.hit_chance("s", {width: 0.5}).check(table)
    lifts = [max((chance - whole) / (1 - whole), 0) if whole < 1 else 0 for chance in chances]
    assert lifted.worst == pytest.approx(max(lifts))
    assert lifted.kept == (max(lifts) <= 0.5 + 1e-9)
    assert lifted.n_classes == sum(lift > 0.5 + 1e-9 for lift in lifts)


@settings(max_examples=80, deadline=None)
@given(ROWS, st.integers(0, 8))
def test_entropies_and_areas(rows: list[tuple[int, int]], width: int) -> None:
    table, twins = published(rows), []
    for values in by_class(rows):
        counts = Counter(values)
        twins.append(plain.merged(list(counts), [n / len(values) for n in counts.values()]))
    least = min(plain.by_recurrence(twin, Fraction(width)) for twin in twins)
    assert equivocation.least_entropy("s", {str(width): 9.0}).check(table).worst == pytest.approx(least, abs=1e-9)
    assert areas_of(table) == pytest.approx(sorted(plain.area(twin) for twin in twins), abs=1e-9)


@pytest.mark.parametrize("text", ["", "5 %%", "-5", "±", "5 or 3", "±100%", "200%", "wide", "1e999x"])
def test_what_is_no_width(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        window_of(text)


def income_policy(method: str, promise: dict[str, Any], **column: Any) -> sr.Policy:
    columns = {
        "age": {"role": "quasi", "kind": "number", "hierarchy": {"interval": [5, 10, 20, 40]}},
        "income": {"role": "sensitive", "kind": "number", **column},
    }
    defence = {"method": method, "suppress": 0.2}
    return sr.Policy.from_dict({"series": {"name": "s"}, "columns": columns, "promise": promise, "defence": defence})


PROMISES: list[dict[str, Any]] = [
    {"k": 2, "max_hit_chance_at": {"±5%": 0.3}},
    {"k": 2, "max_hit_chance_at": {"±5% or 50": 0.4, "1000": 0.5}, "hit_chance_kind": "chance"},
    {"k": 2, "min_entropy_at": {"±5%": 2.0}},
]


@pytest.mark.parametrize("method", ["median", "curve", "lattice"])
@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: "-".join(promise))
def test_every_grouping_defence_keeps_them(method: str, promise: dict[str, Any], tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    age = rng.integers(18, 90, 600)
    income = np.where(rng.random(600) < 0.1, 0, np.exp(rng.normal(7 + age / 60, 0.5)).round(0).astype(int))
    table = pa.table({"age": age, "income": income})
    release = sr.publish(table, income_policy(method, promise), sr.Ledger.open(tmp_path / "ledger.db"))
    assert release.verdict.released, release.verdict.reasons
    groups = release.groups.to_pandas()
    assert groups.loc[~groups.suppressed, "group"].nunique() > 1
    alone = sr.publish(table, income_policy(method, {"k": 2}), sr.Ledger.open(tmp_path / "other.db"))
    audited = sr.audit(alone.table, income_policy(method, promise))
    assert not audited.kept, "the promise has an effect"
    assert sr.audit(release.table, income_policy(method, promise)).kept


def finding_of(groups: list[list[int]], promise: dict[str, Any]) -> Finding:
    table = pa.table(
        {"age": [20 * i for i, g in enumerate(groups) for _ in g], "income": [v for g in groups for v in g]}
    )
    return sr.audit(table, income_policy("median", promise)).findings[0]


NEAR_AND_FAR = [2000, 2010, 2020, 2030, 2015, 2005, 2025, 2035, 2040, 24000]
EVEN = [2000 + 300 * step for step in range(10)]


def test_nine_near_incomes_and_an_outlier_fail_and_ten_spread_evenly_pass() -> None:
    limit = {"max_hit_chance_at": {"±5%": 0.5}}
    both = finding_of([NEAR_AND_FAR, EVEN], limit)
    assert (both.kept, both.n_classes, both.classes) == (False, 1, (0,))
    assert finding_of([EVEN, [v + 7 for v in EVEN]], limit).kept
    areas = [areas_of(published([(0, v) for v in g]))[0] for g in (NEAR_AND_FAR, EVEN)]
    assert areas[0] > areas[1], "the area would have passed the first before the second"


def test_zeros_everywhere_are_no_lift() -> None:
    zeros = [[0] * 96 + [100, 200, 300, 400], [0] * 96 + [500, 600, 700, 800]]
    assert finding_of(zeros, {"max_hit_chance_at": {"±5%": 0.1}}).kept
    plainly = finding_of(zeros, {"max_hit_chance_at": {"±5%": 0.1}, "hit_chance_kind": "chance"})
    assert plainly.worst == pytest.approx(0.96)


@pytest.mark.parametrize(
    ("promise", "column", "fault"),
    [
        ({"min_area": 3.0}, {}, "min_area"),
        ({"hit_chance_kind": "lift"}, {}, "hit_chance_kind is set without"),
        ({"max_hit_chance_at": {"±5%": 0.5}}, {"kind": "category"}, "is a category without order"),
        ({"max_hit_chance_at": {"±5%": 1.5}}, {}, "max_hit_chance_at"),
        ({"min_entropy_at": {"±5%": 1}}, {"hierarchy": {"interval": [5]}}, "has a hierarchy"),
    ],
)
def test_promises_that_cannot_be(promise: dict[str, Any], column: dict[str, Any], fault: str) -> None:
    with pytest.raises(sr.PolicyError, match=fault):
        income_policy("median", promise, **column)


def test_texts_without_an_order_are_refused(tmp_path: Path) -> None:
    columns = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    shape = {"series": {"name": "s"}, "columns": columns, "defence": {"method": "median"}}
    policy = sr.Policy.from_dict({**shape, "promise": {"max_hit_chance_at": {"1": 0.5}}})
    with pytest.raises(sr.PolicyError, match="holds categories without an order"):
        sr.publish(pa.table({"age": [1, 2], "ill": ["x", "y"]}), policy, sr.Ledger.open(tmp_path / "ledger.db"))
    columns["ill"] = {"role": "sensitive", "order": ["x", "y"]}  # type: ignore[dict-item]
    ranked = sr.Policy.from_dict({**shape, "promise": {"max_hit_chance_at": {"0": 0.5}}})
    done = sr.publish(pa.table({"age": [1, 2], "ill": ["x", "y"]}), ranked, sr.Ledger.open(tmp_path / "ledger.db"))
    assert done.verdict.released
