"""One row per promise: what it says is so in the policy's shapes, the methods, the report and the reference pages."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar, Literal

import pyarrow as pa
import pytest

import seriatim as sr
from seriatim.model import Finding
from seriatim.model.class_counts import ClassCounts
from seriatim.model.methods import JUDGED_ANYHOW, installed_rows
from seriatim.model.policy import SeriesTerms, Thresholds
from seriatim.model.policy_keys import PolicySection, whole_from
from seriatim.model.promises import (
    PROMISES,
    PromiseRow,
    PromiseSubject,
    promise_keys,
    promise_keys_over_releases,
)
from seriatim.policies.shapes import rows_of
from seriatim.report.promise_words import PROMISE_WORDS

ROWS = list(PROMISES.values())
REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PLAIN = re.compile(r"a (?:whole number|number|share|probability) (from|above) (\d+)(?: (?:and up )?to (\d+)(?!\^))?")


def test_every_key_of_promise_has_a_row() -> None:
    every = {*promise_keys(per_column=True), *promise_keys(per_column=False)}
    assert every == set(rows_of(PolicySection.PROMISE))
    assert (
        promise_keys_over_releases()
        == {"m", "n", "odds", "j", "withheld_leak"}
        == set(SeriesTerms.__slots__) - {"foreign"}
    )
    assert {row.key for row in ROWS if row.per_column} <= set(Thresholds.__slots__)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_a_row_is_true(row: PromiseRow) -> None:
    assert row.section is PolicySection.NOWHERE or rows_of(row.section)[row.key].allowed == row.allowed
    if row.home:
        module, _, name = row.home.partition(":")
        taken = list(signature(getattr(import_module(module), name)).parameters)
        assert (
            (taken[0], taken[2:]) == ("column", [one.key for one in row.parameters])
            if row.per_column
            else taken == ["policy"]
        )
        assert ".single." in module if row.judges == "table" else ".series." in module
    assert row.beside in ("", *PROMISES)
    for rule in row.rules if row.home else ():
        assert rule in PROMISE_WORDS, "the report has words for it"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_the_reference_says_the_same(row: PromiseRow) -> None:
    page = (REFERENCE / "policy.md").read_text(encoding="utf-8")
    series = (REFERENCE / "series-promises.md").read_text(encoding="utf-8")
    if row.section is not PolicySection.NOWHERE:
        (line,) = re.findall(rf"^\| `{row.key}` \| (.*) \|$", page, re.MULTILINE)
        assert ("Reserved, refused today." in line) == (not row.home)
        limits = PLAIN.match(row.allowed)
        if limits:
            word, low, high = limits.groups()
            assert re.search(rf"\b{word} {low}\b", line, re.IGNORECASE), line
            assert high is None or re.search(rf"\bto {high}\b", line), line
    if row.judges == "series" and row.home:
        assert all(f"`{rule}`" in series for rule in row.rules)


def test_methods_are_judged_by_promises_that_there_are() -> None:
    known = set(PROMISES["m"].rules)
    judged_by = {rule for row in installed_rows().values() for rule in row.judged_by}
    assert judged_by | set(JUDGED_ANYHOW) == known
    assert {row.past_keeps for row in installed_rows().values() if row.past_keeps} <= known


@dataclass(frozen=True)
class AtMost:
    """A promise for the test below."""

    column: str
    most: float
    rule: str = "alpha_k"
    judges: ClassVar[Literal["table"]] = "table"

    def check(self, counts: ClassCounts) -> Finding:
        n = len(counts.scales[self.column])
        return Finding(rule=self.rule, kept=n <= self.most, worst=float(n), threshold=self.most, column=self.column)


def test_a_reserved_key_becomes_a_promise_by_its_row_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"age": [1, 1, 2, 2], "ill": list("xyxy")})
    columns = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    shape = {"series": {"name": "s"}, "columns": columns, "defence": {"method": "median"}}
    policy = sr.Policy.from_dict({**shape, "promise": {"alpha_k": 1.0}})
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    monkeypatch.setitem(PROMISES, "alpha_k", replace(PROMISES["alpha_k"], home=""))
    with pytest.raises(sr.PolicyError, match=r"\[promise\] alpha_k: this version cannot check it"):
        sr.publish(table, policy, ledger)
    monkeypatch.setitem(sys.modules, "home_of_a_promise", SimpleNamespace(at_most=AtMost))
    row = replace(PROMISES["alpha_k"], home="home_of_a_promise:at_most")
    monkeypatch.setitem(PROMISES, "alpha_k", row)
    assert sr.publish(table, policy, ledger).verdict.reasons == ("alpha_k of 'ill': found 2, required 1",)
    assert [finding.rule for finding in sr.audit(table, policy).findings] == ["alpha_k"]


def at_most(column: str, most: float) -> AtMost:
    return AtMost(column, most, "at_most")


def enough_rows(policy: sr.Policy) -> list[EnoughRows]:
    n = policy.terms.series.foreign.get("enough_rows")
    return [EnoughRows(n)] if isinstance(n, int) else []


@dataclass(frozen=True)
class EnoughRows:
    """A promise about the whole table, for the test below."""

    n: int
    column: None = None
    rule: str = "enough_rows"
    judges: ClassVar[Literal["table"]] = "table"

    def check(self, counts: ClassCounts) -> Finding:
        found = counts.n_rows
        return Finding(rule=self.rule, kept=found >= self.n, worst=float(found), threshold=float(self.n))


def test_a_promise_of_ours_needs_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row and its function: no field, no list of keys, no registry besides."""
    monkeypatch.setitem(sys.modules, "home_of_promises", SimpleNamespace(at_most=at_most, enough_rows=enough_rows))
    for key, per_column in (("at_most", True), ("enough_rows", False)):
        row = PromiseRow(
            key=key,
            judges=PromiseSubject.TABLE,
            per_column=per_column,
            limits=whole_from(1),
            summary="a dummy",
            home=f"home_of_promises:{key}",
        )
        monkeypatch.setitem(PROMISES, key, row)
    table = pa.table({"age": [1, 1, 2, 2], "ill": list("xyxy"), "drug": list("abca")})
    columns = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}, "drug": {"role": "sensitive"}}
    shape = {"series": {"name": "s"}, "columns": columns, "defence": {"method": "median"}}
    asked = {**shape, "promise": {"enough_rows": 5, "at_most": 3, "ill": {"at_most": 1}}}
    made = sr.publish(table, sr.Policy.from_dict(asked), sr.Ledger.open(tmp_path / "ledger.db"))
    assert made.verdict.reasons == (
        "enough_rows: found 4, required 5",
        "at_most of 'ill': found 2, required 1",
    )
    assert [finding.rule for finding in sr.audit(table, sr.Policy.from_dict(asked)).findings] == [
        "enough_rows", "at_most", "at_most",
    ]  # fmt: skip
    others = {**shape, "promise": {"enough_rows": 5, "at_most": 3, "ill": {"at_most": 2}}}
    assert sr.Policy.from_dict(asked).digest != sr.Policy.from_dict(others).digest
    for wrong, told in (
        ({"at_most": 0}, r"\[promise\] at_most is 0; allowed: a whole number from 1 to 2\^53"),
        ({"ill": {"at_most": "x"}}, r'\[promise.ill\] at_most is "x"; allowed: a whole number from 1 to 2\^53'),
        ({"ill": {"enough_rows": 2}}, r"\[promise.ill\] enough_rows cannot differ by column"),
    ):
        with pytest.raises(sr.PolicyError, match=told):
            sr.Policy.from_dict({**shape, "promise": wrong})
    assert "at_most" in made.report.to_html()


def test_one_bit_is_one_bit() -> None:
    for rule in ("entropy_leakage", "min_entropy_at"):
        told = [PROMISE_WORDS[rule].required(bits) for bits in (0.5, 1.0, 2.0)]
        assert [text.split()[2:4] for text in told] == [["0.5", "bits"], ["1", "bit"], ["2", "bits"]]
