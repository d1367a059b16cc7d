"""Judges a delivery before it is recorded: what recipients would conclude from all that they would then hold.

``publish`` judges the recipients that it names. A release that goes to someone else later gives them more to compare,
so ``[adversary] breach_share`` of the policy in force bounds a delivery in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from seriatim.errors import DeliveryRefused, Fault, InputError
from seriatim.model import Approval, History, Policy, SeriesState
from seriatim.model.candidate_values import CANDIDATES, candidates_remembered
from seriatim.model.policy_in_force import policy_in_force
from seriatim.model.recipients import Holder, Holdings, holdings_of
from seriatim.ports import Ledger
from seriatim.usecases.other_series import OtherSeries, received_elsewhere, series_beside, together


@dataclass(frozen=True, slots=True)
class Delivery:
    """A release that is about to go to further recipients."""

    series: str
    number: int
    recipients: tuple[str, ...]
    approval: Approval | None = None
    """Who hands it over despite a refusal, and why."""
    policy: Policy | None = None
    """The policy in force, if its priors name people: the ledger does not keep whom."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryBound:
    """What the policy in force bounds, and against whom."""

    allowed: float
    compromised: float
    register: str | None
    together: int
    """Recipients who put their releases together."""
    columns: tuple[str, ...]
    leavers_known: bool
    has_priors: bool


def judge_delivery(ledger: Ledger, asked: Delivery) -> SeriesState:
    """Return the state of the series that the delivery was judged against; raise DeliveryRefused if it breaches more.

    Nothing is judged if the policy in force bounds no attack, or if the recipients have the release already.
    """
    state = ledger.state(asked.series)
    bound = delivery_bound(state.policy)
    if bound is None or (asked.approval is not None and asked.approval.override):
        return state
    if not _growing_holders(ledger, asked, bound.together, {}):
        return state
    _check_priors(asked, bound, state)
    everyone = ledger.history(asked.series, newest=1).respondents
    names = {name: series_beside(ledger, asked.series, bound.register, name, everyone) for name in bound.columns}
    holders = _growing_holders(ledger, asked, bound.together, received_elsewhere(names.values()))
    _refuse_breach(ledger, asked, bound, holders, names)
    return state


def delivery_bound(canonical: str | None) -> DeliveryBound | None:
    """Return what a policy's canonical text bounds; None if it bounds no simulated attack."""
    policy = policy_in_force(canonical)
    known = policy.adversary
    if known.breach_share is None:
        return None
    return DeliveryBound(
        allowed=known.breach_share,
        compromised=known.share_known,
        register=policy.register,
        together=known.together,
        columns=policy.sensitive,
        leavers_known=policy.row is not None and policy.row.leavers_known,
        has_priors=policy.has_priors,
    )


def _growing_holders(
    ledger: Ledger, asked: Delivery, size: int, elsewhere: Mapping[int, tuple[str, ...]]
) -> tuple[Holder, ...]:
    """Return the recipients, alone or together, who would hold more than before; other series are held already."""
    records = [one for one in ledger.records(asked.series) if not one.recalled]
    before = holdings_of([*((one.number, one.recipients) for one in records), *elsewhere.items()])
    further = {asked.number: asked.recipients}
    after = holdings_of(
        [*((one.number, (*one.recipients, *further.get(one.number, ()))) for one in records), *elsewhere.items()]
    )
    if all(one.number != asked.number for one in records):
        return ()  # recording it will say that there is no such release
    return tuple(one for one in after.holders(size, asked.recipients) if not one.releases <= _held(before, one))


def _held(before: Holdings, holder: Holder) -> frozenset[int]:
    return before.unrecorded.union(*(before.received.get(name, frozenset()) for name in holder.names))


def _check_priors(asked: Delivery, bound: DeliveryBound, state: SeriesState) -> None:
    """Raise an error if the attack needs to know about people whom only the steward's own files name."""
    if asked.policy is not None and asked.policy.digest != state.policy_digest:
        found = "is not the policy of the series' newest epoch"
        raise InputError(Fault("policy", found, "the policy that the series is published under", "name that file"))
    if bound.has_priors and asked.policy is None:
        found = "[adversary] priors name people whom the ledger does not keep"
        raise InputError(
            Fault(f"series {asked.series!r}", found, "the policy beside the delivery", "name its file (policy)")
        )


def _refuse_breach(
    ledger: Ledger,
    asked: Delivery,
    bound: DeliveryBound,
    holders: Sequence[Holder],
    beside: Mapping[str, Sequence[OtherSeries]],
) -> None:
    """Attack what each holder would have, column by column; raise DeliveryRefused for the worst beyond the bound."""
    from seriatim.attacks.exclusion_rules import estimate_share, prepare  # brings compiled kernels
    from seriatim.usecases.publish.simulation import SEEDS

    priors = asked.policy.adversary.priors if asked.policy is not None else None
    remembered = ledger.memory(asked.series).get(CANDIDATES)
    left = None if remembered is None else candidates_remembered(remembered)
    worst = None
    for column in bound.columns:
        own = _history(ledger, asked.series, column, bound)
        history = together(own, beside[column])
        known = priors.of_history(history) if priors is not None else None
        for releases in {holder.releases: holder for holder in holders}.values():
            ground = replace(prepare(releases.part_of(history), known), counted=len(own.respondents))
            if left is not None:
                ground = ground.taken_as_known(left.known, left.until)
            estimate = estimate_share(ground, bound.compromised, SEEDS)
            if worst is None or estimate.high > worst[0].high:
                worst = estimate, releases
    if worst is not None and worst[0].high > bound.allowed:
        raise DeliveryRefused(_told(asked, worst[1], worst[0].high, bound.allowed))


def _history(ledger: Ledger, series: str, column: str, bound: DeliveryBound) -> History:
    history = ledger.history(series, column).in_common_bands()
    if not bound.leavers_known:
        return history
    from seriatim.attacks.leavers import reveal_leavers

    return reveal_leavers(history)


def _told(asked: Delivery, holder: Holder, share: float, allowed: float) -> str:
    where = f"series {asked.series!r} release {asked.number}"
    found = f"refused: {holder.name}, with {holder.numbered}, could breach {share:.2%} of people"
    remedy = "deliver it to someone who holds fewer releases, or give a reason (override) and a name (approved_by)"
    return str(Fault(where, found, f"at most {allowed:.2%} ([adversary] breach_share)", remedy))
