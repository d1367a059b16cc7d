"""Withheld people: how many a release may leave out, and why there are more."""

from __future__ import annotations

from seriatim.model import Draft, Finding, Policy, View

_ROUNDING = 1e-12


def withheld(view: View, draft: Draft, policy: Policy) -> tuple[Finding, ...]:
    """Compare the share left out with the share allowed.

    A serial method that withholds nobody has nothing to say here, unless the policy states a bound.
    """
    settings, n = policy.defence, draft.grouping.n_suppressed
    if settings is not None and settings.for_now and settings.suppress is None and not n:
        return ()
    allowed, share = settings.allowed if settings else 0.0, draft.suppressed_share
    kept = share <= allowed + _ROUNDING
    about = "share of people withheld from this release" if draft.serial else "share of records not published"
    why = "" if kept else _why(view, draft, policy)
    return (
        Finding(
            "suppress",
            kept,
            share,
            allowed,
            n_people=0 if kept else n,
            detail="; ".join(filter(None, (about, why))),
            remedy="" if kept else _remedy(view, draft, policy),
        ),
    )


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
    share, column = _most_frequent(view), view.sensitive[0].name
    stands = f"{share:.1%} of the people share one value of {column!r}, and m = {m} "
    if share > 1 / m:
        return f"{stands}has room for at most 1/{m} = {1 / m:.1%} of each group"
    return f"{stands}has room for 1/{m} = {1 / m:.1%}, so that the values are not the cause"


def _remedy(view: View, draft: Draft, policy: Policy) -> str:
    m, share = policy.terms.series.m, _most_frequent(view)
    bound = f"suppress = {draft.suppressed_share:.4g} would pass"
    if not draft.serial or m is None or share <= 1 / m:
        return f"{bound}; or ask for less"
    fits = f"m = {int(1 / share)} has room for its most frequent value" if share <= 1 / 2 else "no m has room for it"
    return f"{fits}; {bound}, and whoever is withheld has one of few values"
