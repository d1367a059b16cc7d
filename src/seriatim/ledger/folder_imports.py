"""Makes the long table that a ledger imports of a folder of published tables, as an attack on the folder reads it."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import Fault, TableError
from seriatim.ledger.imports import RELEASE
from seriatim.ledger.pseudonyms import GROUP, RESPONDENT
from seriatim.usecases.attack.assembly import AssembledHistory


def long_table(files: AssembledHistory, sensitive: Sequence[str]) -> pa.Table:
    """Return release, respondent (null: nobody's row), group and the sensitive columns, a row per published row."""
    faults = [
        Fault(name, f"no column {column!r}", "the sensitive columns of the policy", "add it")
        for name, table in zip(files.names, files.tables, strict=True)
        for column in sensitive
        if column not in table.column_names
    ]
    if faults:
        raise TableError(faults)
    history = files.history
    parts = []
    for name, past, table in zip(files.names, history, files.tables, strict=True):
        person = pa.array(past.person, mask=past.person < 0)
        columns = {
            RELEASE: pa.array([name] * len(past.person), pa.string()),
            RESPONDENT: pc.cast(history.respondents, pa.string()).take(person),
            GROUP: pa.array(past.group),
            files.sensitive: pc.cast(history.values, pa.string()).take(pa.array(past.value)),
        }
        columns |= {column: _texts(table.column(column)) for column in sensitive if column != files.sensitive}
        parts.append(pa.table(columns))
    return pa.concat_tables(parts)


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return texts, since files may read the same column as different types."""
    return pc.cast(column, pa.string())
