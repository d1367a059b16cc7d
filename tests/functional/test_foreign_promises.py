"""A promise that another package brings, registered as packages are: by an entry point of an installed distribution."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.publication import made_policy

import seriatim as sr

MODULE = """
from dataclasses import dataclass
from seriatim.model import Finding

@dataclass(frozen=True)
class FewRows:
    column: str | None
    most: int
    rule: str = "few_rows"
    judges: str = "table"

    def check(self, counts):
        rows = counts.n_rows
        return Finding(self.rule, rows <= self.most, float(rows), float(self.most), column=self.column)

def few_rows(column, value):
    if not isinstance(value, int):
        raise TypeError("a whole number")
    return FewRows(column, value)

@dataclass(frozen=True)
class FewReleases:
    column: str | None
    most: int
    rule: str = "few_releases"
    judges: str = "series"

    def check(self, judged):
        n = len(judged.history)
        return Finding(self.rule, n <= self.most, float(n), float(self.most), column=judged.column)

@dataclass(frozen=True)
class Asks:
    column: str | None
    needs: str
    rule: str = "asks"
    judges: str = "series"

    def check(self, judged):
        there = {"attack": judged.estimate, "belief": judged.believed, "cells": judged.draft}[self.needs]
        rows = sum(len(past.person) for past in judged.history)
        told = getattr(there, "attack", type(there).__name__)
        return Finding(self.rule, True, float(rows), 0.0, column=judged.column, detail=told)

class Unsaid:
    rule = "unsaid"
    column = None

    def check(self, counts):
        raise AssertionError("nobody knows what to hand it")
"""
POINTS = """[seriatim.promises]
few_rows = other_promises:few_rows
few_releases = other_promises:FewReleases
asks = other_promises:Asks
old = other_promises:old
lost = other_promises:nowhere
"""
MODULE += """
def old(column, value):
    return Unsaid()
"""
TABLE = pa.table({"age": [1, 1, 2, 2], "ill": list("xyxy")})
COLUMNS: dict[str, Any] = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    info = tmp_path / "other_promises-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-promises\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    (tmp_path / "other_promises.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("other_promises", None)


def made(folder: Path, **promise: Any) -> Any:
    policy = sr.Policy.from_dict(made_policy(COLUMNS, promise=promise))
    return sr.publish(TABLE, policy, sr.Ledger.open(folder / "ledger.db"), again=True)


@pytest.mark.usefixtures("installed")
def test_a_policy_names_it_and_publish_keeps_it(tmp_path: Path) -> None:
    kept = made(tmp_path, few_rows=4)
    assert [(f.rule, f.column, f.kept) for f in kept.verdict.findings if f.rule == "few_rows"] == [
        ("few_rows", None, True)
    ]
    assert "few_rows" in kept.report.to_html()


@pytest.mark.usefixtures("installed")
def test_it_refuses_and_may_be_about_one_column(tmp_path: Path) -> None:
    refused = made(tmp_path, ill={"few_rows": 3})
    assert not refused.verdict.released
    assert refused.verdict.reasons == ("few_rows of 'ill': found 4, required 3",)
    one, other = (sr.Policy.from_dict(made_policy(COLUMNS, promise={"few_rows": n})).digest for n in (3, 4))
    assert one != other


@pytest.mark.usefixtures("installed")
def test_one_about_a_series_meets_every_release(tmp_path: Path) -> None:
    """Also where nothing else of the policy looks back, and on the column that it is asked about."""
    first = made(tmp_path, k=2, few_releases=1)
    assert first.verdict.released
    assert [f.column for f in first.verdict.findings if f.rule == "few_releases"] == ["ill"]
    second = made(tmp_path, k=2, few_releases=1)
    assert second.verdict.reasons == ("few_releases of 'ill': found 2, required 1",)
    (tmp_path / "other").mkdir()
    third = made(tmp_path / "other", k=2, ill={"few_releases": 1})
    assert third.verdict.released


@pytest.mark.usefixtures("installed")
def test_the_audit_judges_the_one_about_a_table_and_names_the_other() -> None:
    promise = {"few_rows": 3, "few_releases": 1, "ill": {"few_rows": 4}}
    found = sr.audit(TABLE, sr.Policy.from_dict(made_policy(COLUMNS, promise=promise)))
    assert [(f.rule, f.column, f.kept) for f in found.findings] == [
        ("k", None, True),
        ("few_rows", None, False),
        ("few_rows", "ill", True),
    ]
    assert "few_releases: a promise about a series, not judged on a single table" in found.notes


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("need", "told", "rows"), [("attack", "exclusion", 4), ("belief", "sequence", 4), ("cells", "Draft", 0)]
)
def test_one_may_ask_for_an_attack_a_belief_or_the_cells(tmp_path: Path, need: str, told: str, rows: int) -> None:
    shape = made_policy({**COLUMNS, "who": {"role": "drop"}}, promise={"k": 2, "asks": need})
    table = TABLE.append_column("who", pa.array(list("abcd")))
    with (
        pytest.raises(sr.PolicyError, match=r"\[promise\] asks: needs a respondent column")
        if need != "cells"
        else (nullcontext())
    ):
        sr.publish(table, sr.Policy.from_dict(shape), sr.Ledger.open(tmp_path / "nobody.db"))
    shape = made_policy(COLUMNS, promise={"k": 2, "asks": need})
    shape["series"]["respondent"] = "who"
    found = sr.publish(table, sr.Policy.from_dict(shape), sr.Ledger.open(tmp_path / "ledger.db"))
    (finding,) = [one for one in found.verdict.findings if one.rule == "asks"]
    assert (finding.detail, finding.worst) == (told, rows)


@pytest.mark.usefixtures("installed")
def test_what_it_cannot_use_is_a_fault(tmp_path: Path) -> None:
    for promise, told in (
        ({"few_rows": "many"}, "its package rejects the value"),
        ({"lost": 1}, "cannot be loaded"),
        ({"old": 1}, 'does not say what it judges; allowed: attributes rule, column and judges = "table" or "series"'),
        ({"few_rows": float("nan")}, r"\[promise\] few_rows is NaN"),
        ({"few_row": 3}, "did you mean few_rows?"),
        ({"ill": {"few_rowz": 3}}, "did you mean few_rows?"),
    ):
        with pytest.raises(sr.PolicyError, match=told) as caught:
            made(tmp_path, **promise)
        assert len(caught.value.faults) == 1


def test_a_name_that_nobody_registered_lists_those_known() -> None:
    with pytest.raises(sr.PolicyError, match=r"key \[promise\] few_rows; allowed: k, m, odds, n, j, .*, l, l_kind"):
        sr.Policy.from_dict(made_policy(COLUMNS, promise={"few_rows": 3}))
