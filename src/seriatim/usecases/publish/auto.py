"""Chooses the method of a series and its k before each release: ``[defence] method = "auto"``.

The smallest k that passes today spoils the months after it: what a small group gave away, a later one completes. So a
k is tried on the releases to come as well. They are made of today's people: as many leave as did so far, others like
them take their places, and the attack that will judge them looks back from the last one. Of all k that last, the one
whose draft of today keeps most of the relation is taken. A small k today with larger ones later is not planned: a
solver finds more in such a mixture than the rules that look ahead. A series that no k protects begins with cohorts.
The verdict judges the draft like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from seriatim.attacks.exclusion_rules import estimate_share, prepare
from seriatim.model import History, Policy, Refusal, Release, SeriesState, View
from seriatim.model.chance import secret_chance
from seriatim.model.history import nothing_published
from seriatim.model.methods import AUTO_ALONE, AUTO_LASTING, RELEASES
from seriatim.usecases.publish import foreknowledge, relation_kept
from seriatim.usecases.publish.judgement import JudgedDraft
from seriatim.usecases.publish.later_views import later_views, leaving_so_far
from seriatim.usecases.publish.plan import Choice, Plan
from seriatim.usecases.publish.publish import ReleaseOrder, ReleaseParts, publish, without_exposed
from seriatim.usecases.publish.simulation import SEEDS
from seriatim.usecases.publish.view_order import record_keys, sorted_for_release

SIZES = (5, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40, 50, 60, 70, 80, 90, 100)
"""The k that are tried."""
PLANNED, AT_LEAST = 12, 3
"""The releases of a series whose policy does not say how many it shall have, and of how many to come something is left
all the same: the last release that was planned may use up the bound."""
MOST = 20_000
"""Of more people than this a sample stands for the releases to come, as a series of its own from its first release."""
MARGIN = 0.8
"""How much of the bound may be used as foreseen: releases to come will differ, and a solver adds to the rules."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """The releases to come, by which choices are judged."""

    order: ReleaseOrder
    parts: ReleaseParts
    state: SeriesState
    view: View
    """Today's, in an order that says nothing about that of the input; of a large one a sample."""
    histories: dict[str, History]

    @classmethod
    def of(cls, order: ReleaseOrder, parts: ReleaseParts) -> Outlook:
        state = parts.ledger.state(order.policy.series)
        state = replace(state, secret=state.secret or bytes(32))
        assert state.secret is not None
        keys = record_keys(order.view, state.secret, parts.by_record)
        view = sorted_for_release(order.view, keys, state.secret, state.n_releases + 1)
        names = [rule.name for rule in order.policy.sensitive]
        if len(view) <= MOST:
            return cls(order, parts, state, view, {name: parts.ledger.history(state.series, name) for name in names})
        rows = np.sort(secret_chance(state.secret, state.n_releases + 1, "stand-ins").permutation(len(view))[:MOST])
        fresh = replace(state, n_releases=0)
        return cls(order, parts, fresh, view.taken(rows), dict.fromkeys(names, nothing_published()))

    @cached_property
    def views(self) -> list[View]:
        """Return today's view and those of the releases to come."""
        assert self.order.policy.defence is not None
        planned, made = self.order.policy.defence.options.foreign.get(RELEASES), self.state.n_releases + 1
        ahead = max(PLANNED - made, AT_LEAST) if planned is None else max(int(str(planned)) - made, 0)
        leaving = leaving_so_far(self.view, next(iter(self.histories.values())))
        return [self.view, *later_views(self.view, leaving, ahead)]

    def breached(self, plan: Plan) -> float:
        """Return the upper end of the share of people breached by the last release, if all are made under a plan."""
        found, drafts, histories = 0.0, list[JudgedDraft](), self.histories
        for step, view in enumerate(self.views):
            drafts.append(self._drafted(plan, view, histories, step))
            if drafts[-1].draft.suppressed_share > max(_allowed(plan.settled), 0.0):
                return 1.0
            if step + 1 < len(self.views):
                histories = {name: past.with_draft(drafts[-1].draft, name) for name, past in histories.items()}
        last = drafts[-1]
        for name, past in histories.items():
            after = past.with_draft(last.draft, name)
            priors = foreknowledge.by_person(last.view, plan.settled, after)
            share = plan.settled.adversary.share_known
            found = max(found, estimate_share(prepare(after, priors), share, SEEDS if share else SEEDS[:1]).high)
        return found

    def relation(self, choice: Choice) -> float:
        """Return how much of the relation between columns and values today's release would keep."""
        case = self._drafted(self.order.plan.chosen(choice), self.view, self.histories, 0)
        return min((one.value for one in relation_kept.of_draft(case.view, case.draft)), default=0.0)

    def _drafted(self, plan: Plan, view: View, histories: dict[str, History], step: int) -> JudgedDraft:
        state = replace(self.state, n_releases=self.state.n_releases + step)
        draft = plan.defence(view, plan.settled, state, self.parts.workers)
        seen: dict[str | None, History] = dict(histories.items())
        case = JudgedDraft(view=view, draft=draft, policy=plan.settled, promises=plan.promises, histories=seen)
        return without_exposed(case)


def _allowed(policy: Policy) -> float:
    return policy.defence.allowed if policy.defence is not None else 0.0


def publish_chosen(order: ReleaseOrder, parts: ReleaseParts) -> Release | Refusal:
    """Publish under the first choice that the verdict lets out; if it lets none out, return the last refusal."""
    approval, refused = order.approval, 0
    plainly = approval and replace(approval, override=None)  # an override is for what is refused in the end
    for choice, told in choices(order, parts):
        if choice.k is not None and choice.k <= refused:
            continue
        tried = replace(order, plan=order.plan.chosen(choice), choice=choice, notes=(told,), approval=plainly)
        made = publish(tried, parts)
        if isinstance(made, Release):
            return made
        refused = choice.k or refused
    return made if approval == plainly else publish(replace(tried, approval=approval), parts)


def choices(order: ReleaseOrder, parts: ReleaseParts) -> list[tuple[Choice, str]]:
    """Return what to try, the best first, with a sentence that says why."""
    first = next((rule.name for rule in order.policy.sensitive), None)
    history = parts.ledger.history(order.policy.series, first)
    before = history.releases[-1].method if len(history) else ""
    lasting = Choice(AUTO_LASTING)
    if order.policy.terms.series.m is not None or before == AUTO_LASTING:
        return [(lasting, f"auto: {lasting}, the method of this series")]
    outlook, sizes = Outlook.of(order, parts), _sizes(order)
    ahead = len(outlook.views) - 1
    found = [(choice, outlook.relation(choice)) for choice in _lasting(outlook, sizes)]
    tried = [(choice, _why(choice, kept, ahead)) for choice, kept in sorted(found, key=lambda one: -one[1])]
    if not len(history):
        tried.append((lasting, f"auto: {lasting}, since no k up to {sizes[-1]} keeps breach_share as far as foreseen"))
    last = Choice(AUTO_ALONE, sizes[-1])
    if last not in (choice for choice, _ in tried):
        tried.append((last, f"auto: no k up to {sizes[-1]} is foreseen to keep breach_share to the end"))
    return tried


def _why(choice: Choice, relation: float, ahead: int) -> str:
    kept = f"keeps {relation:.0%} of the relation" if relation else "keeps breach_share"
    until = f" and lasts, as far as foreseen, until {ahead} releases later" if ahead else ""
    return f"auto: {choice} {kept}{until}"


def _sizes(order: ReleaseOrder) -> tuple[int, ...]:
    least, most = order.policy.terms.least_people, max(len(order.view) // 2, 1)
    return tuple(sorted({least, *(size for size in SIZES if least < size <= most)}))


def _lasting(outlook: Outlook, sizes: Sequence[int]) -> list[Choice]:
    """Return the choices from the smallest size that lasts on; larger groups are taken to last as well."""
    bound = outlook.order.policy.adversary.breach_share
    assert bound is not None
    found = [Choice(AUTO_ALONE, size) for size in sizes]
    low, high = 0, len(found)
    while low < high:
        at = (low + high) // 2
        outlook.parts.progress(f"looking ahead with k = {sizes[at]}", 0.05)
        if outlook.breached(outlook.order.plan.chosen(found[at])) <= MARGIN * bound:
            high = at
        else:
            low = at + 1
    return found[low:]
