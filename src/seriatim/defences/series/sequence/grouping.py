"""Groups neighbours along a Hilbert curve so that an adversary with sequence knowledge cannot tell them apart.

JS-reduce (Riboni, Pareschi and Bettini, Algorithms 1 and 4). ``greedy`` is the paper's: it closes a group as soon as it
passes, and once the divergence of the rest of the view exceeds j it never closes again and drops everything left.
``optimal`` cuts the same order with the least loss of boxes and drops, and lets people whom no cut can place join a
nearby group. Dropping says something about who is dropped:
``leftovers = "relax"`` puts them into the nearest group instead, and the verdict says which t and j were reached;
``"counterfeit"`` publishes a row with a drawn value in their place (``counterfeits``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.defences.labels import LabelPieces
from seriatim.defences.series.sequence.blind_cuts import (
    Cut,
    joined_ends,
    leak_notes,
    leaks_of_segments,
    share_led_by_values,
    without_values,
)
from seriatim.defences.series.sequence.bucket_form import bucket_form
from seriatim.defences.series.sequence.counterfeits import Counterfeits, groups_for_leftovers, withhold_covered
from seriatim.defences.single.curve.order import hilbert_rows
from seriatim.defences.single.draft import draft_of
from seriatim.errors import Fault, PolicyError
from seriatim.kernels.arrays import Floats, Longs
from seriatim.kernels.series.belief_segments import (
    SegmentRows,
    SegmentRules,
    cut_greedily,
    cut_optimally,
    cut_with_leftovers,
)
from seriatim.knowledge._posterior import divergence_of_groups, entropies_for_divergence
from seriatim.knowledge.knowledge_files import declared_adversary
from seriatim.knowledge.smoothing import revised_beliefs
from seriatim.model import CodedColumn, Draft, Policy, Role, SeriesState, View
from seriatim.model.chance import secret_chance
from seriatim.model.classes import GROUP
from seriatim.model.history import nothing_published
from seriatim.ports import Workers

_NOTHING = 1e12
_LONGEST = 3
"""An optimal segment has at most this many times k people, at least 60."""
_ROUNDS = 3
SKIP_COST = 10.0
"""What an optimal cut pays to drop one person; a box over everything costs 1 a person.

At 1 it drops people to save boxes; at 10 the study's world A loses less in all, as people dropped count as lost.
"""


REACH = 10
"""Groups on either side along the curve that may take someone whom no cut of the curve leaves a place.

In the study's world A at k = 20 the best cut drops .45 and .71 % in two draws, since no neighbours are believed alike
enough; ten groups on either side take all of them. Forty take no more there, and widen boxes in world B.
"""


def sequence_groups(view: View, policy: Policy, state: SeriesState, workers: Workers) -> Draft:
    """Make a draft whose groups keep k, l, t and j."""
    assert state.secret is not None
    assert policy.defence is not None
    _check(policy)
    number = state.n_releases + 1
    there = _by_respondent(view)
    columns = [CodedColumn(column.name, column.codes[there], column.scale) for column in view.quasi]
    order = there[_along(columns, len(there), secret_chance(state.secret, number, "curve"), workers)]
    beliefs = _beliefs(view, policy, state, order)
    rows = _rows(view, order, beliefs)
    rules, end = _cut(rows, policy)
    if policy.defence.leftovers == "relax":
        end = _joined(end)
    covered = _covered(policy, rows, rules, end, secret_chance(state.secret, number, "counterfeits"))
    draft = draft_of(view, _pieces(order, end, covered), secret_chance(state.secret, number, "shuffle"), workers)
    notes = _notes(policy, rules, rows, end, beliefs)
    if covered is not None:
        chance = secret_chance(state.secret, number, "counterfeit rows")
        draft = withhold_covered(draft, view, order[covered.position], covered.value, chance)
        notes = (*notes, *_covered_notes(covered, end))
    return _in_form(replace(draft, notes=notes), view, policy, state)


def _along(
    columns: Sequence[CodedColumn], n_people: int, chance: np.random.Generator, workers: Workers
) -> npt.NDArray[np.int32]:
    """Return people in the order of the curve; by chance if there are no quasi-identifiers to lay one through."""
    return hilbert_rows(columns, chance, workers)[0] if columns else chance.permutation(n_people).astype(np.int32)


def _covered(
    policy: Policy, rows: SegmentRows, rules: SegmentRules, end: Longs, chance: np.random.Generator
) -> Counterfeits | None:
    """Find rows for people left over, if the policy asks for counterfeits; None if it does not."""
    assert policy.defence is not None
    if policy.defence.leftovers != "counterfeit":
        return None
    return groups_for_leftovers(rows, rules, end, int(policy.defence.allowed * len(end)), chance)


def _pieces(order: npt.NDArray[Any], end: Longs, covered: Counterfeits | None) -> LabelPieces:
    """Return the groups; those of counterfeits also cover the people whose places they take."""
    own = end.copy()
    if covered is not None:
        own[covered.position] = covered.end
    kept = np.flatnonzero(own >= 0)
    kept = kept[np.argsort(own[kept], kind="stable")]
    bounds = np.concatenate(([0], np.flatnonzero(np.diff(own[kept])) + 1, [len(kept)])) if len(kept) else np.zeros(1)
    return LabelPieces(order[kept].astype(np.int32), bounds.astype(np.int64))


def _covered_notes(covered: Counterfeits, end: Longs) -> tuple[str, ...]:
    n_left = int((end < 0).sum())
    if not n_left:
        return ()
    missing = f"; {n_left - len(covered)} more fit nowhere and are withheld" if n_left > len(covered) else ""
    return (
        f"{len(covered)} people who fit no group are withheld behind rows with counterfeit values, which only the "
        f"ledger can identify{missing}",
    )


def _by_respondent(view: View) -> npt.NDArray[Any]:
    """Return the rows in an order that the order of the view does not change; the curve shuffles ties by the secret."""
    there = np.flatnonzero(~view.suppressed)
    if view.respondent is None:
        return there
    who = view.cells(view.respondent, there).combine_chunks()
    rows: npt.NDArray[Any] = there[pc.sort_indices(pc.cast(who, pa.string())).to_numpy()]
    return rows


def _in_form(draft: Draft, view: View, policy: Policy, state: SeriesState) -> Draft:
    """Return the draft as boxes, or as buckets if the policy asks for them."""
    assert state.secret is not None
    assert policy.defence is not None
    if policy.defence.form != "buckets":
        return draft
    note = "buckets: quasi-identifiers are published as they are; figures of loss are those of the groups' boxes"
    return bucket_form(
        replace(draft, notes=(*draft.notes, note)), view, secret_chance(state.secret, state.n_releases + 1, "buckets")
    )


def _check(policy: Policy) -> None:
    """Raise an error for what this method cannot do, before any work."""
    if len(policy.sensitive) != 1:
        found = f"{len(policy.sensitive)} sensitive columns"
        raise PolicyError(Fault("[defence] method", found, "exactly one for sequence", "one series for each"))
    assert policy.defence is not None
    named = policy.columns.get(GROUP)
    if policy.defence.form == "buckets" and named is not None and named.role is not Role.DROP:
        raise PolicyError(Fault(f"[columns.{GROUP}]", "buckets publish a column of this name", "", "rename it"))
    if policy.terms.k is None:
        raise PolicyError(Fault("[promise] k", "missing", "sequence needs it", "such as k = 20"))
    if policy.terms.series.j is not None and policy.respondent is None:
        raise PolicyError(Fault("[promise] j", "needs a respondent column", "[series] respondent", "add it"))


def _beliefs(view: View, policy: Policy, state: SeriesState, order: npt.NDArray[Any]) -> Floats:
    """Return what is believed about each record before this release; all alike if j is not promised."""
    column = view.sensitive[0]
    n_values = len(column.scale)
    if policy.terms.series.j is None or view.respondent is None or not len(order):
        return np.full((len(order), n_values), 1.0 / max(n_values, 1))
    who = view.cells(view.respondent, order).combine_chunks()
    shown = view.cells(column.name)
    shown = shown.cast(shown.type.value_type) if pa.types.is_dictionary(shown.type) else shown
    history = state.history or nothing_published()
    if shown.type != history.values.type:
        shown = pc.cast(shown, pa.string())
    known = declared_adversary(policy.adversary)
    return revised_beliefs(history, who, pc.unique(shown.take(pa.array(order)).combine_chunks()), known).beliefs


def _rows(view: View, order: npt.NDArray[Any], beliefs: Floats) -> SegmentRows:
    places = []
    for column in view.quasi:
        at = column.scale.positions if column.scale.form == "interval" else np.arange(len(column.scale), dtype=float)
        low, high = (np.nanmin(at), np.nanmax(at)) if len(at) else (0.0, 0.0)
        spread = np.nan_to_num((at - low) / (high - low), nan=1.0) if high > low else np.zeros(len(at))
        places.append(spread[column.codes[order]])
    place = np.stack(places, axis=1) if places else np.zeros((len(order), 0))
    return SegmentRows(
        view.sensitive[0].codes[order].astype(np.int32),
        beliefs.astype(np.float32),
        entropies_for_divergence(beliefs).astype(np.float32),
        place.astype(np.float32),
    )


def _cut(rows: SegmentRows, policy: Policy) -> tuple[SegmentRules, Longs]:
    """Cut the order; dropping people shifts the margin that t compares with, so that it is cut again."""
    assert policy.defence is not None
    n_values = max(rows.beliefs.shape[1], int(rows.value.max(initial=-1)) + 1)
    rules = _rules(policy, np.bincount(rows.value, minlength=n_values).astype(np.int64))
    cut = _cut_of(policy)
    end = cut(rows, rules)
    for _ in range(_ROUNDS):
        kept = np.bincount(rows.value[end >= 0], minlength=n_values).astype(np.int64)
        if rules.t >= 1.0 or (kept == rules.whole).all() or not kept.any():
            break
        rules = rules._replace(whole=kept)
        end = cut(rows, rules)
    return rules, end


def _cut_of(policy: Policy) -> Cut:
    """Return how the order is cut: greedily or best, with or without looking at values."""
    assert policy.defence is not None
    cut = cut_greedily if policy.defence.mode == "greedy" else best_cut
    return joined_ends(cut) if policy.defence.options.cuts == "blind" else cut


def best_cut(rows: SegmentRows, rules: SegmentRules) -> Longs:
    """Return the end of everyone's group: the best cut of the order, and a group nearby for people it leaves over."""
    return cut_with_leftovers(rows, rules, cut_optimally(rows, rules), REACH)


def _rules(policy: Policy, whole: Longs) -> SegmentRules:
    """Return what a group must keep; ``whole`` counts the values of everyone."""
    thresholds = next(iter(policy.terms.per_column.values()), None)
    k, j = policy.terms.least_people, policy.terms.series.j
    nats = _NOTHING if j is None else j
    return SegmentRules(
        k,
        int(thresholds.l) if thresholds is not None and thresholds.l is not None else 1,
        thresholds.t if thresholds is not None and thresholds.t is not None else 1.0,
        int(thresholds is not None and thresholds.t_distance == "ordered"),
        nats,
        whole,
        max(min(_LONGEST * k, int(whole.sum()) + 1), 60),
        SKIP_COST,
    )


def _joined(end: Longs) -> Longs:
    """Put people who are left over into the group before them, or the first one."""
    kept = np.flatnonzero(end >= 0)
    if not len(kept):
        return np.full(len(end), len(end), dtype=np.int64)
    before = np.maximum.accumulate(np.where(end >= 0, np.arange(len(end)), -1))
    return np.where(before >= 0, end[np.maximum(before, 0)], end[kept[0]])


def _end_notes(policy: Policy, rules: SegmentRules, rows: SegmentRows, end: Longs) -> list[str]:
    """Say how many groups end where they do for their values, where one end says nothing about one person."""
    assert policy.defence is not None
    if (rules.l <= 1 and rules.t >= 1.0) or not (end >= 0).any():
        return []
    cut = cut_greedily if policy.defence.mode == "greedy" else best_cut
    blind = cut(rows, without_values(rules))
    if policy.defence.options.cuts == "blind":
        n_blind, n_own = len(np.unique(blind[blind >= 0])), len(np.unique(end[end >= 0]))
        return [f"cuts blind to values: {n_blind - n_own} of {n_blind} groups were merged with a neighbour for l or t"]
    share = share_led_by_values(end, blind)
    told = 'an attacker who reruns the method can test guesses; cuts = "blind" avoids it'
    return [f"cut points: {share:.0%} of groups end where they do because of sensitive values; {told}"] if share else []


@dataclass(frozen=True, slots=True)
class _Reached:
    """The largest t and j of any group."""

    t: float
    j: float


def _reached(rows: SegmentRows, rules: SegmentRules, end: Longs, beliefs: Floats) -> _Reached:
    kept = np.flatnonzero(end >= 0)
    if not len(kept):
        return _Reached(0.0, 0.0)
    _, group = np.unique(end[kept], return_inverse=True)
    n_groups, n_values = int(group.max()) + 1, len(rules.whole)
    counts = np.zeros((n_groups, n_values))
    np.add.at(counts, (group, rows.value[kept]), 1.0)
    shares, whole = counts / counts.sum(axis=1, keepdims=True), rules.whole / max(rules.whole.sum(), 1)
    off = shares - whole
    far = (
        np.abs(np.cumsum(off, axis=1)).sum(axis=1) / max(n_values - 1, 1)
        if rules.ordered
        else np.abs(off).sum(axis=1) / 2
    )
    return _Reached(float(far.max()), float(divergence_of_groups(beliefs[kept], group, n_groups).max()))


def _notes(policy: Policy, rules: SegmentRules, rows: SegmentRows, end: Longs, beliefs: Floats) -> tuple[str, ...]:
    """Say what j can do here, and what was reached where people were not dropped."""
    assert policy.defence is not None
    found = []
    if policy.terms.series.j is not None and len(beliefs):
        everyone = float(divergence_of_groups(beliefs, np.zeros(len(beliefs), dtype=np.int64), 1)[0])
        dropped = float((end < 0).mean()) if len(end) else 0.0
        above = "j is above it and keeps only small groups apart" if everyone > 0 else "j does nothing"
        does = above if policy.terms.series.j >= everyone else f"j is below it; {dropped:.1%} were dropped"
        found.append(f"beliefs about all people of this view diverge by {everyone:.3f} nats: {does}")
    leaks = leaks_of_segments(rows, rules, end)
    if policy.defence.mode != "greedy" or policy.defence.options.cuts == "blind":
        leaks = replace(leaks, exposed=0.0)  # such an end depends on more than the last person
        found.extend(_end_notes(policy, rules, rows, end))
    if policy.defence.leftovers == "counterfeit":
        leaks = replace(leaks, n_dropped=0)  # nobody misses them; how many are not covered is told apart
    found.extend(leak_notes(leaks))
    if policy.defence.leftovers == "relax":
        far = _reached(rows, rules, end, beliefs)
        found.append(f"nobody was dropped: the largest t reached is {far.t:.3f}, the largest j {far.j:.3f} nats")
    return tuple(found)
