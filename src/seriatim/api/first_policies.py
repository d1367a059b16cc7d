"""Guess a first policy from a table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from seriatim.errors import Fault, TableError
from seriatim.policies import guess_policy, guess_series, respondent_of, sketch_columns, sketch_panel
from seriatim.tables.reader import read_table

_WITH_HEADER_LINE = ("csv", "xlsx", "ods")
"""Kinds of files whose names of columns are a line above the cells, which may be missing."""


def first_policy(
    table: Any,
    series: str | None = None,
    *,
    earlier: Iterable[Any] = (),
    header_is_right: bool = False,
    separator: str | None = None,
    encoding: str | None = None,
) -> str:
    """Return a first policy for a table, as TOML with every guess marked. Read it before you use it.

    ``earlier`` are earlier tables of the series: the policy then says which columns change, which stay, and which say
    the same. Without ``series`` the name of the file is taken, without the part that changes from file to file.
    """
    read = read_table(table, separator, encoding)
    name = series or guess_series(Path(read.name).stem)
    sketches = sketch_columns(read.data, read.labels, header_line=read.kind in _WITH_HEADER_LINE)
    before = [read_table(one, separator, encoding).data for one in earlier]
    who = respondent_of(sketches)
    if before and (who is None or not all(who in data.column_names for data in before)):
        found = "no column identifies the person in every file"
        raise TableError(Fault("tables", found, "a column such as patient_id", "name it alike in all"))
    panel = sketch_panel([*before, read.data], who) if before and who is not None else None
    return guess_policy(sketches, name, header_is_right=header_is_right, panel=panel)
