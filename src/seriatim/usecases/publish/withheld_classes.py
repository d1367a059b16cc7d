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

from seriatim.model import Draft, Grouping
from seriatim.model.class_counts import ClassCounts
from seriatim.model.classes import CLASS, RESPONDENT, PublishedTable, published_class_of_groups, published_of
from seriatim.model.draft import TABLE
from seriatim.model.history import nothing_published
from seriatim.ports.promise import need_of
from seriatim.promises.single.class_bound import worst_classes_all_named
from seriatim.usecases.publish import foreknowledge
from seriatim.usecases.publish.judgement import JudgedDraft

ROUNDS = 20
"""What is left may break a promise in its turn: the margin moves, and an attacker knows less about others."""


def withhold_exposed(case: JudgedDraft) -> Draft:
    """Return the draft without the classes that break a promise or hold people breached, as far as suppress allows."""
    draft = case.draft
    assert case.policy.defence is not None
    for _ in range(ROUNDS):
        published = published_of(draft)
        classes = _causes(replace(case, draft=draft), published)
        if not len(classes) or draft.suppressed_share > case.policy.defence.allowed:
            break
        draft = _without_classes(draft, published, classes)
    return draft


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
            people, most = _breached_by_draft(case, promise.column or case.first, allowed)
            found.update(_fullest_classes(published.named, people, most))
    return np.array(sorted(found), dtype=np.int64)


def _fullest_classes(named: pa.Table, people: list[str], most: int) -> list[int]:
    """Return the classes with the largest share of these people, until they hold ``most`` of them.

    Withholding one class often also saves people of others, so the attack is run again before more are taken.
    """
    hit = pc.is_in(pc.cast(named.column(RESPONDENT), pa.string()), value_set=pa.array(people, pa.string()))
    of_class = named.column(CLASS).to_numpy()
    size = np.bincount(of_class)
    held = np.bincount(of_class, weights=hit.to_numpy(zero_copy_only=False), minlength=len(size))
    order = np.argsort(-held / np.maximum(size, 1), kind="stable")
    enough = int(np.searchsorted(np.cumsum(held[order]), most)) + 1
    return [int(number) for number in order[:enough] if held[number] > 0]


def _breached_by_draft(case: JudgedDraft, column: str | None, allowed: float) -> tuple[list[str], int]:
    """Return who is breached with the draft and was not before, and how many of them are too many."""
    from seriatim.attacks.exclusion_rules import estimate_share, prepare  # brings compiled kernels
    from seriatim.usecases.publish.simulation import SEEDS

    share = case.policy.adversary.share_known
    before = case.histories.get(column, nothing_published())
    after = before.with_draft(case.draft, column)
    priors = foreknowledge.by_person(case.view, case.policy, after)
    grounds = [prepare(history, priors) for history in (after, before) if len(history)]
    estimate = estimate_share(grounds[0], share, SEEDS)
    if estimate.high <= allowed:
        return [], 0
    seeds = SEEDS if share else SEEDS[:1]
    found = [
        {str(who) for seed in seeds for who in one.compromise(one.draw(share, seed), keep_log=False).breached}
        for one in grounds
    ]
    return sorted(found[0].difference(*found[1:])), ceil((estimate.high - allowed) * estimate.n_people)
