"""Generalises columns first: ``bands``, ``rounding`` and ``level`` of ``[columns.NAME]``.

Exact incomes are nearly unique, and someone who knows one nearly knows the person. A banded column is an ordered
category from here on: promises, attacks and readers see only bands. A quasi-identifier that is rounded, or replaced by
its labels at a level of its hierarchy, tells fewer people apart before any method looks at it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import Fault
from seriatim.model import ColumnRule, Kind, Policy, Role, Table
from seriatim.model.hierarchies import path_hierarchy
from seriatim.tables.codes import CodedCells, UnreadableColumn, code_positions, codes_of

_CODED = (Role.SENSITIVE, Role.QUASI)


def made_coarser(table: Table, policy: Policy) -> tuple[Table, Policy]:
    """Return the table with its banded and rounded columns, and the policy that reads them as they are now."""
    present = frozenset(table.data.column_names)
    rules = [
        rule
        for rule in policy.columns.values()
        if rule.name in present and rule.role in _CODED and (rule.bands or rule.rounding or rule.level)
    ]
    if not rules:
        return table, policy
    data, columns = table.data, dict(policy.columns)
    for rule in rules:
        where = f"{table.name}, column {rule.name!r}"
        place = data.column_names.index(rule.name)
        if rule.level:
            from seriatim.tables.bands import table_column_at_level

            column, columns[rule.name] = table_column_at_level(data.column(rule.name), rule, where)
        else:
            column = _coarser(data.column(rule.name), rule, where)
        data = data.set_column(place, rule.name, column)
        if rule.bands:
            columns[rule.name] = replace(rule, kind=Kind.CATEGORY, order=band_labels(rule.bands))
    changed = {rule.name for rule in rules}
    dtypes = {name: kind for name, kind in (table.dtypes or {}).items() if name not in changed}
    objects = {name: seen for name, seen in table.objects.items() if name not in changed}
    return (
        replace(table, data=data, dtypes=dtypes if table.dtypes is not None else None, objects=objects),
        replace(policy, columns=MappingProxyType(columns)),
    )


def band_labels(bands: tuple[float, ...]) -> tuple[str, ...]:
    """Return the names of the bands in order: ``<a``, ``[a,b)``, ..., ``>=z``."""
    texts = [_text(edge) for edge in bands]
    inner = [f"[{low},{high})" for low, high in pairwise(texts)]
    return (f"<{texts[0]}", *inner, f">={texts[-1]}")


def _coarser(column: pa.ChunkedArray, rule: ColumnRule, where: str) -> pa.Array:
    if rule.bands:
        labels = band_labels(rule.bands)
        if _is_banded(column, labels):
            return column
        cells = codes_of(column, Kind.NUMBER, where)
        band = np.searchsorted(np.asarray(rule.bands), code_positions(cells.values, cells.kind), side="right")
        return pa.array(labels, pa.string()).take(_by_cell(cells, band))
    assert rule.rounding is not None
    cells = codes_of(column, Kind.NUMBER, where)
    unit = rule.rounding
    rounded = np.rint(code_positions(cells.values, cells.kind) / unit) * unit
    whole = float(unit).is_integer() and bool(np.all(np.abs(rounded) < 2**53))
    values = pa.array(rounded.astype(np.int64) if whole else rounded)
    return values.take(_by_cell(cells, np.arange(len(rounded))))


def _by_cell(cells: CodedCells, of_value: np.ndarray) -> pa.Array:
    """Return what each cell's value became; null for a missing cell."""
    chosen = np.append(of_value, 0)[cells.codes]
    return pa.array(chosen, pa.int64(), mask=cells.codes < 0)


def _is_banded(column: pa.ChunkedArray, labels: tuple[str, ...]) -> bool:
    """Return whether the column already shows bands, as an audited table does."""
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    if not (pa.types.is_string(plain.type) or pa.types.is_large_string(plain.type)):
        return False
    seen = pc.drop_null(pc.unique(plain)).cast(pa.string())
    return len(seen) > 0 and bool(pc.all(pc.is_in(seen, value_set=pa.array(labels, pa.string()))).as_py())


def _text(edge: float) -> str:
    return str(int(edge)) if float(edge).is_integer() else repr(float(edge))


def table_column_at_level(column: pa.ChunkedArray, rule: ColumnRule, where: str) -> tuple[pa.Array, ColumnRule]:
    """Return the column with its labels at ``rule.level``, and the rule that reads them: the levels above remain.

    A value that the hierarchy does not know stays, and is unseen by what remains of it.
    """
    assert rule.hierarchy is not None
    assert rule.level is not None
    cells = codes_of(column, rule.kind, where)
    texts = cells.texts().to_pylist()
    paths = rule.hierarchy.paths(texts)
    known = [path for path in paths if path is not None]
    if known and rule.level >= len(known[0]):
        found = f"its hierarchy has {len(known[0])} levels, the last of them for all values"
        raise UnreadableColumn(Fault(f"{where}, level", found, f"at most {len(known[0]) - 1}", "choose a lower level"))
    labels = [text if path is None else path[rule.level - 1] for text, path in zip(texts, paths, strict=True)]
    rows = {path[rule.level - 1]: path[rule.level :] for path in known}
    shown = pa.array(labels, pa.string()).take(
        pa.array(np.maximum(cells.codes, 0), pa.int64(), mask=np.asarray(cells.codes) < 0)
    )
    if not rows:
        return shown, replace(rule, level=None, kind=Kind.CATEGORY)
    above = path_hierarchy(f"{rule.hierarchy.source}, from level {rule.level}", rows)
    return shown, replace(rule, level=None, kind=Kind.CATEGORY, hierarchy=above, order=None)
