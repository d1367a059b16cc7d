"""Loads the history of a series from the shelf. A file that has changed since it was reserved is not read."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from sqlalchemy.engine import Connection

from seriatim.engines.threads import threads_for
from seriatim.errors import LedgerDamaged
from seriatim.ledger import catalogue, pseudonyms, shelf
from seriatim.ledger.catalogue import PastReleases
from seriatim.ledger.reservations import ReservedPeople
from seriatim.ledger.shelf import naming_files
from seriatim.model.draft import SENSITIVE
from seriatim.model.history import MARKS, History, PastRelease, WithheldPeople, nothing_published
from seriatim.ports import Shelf

Facts = Mapping[str, Any]
_SMALL = 1 << 15


def everyone_in(place: Shelf, series: str, past: PastReleases) -> ReservedPeople:
    """Return everyone in the series so far, except people who were erased or only in a recalled release.

    Numbers of those, and of people whose values were corrected, are not given to others.
    """
    facts, counting = past.made, past.counting
    tables = [pseudonyms.no_people()]
    tables += [current_file(place, series, one, file, past.erased) for one, file in naming_files(counting)]
    last = facts[-1]["people"] if facts else {"first": 0, "new": 0}
    firsts = tuple(one["people"]["first"] for one in facts)
    corrected = {number for one in counting for number in one.get("corrected", ())}
    return ReservedPeople(_without(pa.concat_tables(tables), corrected), last["first"] + last["new"], firsts)


def _without(people: pa.Table, numbers: set[int]) -> pa.Table:
    if not numbers:
        return people
    hit = pc.is_in(people.column(pseudonyms.PERSON), value_set=pa.array(sorted(numbers), pa.int64()))
    return people.filter(pc.invert(hit))


def current_file(place: Shelf, series: str, facts: Facts, file: str, erased: Mapping[int, Facts]) -> pa.Table:
    """Read a file that erasures may have changed; after a crash the new file may still be beside it."""
    name = shelf.release_file(series, facts["number"], file)
    after = erased.get(facts["number"], {}).get(file)
    if after is None:
        return read_reserved(place, name, facts["private"][file])
    with suppress(LedgerDamaged):
        return read_reserved(place, shelf.pending(name), after)
    return read_reserved(place, name, after)


def memory_files(facts: Facts) -> dict[str, str]:
    """Return the files of a method's memory in one release, by name; none in ledgers before 0.2."""
    return {name: file for file in facts["private"] if (name := shelf.memory_name(file)) is not None}


def newest_memory(connection: Connection, place: Shelf, series: str) -> dict[str, pa.Table]:
    """Read what the newest release's method remembered; earlier memories are not read, however many there are."""
    past = catalogue.past(connection, series)
    facts = past.counting
    files = memory_files(facts[-1]) if facts else {}
    if not files:
        return {}
    people = everyone_in(place, series, past).known
    tables = {name: current_file(place, series, facts[-1], file, past.erased) for name, file in files.items()}
    return {name: pseudonyms.with_respondents(table, people) for name, table in tables.items()}


def stored_history(
    place: Shelf,
    series: str,
    facts: Sequence[Facts],
    crowd: ReservedPeople,
    sensitive: str | None,
    methods: Mapping[str, str],
) -> History:
    """Return the published rows, with people as positions in ``respondents`` and values as positions in ``values``.

    ``methods`` are those of the policies that the releases were published under, by digest.
    Releases without the sensitive column say nothing about it, and are left out.
    """
    if not facts:
        return nothing_published()
    chosen = next(iter(facts[-1]["sensitive"]), None) if sensitive is None else sensitive
    column = pseudonyms.pseudonym_value_column(chosen) if chosen is not None else None
    facts = [one for one in facts if chosen is None or chosen in one["sensitive"]]
    if not facts:
        return History(_respondents(crowd), pa.array([], pa.string()))
    # decoding and digests release the interpreter's lock
    threads = threads_for(sum(one["rows"] for one in facts))
    read = threads.map(lambda one: _published(place, series, one, chosen), facts)
    tables = [table for table, _ in read]
    coded = threads.map(_encoded, (t.column(column) if column else _nothing(len(t)) for t in tables))
    values, codes = _common_values(coded)
    pasts = tuple(
        PastRelease(
            one["number"],
            person=_int32(table, pseudonyms.PERSON),
            group=_int32(table, pseudonyms.GROUP),
            value=code,
            marks=_marks(table),
            withheld=_withheld(out, column),
            method=one.get("choice", {}).get("method") or methods.get(one["policy"], ""),
        )
        for one, (table, out), code in zip(facts, read, codes, strict=True)
    )
    return History(_respondents(crowd), values, pasts)


def _nothing(n: int) -> pa.ChunkedArray:
    return pa.chunked_array([pa.nulls(n, pa.string())])


def _published(place: Shelf, series: str, facts: Facts, sensitive: str | None) -> tuple[pa.Table, pa.Table]:
    """Return the rows that were published, and those of people who were withheld; of one column's table."""
    columns = [
        pseudonyms.PERSON,
        pseudonyms.GROUP,
        pseudonyms.SUPPRESSED,
        *([pseudonyms.pseudonym_value_column(sensitive)] if sensitive is not None else []),
        *MARKS,
        SENSITIVE,
    ]
    name = shelf.release_file(series, facts["number"], shelf.GROUPS)
    table = read_reserved(place, name, facts["private"][shelf.GROUPS], columns)
    if SENSITIVE in table.column_names:  # each column has a table of its own
        table = table.filter(pc.equal(table.column(SENSITIVE), facts["sensitive"].index(sensitive)))
    hidden = table.column(pseudonyms.SUPPRESSED)
    if pc.any(hidden).as_py() or table.column(pseudonyms.GROUP).null_count:
        there = pc.and_(pc.invert(hidden), pc.is_valid(table.column(pseudonyms.GROUP)))
        return table.filter(there), table.filter(pc.invert(there))
    return table, table.slice(0, 0)


def _withheld(table: pa.Table, column: str | None) -> WithheldPeople:
    """Return who was withheld and holds a value."""
    if column is None:
        return WithheldPeople(np.empty(0, dtype=np.int32), pa.nulls(0, pa.string()))
    if not len(table):
        kind = table.column(column).type
        return WithheldPeople(
            np.empty(0, dtype=np.int32), pa.nulls(0, kind.value_type if pa.types.is_dictionary(kind) else kind)
        )
    held = table.filter(pc.and_(pc.is_valid(table.column(column)), pc.is_valid(table.column(pseudonyms.PERSON))))
    values = _encoded(held.column(column))
    return WithheldPeople(_int32(held, pseudonyms.PERSON), values.dictionary.take(values.indices))


def read_reserved(place: Shelf, name: str, wanted: Mapping[str, Any], columns: Sequence[str] | None = None) -> pa.Table:
    """Read what is under a name on the shelf if its bytes are those of the fingerprint."""
    try:
        data = place.read(name)
    except FileNotFoundError:
        raise LedgerDamaged(f"{place.where(name)}: missing; run seriatim ledger verify") from None
    if hashlib.sha256(data).hexdigest() != wanted["sha256"]:
        raise LedgerDamaged(f"{place.where(name)}: not the file that was reserved; run seriatim ledger verify")
    asked = None if columns is None else tuple(columns)
    return _parsed_small(data, asked) if len(data) <= _SMALL else _parsed(data, asked)


def _parsed(data: bytes, columns: tuple[str, ...] | None) -> pa.Table:
    with pq.ParquetFile(pa.BufferReader(data)) as file:
        there = None if columns is None else [name for name in columns if name in file.schema_arrow.names]
        return file.read(columns=there, use_threads=False)


@functools.lru_cache(maxsize=64)
def _parsed_small(data: bytes, columns: tuple[str, ...] | None) -> pa.Table:
    """Return a small table; one publication reads the files of newcomers two or three times."""
    return _parsed(data, columns)


def _marks(table: pa.Table) -> dict[str, npt.NDArray[np.int64]]:
    """Return the lasting numbers that a defence stored with its rows; every published row has one."""
    there = [name for name in MARKS if name in table.column_names]
    return {name: np.array(table.column(name).to_numpy(), dtype=np.int64) for name in there}


def _int32(table: pa.Table, name: str) -> npt.NDArray[np.int32]:
    """Return a column as an array of our own: kernels would be compiled once more for Arrow's, which are read-only."""
    column = table.column(name)
    if column.null_count:
        column = pc.fill_null(column, -1)
    return np.array(column.to_numpy(), dtype=np.int32)


def _common_values(coded: list[pa.DictionaryArray]) -> tuple[pa.Array, list[npt.NDArray[np.int32]]]:
    """Return one list of values for all releases, in order of first appearance; a missing value is a value."""
    kinds = {array.dictionary.type for array in coded}
    texts = [array.dictionary if len(kinds) == 1 else pc.cast(array.dictionary, pa.string()) for array in coded]
    values = pc.unique(pa.chunked_array(texts))
    missing = any(array.null_count for array in coded)
    if missing and not values.null_count:
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    null_at = pc.index_in(pa.nulls(1, values.type), value_set=values)[0].as_py() if missing else -1
    codes = []
    for array, own in zip(coded, texts, strict=True):
        places = np.append(pc.index_in(own, value_set=values).to_numpy(zero_copy_only=False), null_at).astype(np.int32)
        indices = pc.fill_null(array.indices, len(own)) if array.null_count else array.indices
        codes.append(places[indices.to_numpy(zero_copy_only=False)])
    return values, codes


def _encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if column.num_chunks == 1:
        return column.chunk(0)
    whole = column.unify_dictionaries().combine_chunks()
    return whole if isinstance(whole, pa.Array) else whole.chunk(0)


def _respondents(crowd: ReservedPeople) -> pa.Array:
    """Return texts by number; an erased person's number has none."""
    numbers = crowd.known.column(pseudonyms.PERSON).combine_chunks()
    texts = crowd.known.column(pseudonyms.RESPONDENT).combine_chunks()
    if len(numbers) == crowd.first_free:
        return texts
    wanted = pa.array(np.arange(crowd.first_free, dtype=np.int64))
    return pc.take(texts, pc.index_in(wanted, value_set=numbers))
