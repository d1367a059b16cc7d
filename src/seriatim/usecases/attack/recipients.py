"""Attacks what recipients hold, each alone or several together, and finds the worst of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from seriatim.attacks._exclusion import estimate_share, prepare
from seriatim.errors import Fault, InputError
from seriatim.model.history import History
from seriatim.model.recipients import Holder, Holdings
from seriatim.model.verdict import Estimate
from seriatim.ports import Progress, no_progress
from seriatim.usecases.attack.attack import AttackPlan, AttackResult, HeldShare, KnownAlgorithm, attack


def chosen_recipients(holdings: Holdings, recipient: str | None, collusion: int | None) -> tuple[Holder, ...]:
    """Return the holders to attack: one recipient, any ``collusion`` of them, or one with any others."""
    where = "recipient" if recipient is not None else "collusion"
    if not holdings.names:
        remedy = "name them when you publish or deliver (to)"
        raise InputError(Fault(where, "no release of this series has a recipient on record", "", remedy))
    name = None if recipient is None else recipient.strip()
    if name is not None and name not in holdings.names:
        found = "received no release of this series"
        raise InputError(Fault("recipient", found, ", ".join(holdings.names), "check the name"))
    return holdings.holders(1 if collusion is None else collusion, () if name is None else (name,))


def attack_recipients(
    history: History,
    plan: AttackPlan,
    holders: Sequence[Holder],
    progress: Progress = no_progress,
    algorithm: KnownAlgorithm | None = None,
) -> AttackResult:
    """Attack what each holder has. Return the figures of the worst, and the shares of all, worst first.

    Without holders everyone holds everything.
    """
    if not holders:
        return attack(history, plan, progress, algorithm)
    shares = _shares(history, plan, holders, progress)
    found = attack(shares[0].holder.part_of(history), plan, progress, algorithm)
    return replace(found, holders=shares)


def _shares(history: History, plan: AttackPlan, holders: Sequence[Holder], progress: Progress) -> tuple[HeldShare, ...]:
    """Return every holder with the share of people they breach, worst first; equal holdings are attacked once."""
    seeds = plan.seeds if plan.compromised > 0 else plan.seeds[:1]
    priors = plan.priors.of_history(history) if plan.priors else None
    found: dict[frozenset[int], Estimate] = {}
    for holder in holders:
        if holder.releases not in found:
            progress("recipients", len(found) / len(holders))
            ground = prepare(holder.part_of(history), priors)
            found[holder.releases] = estimate_share(ground, plan.compromised, seeds)
    shares = [HeldShare(holder, found[holder.releases]) for holder in holders]
    return tuple(sorted(shares, key=lambda one: (-one.iterated.share, -one.iterated.n_people)))
