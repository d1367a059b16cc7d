"""Follows people whose values change: what a sequential adversary believes about a draft and the releases before it.

The attack looks back over the newest releases only (``WINDOW``): evidence fades with every change of a value. What
older releases said about a person is kept in the ledger as one belief, with whether they were ever inferred with
certainty. So only the newest releases are read, and a late release costs what an early one does.

Without stated knowledge the worst of several attackers counts, each with a memory of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from seriatim.attacks.belief_figures import sequence_figures
from seriatim.attacks.sequence_knowledge import KnownHistory, SequenceBeliefs, tempered_beliefs
from seriatim.knowledge.appearances import Appearances, appearances_of
from seriatim.knowledge.knowledge_files import declared_adversary
from seriatim.knowledge.sequential_adversary import SequentialAdversary
from seriatim.knowledge.smoothing import WINDOW as WINDOW_OF_J
from seriatim.knowledge.smoothing import KnownBefore, look_forward, no_evidence
from seriatim.knowledge.value_texts import value_texts
from seriatim.model import Estimate, Policy
from seriatim.model.history import BELIEFS, History, JudgedHistory
from seriatim.ports import Ledger
from seriatim.usecases.publish.belief_memory import BeliefMemory, remembered_after

WINDOW = 4
"""Releases that are judged together; what came before counts as one belief per person.

On seven histories (nlswork, wage_panel, rwm5yr, two made-up worlds, constant values) four count as many people as all
releases together or a few more: what a group said once is not weighed down where its people meet again much later.
"""


@dataclass(frozen=True, slots=True, eq=False)
class FollowedPeople:
    """What was found, and what the ledger keeps for the next release."""

    estimate: Estimate
    memory: Mapping[str, pa.Table]
    """By the name under which it is kept."""


def memory_name(column: str | None, attacker: int = 0) -> str:
    """Return the name of a column's memory: letters, digits and _ only, since files are named after it."""
    text = (column or "").encode("utf-8").hex()
    return f"{BELIEFS}{text}_order{attacker}" if attacker else f"{BELIEFS}{text}"


def history_to_follow(ledger: Ledger, policy: Policy, column: str | None, memory: Mapping[str, pa.Table]) -> History:
    """Read the releases that are looked at, and all of them only if the memory does not go on from there."""
    newest = ledger.history(policy.series, column, newest=max(WINDOW, WINDOW_OF_J))
    upto = BeliefMemory.upto_of(memory.get(memory_name(column)))
    first = len(newest) + 1 - WINDOW
    if policy.adversary.sure_share is None or first <= 0 or upto == newest.releases[first - 1].number:
        return newest
    return ledger.history(policy.series, column)


def followed_people(judged: JudgedHistory, policy: Policy, memory: Mapping[str, pa.Table]) -> FollowedPeople:
    """Run the sequence attack, looking back, on one sensitive column's history with the draft."""
    whole = judged.history
    kept = _kept_by_attacker(policy, judged.column, memory)
    first = max(len(whole) - WINDOW, 0)
    # a memory of another point in time would count some release twice or not at all
    if first and (kept[0] is None or not kept[0].continues(whole, first)):
        first, kept = 0, [None]
    window = whole.newest(len(whole) - first)
    about: dict[str, object] = {"column": judged.column} if policy.sensitive[1:] else {}
    known = declared_adversary(policy.adversary, _order_of(policy, judged.column, window))
    rows = appearances_of(window, known.times_of(past.number for past in window))
    if not len(rows.person):
        return _nobody(window, kept, judged.column, {"sure": known.sure, "raised": known.raised, **about})
    attackers = known.own_attackers(rows, window)
    n = max(
        len(attackers), len(kept)
    )  # where the newest releases carry less than earlier ones did, nobody is forgotten
    found, after = [], []
    for at in range(n):
        own = kept[min(at, len(kept) - 1)]
        believed = _followed_by(attackers[min(at, len(attackers) - 1)], rows, window, own if first else None)
        found.append(believed)
        after.append(remembered_after(believed[0], own, _before_next_window(window, believed[0])))
    shares = [int(one.sure.sum()) / max(len(one.people), 1) for one in after]
    # of attackers who do equally well the one who knows least is reported
    worst = max(range(n), key=lambda at: (shares[at], -at))
    if n > 1:
        names = ["stay", *(f"order {at}" for at in range(1, n))]
        about["by_knowledge"] = dict(zip(names, shares, strict=True))
    beliefs, weight = found[worst]
    estimate = _estimate(beliefs, int(after[worst].sure.sum()), len(after[worst].people), {"tempered": weight, **about})
    return FollowedPeople(estimate, {memory_name(judged.column, at): one.table() for at, one in enumerate(after)})


def _kept_by_attacker(policy: Policy, column: str | None, memory: Mapping[str, pa.Table]) -> list[BeliefMemory | None]:
    """Return the memory of each attacker so far; of one if what they know is stated."""
    kept = [BeliefMemory.read(memory.get(memory_name(column)))]
    while policy.adversary.sequence is None and (more := memory.get(memory_name(column, len(kept)))) is not None:
        kept.append(BeliefMemory.read(more))
    return kept


def _followed_by(
    known: SequentialAdversary, rows: Appearances, window: History, kept: BeliefMemory | None
) -> tuple[SequenceBeliefs, float]:
    """Return what one attacker believes, and how much they were tempered."""
    model = known.model_for(rows, window)
    if known.classes:
        times = known.times_of(past.number for past in window)
        rows = appearances_of(window, times, known.class_numbers(window, model))
    before = None if kept is None else kept.known_before(rows, model, window, known)
    return tempered_beliefs(
        KnownHistory(history=window, rows=rows, model=model, adversary=known, look="back", before=before)
    )


def _nobody(
    window: History, kept: Sequence[BeliefMemory | None], column: str | None, about: Mapping[str, object]
) -> FollowedPeople:
    """Return what was found before, where the releases that are looked at publish nobody: nothing is added to it."""
    before = len(window) + 1 - WINDOW
    after = [one for one in kept if one is not None]
    if before > 0:
        after = [replace(one, upto=window.releases[before - 1].number) for one in after]
    n_people, n_sure = (len(after[0].people) if after else 0), max((int(one.sure.sum()) for one in after), default=0)
    share = n_sure / max(n_people, 1)
    detail = {"people": n_sure, "hit_rate": float("nan"), "releases": len(window), **about}
    estimate = Estimate("sequence", share, share, share, n_people=n_people, detail=detail)
    return FollowedPeople(estimate, {memory_name(column, at): one.table() for at, one in enumerate(after)})


def _before_next_window(window: History, found: SequenceBeliefs) -> tuple[int, KnownBefore] | None:
    """Return the release before the next window, and what is known after it; None if all of them will be in it."""
    before = len(window) + 1 - WINDOW
    if before <= 0:
        return None
    number = window.releases[before - 1].number
    if before == 1:
        return number, found.forward.after_first
    older = History(window.respondents, window.values, window.releases[:before])
    classes = found.adversary.class_numbers(older, found.model) if found.adversary.classes else None
    rows = appearances_of(older, found.adversary.times_of(past.number for past in older), classes)
    return number, look_forward(rows, found.model, found.adversary.rule, no_evidence(rows)).after_last


def _order_of(policy: Policy, column: str | None, window: History) -> tuple[str, ...] | None:
    """Return the order of the values, as the policy states it, or of the common bands of several epochs."""
    rule = policy.columns.get(column or "")
    order = rule.order if rule is not None else None
    texts = tuple(value_texts(window.values.to_pylist()))
    return texts if order is not None and rule is not None and rule.bands and not set(texts) <= set(order) else order


def _estimate(found: SequenceBeliefs, n_sure: int, n_people: int, about: Mapping[str, object]) -> Estimate:
    figures = sequence_figures(found)
    share = n_sure / n_people if n_people else 0.0
    detail = {
        "sure": found.adversary.sure,
        "raised": found.adversary.raised,
        "people": n_sure,
        "hit_rate": figures.sure.hit_rate,
        "belief_before": figures.before,
        "belief_one_release": figures.one,
        "belief_series": figures.series,
        "belief_looking_back": figures.back,
        "expected_belief": figures.calibration.expected,
        "changed": figures.n_changed,
        "propagated": figures.propagated,
        "knowledge": found.model.kind,
        "releases": len(found.rows.group_of_release) - 1,
        **about,
    }
    return Estimate("sequence", share, share, share, n_people=n_people, detail=detail)
