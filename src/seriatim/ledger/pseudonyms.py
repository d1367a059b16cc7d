"""People on the shelf are numbers, assigned in order of first appearance in the series.

Only files of newcomers say who a number is, those of their release and of some later ones (``newcomers.py``): a person
is forgotten by removing one row from each, and what was published stays countable.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from seriatim.errors import Fault, SeriatimError, TableError
from seriatim.model.draft import SENSITIVE

PERSON = "person"
RESPONDENT = "respondent"
GROUP = "group"
COUNTERFEIT = "counterfeit"
SUPPRESSED = "suppressed"


def pseudonym_text(respondents: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """Return respondents as text, so that 7 in one month and "7" in the next are one person."""
    kind = respondents.type
    try:
        if pa.types.is_dictionary(kind):
            respondents = pc.cast(respondents, kind.value_type)
        return pc.cast(respondents, pa.string())
    except pa.ArrowException:  # its message may have a cell
        fault = Fault("column respondent", f"{kind} that cannot be read as text", "text, numbers or dates")
        raise TableError(fault) from None


def number_people(
    respondents: pa.ChunkedArray | pa.Array, known: pa.Table, first_free: int
) -> tuple[pa.Array, pa.Table]:
    """Return everyone's number in a release (null stays null), and the newcomers with theirs."""
    from seriatim.model.text_hash import (
        identity_numbers,
    )  # its kernel takes a second to load, and few calls need it

    texts = pseudonym_text(respondents)
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    place, fresh = identity_numbers(known.column(RESPONDENT).combine_chunks(), texts)
    fresh_numbers = np.arange(first_free, first_free + len(fresh), dtype=np.int64)
    numbers = np.concatenate((known.column(PERSON).to_numpy(), fresh_numbers, [-1]))[place]
    newcomers = pa.table({PERSON: pa.array(fresh_numbers), RESPONDENT: texts.take(pa.array(fresh))})
    return pa.array(numbers, mask=place < 0), newcomers


def pseudonym_value_column(sensitive: str) -> str:
    """Return the name of a sensitive column on the shelf; the view's column may have any name, even ``group``."""
    return f"value:{sensitive}"


def pseudonymous_groups(groups: pa.Table, people: pa.Array, sensitive: Sequence[str]) -> pa.Table:
    """Return release.groups as the shelf keeps it: numbers for people, dictionaries for values, integers kept."""
    columns: dict[str, pa.Array] = {
        PERSON: pc.cast(people, pa.int32()),  # numbers of people fit, and a history is read far more often than written
        GROUP: pc.cast(pseudonym_column(groups, GROUP), pa.int32()),
        COUNTERFEIT: pc.cast(pseudonym_column(groups, COUNTERFEIT), pa.bool_()),
        SUPPRESSED: pc.cast(pseudonym_column(groups, SUPPRESSED), pa.bool_()),
    }
    own = {*columns, *sensitive, RESPONDENT}
    if SENSITIVE in groups.column_names and SENSITIVE not in sensitive:
        names = pa.array(sensitive, pa.string())
        columns[SENSITIVE] = pc.index_in(pseudonym_column(groups, SENSITIVE), value_set=names)
    for name in sensitive:
        column = pseudonym_column(groups, name)
        columns[pseudonym_value_column(name)] = (
            column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        )
    for name in groups.column_names:
        if name not in own and name not in columns:
            columns[name] = _integers(groups, name)
    return pa.table(columns)


def pseudonymous_memory(memory: pa.Table, people: pa.Array) -> pa.Table:
    """Return a method's memory as the shelf keeps it: numbers for people, all other columns as they are."""
    place = memory.column_names.index(RESPONDENT)
    return memory.set_column(place, PERSON, people)


def with_respondents(memory: pa.Table, people: pa.Table) -> pa.Table:
    """Return a method's memory as it came in, with respondents as text."""
    place = memory.column_names.index(PERSON)
    found = pc.index_in(memory.column(PERSON), value_set=people.column(PERSON).combine_chunks())
    return memory.set_column(place, RESPONDENT, people.column(RESPONDENT).combine_chunks().take(found))


def people_remembered(name: str, memory: pa.Table) -> pa.Array:
    """Return whom a memory is about, as text; raise an error if a row does not say."""
    if PERSON in memory.column_names:
        raise SeriatimError(f"memory {name}: a column may not be called {PERSON}")
    who = pseudonym_text(pseudonym_column(memory, RESPONDENT, f"memory {name}"))
    if who.null_count:
        raise SeriatimError(f"memory {name}: {who.null_count} rows without a respondent")
    return who


def _integers(groups: pa.Table, name: str) -> pa.Array:
    column = pseudonym_column(groups, name)
    if not pa.types.is_integer(column.type):
        raise SeriatimError(f"groups: the column {name} holds {column.type}; further columns must be integers")
    return column


def pseudonym_column(table: pa.Table, name: str, where: str = "groups") -> pa.Array:
    """Return the one column of that name, as one array."""
    if table.column_names.count(name) != 1:
        raise SeriatimError(f"{where}: needs exactly one column {name}")
    column = table.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    return column.combine_chunks()


def no_people() -> pa.Table:
    return pa.table({PERSON: pa.array([], pa.int64()), RESPONDENT: pa.array([], pa.string())})


def pseudonymous_parquet(table: pa.Table) -> bytes:
    """Return Parquet bytes; the same table always gives the same bytes under the same pyarrow."""
    sink = pa.BufferOutputStream()
    coded = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
    try:
        # lz4, because a history is read far more often than it is written
        pq.write_table(table, sink, compression="lz4", use_dictionary=coded or False, row_group_size=1 << 20)
    except pa.ArrowNotImplementedError:  # its message may hold more than a type
        kinds = ", ".join(sorted({str(field.type) for field in table.schema}))
        raise SeriatimError(f"Parquet cannot hold one of these types: {kinds}") from None
    return bytes(sink.getvalue())
