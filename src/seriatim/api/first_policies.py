"""Guess a first policy from a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seriatim.policies import guess_policy, guess_series, sketch_columns
from seriatim.tables.reader import read_table


def first_policy(
    table: Any,
    series: str | None = None,
    *,
    header_is_right: bool = False,
    separator: str | None = None,
    encoding: str | None = None,
) -> str:
    """Return a first policy for a table, as TOML with every guess marked. Read it before you use it.

    Without ``series`` the name of the file is taken, without the part that changes from file to file.
    """
    read = read_table(table, separator, encoding)
    name = series or guess_series(Path(read.name).stem)
    return guess_policy(sketch_columns(read.data), name, header_is_right=header_is_right)
