"""Reads back what a report's JSON record says about a release: enough for the page to sign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seriatim.model.verdict import Approval, Finding, Verdict
from seriatim.report.facts import Facts, TableCounts


@dataclass(frozen=True, slots=True)
class RecordedReport:
    """The facts and findings of a report that was written before."""

    facts: Facts
    verdict: Verdict


def report_read_back(record: Mapping[str, Any]) -> RecordedReport:
    """Return the facts, findings, reasons and approval of a record; charts, measures and estimates are left out."""
    counts, approval = _counts(record["counts"]), record["approval"]
    facts = Facts(
        series=record["series"],
        number=record["release"],
        epoch=record["epoch"],
        policy_digest=record["policy"]["digest"],
        n_records=counts.n_records,
        n_published=counts.n_published,
        n_suppressed=counts.n_suppressed,
        n_groups=counts.n_groups,
        n_counterfeits=counts.n_counterfeits,
        tables=tuple((one["sensitive"], _counts(one)) for one in record.get("tables", ())),
    )
    verdict = Verdict(
        findings=tuple(_finding(one) for one in record["findings"]),
        estimates=(),
        measures=(),
        reasons=tuple(record["reasons"]),
        remedies=tuple(record["remedies"]),
        approval=Approval(approval["by"], approval["override"]) if approval else None,
    )
    return RecordedReport(facts, verdict)


def _counts(told: Mapping[str, Any]) -> TableCounts:
    return TableCounts(
        n_records=told["records"],
        n_published=told["published"],
        n_suppressed=told["suppressed"],
        n_groups=told["groups"],
        n_counterfeits=told["counterfeits"],
    )


def _finding(told: Mapping[str, Any]) -> Finding:
    """Return a finding; figures that are not finite are texts in JSON."""
    figures = {name: float(told[name]) for name in ("worst", "threshold")}
    told = {name: value for name, value in told.items() if name != "result"}
    return Finding(**{**told, **figures, "classes": tuple(told["classes"])})
