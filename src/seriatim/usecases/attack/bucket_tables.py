"""Joins buckets of any tool: a table of people with their group, and a table of the values of each group.

Nobody's value is beside them, so the list of respondents says who holds which. It may name the group of each respondent
instead of a row: that is what ``release.groups`` of a publisher has.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from seriatim.errors import Fault, TableError
from seriatim.model.foreign_tables import numbers_one_way, rows_counted, rows_spread
from seriatim.usecases.attack.row_owners import read_respondents, trimmed_owner

GROUP, ROW, VALUE = "group", "row", "value"
Tables = Mapping[str, pa.Table]
_Texts = list[str | None]
_Held = list[tuple[int, str | None]]
"""Rows of a table, and the value that the respondent of each holds."""


def people_with_values(
    tables: Tables, values: Tables, listed: pa.Table, sensitive: str
) -> tuple[dict[str, pa.Table], pa.Table]:
    """Return the people of each release with their values beside them, and the list of respondents with rows."""
    _check(tables, values, sensitive)
    listed = listed.rename_columns([name.strip().casefold() for name in listed.column_names])
    held = _held(listed, sensitive)
    listed = listed if ROW in listed.column_names else _with_rows(tables, listed)
    owners = read_respondents(listed, tables)
    made = {}
    for at, (name, table) in enumerate(tables.items()):
        lines = np.flatnonzero((owners.release == at) & (owners.person >= 0) & (owners.row < len(table)))
        own = [(int(owners.row[line]), held[line]) for line in lines.tolist()]
        left = _values_by_group(f"{name}-values", values[name], sensitive)
        beside = _values_beside(name, _plain(table.column(GROUP)), left, own)
        made[name] = table.append_column(sensitive, pa.array(beside, pa.string()))
    return made, listed


def _check(tables: Tables, values: Tables, sensitive: str) -> None:
    faults = [
        Fault(name, "no table of values", f"{name}-values beside it, as the others have", "add it")
        for name in tables
        if name not in values
    ]
    for name, table in tables.items():
        shown = values[name].column_names if name in values else [GROUP, sensitive]
        missing = [column for column in (GROUP, sensitive) if column not in shown]
        faults += [
            Fault(f"{name}-values", f"no column {column}", f"{GROUP}, {sensitive}", "add it") for column in missing
        ]
        if GROUP not in table.column_names:
            faults.append(Fault(name, f"no column {GROUP}", "the group of each person", "add it"))
        if sensitive in table.column_names:
            faults.append(Fault(name, f"has the column {sensitive} itself", "values in the other table only"))
    if faults:
        raise TableError(faults)


def _held(listed: pa.Table, sensitive: str) -> _Texts:
    """Return what each line of the list says that its respondent holds."""
    column = next((name for name in (sensitive.casefold(), VALUE) if name in listed.column_names), None)
    if column is None:
        found = f"no column {sensitive}: buckets do not say who holds which value"
        raise TableError(Fault("respondents", found, f"release, row (or {GROUP}), respondent, {sensitive}", "add it"))
    return _plain(listed.column(column))


def _plain(column: pa.ChunkedArray) -> _Texts:
    return numbers_one_way(trimmed_owner(column).to_pylist())


def _with_rows(tables: Tables, listed: pa.Table) -> pa.Table:
    """Give each line a free row of its group: the people of a group are alike to anyone who joins the tables."""
    if GROUP not in listed.column_names:
        return listed  # the reader of the list says what is missing
    placed = listed.append_column(ROW, pa.array(np.zeros(len(listed), dtype=np.int64)))
    release = read_respondents(placed, {name: table.slice(0, 1) for name, table in tables.items()}).release
    free: list[dict[str | None, list[int]]] = []
    for table in tables.values():
        rows = defaultdict(list)
        for at, group in reversed(list(enumerate(_plain(table.column(GROUP))))):
            rows[group].append(at)
        free.append(rows)
    row, lost = [], 0
    for at, group in zip(release.tolist(), _plain(listed.column(GROUP)), strict=True):
        left = free[at].get(group)
        lost += not left
        row.append(left.pop() if left else 0)
    if lost:
        found = f"{lost} respondents in groups without a row for them"
        raise TableError(Fault("respondents", found, "a row of the table for everyone", "check the groups"))
    return listed.append_column(ROW, pa.array(row, pa.int64()))


def _values_by_group(name: str, values: pa.Table, sensitive: str) -> Counter[tuple[str | None, str | None]]:
    """Count the values of each group; a column ``count`` says how often each row is meant."""
    counts = rows_counted(name, values)
    values = values if counts is None else rows_spread(values, counts)
    return Counter(zip(_plain(values.column(GROUP)), _plain(values.column(sensitive)), strict=True))


def _values_beside(name: str, groups: _Texts, left: Counter[tuple[str | None, str | None]], held: _Held) -> _Texts:
    """Return a value for each row: the one that its respondent holds, and any that is left for rows of nobody."""
    sizes, shown = Counter(groups), Counter[str | None]()
    for (group, _), n in left.items():
        shown[group] += n
    unlike = sum(sizes[group] != shown[group] for group in sizes | shown)
    if unlike:
        found = f"{unlike} groups with another number of values than of people"
        raise TableError(Fault(name, found, "a value for each person", "check that both files are of one release"))
    out: dict[int, str | None] = {}
    wrong = 0
    for row, value in held:
        wrong += left[groups[row], value] < 1
        left[groups[row], value] -= 1
        out[row] = value
    if wrong:
        found = f"{wrong} respondents of {name} with a value that their group does not publish"
        raise TableError(Fault("respondents", found, "a value of their group", "check the list"))
    rest: dict[str | None, _Texts] = defaultdict(list)
    for (group, value), n in left.items():
        rest[group] += [value] * n
    return [out[row] if row in out else rest[group].pop() for row, group in enumerate(groups)]
