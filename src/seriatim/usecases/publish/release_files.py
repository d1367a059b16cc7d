"""The files of a release: its tables and codebook for recipients, its reports, each where it may be read."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from seriatim.measures.query_error import SEED
from seriatim.model import Draft, Policy, Release, Verdict
from seriatim.ports import PRIVATE, PUBLIC, Writer
from seriatim.report import Facts, PublicReport, Report, TableCounts, promises_told, reported_columns
from seriatim.usecases.publish.codebook import NOTATION, meaning_of_row


def report_of_draft(policy: Policy, draft: Draft, verdict: Verdict, number: int | None) -> Report:
    """Return the report of a draft and its verdict; a dry run or refusal has no number."""
    forms: dict[str, str] = {column.name: column.form for column in draft.generalised}
    if draft.serial:
        forms |= dict.fromkeys(draft.sensitive, "shuffled")
    if draft.buckets:
        forms = {**dict.fromkeys(draft.quasi, "exact"), **dict.fromkeys(draft.sensitive, "buckets")}
    facts = Facts(
        series=policy.series,
        number=number,
        epoch=policy.epoch,
        policy_digest=policy.digest,
        **asdict(_counts(draft)),
        tables=tuple((name, _counts(own)) for name, own in draft.own_tables.items()),
        columns=reported_columns(policy, forms),
        seed=SEED,
    )
    return Report(policy, verdict, facts)


def _counts(draft: Draft) -> TableCounts:
    """Return the counts of one table; those of a draft with several are of the first."""
    first = next(iter(draft.tables.values()))
    return TableCounts(
        n_records=first.n_records,
        n_published=first.n_records - first.grouping.n_suppressed,
        n_suppressed=first.grouping.n_suppressed,
        n_groups=first.grouping.n_groups,
        n_counterfeits=pc.sum(first.groups.column("counterfeit")).as_py() or 0,
    )


def write_folder(folder: Path, policy: Policy, write: Writer, made: Release, codebook: dict[str, Any]) -> None:
    """Write what recipients get apart from what only the publisher may see."""
    report = report_of_draft(policy, made.draft, made.verdict, codebook["release"])
    for part in (PUBLIC, PRIVATE):
        (folder / part).mkdir(mode=0o700)
    write(made, folder / PUBLIC)
    _write(folder / PUBLIC / "codebook.json", json.dumps(codebook, indent=1, sort_keys=True, ensure_ascii=False))
    _write(folder / PUBLIC / "report.html", _public_report_of(report, made.draft).to_html())
    _write(folder / PRIVATE / "report.json", report.to_json())
    _write(folder / PRIVATE / "report.html", report.to_html())


def _public_report_of(report: Report, draft: Draft) -> PublicReport:
    """Return the report for recipients."""
    odds = next((one.value for one in report.verdict.measures if one.name == "odds_in_group"), None)
    return PublicReport(
        report.facts, promises_told(report.verdict), meaning_of_row(draft, report.policy), NOTATION, odds
    )


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode())
