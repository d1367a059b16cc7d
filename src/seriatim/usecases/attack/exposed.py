"""The private list of an attack: who is breached, and by which releases and groups. For the publisher's eyes only."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa

from seriatim.attacks import Step, prepare
from seriatim.model.history import History
from seriatim.usecases.attack.attack import AttackPlan, KnownAlgorithm, attack_knowing

_STEPS = 12
"""A long chain is cut to its latest steps: they are the ones to break."""


def exposed_people(history: History, plan: AttackPlan, algorithm: KnownAlgorithm | None = None) -> pa.Table:
    """Return a row per person breached with nobody compromised: respondent, since, chain.

    ``since`` is the release after which the value is certain; ``chain`` names releases, groups and rules, no values.
    People follow whom only someone who knows the algorithm breaches, in any draw of compromised people.
    """
    ground = prepare(history, plan.priors.of_history(history) if plan.priors else None)
    found = ground.compromise(ground.traces.episodes_of([]))
    people = list(found.breached)
    chains = [found.chain(who, _STEPS) for who in people]
    further: Counter[object] = Counter()
    if algorithm is not None:
        knowing = attack_knowing(ground, algorithm)
        for seed in plan.seeds:
            further.update(knowing.compromise(knowing.draw(plan.compromised, seed), keep_log=False).breached.keys())
        further = Counter({who: n for who, n in further.items() if who not in found.breached})
    by_cuts = [f"the method's cuts: in {n} of {len(plan.seeds)} draws of compromised people" for n in further.values()]
    told = ["; ".join(dict.fromkeys(map(_told, chain))) for chain in chains]
    return pa.table(
        {
            "respondent": pa.array([str(who) for who in (*people, *further)], pa.string()),
            "since": pa.array([*map(_since, chains), *(None for _ in further)], pa.int64()),
            "chain": pa.array([*told, *by_cuts], pa.string()),
        }
    )


def _since(chain: list[Step]) -> int | None:
    return max((release for step in chain for release, _ in step.groups), default=None)


def _told(step: Step) -> str:
    groups = ", ".join(f"release {release} group {group}" for release, group in step.groups)
    return f"{step.rule}: {groups}" if groups else step.rule
