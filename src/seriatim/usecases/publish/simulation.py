"""Before a draft of a series leaves: what an adversary with all releases and some compromised people would conclude.

Two bounds, apart from each other: ``breach`` on the closed form, which holds for an adversary who reasons once, and
``breach_share`` on a simulation of one who goes on from what was found until nothing new follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow.compute as pc

from seriatim.attacks._exclusion import estimate_share, prepare
from seriatim.attacks.leavers import reveal_leavers
from seriatim.errors import Fault, TableError
from seriatim.knowledge.breach import breach_probability
from seriatim.model import Draft, Estimate, Finding, History, Policy, View
from seriatim.model.methods import method_named
from seriatim.promises.series.newest import with_draft
from seriatim.usecases.publish.foreknowledge import known_before

SEEDS = (1, 2, 3, 4, 5)


def simulated(view: View, draft: Draft, policy: Policy, histories: Mapping[str, History]) -> tuple[Estimate, ...]:
    """The iterated exclusion attack on every sensitive column's history with this draft; only where it is bounded.

    Any method can be attacked so, also one that looks at each release alone: that is where most is found.
    """
    known = policy.adversary
    if known.breach_share is None or policy.respondent is None:
        return ()
    _refuse_several_records(draft)
    found = []
    for column in draft.sensitive:
        whole = with_draft(histories[column], draft, column)
        priors = known_before(view, policy, whole)
        row = method_named(policy.defence.method) if policy.defence else None
        if row is not None and row.leavers_known:
            whole = reveal_leavers(whole)
        estimate = estimate_share(prepare(whole, priors), known.share_known, SEEDS)
        about = {"column": column} if len(draft.sensitive) > 1 else {}
        found.append(replace(estimate, detail={**estimate.detail, **about}))
    return tuple(found)


def _refuse_several_records(draft: Draft) -> None:
    """The attack follows a person's value from release to release; with several records it would not know which."""
    here = draft.groups.filter(pc.invert(pc.or_(draft.groups.column("suppressed"), draft.groups.column("counterfeit"))))
    who = here.column("respondent")
    several = len(who) - pc.count_distinct(who).as_py()
    if several:
        found = f"{several} records more than people: the simulated attack follows one value of each"
        remedy = "keep one record per person (the latest, say), or leave breach_share out and attack by hand"
        raise TableError(Fault("respondent, with adversary.breach_share", found, "one record per person", remedy))


def within_share(estimate: Estimate, policy: Policy) -> Finding:
    """The upper end of the simulated share of people breached against ``breach_share``."""
    allowed = policy.adversary.breach_share
    assert allowed is not None
    kept = estimate.high <= allowed
    return Finding(
        "breach_share",
        kept,
        estimate.high,
        allowed,
        column=estimate.detail.get("column"),
        n_people=0 if kept else round(estimate.share * estimate.n_people),
        detail="upper end of the simulated share of people whose value becomes certain",
        remedy="" if kept else 'publish less often, or begin a series with method = "lineage"; it cannot take over one',
    )


def closed_form(policy: Policy) -> tuple[Finding, ...]:
    """The breach probability of n-Choose against ``breach``; lineages have no degree, so none there."""
    known, m, n = policy.adversary, policy.terms.series.m, policy.terms.series.degree
    asked = known.breach
    if asked is None or m is None or n is None or known.lifespan is None:
        return ()
    chance = breach_probability(known.share_known, known.lifespan, m, n)
    kept = chance.total <= asked
    return (
        Finding(
            "breach",
            kept,
            chance.total,
            float(asked),
            detail="closed-form chance that one person is breached over a lifespan, reasoning once",
            remedy="" if kept else 'n = "choose", a larger m or a shorter lifespan',
        ),
    )
