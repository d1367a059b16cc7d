"""Tries whether a refused draft would pass without the boxes that cause the refusal. Nothing is recorded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import InputError
from seriatim.model import Refusal, Verdict, View
from seriatim.model.published import CLASS, RESPONDENT, published_of
from seriatim.ports import no_progress
from seriatim.usecases.publish.exposed_by_draft import exposed_by_draft
from seriatim.usecases.publish.publish import Order, Parts, plan_to_publish, publish

ROUNDS = 3
"""The boxes around those withheld change, so others may break a promise in their turn."""
_MOST = 0.5
"""A larger share of withheld people is no remedy."""


@dataclass(frozen=True, slots=True)
class WithoutBoxes:
    """What was withheld, and the verdict that let the rest out."""

    n_people: int
    n_boxes: int
    share: float
    verdict: Verdict


def passes_without_boxes(refused: Refusal, order: Order, parts: Parts, end: float) -> WithoutBoxes | None:
    """Withhold the boxes of everyone who is exposed, at most three times; None if the rest is still refused."""
    settings = order.policy.defence
    if settings is None or settings.serial or order.policy.respondent is None:
        return None  # a group of a series cannot be withheld alone: its people are in other releases, too
    view, n_boxes = order.view, 0
    for _ in range(ROUNDS):
        if monotonic() > end:
            return None
        people, boxes = _people_in_exposed_boxes(refused, order, parts)
        view, n_boxes = _without(view, people), n_boxes + boxes
        share = float((view.suppressed & ~order.view.suppressed).mean())
        if not boxes or share > _MOST:
            return None
        allowed = max(settings.allowed, share_to_write(float(view.suppressed.mean())))
        policy = replace(order.policy, defence=replace(settings, suppress=allowed))
        tried = replace(order, view=view, plan=plan_to_publish(policy), dry_run=True, approval=None)
        try:
            made = publish(tried, replace(parts, progress=no_progress))
        except InputError:
            return None
        if not isinstance(made, Refusal):
            n_people = int((view.suppressed & ~order.view.suppressed).sum())
            return WithoutBoxes(n_people, n_boxes, allowed, made.verdict)
        refused = made
    return None


def share_to_write(share: float) -> float:
    """Round a share up, so that it still allows what it was made of."""
    return min(1.0, float(np.ceil(share * 1000) / 1000))


def _people_in_exposed_boxes(refused: Refusal, order: Order, parts: Parts) -> tuple[pa.Array, int]:
    """Return everyone who shares a box of the draft with someone exposed, and the number of these boxes."""
    exposed = exposed_by_draft(refused, order.plan, parts.ledger).column("respondent")
    named = published_of(refused.draft).named
    assert named is not None
    who = pc.cast(named.column(RESPONDENT), pa.string())
    boxes = pc.unique(named.column(CLASS).filter(pc.is_in(who, value_set=exposed.combine_chunks())))
    return who.filter(pc.is_in(named.column(CLASS), value_set=boxes)).combine_chunks(), len(boxes)


def _without(view: View, people: pa.Array) -> View:
    column = view.table.data.column(view.respondent)
    column = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    hit = pc.is_in(pc.cast(column, pa.string()), value_set=people).to_numpy(zero_copy_only=False)
    return replace(view, suppressed=view.suppressed | hit.astype(np.bool_))
