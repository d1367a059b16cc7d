"""Simulates what an adversary with all releases and some compromised people would conclude from a draft.

The adversary builds on each finding until nothing new follows, and a solver decides about a sample of the people whom
that leaves undecided; ``breach_share`` bounds what they conclude.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow.compute as pc

from seriatim.attacks.complete_search import BUDGET, complete_share
from seriatim.attacks.exclusion_rules import prepare
from seriatim.attacks.leavers import reveal_leavers
from seriatim.attacks.method import rebuilt_cuts
from seriatim.attacks.withheld_guesses import GuessCertainty, people_guessed
from seriatim.defences import loaded
from seriatim.errors import TableError
from seriatim.knowledge.appearances import appearances_of
from seriatim.model import Draft, Estimate, History, Policy
from seriatim.model.candidate_values import Candidates
from seriatim.model.history import JudgedHistory, judged_draft_and_view
from seriatim.model.methods import method_named
from seriatim.model.recipients import Holder
from seriatim.model.table_faults import several_records_fault
from seriatim.usecases.attack.attack import places_of_respondents
from seriatim.usecases.other_series import OtherSeries, names_beside, people_not_joined, together
from seriatim.usecases.publish import foreknowledge

SEEDS = (1, 2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class AttackOutcome:
    """What someone with all releases concludes, and what the worst recipient concludes from those they hold."""

    everything: Estimate
    holder: Holder | None = None
    held: Estimate | None = None
    beside: tuple[str, ...] = ()
    """Other series with the same people, whose releases were judged with these."""

    def judged_by(self, policy: Policy) -> Estimate:
        """Return the estimate that ``breach_share`` bounds."""
        if policy.adversary.collusion is None or self.held is None:
            return self.everything
        return self._named(self.held)

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """Return what the verdict says: all releases together, and the worst recipient if they hold fewer."""
        if self.held is None or self.held is self.everything:
            return (self.everything,)
        return (self.everything, self._named(self.held))

    @property
    def notes(self) -> tuple[str, ...]:
        """State the figure with its interval, and name the worst recipient, if all releases together breach anyone."""
        one = self.everything
        column = one.detail.get("column")
        of, about = (f" of {column!r}", f", by {column!r}") if column else ("", "")
        found = []
        if one.low < one.high:
            span = f"{one.low:.2%} to {one.high:.2%}, judged by its upper end"
            lost = one.detail.get("narrowed")  # Lemmas 1 and 2 of Cor-Split: fewer candidates, and still several
            more = f"; {lost:,} others lose possible values" if lost else ""
            found.append(
                f"breach_share{of}: {one.share:.2%} of people breached by all releases together ({span}){more}"
            )
        if self.beside:
            alone = one.detail.get("alone")
            more = "" if alone is None else f"; this series alone breaches {alone:.2%}"
            found.append(
                f"breach_share{of} is judged together with {_quoted(self.beside)}, about the same people{more}"
            )
        if self.holder is not None and self.held is not None and one.share:
            who = f"worst recipient: {self.holder.name}, with {self.holder.numbered}"
            found.append(
                f"{who}: {self.held.share:.1%} of people breached{about} (all releases together: {one.share:.1%})"
            )
        return tuple(found)

    def _named(self, estimate: Estimate) -> Estimate:
        assert self.holder is not None
        held = {"recipient": self.holder.name, "releases": self.holder.numbered}
        return replace(estimate, detail={**estimate.detail, **held})


def _quoted(names: Sequence[str]) -> str:
    return "series " + ", ".join(map(repr, names))


def attacked_by_exclusion(
    judged: JudgedHistory,
    policy: Policy,
    holders: Sequence[Holder] = (),
    left: Candidates | None = None,
    others: Sequence[OtherSeries] = (),
) -> AttackOutcome:
    """Run the iterated exclusion attack on one sensitive column's history with the draft.

    It works for any method, also one that looks at each release alone: such methods reveal most. What each holder of
    some releases concludes is simulated in the same way. Where ``left`` says what releases of another method leave
    possible, the people whom they breach are known to everyone and counted no more. Releases of ``others`` say
    something about the same people; only the people of this series are counted.
    """
    draft, view = judged_draft_and_view(judged)
    _refuse_several_records(draft)
    history = judged.history
    row = method_named(policy.defence.method) if policy.defence is not None else None
    if row is not None and row.leavers_known:
        history = reveal_leavers(history)  # told that a counterfeit is the leaver: more than a reader can know
    before, history = history, together(history, others)
    n_own = len(before.respondents)
    priors, place = foreknowledge.by_person(view, policy, history), places_of_respondents(history, view)
    about: dict[str, object] = {"column": judged.column} if len(draft.sensitive) > 1 else {}
    if left is not None:
        about["taken_as_known"] = len(left.known)
    # releases of several series are in one order here, whatever their numbers
    changed = appearances_of(history, range(len(history))).changed()
    if changed:
        about["changed_and_not_followed"] = changed

    apart = people_not_joined(before, history, others) if history is not before else 0
    if apart:
        about["apart_elsewhere"] = apart

    def attacked(part: History) -> Estimate:
        known = policy.adversary
        # one budget for the verdict: more holders or columns do not make a publication longer
        work = BUDGET / max(len({holder.releases for holder in holders}), 1) / max(len(draft.sensitive), 1)
        ground = replace(prepare(part, priors), counted=n_own)
        further = loaded(row.halvings) if row is not None and row.halvings else None
        ground = ground.knowing(rebuilt_cuts(ground.traces, place, len(part) - 1, further))
        if left is not None:
            ground = ground.taken_as_known(left.known, left.until)
        estimate = complete_share(ground, known.share_known, SEEDS, known.breach_share, work)
        if draft.serial:
            own = tuple(past for past in part if past.number > 0)
            estimate = _with_withheld(estimate, replace(part, releases=own), policy)
        return replace(estimate, detail={**estimate.detail, **about})

    everything = attacked(history)
    beside = names_beside(history, others)
    if beside:
        own = tuple(past for past in history if past.number > 0)
        alone = attacked(replace(history, releases=own)) if everything.share else everything
        everything = replace(everything, detail={**everything.detail, "beside": beside, "alone": alone.share})
    there = frozenset(past.number for past in history)
    found = {there: everything}
    for holder in holders:
        if holder.releases & there not in found:
            found[holder.releases & there] = attacked(holder.part_of(history))
    worst = max(holders, key=lambda holder: found[holder.releases & there].high, default=None)
    return AttackOutcome(everything, worst, None if worst is None else found[worst.releases & there], beside)


def _with_withheld(estimate: Estimate, part: History, policy: Policy) -> Estimate:
    """Count everyone who was ever withheld, and as breached those whom being withheld reveals."""
    if not part.withheld_anyone:
        return estimate
    known, terms = policy.adversary, policy.terms.series
    m = terms.m if terms.odds is None else None
    asked = GuessCertainty(above=known.certain_above, raised=known.counts_when_raised, m=m)
    n = len(people_guessed(part, asked))
    if not n:
        return estimate
    shown = [past.person[past.person >= 0] for past in part]
    out = [past.withheld.person for past in part if past.withheld is not None]
    # the attack knows only those shown; the promise is to everyone who was ever in a view
    n_shown, n_people = len(np.unique(np.concatenate(shown))), len(np.unique(np.concatenate((*shown, *out))))
    share, low, high = (
        min(1.0, (one * n_shown + n) / n_people) for one in (estimate.share, estimate.low, estimate.high)
    )
    detail = {**estimate.detail, "withheld_breached": n}
    return replace(estimate, share=share, low=low, high=high, n_people=n_people, detail=detail)


def _refuse_several_records(draft: Draft) -> None:
    """Raise an error if people have several records: the attack follows one value per person."""
    here = draft.groups.filter(pc.invert(pc.or_(draft.groups.column("suppressed"), draft.groups.column("counterfeit"))))
    records = pc.value_counts(here.column("respondent")).field("counts").to_numpy(zero_copy_only=False)
    further = "; or remove breach_share, and nothing judges what all releases reveal together"
    several = several_records_fault("respondent, with [adversary] breach_share", records, further)
    if several is not None:
        raise TableError(several)
