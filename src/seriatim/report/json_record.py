"""Writes a report as canonical JSON, the facts of the page for programs, and reads back what the page to sign needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from seriatim.model.policy import Policy, Thresholds
from seriatim.model.verdict import Approval, Estimate, Finding, Measure, Verdict
from seriatim.report import chart_views
from seriatim.report.outcome import Facts, TableCounts, word_of
from seriatim.report.words import format_plain

SCHEMA = "seriatim.report/1"


def canonical_dict(policy: Policy, verdict: Verdict, facts: Facts) -> dict[str, Any]:
    """Return everything the page shows, with all digits."""
    approval = verdict.approval
    return {
        "schema": SCHEMA,
        "series": facts.series,
        "release": facts.number,
        "epoch": facts.epoch,
        "outcome": word_of(verdict, facts),
        "released": verdict.released and facts.number is not None,
        "reasons": list(verdict.reasons),
        "remedies": list(verdict.remedies),
        "approval": {"by": approval.by, "override": approval.override} if approval else None,
        "counts": _counts(facts),
        **({"tables": [{"sensitive": name, **_counts(own)} for name, own in facts.tables]} if facts.tables else {}),
        "findings": [format_plain({**_fields(finding), "result": finding.result}) for finding in verdict.findings],
        "estimates": [format_plain(_fields(estimate)) for estimate in verdict.estimates],
        "measures": [format_plain(_fields(measure)) for measure in verdict.measures],
        "charts": {name: chart_views.drawing(chart) for name, chart in verdict.charts.items()},
        "policy": _policy(policy, facts),
    }


def _fields(one: Finding | Estimate | Measure) -> dict[str, Any]:
    """Return the fields by name as they are; ``asdict`` would copy what ``format_plain`` copies next."""
    return {field.name: getattr(one, field.name) for field in fields(one)}


def _counts(table: TableCounts) -> dict[str, int]:
    return {
        "records": table.n_records,
        "published": table.n_published,
        "suppressed": table.n_suppressed,
        "groups": table.n_groups,
        "counterfeits": table.n_counterfeits,
    }


def canonical_text(record: Mapping[str, Any]) -> str:
    """Write JSON with sorted keys, two spaces and a final line feed, so that equal records are equal bytes."""
    return json.dumps(record, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _policy(policy: Policy, facts: Facts) -> dict[str, Any]:
    settings = policy.defence
    return {
        "digest": facts.policy_digest,
        "columns": [asdict(column) for column in facts.columns],
        "promise": {
            "k": policy.terms.k,
            "columns": {name: _thresholds(required) for name, required in policy.terms.per_column.items()},
            "further": _without_values(policy.terms.series.stated),
            **_by_column(policy),
        },
        "defence": {
            "method": settings.method,
            "suppress": settings.allowed,
            "mode": settings.mode,
            "form": settings.form,
            "further": _without_values(settings.options.stated),
        }
        if settings
        else None,
        "seed": facts.seed,
    }


def _by_column(policy: Policy) -> dict[str, Any]:
    own = {name: _without_values(series.stated) for name, series in policy.terms.series_by_column.items()}
    return {"further_by_column": own} if own else {}


def _thresholds(required: Thresholds) -> dict[str, Any]:
    return {
        "l": format_plain(required.l),
        "l_kind": required.l_kind if required.l is not None else None,
        "l_c": format_plain(required.l_c),
        "t": format_plain(required.t),
        "t_distance": required.t_distance if required.t is not None else None,
        "further": _without_values(required.beyond_l_and_t),
    }


def _without_values(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Replace bounds of single values by their number, since they name the values."""
    return {
        name: {"n": len(value)} if isinstance(value, Mapping) else format_plain(value)
        for name, value in settings.items()
    }


@dataclass(frozen=True, slots=True)
class FactsAndVerdict:
    """The facts and findings of a report that was written before."""

    facts: Facts
    verdict: Verdict


def read_back(record: Mapping[str, Any]) -> FactsAndVerdict:
    """Return the facts, findings, reasons and approval of a record; charts, measures and estimates are left out."""
    counts, approval = _counts_told(record["counts"]), record["approval"]
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
        tables=tuple((one["sensitive"], _counts_told(one)) for one in record.get("tables", ())),
    )
    verdict = Verdict(
        findings=tuple(_finding_told(one) for one in record["findings"]),
        estimates=(),
        measures=(),
        reasons=tuple(record["reasons"]),
        remedies=tuple(record["remedies"]),
        approval=Approval(approval["by"], approval["override"]) if approval else None,
    )
    return FactsAndVerdict(facts, verdict)


def _counts_told(told: Mapping[str, Any]) -> TableCounts:
    return TableCounts(
        n_records=told["records"],
        n_published=told["published"],
        n_suppressed=told["suppressed"],
        n_groups=told["groups"],
        n_counterfeits=told["counterfeits"],
    )


def _finding_told(told: Mapping[str, Any]) -> Finding:
    """Return a finding; figures that are not finite are texts in JSON."""
    figures = {name: float(told[name]) for name in ("worst", "threshold")}
    told = {name: value for name, value in told.items() if name != "result"}
    return Finding(**{**told, **figures, "classes": tuple(told["classes"])})
