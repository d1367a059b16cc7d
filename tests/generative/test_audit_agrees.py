"""The audit's figures, its promises and plain Python must tell the same worst figure; its remedies must pass."""

import math

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support import plain_promises as plain

from seriatim.model import ColumnRule, Policy, PromiseTerms, Role, Table, Thresholds
from seriatim.tables.auditable import auditable
from seriatim.usecases.audit.audit import Audit, audit

ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 4)), min_size=4, max_size=60
)  # two quasi-identifiers and a number
COLUMNS = {"p": ColumnRule("p", Role.QUASI), "q": ColumnRule("q", Role.QUASI), "s": ColumnRule("s", Role.SENSITIVE)}
EVERYTHING = {"alpha_k": 0.0001, "beta": 1e-6, "delta": 1e-6, "distribution_leakage": 0.0, "entropy_leakage": 0.0}


def audited(rows: list[tuple[int, int, int]], asked: Thresholds, k: int = 61) -> Audit:
    p, q, s = zip(*rows, strict=True)
    assume(len(set(s)) > 1)
    assume(len(set(zip(p, q, strict=True))) > 1)
    policy = Policy(series="x", columns=COLUMNS, terms=PromiseTerms(k=k, per_column={"s": asked}), defence=None)
    return audit(auditable(Table(pa.table({"p": p, "q": q, "s": s})), policy), policy)


@settings(max_examples=100, deadline=None)
@given(ROWS, st.sampled_from([("distinct", "equal"), ("entropy", "ordered"), ("recursive", "equal")]))
def test_promises_and_figures_tell_the_same(rows: list[tuple[int, int, int]], kinds: tuple[str, str]):
    l_kind, distance = kinds
    found = audited(rows, Thresholds(l=6, l_kind=l_kind, l_c=1.0, t=0.0, t_distance=distance, **EVERYTHING))
    worst = found.summary["s"]
    members = [[s for *given, s in rows if given == list(one)] for one in {(p, q) for p, q, _ in rows}]
    domain, everyone = sorted({s for *_, s in rows}), [s for *_, s in rows]
    apart = plain.equal_distance if distance == "equal" else plain.ordered_distance
    margin = plain.shares(everyone, domain)
    by_rule = {f.rule: f for f in found.findings}
    assert by_rule["k"].worst == worst["size"]
    assert by_rule["t"].worst == pytest.approx(worst["tv" if distance == "equal" else "emd"], abs=1e-9)
    assert by_rule["t"].worst == pytest.approx(max(apart(plain.shares(c, domain), margin) for c in members), abs=1e-9)
    if l_kind != "recursive":
        figure = plain.distinct if l_kind == "distinct" else lambda values: math.exp(plain.entropy(values))
        assert by_rule["l"].worst == pytest.approx(min(map(figure, members)))
        assert by_rule["l"].worst == pytest.approx(worst["distinct_l" if l_kind == "distinct" else "entropy_l"])
    assert by_rule["alpha_k"].worst == worst["max_p"]
    assert by_rule["beta"].worst == pytest.approx(worst["beta"])
    assert by_rule["delta"].worst == worst["delta"] or by_rule["delta"].worst == pytest.approx(worst["delta"])
    assert by_rule["distribution_leakage"].worst == pytest.approx(worst["l_d"])
    assert by_rule["entropy_leakage"].worst == pytest.approx(abs(worst["l_e"]))
    for finding in found.findings:
        assert len(finding.classes) == min(finding.n_classes, 10)
        assert finding.kept == (finding.n_classes == 0)


@settings(max_examples=100, deadline=None)
@given(ROWS, st.integers(2, 4))
def test_recursive_diversity_breaks_where_the_figure_says(rows: list[tuple[int, int, int]], depth: int):
    found = audited(rows, Thresholds(l=depth, l_kind="recursive", l_c=1.3), k=1)
    finding = found.findings[1]
    figures = found.classes["recursive_c"].to_pylist()
    assert finding.n_classes == sum(c is None or c >= 1.3 for c in figures)
    assert found.summary["s"]["recursive_c"] == max(figures) or math.isinf(found.summary["s"]["recursive_c"])


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(2, 8))
def test_withholding_the_named_classes_passes(rows: list[tuple[int, int, int]], k: int):
    found = audited(rows, Thresholds(), k)
    (finding,) = found.findings
    if "withholding" in finding.remedy:
        kept = [c for c in found.classes["size"].to_pylist() if c >= k]
        assert sum(kept) == len(rows) - finding.n_people
