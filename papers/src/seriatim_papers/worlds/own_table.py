"""A census of one's own for the Cor-Split study: an IPUMS extract or any table of people, one row each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import Fault, InputError
from seriatim.model.scale import IntArray
from seriatim.model.table_faults import check_header
from seriatim.tables.reader import read_table
from seriatim_papers.worlds.census import CensusChurn, CensusPeople

IPUMS = "AGE, BPL, EDUC, SEX ~> INCTOT"
"""The paper's columns as IPUMS names them."""
CLASSES = 50
"""A number with more values than this becomes so many classes of equally many people, as the paper's income."""
FEWEST = 200


def census_from_table(path: Path, columns: str = IPUMS, most: int | None = None) -> CensusPeople:
    """Return the people of a table; those with an empty cell are left out, and only the first ``most`` are taken.

    ``columns`` names the quasi-identifiers and the sensitive column: "age, sex ~> income".
    """
    quasi, sensitive = _named(columns)
    table = read_table(path).data
    check_header(path.name, table)  # names that are cells must not be listed
    missing = [name for name in (*quasi, sensitive) if name not in table.column_names]
    if missing:
        found = f"{path.name} has no column {missing[0]!r}"
        raise InputError(Fault("--columns", found, ", ".join(table.column_names), "name the columns"))
    rows = table.select([*quasi, sensitive]).drop_null().slice(0, most)
    if len(rows) < FEWEST:
        raise InputError(Fault("--data", f"{len(rows)} people without an empty cell", f"{FEWEST} or more"))
    codes = [_codes(rows.column(name)) for name in quasi]
    value = _classes(rows.column(sensitive))
    nobody = np.zeros(len(rows), dtype=np.int32)
    return CensusPeople(
        np.column_stack(codes).astype(np.int32),
        value,
        nobody,
        nobody,
        tuple(int(one.max()) + 1 for one in codes),
        int(value.max()) + 1,
    )


def churn_of_table(people: CensusPeople, like: CensusChurn) -> CensusChurn:
    """Return a churn like another one, of as many people as the table has newcomers for."""
    size = int(len(people) / (1 + (like.releases - 1) * like.share))
    while CensusChurn(size, like.share, like.releases).n_people > len(people):
        size -= 1
    return CensusChurn(size, like.share, like.releases)


def _named(columns: str) -> tuple[list[str], str]:
    left, arrow, right = columns.partition("~>")
    quasi, sensitive = [name.strip() for name in left.split(",") if name.strip()], right.strip()
    if not arrow or not quasi or not sensitive or sensitive in quasi or len(set(quasi)) != len(quasi):
        raise InputError(Fault("--columns", "not understood", "such as 'age, sex ~> income'"))
    return quasi, sensitive


def _codes(cells: pa.ChunkedArray) -> IntArray:
    """Return the rank of each cell among the different ones."""
    values = pc.unique(cells)
    ranked = values.take(pc.sort_indices(values))
    found: IntArray = pc.index_in(cells, value_set=ranked).to_numpy().astype(np.int32)
    return found


def _classes(cells: pa.ChunkedArray) -> IntArray:
    codes = _codes(cells)
    kind = cells.type
    if codes.max() < CLASSES or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return codes
    # equal numbers share a class: the class of a number is that of the middle of its people
    order = np.sort(codes)
    middle = (np.searchsorted(order, codes, "left") + np.searchsorted(order, codes, "right")) / 2
    bands = np.minimum((middle / len(codes) * CLASSES).astype(np.int32), CLASSES - 1)
    found: IntArray = np.unique(bands, return_inverse=True)[1].astype(np.int32)
    return found
