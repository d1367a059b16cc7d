"""A made-up later view for rehearsals: what would be published if the next releases were left out.

As many people as left since the last release leave in every interval; newcomers with the cells of leavers take their
place. The view is made up, so it says what to expect, not what will be.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model import History, View
from seriatim.model.chance import open_chance

SEED = 1


def later_leaving(view: View, history: History) -> float:
    """Return the share of the last release's people who are not in the view; 0 if nobody can be followed."""
    if view.respondent is None or not len(history):
        return 0.0
    last = history.releases[-1]
    people = np.unique(last.person[last.person >= 0])
    then = pc.cast(history.respondents, pa.string()).take(pa.array(people))
    stay = pc.sum(pc.is_in(then, value_set=_respondents(view))).as_py() or 0
    return 1.0 - stay / len(people) if len(people) else 0.0


def later_view(view: View, leaving: float, intervals: int) -> View:
    """Return a view ``intervals`` later: each person has left with the same chance per interval, and others came."""
    chance = open_chance(SEED, f"later by {intervals}")
    left = chance.random(len(view)) > (1.0 - leaving) ** intervals
    cells = chance.permutation(np.flatnonzero(left)) if left.any() else np.empty(0, dtype=np.int64)
    rows = np.arange(len(view))
    rows[left] = cells
    names = pa.array([f"newcomer {number}" for number in range(int(left.sum()))], pa.string())
    who = pc.replace_with_mask(_respondents(view), pa.array(left), names)
    return _with_people(view.taken(rows), who)


def _respondents(view: View) -> pa.Array:
    assert view.respondent is not None
    column = view.cells(view.respondent)
    column = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    texts = pc.cast(column, pa.string())
    return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts


def _with_people(view: View, who: pa.Array) -> View:
    assert view.respondent is not None
    return view.with_cells(view.respondent, who)
