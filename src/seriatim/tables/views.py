"""Makes a view of a table: assigns roles, codes cells, and treats missing and unseen values as the policy says."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from seriatim.engines.threads import threads_for
from seriatim.errors import Fault, TableError
from seriatim.model import CodedColumn, ColumnRule, Kind, Missing, Policy, Role, Table, Unseen, View, scale_of
from seriatim.model.draft import SENSITIVE
from seriatim.model.own_tables import is_split_by_column
from seriatim.model.scale import TOP, FloatArray, Form, Scale
from seriatim.model.table_faults import Header, check_single_cells, first_of_many, header_of
from seriatim.tables.codes import (
    CodedCells,
    UnreadableColumn,
    code_positions,
    codes_of,
    is_codable,
    nearly_numbers,
)

CODED = (Role.QUASI, Role.SENSITIVE)
_MOSTLY = 0.9
RESERVED = ("respondent", "group", "counterfeit", "suppressed")


def view_of(table: Table, policy: Policy) -> View:
    """Return the view of a table under a policy; report every fault of every column at once."""
    faults = _undeclared(table, policy)
    if any(rule.bands or rule.rounding or rule.level for rule in policy.columns.values()):
        from seriatim.tables.bands import made_coarser

        try:
            table, policy = made_coarser(table, policy)
        except UnreadableColumn as unreadable:
            faults.append(unreadable.fault)
    n, present = table.data.num_rows, frozenset(table.data.column_names)
    rules = [rule for rule in policy.columns.values() if rule.role in CODED and rule.name in present]
    suppressed_by: dict[str, npt.NDArray[np.bool_]] = {}
    coded: dict[str, CodedColumn] = {}
    found = threads_for(n).map(lambda rule: _read_column(table, rule), rules)
    for rule, (column, out, wrong) in zip(rules, found, strict=True):
        faults.extend(wrong)
        if column is not None:
            coded[rule.name] = column
        if out.any():
            suppressed_by[rule.name] = out
    faults.extend(_respondent_faults(table, policy))
    faults.extend(_unwritable(table, policy))
    faults.extend(_weight_faults(table, policy))
    faults.extend(_reserved_names(table, policy))
    if faults:
        raise TableError(faults)
    order = [name for name in table.data.column_names if name in policy.columns]
    with_role = {role: [name for name in order if policy.columns[name].role is role] for role in Role}
    return View(
        table,
        quasi=tuple(coded[name] for name in with_role[Role.QUASI]),
        sensitive=tuple(coded[name] for name in with_role[Role.SENSITIVE]),
        plain=tuple(name for name in order if policy.columns[name].role in (Role.PLAIN, Role.WEIGHT)),
        respondent=policy.respondent,
        suppressed=np.logical_or.reduce([np.zeros(n, dtype=bool), *suppressed_by.values()]),
        suppressed_by=suppressed_by,
    )


def _reserved_names(table: Table, policy: Policy) -> list[Fault]:
    reserved = (*RESERVED, SENSITIVE) if is_split_by_column(policy) else RESERVED
    places = [f"{table.name}, column {rule.name!r}" for rule in policy.sensitive if rule.name in reserved]
    return [Fault(place, "the name is used in release.groups", "any other name", "rename it") for place in places]


def undeclared_in_view(table: Table, names: Collection[str], declared: Collection[str]) -> list[Fault]:
    """Report columns without a role, each with the line to add. Raise if the header line is missing."""
    strange = [name for name in table.data.column_names if name not in names]
    if not strange:
        return []
    header = header_of(table.name, table.data)
    missing = header.without(declared)
    if missing is not None:
        raise TableError(missing)
    return first_of_many([_without_role(header, name) for name in strange], table.name)


def _without_role(header: Header, name: str) -> Fault:
    """Report a column without a role; quote a name that TOML cannot read bare."""
    key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
    shown = key if header.names.index(name) not in header.cells else "its name"
    remedy = f"add [columns.{shown}] with role = quasi, sensitive, plain, weight or drop"
    return Fault(
        f"{header.where}, {header.place_of(name)}", "not declared in the policy", "a role for every column", remedy
    )


def _undeclared(table: Table, policy: Policy) -> list[Fault]:
    names = table.data.column_names
    declared = set(policy.columns) | ({policy.respondent} if policy.respondent else set())
    faults = undeclared_in_view(table, declared, declared)
    faults.extend(
        Fault(f"{table.name}, column {name!r}", "declared in the policy but not in the table", "every declared column",
              "add the column or take it out of the policy")
        for name in sorted(declared.difference(names))
    )  # fmt: skip
    return faults


def _respondent_faults(table: Table, policy: Policy) -> list[Fault]:
    if policy.respondent is None or policy.respondent not in table.data.column_names:
        return []
    check_single_cells(table.name, table.data, [policy.respondent])
    missing = int(pc.sum(pc.is_null(table.data.column(policy.respondent), nan_is_null=True)).as_py() or 0)
    where = f"{table.name}, column {policy.respondent!r}"
    return [Fault(where, f"{missing} records without a respondent", "one for every record")] if missing else []


def _weight_faults(table: Table, policy: Policy) -> list[Fault]:
    """Report weights that are none: readers multiply by them."""
    names = [rule.name for rule in policy.with_role(Role.WEIGHT) if rule.name in table.data.column_names]
    if len(names) > 1:
        return [Fault(table.name, f"{len(names)} columns with the role weight", "one", "make the others plain")]
    faults = []
    for name in names:
        column = table.data.column(name)
        try:
            numbers = pc.cast(column, pa.float64())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            numbers = pa.nulls(max(len(column), 1), pa.float64())
        wrong = int(pc.sum(pc.invert(pc.fill_null(pc.greater_equal(numbers, 0.0), False))).as_py() or 0)
        if wrong:
            found = f"{wrong} cells that are no weights"
            faults.append(Fault(f"{table.name}, column {name!r}", found, "numbers from 0", "mend them, or drop it"))
    return faults


def _unwritable(table: Table, policy: Policy) -> list[Fault]:
    """Report nested and binary cells, which can go from Parquet to Parquet but not into a CSV file."""
    if table.kind == "parquet":
        return []
    kinds = {field.name: field.type for field in table.data.schema}
    plain = [rule.name for rule in policy.columns.values() if rule.role is Role.PLAIN and rule.name in kinds]
    return [
        Fault(f"{table.name}, column {name!r}", f"the column holds {kinds[name]}", "cells that a CSV file can hold",
              "turn it into text, drop it, or publish a Parquet file")
        for name in plain
        if not (pat.is_dictionary(kinds[name]) or pat.is_null(kinds[name]) or is_codable(kinds[name]))
    ]  # fmt: skip


def _read_column(table: Table, rule: ColumnRule) -> tuple[CodedColumn | None, npt.NDArray[np.bool_], list[Fault]]:
    """Return a column in codes, the records that it suppresses, and its faults; no codes if it cannot be read."""
    out, faults = np.zeros(table.data.num_rows, dtype=bool), list[Fault]()
    try:
        return _coded(table, rule, out, faults), out, faults
    except UnreadableColumn as unreadable:
        return None, out, [*faults, unreadable.fault]


def _coded(table: Table, rule: ColumnRule, suppressed: npt.NDArray[np.bool_], faults: list[Fault]) -> CodedColumn:
    where = f"{table.name}, column {rule.name!r}"
    cells = _cells(table, rule, where)
    missing = cells.codes < 0
    n_missing = int(missing.sum())
    if n_missing and rule.missing is Missing.ERROR:
        faults.append(
            Fault(where, f"{n_missing} missing cells", "none", 'set missing = "value" or "suppress" in the policy')
        )
    if n_missing and rule.missing is not Missing.VALUE:
        suppressed |= missing
    if rule.role is Role.QUASI and pc.any(pc.equal(cells.texts(), TOP)).as_py():
        faults.append(Fault(where, "the value * stands for everything in a release", "any other text", "rename it"))
    if rule.role is Role.SENSITIVE:
        faults.extend(spelling_faults(where, cells.values))
    scale, place, unseen = _scale(rule, cells, keep_missing=bool(n_missing) and rule.missing is Missing.VALUE)
    if len(unseen):
        _treat_unseen(rule, cells, unseen, where, suppressed, faults)
    last = len(scale) - 1
    codes = np.append(place, max(last, 0)).astype(np.int32)[cells.codes]
    if len(scale) == 0:
        scale = scale_of("set", pa.array([None], pa.string()), np.zeros(1))
    return CodedColumn(rule.name, np.maximum(codes, 0), scale)


def _cells(table: Table, rule: ColumnRule, where: str) -> CodedCells:
    """Return the column as its policy says; if it says nothing, as what a text column plainly is.

    A few words among numbers would turn a column of ages into categories, and the release into sets of single years:
    the policy must say so, and nothing is guessed. For sensitive columns both kinds protect equally.
    """
    column = table.data.column(rule.name)
    cells = codes_of(column, rule.kind, where)
    if rule.kind or rule.hierarchy or rule.order is not None or rule.role is not Role.QUASI:
        return cells
    numbers, others = nearly_numbers(cells)
    if not others and numbers:
        # a frame's text column is text by choice; in a CSV file everything is text, and 2.5 is a number
        return codes_of(column, Kind.NUMBER, where) if table.kind == "csv" else cells
    if numbers > _MOSTLY * (numbers + others):
        found = f"{others:,} of {numbers + others:,} cells are not numbers, so the column would be read as categories"
        remedy = 'correct or empty them, or set kind = "category" in the policy'
        raise UnreadableColumn(Fault(where, found, "one kind of cells, or a kind in the policy", remedy))
    return cells


def _treat_unseen(
    rule: ColumnRule,
    cells: CodedCells,
    unseen: npt.NDArray[np.int64],
    where: str,
    suppressed: npt.NDArray[np.bool_],
    faults: list[Fault],
) -> None:
    rows = np.isin(cells.codes, unseen)
    known = f"its hierarchy {rule.hierarchy.source}" if rule.hierarchy else "its order"
    if rule.on_unseen is Unseen.ERROR:
        found = f"{len(unseen)} values in {int(rows.sum())} records are unknown to {known}"
        faults.append(Fault(where, found, "known values", 'add them or set on_unseen = "suppress" or "top"'))
    elif rule.on_unseen is Unseen.SUPPRESS:
        suppressed |= rows


def _scale(
    rule: ColumnRule, cells: CodedCells, keep_missing: bool
) -> tuple[Scale, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the scale of a column, the position of each distinct value on it (-1: none), and undeclared values."""
    texts = cells.texts()
    if rule.hierarchy is not None:
        return _tree(rule, texts, keep_missing)
    if rule.order is not None:
        return _declared_order(rule, texts, keep_missing)
    positions = code_positions(cells.values, cells.kind)
    form: Form = "set" if cells.kind is Kind.CATEGORY else "interval"
    if keep_missing:
        texts, positions = pa.concat_arrays([texts, pa.array([None], pa.string())]), _with_missing(positions)
    dated = bool(pa.types.is_date(cells.values.type) or pa.types.is_timestamp(cells.values.type))
    scale = replace(scale_of(form, texts, positions), dated=dated and cells.kind is Kind.DATE)
    return scale, np.arange(len(cells.values)), np.zeros(0, dtype=np.int64)


def _with_missing(positions: FloatArray) -> FloatArray:
    """Place missing values one full range beyond the last, so that a mixed class spans the whole scale."""
    last = positions[-1] + max(positions[-1] - positions[0], 1.0) if len(positions) else 0.0
    return np.append(positions, last)


def _declared_order(
    rule: ColumnRule, texts: pa.StringArray, keep_missing: bool
) -> tuple[Scale, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    words: list[str | None] = list(rule.order or ())
    found = pc.index_in(texts, pa.array(words, pa.string())).fill_null(-1)
    place = found.to_numpy(zero_copy_only=False).astype(np.int64)
    unseen = np.flatnonzero(place < 0)
    if len(unseen) and rule.on_unseen is Unseen.TOP:
        place[unseen], further = _beyond(rule, texts, unseen, len(words))
        words.extend(further)
    if keep_missing:
        words.append(None)
    scale = scale_of("set", pa.array(words, pa.string()), np.arange(len(words), dtype=np.float64))
    return replace(scale, ranked=True), place, unseen


def _beyond(
    rule: ColumnRule, texts: pa.StringArray, unseen: npt.NDArray[np.int64], size: int
) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return positions after the last: unseen quasi values are published as ``*``, a sensitive one stays as it is."""
    if rule.role is Role.QUASI:
        return np.full(len(unseen), size), [TOP]
    return size + np.arange(len(unseen)), texts.take(pa.array(unseen)).to_pylist()


def _tree(
    rule: ColumnRule, texts: pa.StringArray, keep_missing: bool
) -> tuple[Scale, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Order a hierarchy's leaves so that every node is a run; missing and unseen are directly under the top."""
    assert rule.hierarchy is not None
    known = rule.hierarchy.known()
    leaves: list[str | None] = list(known) if known is not None else texts.to_pylist()
    paths = rule.hierarchy.paths([leaf for leaf in leaves if leaf is not None])
    found = [index for index, path in enumerate(paths) if path is not None]
    depth = len(paths[found[0]] or ()) if found else 1
    kept: list[tuple[str | None, tuple[str, ...]]] = [(leaves[i], paths[i] or ()) for i in _in_runs(paths, found)]
    place_of = {leaf: place for place, (leaf, _) in enumerate(kept)}
    values = texts.to_pylist()
    place, n_known = np.array([place_of.get(value, -1) for value in values], dtype=np.int64), len(kept)
    unseen = np.flatnonzero(place < 0)
    if len(unseen) and rule.on_unseen is Unseen.TOP:
        place[unseen], further = _beyond(rule, texts, unseen, len(kept))
        kept.extend((word, (TOP,) * depth) for word in further)
    if keep_missing:
        kept.append((None, (TOP,) * depth))
    levels = [tuple(path[height] for _, path in kept) for height in range(depth)]
    words = pa.array([leaf for leaf, _ in kept], pa.string())
    positions = np.arange(len(kept), dtype=np.float64)
    return scale_of("node", words, positions, levels, len(kept) - n_known), place, unseen


def _in_runs(paths: list[tuple[str, ...] | None], found: list[int]) -> list[int]:
    """Sort leaves so that equal labels are together at every level, nodes in order of their first leaf."""
    rank: dict[tuple[str, ...], int] = {}
    keys = []
    for index in found:
        path = (paths[index] or ())[::-1]
        keys.append((*(rank.setdefault(path[:depth], index) for depth in range(1, len(path) + 1)), index))
    return [key[-1] for key in sorted(keys)]


_NUMBER = re.compile(r"[-+]?(\d++(\.\d*+)?|\.\d++)([eE][-+]?\d++)?")


# Promises count values, and ``flu`` beside ``flu `` would count as two.
def spelling_faults(where: str, values: pa.Array) -> list[Fault]:
    """Report values of a sensitive text column that differ only in blanks or in how a number is written."""
    if not (pat.is_string(values.type) or pat.is_large_string(values.type)):
        return []
    n = _n_spellings(values.drop_null().to_pylist())
    if not n:
        return []
    found = f"{n} values differ from another one only in blanks or in how a number is written"
    return [
        Fault(where, found, "one spelling for each value", "clean the column: promises would count them as different")
    ]


def _n_spellings(texts: Iterable[str]) -> int:
    """Count the texts that are another spelling of one before them."""
    listed = list(texts)
    return len(listed) - len({_plain_spelling(text) for text in listed})


def _plain_spelling(text: str) -> str:
    plain = " ".join(unicodedata.normalize("NFC", text).split())
    return repr(float(plain)) if _NUMBER.fullmatch(plain) and not _is_code(plain) else plain


def _is_code(text: str) -> bool:
    """Return whether a number is written as codes are: 007 is not 7, and long digits are no measurement."""
    whole = text.lstrip("+-").split(".")[0]
    return len(text) > 15 or (len(whole) > 1 and whole.startswith("0"))
