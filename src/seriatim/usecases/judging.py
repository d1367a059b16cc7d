"""Judging a draft: every promise, every measure, one verdict with reasons and what would pass."""

from __future__ import annotations

from collections.abc import Sequence

from seriatim.measures.loss import loss_measures
from seriatim.measures.workload import query_error
from seriatim.model import Approval, Draft, Finding, History, Measure, Policy, Verdict, View
from seriatim.ports import Promise
from seriatim.usecases.picturing import pictures_of


def judge(
    view: View,
    draft: Draft,
    policy: Policy,
    promises: Sequence[Promise],
    history: History,
    approval: Approval | None = None,
) -> Verdict:
    """Findings and measures of a draft. Anything broken refuses it; only a named person with a reason overrides."""
    findings = (*(promise.check(draft, history) for promise in promises), _suppression(draft, policy))
    measures: tuple[Measure, ...] = (*loss_measures(draft), *query_error(view, draft))
    broken = [finding for finding in findings if not finding.kept]
    return Verdict(
        findings,
        (),
        measures,
        tuple(_reason(finding) for finding in broken),
        tuple(f"{finding.rule}: {finding.remedy}" for finding in broken if finding.remedy),
        approval,
        pictures_of(draft, policy, measures),
    )


def _suppression(draft: Draft, policy: Policy) -> Finding:
    allowed = policy.defence.suppress if policy.defence else 0.0
    share, n = draft.suppressed_share, draft.grouping.n_suppressed
    kept = share <= allowed + 1e-12
    return Finding(
        "suppress",
        kept,
        share,
        allowed,
        n_people=0 if kept else n,
        detail="share of records that are not published",
        remedy="" if kept else f"suppress = {share:.4g} would pass; or ask for less",
    )


def _reason(finding: Finding) -> str:
    where = f" of {finding.column!r}" if finding.column else ""
    people = f"; {finding.n_people} people in {finding.n_classes} classes" if finding.n_classes else ""
    return f"{finding.rule}{where}: found {finding.worst:.4g}, asked {finding.threshold:.4g}{people}"
