"""A method is one row of ``model.methods``: a new row alone lets it be named, published with, compared and forecast."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import seriatim as sr
from seriatim.defences.series.cohort.grouping import cohort
from seriatim.model.methods import METHODS, Method, MethodFamily
from seriatim.testing.hospital import hospital_months

COLUMNS = {
    "age": {"role": "quasi", "kind": "number"},
    "sex": {"role": "quasi"},
    "postcode": {"role": "drop"},
    "ward": {"role": "plain"},
    "disease": {"role": "sensitive"},
}


def all_alike(view, policy, state, workers):
    """One class of everyone: a method of an outsider, built from a stock part."""
    from seriatim.defences import defence_named

    return defence_named("median")(view, policy, state, workers)


ALIKE = Method(
    name="alike",
    home=f"{__name__}:all_alike",
    family=MethodFamily.SINGLE,
    summary="a dummy that groups by the median",
)
ECHO = Method(
    name="echo",
    home=f"{__name__}:echoed",
    family=MethodFamily.SERIES,
    summary="a dummy that keeps cohorts",
    options=METHODS["cohort"].options,
    marks=("lineage", "slot", "baseline"),
    judged_by=("fair_cells",),
    reads_odds=True,
    leavers_known=True,
)


def echoed(view, rules, pasts, draw, workers):
    return cohort(view, rules, pasts, draw, workers)


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or __import__(__name__))
    for row in (ALIKE, ECHO):
        monkeypatch.setitem(METHODS, row.name, row)


def policy(method: str, **promise: object) -> sr.Policy:
    return sr.Policy.from_dict(
        {
            "series": {"name": "dummy", "respondent": "patient"},
            "columns": COLUMNS,
            "promise": promise,
            "defence": {"method": method},
        }
    )


@pytest.fixture(scope="module")
def views() -> list[pa.Table]:
    return hospital_months(500, 3)


@pytest.mark.usefixtures("rows")
def test_a_method_for_one_release_needs_one_row(tmp_path: Path, views: list[pa.Table]) -> None:
    made = sr.publish(views[0], policy("alike", k=5), sr.Ledger.open(tmp_path / "l.db"), out=tmp_path / "out")
    assert made.verdict.released
    assert made.table.num_rows == 500
    assert "a dummy that groups by the median" in made.report.to_html()
    compared = sr.compare(views[0], policy("median", k=5))
    assert "alike" in [found.method for found in compared.methods]


@pytest.mark.usefixtures("rows")
def test_a_method_that_looks_back_needs_one_row(tmp_path: Path, views: list[pa.Table]) -> None:
    ledger = sr.Ledger.open(tmp_path / "l.db")
    for number, view in enumerate(views, 1):
        made = sr.publish(view, policy("echo", m=3), ledger)
        assert made.verdict.released, made.verdict.reasons
        assert made.number == number
        assert made.verdict.findings[0].rule == "fair_cells"
    assert "lineage" in ledger.history("dummy").releases[0].marks
    ways = [course.way for course in sr.forecast(ledger, "dummy", 1).courses]
    assert {way.method for way in ways} >= {"echo", "cohort", "historical", "invariant"}
    assert not next(way for way in ways if way.method == "echo").anew


def test_a_method_that_has_no_row_is_refused() -> None:
    with pytest.raises(sr.PolicyError, match="median, lattice"):
        policy("alike", k=5)
