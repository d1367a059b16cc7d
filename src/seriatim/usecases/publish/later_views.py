"""Made-up views of the releases to come: today's people, of whom as many leave as did so far, and others like them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model import History, View
from seriatim.model.chance import open_chance

SEED = 1
UNKNOWN = 0.05
"""The share of people taken to leave between two releases, where no two were made yet."""


def leaving_so_far(view: View, history: History) -> float:
    """Return the mean share of people who left from release to release, up to this view."""
    if not len(history):
        return UNKNOWN
    there = [np.unique(past.person[past.person >= 0]) for past in history]
    last = pc.cast(history.respondents, pa.string()).take(pa.array(there[-1]))
    stay = pc.sum(pc.is_in(last, value_set=respondents_of(view))).as_py() or 0
    left = [1.0 - stay / max(len(there[-1]), 1)]
    left += [1.0 - float(np.isin(old, new).mean()) for old, new in pairwise(there) if len(old)]
    return float(np.mean(left))


def later_views(view: View, leaving: float, releases: int) -> Iterator[View]:
    """Yield a view for each of the next releases; whoever comes has the cells of somebody of the view before."""
    for step in range(1, releases + 1):
        chance = open_chance(SEED, f"later by {step}")
        left = chance.random(len(view)) < leaving
        rows = np.arange(len(view))
        rows[left] = chance.integers(0, len(view), int(left.sum()))
        names = pa.array([f"newcomer {step}, {number}" for number in range(int(left.sum()))], pa.string())
        who = pc.replace_with_mask(respondents_of(view), pa.array(left), names)
        assert view.respondent is not None
        view = view.taken(rows).with_cells(view.respondent, who)
        yield view


def respondents_of(view: View) -> pa.Array:
    """Return who each record is about, as text."""
    assert view.respondent is not None
    return texts_of(view, view.respondent)


def texts_of(view: View, name: str) -> pa.Array:
    """Return the cells of a column as text."""
    column = view.cells(name)
    column = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    texts = pc.cast(column, pa.string())
    return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
