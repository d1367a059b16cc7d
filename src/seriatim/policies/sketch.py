"""Sketches a table's columns, in counts only: the input of a guessed policy."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model import ColumnLabels
from seriatim.model.hierarchies import date_day, number_of
from seriatim.model.table_faults import header_of
from seriatim.policies.guess import ColumnSketch

_SAMPLE = 2_000
_LONG = 40
_CONTACT = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+|\+[0-9][0-9 ()/-]{6,}[0-9]")
_LOCAL = {
    "days": re.compile(r"\d{1,2}[./]\d{1,2}[./]\d{2,4}"),
    "commas": re.compile(r"[-+]?(\d{1,3}(\.\d{3})+|\d*),\d+|\d+"),
}
_ZERO = re.compile(r"0[0-9]")
_SEVERAL, _MOSTLY = 5, 0.9
_CODE = re.compile(r"[0-9]{3,}")
_FLAG = {0.0, 1.0}


def sketch_columns(
    data: pa.Table, labels: Mapping[str, ColumnLabels] | None = None, header_line: bool = True
) -> list[ColumnSketch]:
    """Return a sketch per column, in order. Without a ``header_line`` in the file no name can be a cell."""
    cells = header_of("table", data).cells if header_line else frozenset()
    return [
        replace(_labelled(_sketch(name, data.column(at)), (labels or {}).get(name)), name_is_cell=at in cells)
        for at, name in enumerate(data.column_names)
    ]


def _labelled(sketch: ColumnSketch, told: ColumnLabels | None) -> ColumnSketch:
    """Return a sketch with what its file says: a number most of whose values have labels stands for something."""
    if told is None:
        return sketch
    sketch = replace(sketch, title=told.title)
    coded = sketch.kind == "number" and 2 * len(told.values) >= max(sketch.n_distinct, 2)
    return replace(sketch, kind="category", looks="labelled") if coded else sketch


def _sketch(name: str, column: pa.ChunkedArray) -> ColumnSketch:
    column = _decoded(column)
    missing, kind, looks = column.null_count, _typed_kind(column.type), ""
    if _is_text(column.type):
        distinct = pc.unique(column).drop_null()
        texts = [text for text in distinct.slice(0, _SAMPLE).to_pylist() if text.strip()]
        missing += pc.sum(pc.equal(column, "")).as_py() or 0
        kind, looks = _read_kind(texts), _looks(texts)
        if kind == "category" and not looks and _nearly_numbers(texts):
            kind, looks = "number", "nearly"
        n_distinct = len(distinct) - int(pc.any(pc.equal(distinct, "")).as_py() or False)
    else:
        n_distinct = _count_distinct(column)
    if kind == "number" and not looks:
        looks = _looks_of_numbers(column, n_distinct)
    return ColumnSketch(
        name,
        kind="category" if looks == "flag" else kind,
        n_distinct=n_distinct,
        n_missing=missing,
        n_rows=len(column),
        looks=looks,
        of_a_body=_of_a_body(column, kind),
    )


def _of_a_body(column: pa.ChunkedArray, kind: str | None) -> bool:
    """Return whether the mean could be a weight in kilograms or pounds; those of a survey are near 1, or far above."""
    if kind != "number":
        return True
    try:
        mean = pc.mean(pc.cast(column, pa.float64(), safe=False)).as_py()
    except pa.ArrowInvalid:
        return True
    return mean is None or 2 < mean < 300


def _looks_of_numbers(column: pa.ChunkedArray, n_distinct: int) -> str:
    """Return ``flag`` for 0 and 1, ``fraction`` if a number is not whole, else nothing."""
    try:
        numbers = pc.cast(column, pa.float64(), safe=False)
    except pa.ArrowInvalid:
        return ""
    if n_distinct == len(_FLAG) and set(pc.unique(numbers).drop_null().to_pylist()) == _FLAG:
        return "flag"
    return "" if pc.all(pc.equal(pc.floor(numbers), numbers)).as_py() in (True, None) else "fraction"


def _count_distinct(column: pa.ChunkedArray) -> int:
    try:
        return int(pc.count_distinct(column, mode="only_valid").as_py())
    except pa.ArrowNotImplementedError:
        return len(column) - int(column.null_count)  # nested values count as all different, to be cautious


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return dictionaries and text views as plain columns."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _typed_kind(kind: pa.DataType) -> str | None:
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "date"
    return "category" if pa.types.is_boolean(kind) else None


def _read_kind(texts: list[str]) -> str | None:
    if not texts:
        return None
    readings: tuple[tuple[str, Callable[[str], object]], ...] = (("number", number_of), ("date", date_day))
    for kind, read in readings:
        if all(read(text) is not None for text in texts):
            return kind
    return "category"


def _nearly_numbers(texts: list[str]) -> bool:
    """Return whether a few words are among numbers: as categories, every number would be one of them."""
    numbers = sum(number_of(text) is not None for text in texts)
    return numbers >= _SEVERAL and numbers > _MOSTLY * len(texts) and not any(_ZERO.match(text) for text in texts)


def _looks(texts: list[str]) -> str:
    if not texts:
        return ""
    if sum(bool(_CONTACT.fullmatch(text.strip())) for text in texts) * 2 > len(texts):
        return "contact"
    if sum(map(len, texts)) > _LONG * len(texts):
        return "prose"
    for looks, form in _LOCAL.items():
        if all(form.fullmatch(text.strip()) for text in texts) and not all(text.strip().isdigit() for text in texts):
            return looks
    same_length = len({len(text) for text in texts}) == 1
    return "code" if same_length and all(_CODE.fullmatch(text) for text in texts) else ""
