"""Simulates what an adversary with all releases and some compromised people would conclude from a draft.

The adversary builds on each finding until nothing new follows; ``breach_share`` bounds what they conclude.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow.compute as pc

from seriatim.attacks._exclusion import estimate_share, prepare
from seriatim.attacks.leavers import reveal_leavers
from seriatim.errors import Fault, TableError
from seriatim.model import Draft, Estimate, Policy
from seriatim.model.judged import Judged, judged_draft_and_view
from seriatim.model.methods import method_named
from seriatim.usecases.publish.foreknowledge import foreknowledge_by_person

SEEDS = (1, 2, 3, 4, 5)


def simulation_of_exclusion(judged: Judged, policy: Policy) -> Estimate:
    """Run the iterated exclusion attack on one sensitive column's history with the draft.

    It works for any method, also one that looks at each release alone: such methods reveal most.
    """
    draft, view = judged_draft_and_view(judged)
    _refuse_several_records(draft)
    history = judged.history
    priors = foreknowledge_by_person(view, policy, history)
    row = method_named(policy.defence.method) if policy.defence is not None else None
    if row is not None and row.leavers_known:
        history = reveal_leavers(history)  # told that a counterfeit is the leaver: more than a reader can know
    estimate = estimate_share(prepare(history, priors), policy.adversary.share_known, SEEDS)
    about = {"column": judged.column} if len(draft.sensitive) > 1 else {}
    return replace(estimate, detail={**estimate.detail, **about})


def _refuse_several_records(draft: Draft) -> None:
    """Raise an error if people have several records: the attack follows one value per person."""
    here = draft.groups.filter(pc.invert(pc.or_(draft.groups.column("suppressed"), draft.groups.column("counterfeit"))))
    who = here.column("respondent")
    several = len(who) - pc.count_distinct(who).as_py()
    if several:
        found = f"{several} records beyond one per person: the simulated attack follows one value of each"
        remedy = "keep one record per person, such as the latest, or remove breach_share and run seriatim attack"
        raise TableError(Fault("respondent, with [adversary] breach_share", found, "one record per person", remedy))
