"""Withholds the classes of a draft that cause a refusal: ``[defence] withhold = "exposed"``.

The groups of all others stay as they are: a method that groups the rest again would expose other people in their place.
Whatever is left is judged by every promise, as any draft.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model import Draft, Grouping, History
from seriatim.model.class_counts import ClassCounts
from seriatim.model.classes import CLASS, RESPONDENT, PublishedTable, published_class_of_groups, published_of
from seriatim.model.draft import TABLE
from seriatim.model.history import nothing_published
from seriatim.ports.promise import need_of
from seriatim.promises.single.class_bound import worst_classes_all_named
from seriatim.usecases.publish import foreknowledge
from seriatim.usecases.publish.judgement import JudgedDraft

ROUNDS = 40
"""What is left may break a promise in its turn: the margin moves, and an attacker knows less about others."""
_AT_ONCE = 4
"""Of the classes that expose somebody one in so many is withheld before the attack is run again."""
ASKED = 200
"""People about whom a solver is asked whether they are breached, where the rules of exclusion do not say."""


def withhold_exposed(case: JudgedDraft) -> Draft:
    """Return the draft without the classes that break a promise or hold people breached, as far as suppress allows.

    If that is not far enough, nothing is withheld, and the draft says why.
    """
    draft = case.draft
    assert case.policy.defence is not None
    allowed = case.policy.defence.allowed
    for _ in range(ROUNDS):
        published = published_of(draft)
        classes = _causes(replace(case, draft=draft), published)
        if not len(classes):
            return draft
        draft = _without_classes(draft, published, classes)
        if draft.suppressed_share > allowed:
            break
    found = f"withholding {draft.suppressed_share:.1%} of the records is not enough, and suppress allows {allowed:.1%}"
    return replace(case.draft, notes=(*case.draft.notes, f'leftovers = "withhold" withheld nothing: {found}'))


def _without_classes(draft: Draft, published: PublishedTable, classes: npt.NDArray[np.int64]) -> Draft:
    """Return the draft without these classes; groups are renumbered, and nothing else changes."""
    rows = pa.array(~np.isin(published.classes.of_record, classes))
    kept = np.flatnonzero(~np.isin(published_class_of_groups(draft, published.classes), classes)).astype(np.int32)
    number = np.full(draft.grouping.n_groups + 1, -1, dtype=np.int32)  # the last is for who is withheld already
    number[kept] = np.arange(len(kept), dtype=np.int32)
    group = number[draft.grouping.group]
    groups = draft.groups.set_column(draft.groups.column_names.index("group"), "group", pa.array(group, mask=group < 0))
    groups = groups.set_column(groups.column_names.index("suppressed"), "suppressed", pa.array(group < 0))
    shown = np.asarray(rows)
    return replace(
        draft,
        files={**draft.files, TABLE: draft.table.filter(rows)},
        sensitive={name: replace(one, codes=one.codes[shown]) for name, one in draft.sensitive.items()},
        grouping=Grouping(group, len(kept)),
        generalised=tuple(column.of_groups(kept) for column in draft.generalised),
        groups=groups,
    )


def _causes(case: JudgedDraft, published: PublishedTable) -> npt.NDArray[np.int64]:
    """Return the classes that break a promise about the table, or that hold people whom the draft breaches."""
    found, allowed = set[int](), case.policy.adversary.breach_share
    counts = ClassCounts.of(published)
    for promise in case.promises:
        if promise.judges == "table":
            with worst_classes_all_named():
                found.update(promise.check(counts).classes)
        elif need_of(promise) == "attack" and allowed is not None and published.named is not None:
            # what an attacker finds has no class, but its people have one
            column = promise.column or case.first
            people = _breached_by_draft(case, column, allowed)
            found.update(_fullest_classes(published.named, people, case.histories.get(column, nothing_published())))
    return np.array(sorted(found), dtype=np.int64)


def _fullest_classes(named: pa.Table, people: list[str], before: History) -> list[int]:
    """Return some of the classes with the largest share of these people, or of the last groups of those who have left.

    Withholding one class often also saves people of others, so the attack is run again before more are taken.
    """
    here = pc.cast(named.column(RESPONDENT), pa.string())
    gone = pa.array(people, pa.string()).filter(pc.invert(pc.is_in(pa.array(people, pa.string()), value_set=here)))
    weight = np.zeros(len(here))
    for some, times in ((pa.array(people, pa.string()), 1.0), (_last_together(gone, before), 0.01)):
        weight += times * pc.is_in(here, value_set=some).to_numpy()
    of_class = named.column(CLASS).to_numpy()
    held = np.bincount(of_class, weights=weight)
    order = np.argsort(-held / np.maximum(np.bincount(of_class), 1), kind="stable")
    hit = int((held >= 1).sum())
    return [int(number) for number in order[: max(ceil(hit / _AT_ONCE), 1)] if held[number] > 0]


def _last_together(gone: pa.Array, before: History) -> pa.Array:
    """Return everyone who was in the newest group of one of these people."""
    who = pc.index_in(gone, value_set=pc.cast(before.respondents, pa.string())).drop_null().to_numpy()
    found, left = [np.empty(0, dtype=np.int32)], who
    for past in reversed(before.releases):
        groups = past.group[np.isin(past.person, left)]
        found.append(past.person[np.isin(past.group, groups) & (past.person >= 0)])
        left = left[~np.isin(left, past.person)]
    return pc.cast(before.respondents, pa.string()).take(pa.array(np.unique(np.concatenate(found))))


def _breached_by_draft(case: JudgedDraft, column: str | None, allowed: float) -> list[str]:
    """Return who is breached with the draft and was not before, if they are too many as the verdict counts them."""
    from seriatim.attacks.complete_search import complete_sample  # brings compiled kernels
    from seriatim.attacks.exclusion_rules import prepare
    from seriatim.usecases.publish.simulation import SEEDS, attacked_by_exclusion

    judged = case.judged(column)
    before = case.histories.get(column, nothing_published())
    outcome = attacked_by_exclusion(judged, case.policy, case.holders, None, case.others.get(column, ()))
    if outcome.judged_by(case.policy).high <= allowed:
        return []
    share = case.policy.adversary.share_known
    priors = foreknowledge.by_person(case.view, case.policy, judged.history)
    found = list[set[str]]()
    for ground in (prepare(history, priors) for history in (judged.history, before) if len(history)):
        runs = (ground.compromise(ground.draw(share, seed), keep_log=False) for seed in (SEEDS if share else SEEDS[:1]))
        found.append({str(who) for run in runs for who in complete_sample(run, ASKED).breached})
    return sorted(found[0].difference(*found[1:]))
