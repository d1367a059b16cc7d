"""The records that requesters may ask for: of each person the cell, and what leaves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from seriatim.errors import Fault, InputError
from seriatim.gate.dependencies import Dependencies
from seriatim.ports.journal import JournalRecord

LONGEST = 200


def held_records(
    columns: Mapping[str, Sequence[Any]], respondent: str, baseline: Dependencies
) -> Iterator[tuple[str, JournalRecord]]:
    """Return a record per respondent: only the columns of X and Y leave. A person with two records is an error."""
    missing = [name for name in (respondent, *baseline.columns) if name not in columns]
    if missing:
        raise InputError(Fault(f"column {missing[0]!r}", "missing", "the respondent, and the columns of X and Y"))
    people = [None if entry is None else str(entry) for entry in columns[respondent]]
    if any(not who or len(who) > LONGEST for who in people):
        raise InputError(Fault(f"column {respondent!r}", "an entry that is missing or too long", f"1 to {LONGEST}"))
    if len(set(people)) != len(people):
        twice = len(people) - len(set(people))
        raise InputError(Fault(f"column {respondent!r}", f"{twice} records too many", "one record per person"))
    xs, ys = (column.tolist() for column in baseline.cells(columns))
    for row, who in enumerate(people):
        body = json.dumps({name: columns[name][row] for name in baseline.columns}, default=str)
        yield str(who), JournalRecord(xs[row], ys[row], body)
