"""The history with a draft as its newest release: what the promises about a series judge.

People are numbered here, plainly and with nothing that a defence uses, so that a wrong number there is found here.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model import Draft, History, PastRelease, View
from seriatim.model.common_bands import in_common_bands
from seriatim.model.history import WithheldPeople
from seriatim.model.judged import JudgedHistory
from seriatim.model.scale import IntArray

MARKS = ("lineage", "slot", "baseline", "blind")
"""What a defence may claim about its rows beyond what it publishes."""


def newest_judged(history: History, draft: Draft, view: View, column: str | None) -> JudgedHistory:
    """Return the releases so far with the draft after them, for one sensitive column."""
    return JudgedHistory(newest_with_draft(history, draft, column), column, draft=draft, view=view)


def newest_with_draft(history: History, draft: Draft, column: str | None) -> History:
    """Return the releases so far and the draft after them, in common bands unless values must never change."""
    kept = pc.and_(pc.invert(draft.groups.column("suppressed")), pc.is_valid(draft.groups.column("group")))
    table, out = draft.groups.filter(kept), draft.groups.filter(pc.invert(kept))
    counterfeit = table.column("counterfeit").combine_chunks().to_numpy(zero_copy_only=False).astype(np.bool_)
    respondents, person = newest_people(history.respondents, table.column("respondent"))
    shown = table.column(column) if column is not None else pa.chunked_array([pa.nulls(len(table), pa.string())])
    values, value = _coded(history.values, shown)
    _, group = np.unique(table.column("group").to_numpy(), return_inverse=True)
    number = history.releases[-1].number + 1 if history.releases else 1
    person[counterfeit] = -1
    marks = {name: table.column(name).to_numpy().astype(np.int64) for name in MARKS if name in table.column_names}
    respondents, withheld = _withheld(respondents, out, column)
    past = PastRelease(number, person=person, group=group.astype(np.int32), value=value, marks=marks, withheld=withheld)
    found = History(respondents, values, (*history.releases, past))
    return found if draft.serial else in_common_bands(found)


def _withheld(respondents: pa.Array, out: pa.Table, column: str | None) -> tuple[pa.Array, WithheldPeople]:
    """Return everyone, those who were never published last, and who of them is withheld with which value."""
    if column is None or not len(out):
        return respondents, WithheldPeople(np.empty(0, dtype=np.int32), pa.nulls(0, pa.string()))
    out = out.filter(pc.and_(pc.is_valid(out.column("respondent")), pc.is_valid(out.column(column))))
    respondents, person = newest_people(respondents, out.column("respondent"))
    values = pa.chunked_array(out.column(column).chunks, out.column(column).type)
    values = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
    return respondents, WithheldPeople(person, values.combine_chunks())


def newest_people(known: pa.Array, column: pa.ChunkedArray | pa.Array) -> tuple[pa.Array, IntArray]:
    """Return the known people, then the new ones by first row; and the position of each row's person, -1 for nobody.

    A person is known by their text. Only this release's people are hashed; the known ones, who are more, are only read.
    Whole numbers are hashed as they are, since each has one text: that takes half as long.
    """
    known = pc.cast(known, pa.string())
    wanted = column if pa.types.is_integer(column.type) else pc.cast(column, pa.string())
    coded = (wanted.combine_chunks() if isinstance(wanted, pa.ChunkedArray) else wanted).dictionary_encode()
    own: pa.Array = pc.cast(coded.dictionary, pa.string())
    number = np.full(len(own) + 1, -1, dtype=np.int32)
    if len(known):
        met = pc.index_in(known, value_set=own, skip_nulls=True)
        number[met.drop_null().to_numpy()] = np.flatnonzero(met.is_valid().to_numpy(zero_copy_only=False))
    fresh = np.flatnonzero(number[:-1] < 0)
    number[fresh] = len(known) + np.arange(len(fresh), dtype=np.int32)
    rows = coded.indices.fill_null(len(own)) if coded.null_count else coded.indices
    return pa.concat_arrays([known, own.take(pa.array(fresh))]), number[rows.to_numpy(zero_copy_only=False)]


def _coded(known: pa.Array, column: pa.ChunkedArray) -> tuple[pa.Array, IntArray]:
    """Return the known values, then the new ones; and the position of each entry of the column among them."""
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
