"""Codes a published table of any tool for the audit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from seriatim.errors import Fault, InputError, TableError
from seriatim.model import CodedColumn, ColumnRule, Policy, PromiseTerms, Role, Table
from seriatim.model.audited import AuditedColumn, AuditedPrior, AuditedTable
from seriatim.model.classes import class_dictionary, class_text_codes
from seriatim.model.foreign_tables import (
    COUNT,
    numbers_alike,
    rows_counted,
    rows_spread,
    without_row_names,
    words_once,
)
from seriatim.model.methods import method_named
from seriatim.model.own_tables import is_split_by_column, policy_of_column
from seriatim.model.scale import TOP, IntArray
from seriatim.model.table_faults import check_single_cells, check_time_zones, without_views
from seriatim.tables.files import PARQUET, check_texts_read, read_numbered_table, refuse_large_parquet
from seriatim.tables.reader import is_address, read_table
from seriatim.tables.views import undeclared_in_view, view_of

if TYPE_CHECKING:
    from seriatim.model.audited import AuditedOriginal
    from seriatim.tables.originals import OriginalSource

GROUP = "group"


def read_auditable(source: Any, separator: str | None = None, encoding: str | None = None) -> Table:
    """Read like ``read_table``, but keep texts of a Parquet file as codes into their dictionaries.

    The first column of a CSV file may be row numbers without a name.
    """
    if not isinstance(source, str | Path) or is_address(source):
        return read_table(source)
    path = Path(source)
    if path.suffix.lower() not in PARQUET:
        return read_numbered_table(path, separator, encoding)
    import pyarrow.parquet as pq

    try:
        refuse_large_parquet(path, path.name)
        texts = [f.name for f in pq.read_schema(path) if pat.is_string(f.type) or pat.is_large_string(f.type)]
        data = without_views(pq.read_table(path, read_dictionary=texts))[0]
        check_texts_read(data, path.name)
        check_time_zones(path.name, data)
        return Table(data, kind="parquet", name=path.name)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        return read_table(source)  # it knows how to say what is wrong


def auditable(
    table: Table, policy: Policy, beside: Table | None = None, original: OriginalSource | None = None
) -> AuditedTable:
    """Code a published table by the roles of a policy.

    ``beside`` is the table that an external prior comes from, ``original`` the one that the published table was made
    from.
    """
    table, reading = _as_records(table, policy)
    if missing := _missing_parts(table, policy):
        raise TableError(missing)
    for each in (table, beside, original.table if original else None):
        if each is not None:
            check_single_cells(each.name, each.data, [rule.name for rule in (*policy.quasi, *policy.sensitive)])
    beside = None if beside is None else _as_records(beside, policy)[0]
    grouped = _publishes_groups(policy) and GROUP in table.data.column_names
    names = [GROUP] if grouped else [r.name for r in policy.quasi]
    shared = beside is not None and set(names) <= set(beside.data.column_names)
    pairs = [_given(table, beside if shared else None, name) for name in names]
    n, coded = table.data.num_rows, _all_sensitive(table, beside, policy)
    others = tuple(column.codes[n:] for column in coded)
    held = AuditedPrior(beside.name, tuple(b for _, b in pairs if b is not None), others) if beside else None
    came_from = None if original is None else _came_from(table, policy, original)
    return AuditedTable(
        table=table.data,
        name=table.name,
        given=tuple(a for a, _ in pairs),
        sensitive=tuple(CodedColumn(column.name, column.codes[:n], column.scale) for column in coded),
        beside=held,
        original=came_from,
        reading=reading,
    )


def policy_to_audit_by(table: Table, policy: Policy) -> Policy:
    """Return the policy to audit a table by: that of its sensitive column, if each has a table of its own."""
    there = [rule.name for rule in policy.sensitive if rule.name in table.data.column_names]
    return policy_of_column(policy, there[0]) if is_split_by_column(policy) and len(there) == 1 else policy


def _came_from(table: Table, policy: Policy, original: OriginalSource) -> AuditedOriginal:
    from seriatim.tables.originals import original_of  # loads what reads Parquet; most audits have no original

    return original_of(table, policy, original)


def _as_records(table: Table, policy: Policy) -> tuple[Table, tuple[str, ...]]:
    """Return the table as an attack reads it: no row names, joined rows spread again, equal numbers written alike."""
    declared = {*policy.columns, policy.respondent}
    data = without_row_names(table.data, policy.columns)
    counts = None if COUNT in declared else rows_counted(table.name, data)
    note: tuple[str, ...] = ()
    if counts is not None and (counts > 1).any():
        note = (f"rows were joined: {data.num_rows:,} rows with a column {COUNT} stand for {counts.sum():,} records",)
    if counts is not None:
        data = rows_spread(data, counts)
    free = {name for name, rule in policy.columns.items() if _is_free(rule)}
    for place, field in enumerate(data.schema):
        if field.name in free:
            data = data.set_column(place, field.name, numbers_alike(data.column(place)))
        elif pat.is_dictionary(field.type) and not pat.is_nested(field.type.value_type):
            data = data.set_column(place, field.name, words_once(data.column(place)))
    return replace(table, data=data), note


def _is_free(rule: ColumnRule) -> bool:
    """Return whether no order or hierarchy says how the column's values are written."""
    return rule.role in (Role.QUASI, Role.SENSITIVE) and rule.order is None and rule.hierarchy is None


def _publishes_groups(policy: Policy) -> bool:
    """Return whether a column ``group`` is that of our serial methods; otherwise it is a column like any other."""
    method = None if policy.defence is None else method_named(policy.defence.method)
    return method is not None and method.serial and GROUP not in policy.columns


def _missing_parts(table: Table, policy: Policy) -> list[Fault]:
    names = table.data.column_names
    groups = [GROUP] if _publishes_groups(policy) else []
    known = {*policy.columns, *groups, *([policy.respondent] if policy.respondent else [])}
    needed = [r.name for r in policy.columns.values() if r.role in (Role.QUASI, Role.SENSITIVE)]
    faults = undeclared_in_view(table, known, needed)
    faults.extend(
        Fault(f"{table.name}, column {name!r}", "declared in the policy but not in the table", "every declared column",
              "take it out of the policy if it was not published")
        for name in needed if name not in names
    )  # fmt: skip
    if not policy.quasi and not (groups and GROUP in names):
        faults.append(
            Fault(table.name, "no quasi-identifier is declared, so there are no classes", "at least one",
                  'give the columns an outsider may know the role "quasi"')
        )  # fmt: skip
    if not policy.sensitive:
        faults.append(
            Fault(table.name, "no sensitive column is declared", "at least one", 'give it the role "sensitive"')
        )
    if not table.data.num_rows:
        faults.append(Fault(table.name, "no records, so there are no classes", "at least two records"))
    return faults


def _given(table: Table, beside: Table | None, name: str) -> tuple[AuditedColumn, AuditedColumn | None]:
    """Return codes that are equal for equal published values in both tables; a missing cell is another value."""
    codes, values = _codes(_joined(table, beside, name))
    stars = _stars(values)
    star = int(stars[0]) if len(stars) else -1
    n, size = table.data.num_rows, len(values) + 1
    other = AuditedColumn(name, codes[n:], size, star) if beside is not None else None
    return AuditedColumn(name, codes[:n], size, star), other


def _codes(column: pa.ChunkedArray) -> tuple[IntArray, pa.Array]:
    """Return codes like ``class_text_codes``, but a missing cell has the code after the last; keep dictionaries."""
    if pat.is_dictionary(column.type):
        column = class_dictionary(column)
        words = column.chunk(0).dictionary if column.num_chunks else pa.array([], column.type.value_type)
        parts = [_filled(chunk.indices, len(words)) for chunk in column.chunks]
        return np.concatenate(parts).astype(np.int32, copy=False) if parts else np.zeros(0, np.int32), words
    codes, values = class_text_codes(column)
    return np.where(codes < 0, np.int32(len(values)), codes), values


def _filled(indices: pa.Array, missing: int) -> IntArray:
    filled = indices.fill_null(missing) if indices.null_count else indices
    codes: IntArray = filled.to_numpy(zero_copy_only=False)
    return codes


def _all_sensitive(table: Table, beside: Table | None, policy: Policy) -> list[CodedColumn]:
    """Return the sensitive columns, or every fault of all of them at once."""
    coded, faults = list[CodedColumn](), list[Fault]()
    for rule in policy.sensitive:
        try:
            coded.append(_sensitive(table, beside, policy, rule))
        except InputError as error:
            faults.extend(error.faults)
    if faults:
        raise TableError(faults)
    return coded


def _sensitive(table: Table, beside: Table | None, policy: Policy, rule: ColumnRule) -> CodedColumn:
    """Return the column of both tables, one after the other, on one scale; -1 for '*' and suppressed cells."""
    if beside is not None and rule.name not in beside.data.column_names:
        where = f"{beside.name}, column {rule.name!r}"
        raise TableError(Fault(where, "not in the table of the prior", "every sensitive column"))
    column = _joined(table, beside, rule.name)
    codes, values = _codes(column)
    alone = replace(policy, columns={rule.name: rule}, respondent=None, terms=PromiseTerms())
    kept = np.setdiff1d(np.arange(len(values)), _stars(values))
    if codes.max(initial=-1) < len(values) and len(kept):
        try:  # the view of the distinct values says where each is
            view = view_of(Table(pa.table({rule.name: values.take(pa.array(kept))}), name=table.name), alone)
        except InputError:
            pass  # reported below with the number of records
        else:
            place = np.full(len(values), -1, dtype=np.int32)
            place[kept] = np.where(view.suppressed, np.int32(-1), view.sensitive[0].codes)
            return CodedColumn(rule.name, place[codes], view.sensitive[0].scale)
    said = ~np.isin(codes, _stars(values))
    view = view_of(Table(pa.table({rule.name: column.filter(pa.array(said))}), name=table.name), alone)
    full = np.full(len(codes), -1, dtype=np.int32)
    full[said] = np.where(view.suppressed, np.int32(-1), view.sensitive[0].codes)
    return CodedColumn(rule.name, full, view.sensitive[0].scale)


def _stars(values: pa.Array) -> IntArray:
    """Return where '*' is among the values: it covers everything, and is not a value."""
    if not (pat.is_string(values.type) or pat.is_large_string(values.type)):
        return np.zeros(0, dtype=np.int32)
    places: IntArray = pc.indices_nonzero(pc.equal(values, TOP)).to_numpy().astype(np.int32)
    return places


def _joined(table: Table, beside: Table | None, name: str) -> pa.ChunkedArray:
    column = table.data.column(name)
    if beside is None:
        return column
    other = beside.data.column(name)
    if column.type != other.type:
        column, other = column.cast(pa.string()), other.cast(pa.string())
        return numbers_alike(pa.chunked_array([*column.chunks, *other.chunks], pa.string()))
    return pa.chunked_array([*column.chunks, *other.chunks], column.type)
