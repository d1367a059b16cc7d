"""The history with a draft as its newest release: what the laws about a series judge."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model import Draft, History, Past
from seriatim.model.identity import number_among
from seriatim.model.scale import IntArray

MARKS = ("lineage", "slot")
"""What a defence may claim about its rows beyond what it publishes."""

_KNOWN: WeakKeyDictionary[Draft, tuple[History, str, History]] = WeakKeyDictionary()


def with_draft(history: History, draft: Draft, column: str) -> History:
    """The releases so far and the draft after them; made once for all laws that ask."""
    known = _KNOWN.get(draft)
    if known is None or known[0] is not history or known[1] != column:
        known = _KNOWN[draft] = (history, column, _appended(history, draft, column))
    return known[2]


def _appended(history: History, draft: Draft, column: str) -> History:
    table = draft.groups
    kept = pc.and_(pc.invert(table.column("suppressed")), pc.is_valid(table.column("group")))
    table = table.filter(kept)
    fake = table.column("counterfeit").combine_chunks().to_numpy(zero_copy_only=False).astype(np.bool_)
    respondents, person = _people(history.respondents, table.column("respondent"))
    values, value = _coded(history.values, table.column(column))
    _, group = np.unique(table.column("group").to_numpy(), return_inverse=True)
    number = history.releases[-1].number + 1 if history.releases else 1
    person[fake] = -1
    marks = {name: table.column(name).to_numpy().astype(np.int64) for name in MARKS if name in table.column_names}
    past = Past(number, person, group.astype(np.int32), value, marks)
    return History(respondents, values, (*history.releases, past))


def _people(known: pa.Array, column: pa.ChunkedArray) -> tuple[pa.Array, IntArray]:
    """The people known, then the new ones; and where each row's person stands among them."""
    texts, known = pc.cast(column, pa.string()).combine_chunks(), pc.cast(known, pa.string())
    person, fresh = number_among(known, texts)
    return pa.concat_arrays([known, texts.take(pa.array(fresh))]), person


def _coded(known: pa.Array, column: pa.ChunkedArray) -> tuple[pa.Array, IntArray]:
    """The known things, then the new ones; and where each entry of the column stands among them."""
    wanted = pa.chunked_array(column.chunks, column.type)
    if pa.types.is_dictionary(wanted.type):
        wanted = wanted.cast(wanted.type.value_type)
    if wanted.type != known.type:
        wanted, known = wanted.cast(pa.string()), known.cast(pa.string())
    places = pc.index_in(wanted, value_set=known)
    if not places.null_count:
        return known, places.to_numpy().astype(np.int32)
    fresh = pc.unique(wanted.filter(pc.is_null(places)))
    after = pc.add(pc.index_in(wanted, value_set=fresh), len(known))
    return pa.concat_arrays([known, fresh]), pc.coalesce(places, after).to_numpy().astype(np.int32)
