"""The private list of an attack: who is breached, and by which releases and groups. For the publisher's eyes only."""

from __future__ import annotations

import pyarrow as pa

from seriatim.attacks import Step, exclusion
from seriatim.model.history import History
from seriatim.usecases.attack.attack import AttackPlan

_STEPS = 12
"""A long chain is cut to its latest steps: they are the ones to break."""


def exposed_people(history: History, plan: AttackPlan) -> pa.Table:
    """Return a row per person breached with nobody compromised: respondent, since, chain.

    ``since`` is the release after which the value is certain; ``chain`` names releases, groups and rules, no values.
    """
    priors = plan.priors.of_history(history) if plan.priors else None
    found = exclusion(history, priors=priors)
    people = list(found.breached)
    chains = [found.chain(who, _STEPS) for who in people]
    return pa.table(
        {
            "respondent": pa.array([str(who) for who in people], pa.string()),
            "since": pa.array([_since(chain) for chain in chains], pa.int64()),
            "chain": pa.array(["; ".join(dict.fromkeys(map(_told, chain))) for chain in chains], pa.string()),
        }
    )


def _since(chain: list[Step]) -> int | None:
    return max((release for step in chain for release, _ in step.groups), default=None)


def _told(step: Step) -> str:
    groups = ", ".join(f"release {release} group {group}" for release, group in step.groups)
    return f"{step.rule}: {groups}" if groups else step.rule
