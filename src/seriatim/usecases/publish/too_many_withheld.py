"""Withheld people: why a release leaves out more than it may."""

from __future__ import annotations

from dataclasses import replace

from seriatim.model import Draft, Finding, Policy, View
from seriatim.model.methods import method_named, quoted_names
from seriatim.model.policy import Missing, Unseen


def explained(finding: Finding, view: View, draft: Draft, policy: Policy) -> Finding:
    """Return the finding with its cause: cells that the policy suppresses, if most are withheld so, or values."""
    empty, columns = int(view.suppressed.sum()), _suppressing(policy)
    if 2 * empty <= draft.grouping.n_suppressed or not columns:
        detail = "; ".join(filter(None, (finding.detail, _why(view, draft, policy))))
        return replace(finding, detail=detail, remedy=_remedy(view, draft, policy))
    why = f"{empty:,} of them for a missing or unseen cell, which {columns} suppress"
    remedy = f'{columns}: missing = "value" publishes empty cells as a value of their own; {_bound(draft)}'
    return replace(finding, detail="; ".join(filter(None, (finding.detail, why))), remedy=remedy)


def _suppressing(policy: Policy) -> str:
    """Return the columns whose missing or unseen cells withhold their records."""
    some = (
        f"[columns.{name}]"
        for name, rule in policy.columns.items()
        if rule.missing is Missing.SUPPRESS or rule.on_unseen is Unseen.SUPPRESS
    )
    return ", ".join(some)


def _bound(draft: Draft) -> str:
    return f"suppress = {draft.suppressed_share:.4g} would pass"


def _most_frequent(view: View) -> float:
    """Return the share of people who have the most frequent value of the sensitive column; which one is not said."""
    if not view.sensitive or not len(view):
        return 0.0
    counts = view.sensitive[0].counts(~view.suppressed)
    return float(counts.max() / counts.sum()) if counts.sum() else 0.0


def _why(view: View, draft: Draft, policy: Policy) -> str:
    m = policy.terms.series.m
    if not draft.serial or m is None or not view.sensitive:
        return ""
    share, odds = _most_frequent(view), policy.terms.series.odds
    has = f"the most frequent value of {view.sensitive[0].name!r} has {share:.1%}"
    if odds is not None and share > 1 / m and _reads_odds(policy):
        return f"{has}, for which odds = {odds:g} has room, so frequent values are not the cause"
    allows = f"{has}, m = {m} allows {1 / m:.1%}"
    if share > 1 / m:
        return f"{allows}: {_common(policy)}"
    return f"{allows}, so frequent values are not the cause"


def _reads_odds(policy: Policy) -> bool:
    row = method_named(policy.defence.method) if policy.defence else None
    return row is not None and row.reads_odds


def _remedy(view: View, draft: Draft, policy: Policy) -> str:
    m, share = policy.terms.series.m, _most_frequent(view)
    bound = _bound(draft)
    if not draft.serial or m is None or share <= 1 / m or policy.terms.series.odds is not None:
        return f"{bound}; or weaken the promise"
    fits = f"m = {int(1 / share)} has room for its most frequent value" if share <= 1 / 2 else "no m has room for it"
    return f"{fits}; {_common(policy)}; {bound}, but being withheld would then reveal much about a value"


def _common(policy: Policy) -> str:
    """Say which method has room for values above one m-th."""
    if _reads_odds(policy):
        return "[promise] odds = 2 would pass"
    rooms = quoted_names(lambda row: row.reads_odds)
    return f"a new series with method = {rooms} and [promise] odds = 2 would pass"
