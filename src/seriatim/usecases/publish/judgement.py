"""Judging a draft: every promise, every measure, one verdict with reasons and what would pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seriatim.measures.information_loss import information_measures
from seriatim.measures.loss import loss_measures
from seriatim.measures.query_error import query_error
from seriatim.model import Approval, Draft, Finding, History, Measure, Policy, Verdict, View
from seriatim.model.history import no_history
from seriatim.ports import Promise, Workers
from seriatim.promises.series.coverage import Coverage
from seriatim.promises.series.invariance import weak_m_uniqueness
from seriatim.usecases.publish.draft_charts import pictures_of
from seriatim.usecases.publish.foreknowledge import possible_values
from seriatim.usecases.publish.simulation import closed_form, simulated, within_share


def judge(
    view: View,
    draft: Draft,
    policy: Policy,
    promises: Sequence[Promise],
    histories: Mapping[str, History],
    workers: Workers,
    approval: Approval | None = None,
) -> Verdict:
    """Findings and measures of a draft. Anything broken refuses it; only a named person with a reason overrides.

    ``histories`` gives what was published so far by sensitive column; laws of the series follow the first.
    """
    history = next(iter(histories.values()), no_history())
    estimates = simulated(view, draft, policy, histories)

    def looking_back() -> tuple[tuple[Finding, ...], tuple[Measure, ...]]:
        laws = (*promises, *possible_values(view, policy))
        return tuple(law.check(draft, history) for law in laws), ()

    def looking_at_it() -> tuple[tuple[Finding, ...], tuple[Measure, ...]]:
        return ((Coverage(view).check(draft, history),) if draft.serial else ()), _measures(view, draft)

    (kept, _), (covered, measures) = workers.map(lambda half: half(), (looking_back, looking_at_it))
    findings = (
        *kept,
        *covered,
        *((_suppression(draft, policy),) if policy.defence is None or policy.defence.bounded else ()),
        *closed_form(policy),
        *(within_share(estimate, policy) for estimate in estimates),
    )
    broken = [finding for finding in findings if not finding.kept]
    return Verdict(
        findings=findings,
        estimates=estimates,
        measures=measures,
        reasons=tuple(_reason(finding) for finding in broken),
        remedies=(
            *(f"{finding.rule}: {finding.remedy}" for finding in broken if finding.remedy),
            *_began_otherwise(broken, policy, history),
        ),
        approval=approval,
        charts=pictures_of(draft, policy, measures),
    )


def _measures(view: View, draft: Draft) -> tuple[Measure, ...]:
    return (
        *loss_measures(draft),
        *information_measures(view, draft),
        *query_error(view, draft),
        *(Measure(name, float(count), "count") for name, count in draft.counters.items()),
    )


def _began_otherwise(broken: Sequence[Finding], policy: Policy, history: History) -> tuple[str, ...]:
    """Where earlier releases do not keep the law themselves, no change of the draft helps: say what does."""
    m = policy.terms.series.m
    if m is None or not len(history) or not any(finding.rule in _OF_THE_PAST for finding in broken):
        return ()
    if weak_m_uniqueness(history, m).kept:
        return ()
    return (
        "series: earlier releases do not keep these laws either, since another method made them or they were imported; "
        "go back to the method of the series, or begin a series under a new name. That one is safe in itself only: for "
        "people who are in both, attack the old series first, since whoever keeps it can join the two",
    )


_OF_THE_PAST = frozenset(
    {
        "m_uniqueness",
        "m_invariance",
        "weak_m_uniqueness",
        "weak_m_invariance",
        "hc_safety",
        "union_safety",
        "subtraction",
    }
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
        detail="share of people withheld from this release" if draft.serial else "share of records not published",
        remedy="" if kept else f"suppress = {share:.4g} would pass; or ask for less",
    )


def _reason(finding: Finding) -> str:
    where = f" of {finding.column!r}" if finding.column else ""
    people = f"; {finding.n_people} people in {finding.n_classes} classes" if finding.n_classes else ""
    return f"{finding.rule}{where}: found {finding.worst:.4g}, asked {finding.threshold:.4g}{people}"
