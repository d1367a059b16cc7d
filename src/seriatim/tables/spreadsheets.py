"""Reads a sheet of a workbook and writes one. Cells keep their type; a text is never run as a formula."""

from __future__ import annotations

import datetime
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.types as pat
import python_calamine
from openpyxl.cell import WriteOnlyCell

from seriatim.errors import Fault, TableError
from seriatim.model import Table
from seriatim.model.table_faults import size_fault

_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_EXACT = 1 << 53


def read(path: Path) -> Table:
    """Read the only sheet of a workbook that has cells."""
    try:
        book = python_calamine.CalamineWorkbook.from_path(str(path))
        sheets = [book.get_sheet_by_name(name) for name in book.sheet_names]
        filled = [sheet for sheet in sheets if sheet.height]
        if len(filled) != 1:
            found = f"{len(filled)} sheets with cells"
            raise TableError(Fault(path.name, found, "one", "save the sheet as a file of its own"))
        if fault := size_fault(path.name, filled[0].width, filled[0].height):
            raise TableError(fault)
        rows = filled[0].to_python()
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        found = f"cannot be read ({type(error).__name__})"
        raise TableError(Fault(path.name, found, f"a whole {path.suffix} file", "save it again")) from None
    names = [str(cell).strip() for cell in rows[0]]
    rows = [row for row in rows[1:] if any(cell != "" for cell in row)]
    columns = [_column([row[at] for row in rows]) for at in range(len(names))]
    return Table(pa.table(columns, names=names), kind=path.suffix.lower().removeprefix("."), name=path.name)


def _column(cells: Sequence[Any]) -> pa.Array:
    """Return cells of one type as that type, and mixed ones as text."""
    held = [None if cell == "" else cell for cell in cells]
    kinds = {type(cell) for cell in held} - {type(None)}
    if kinds <= {float, int}:
        whole = all(cell is None or (float(cell).is_integer() and abs(cell) < _EXACT) for cell in held)
        return pa.array([None if cell is None else int(cell) if whole else float(cell) for cell in held])
    if kinds in ({bool}, {datetime.date}, {datetime.datetime}, {datetime.date, datetime.datetime}):
        alike = datetime.datetime not in kinds or kinds == {datetime.datetime}
        return pa.array(held if alike else [_as_time(cell) for cell in held])
    return pa.array([None if cell is None else _as_text(cell) for cell in held], pa.string())


def _as_time(cell: Any) -> Any:
    return datetime.datetime(cell.year, cell.month, cell.day) if type(cell) is datetime.date else cell


def _as_text(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def write(table: pa.Table, path: Path, source: Table) -> None:  # noqa: ARG001 - a workbook has no labels
    """Write a published table as the only sheet of a workbook."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("table")
    sheet.append([_as_cell(sheet, name) for name in table.column_names])
    columns = [_written(column) for column in table.columns]
    for batch in pa.table(columns, names=table.column_names).to_batches(max_chunksize=10_000):
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            sheet.append([_as_cell(sheet, cell) for cell in row])
    book.save(path)
    _forget_time(path)


def _as_cell(sheet: Any, cell: Any) -> Any:
    """Return a cell; a text that begins like a formula stays a text."""
    if not isinstance(cell, str):
        return cell
    made = WriteOnlyCell(sheet, value=cell)
    made.data_type = "s"
    return made


def _written(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type.value_type if pat.is_dictionary(column.type) else column.type
    column = column.cast(kind)
    if pat.is_timestamp(kind):
        return column.cast(pa.timestamp("us"))
    known = pat.is_integer(kind) or pat.is_floating(kind) or pat.is_boolean(kind) or pat.is_date(kind)
    return column if known else column.cast(pa.string())


def _forget_time(path: Path) -> None:
    """Pack the workbook again without the time of the clock: the same release has the same bytes."""
    with zipfile.ZipFile(path) as book:
        parts = [(name, book.read(name)) for name in book.namelist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in parts:
            told = _TIME.sub(b"1980-01-01T00:00:00Z", content) if name == "docProps/core.xml" else content
            book.writestr(zipfile.ZipInfo(name, _LONG_AGO), told, zipfile.ZIP_DEFLATED)
