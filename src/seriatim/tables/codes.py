"""Codes one column: its values in order, and the position of each cell among them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from seriatim.errors import Fault
from seriatim.model import Kind
from seriatim.model.classes import class_text_codes
from seriatim.model.scale import IntArray
from seriatim.model.table_faults import LONGEST_NUMBER

_NUMBER = r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"
_SEVERAL = 5
"""Fewer different numbers than this among texts are likely codes."""
_DIGITS = 38
"""The digits of Arrow's decimals."""
_DOUBTFUL = r"\d(\.?\d){15,}|[eE][-+]?\d{3,}"
"""Any other text is the shortest way to write some float, and so is published as it is."""
_DOUBLE = 17
"""Digits that tell every float from every other."""
_POWERS = 800


@dataclass(frozen=True, slots=True, eq=False)
class CodedCells:
    """A column as codes into its distinct values, ascending; -1 is a missing cell."""

    codes: IntArray
    values: pa.Array
    kind: Kind

    @property
    def n_missing(self) -> int:
        return int((self.codes < 0).sum())

    def texts(self) -> pa.StringArray:
        return code_texts(self.values)


class UnreadableColumn(Exception):  # noqa: N818 - caught in this room and turned into a fault
    """A column that cannot be read as its kind."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault


def codes_of(column: pa.ChunkedArray, kind: Kind | None, where: str) -> CodedCells:
    """Return the cells of a column read as ``kind``, or as its type suggests."""
    column = _without_nan(_plain(column))
    if not is_codable(column.type):
        allowed = "numbers, texts, dates, true and false"
        raise UnreadableColumn(Fault(where, f"the column holds {column.type}", allowed, "turn it into text or drop it"))
    clock = kind is None and _is_clock(column.type)
    kind = kind or (Kind.DATE if clock else _code_kind(column.type))
    if kind is Kind.NUMBER:
        column = _as_number(column, where)
    elif kind is Kind.DATE and not clock:
        column = _as_date(column, where)
    found, values = class_text_codes(column)
    order = pc.array_sort_indices(values)
    rank = np.empty(len(order) + 1, dtype=np.int32)
    rank[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    rank[-1] = -1  # a missing cell has the code -1, which takes the last entry
    return CodedCells(rank[found], values.take(order), kind)


def is_codable(kind: pa.DataType) -> bool:
    """Return whether cells of this type can be compared, ordered and written as text."""
    text = pat.is_string(kind) or pat.is_large_string(kind)
    return bool(text or pat.is_boolean(kind) or pat.is_temporal(kind) or _code_kind(kind) is Kind.NUMBER)


def _is_clock(kind: pa.DataType) -> bool:
    """Return whether a type is a time of day or a length of time: they become intervals, like dates."""
    return bool(pat.is_time(kind) or pat.is_duration(kind))


def _code_kind(kind: pa.DataType) -> Kind:
    if pat.is_integer(kind) or pat.is_floating(kind) or pat.is_decimal(kind):
        return Kind.NUMBER
    if pat.is_date(kind) or pat.is_timestamp(kind):
        return Kind.DATE
    return Kind.CATEGORY


def code_texts(values: pa.Array) -> pa.StringArray:
    """Write values as they appear in a release if they are not generalised."""
    if pat.is_string(values.type):
        return values
    if pat.is_floating(values.type):
        short = pat.is_float32(values.type)  # with its own digits, not those of the nearest double
        cells = [float(str(cell)) for cell in values.to_numpy()] if short else values.to_pylist()
        return pa.array([_number_text(cell) for cell in cells], pa.string())
    if pat.is_duration(values.type):
        return _lengths(values)
    texts = pc.cast(values, pa.string())
    if pat.is_time(values.type):
        return _shortened(texts, ((r"\.0+$", ""), (r":00$", "")))
    return _shortened(texts, _INSTANT) if pat.is_timestamp(values.type) else texts


def _lengths(values: pa.Array) -> pa.StringArray:
    """Write hours, minutes and seconds as a spreadsheet reads them: 26:00:00 is a day and two hours."""
    micro = pc.cast(pc.cast(values, pa.duration("us"), safe=False), pa.int64()).to_pylist()
    texts = []
    for cell in micro:
        seconds, rest = divmod(abs(cell or 0), 1_000_000)
        sign, fraction = "-" * ((cell or 0) < 0), f".{rest:06d}".rstrip("0") if rest else ""
        clock = f"{sign}{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{fraction}"
        texts.append(None if cell is None else clock)
    return pa.array(texts, pa.string())


_INSTANT = ((r"\.0+(Z|[-+]\d{4})?$", r"\1"), (r" 00:00:00$", ""))


def _shortened(texts: pa.StringArray, endings: tuple[tuple[str, str], ...]) -> pa.StringArray:
    """Drop the fractions, and then the time of day, if no value of the column has any."""
    for zeros, left in endings:
        if pc.all(pc.match_substring_regex(texts, zeros), skip_nulls=True).as_py():
            texts = pc.replace_substring_regex(texts, zeros, left)
    return texts


def code_positions(values: pa.Array, kind: Kind) -> npt.NDArray[np.float64]:
    """Return the positions of values: numbers as they are, dates in days, others by rank."""
    if kind is Kind.NUMBER:
        return _number_positions(values)
    if _is_clock(values.type):
        wide = values if pat.is_duration(values.type) else pc.cast(values, pa.time64("ns"))
        return np.asarray(pc.cast(wide, pa.int64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    if kind is Kind.DATE:
        instants = pc.cast(pc.cast(values, pa.timestamp("us"), safe=False), pa.int64())
        return np.asarray(instants.to_numpy(zero_copy_only=False), dtype=np.float64) / 86_400e6
    return np.arange(len(values), dtype=np.float64)


def _number_positions(values: pa.Array) -> npt.NDArray[np.float64]:
    """Return the numbers as floats. Long ones that a float cannot tell apart count from the first of them."""
    found = np.asarray(pc.cast(values, pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
    if len(found) and np.abs(found[[0, -1]]).max() > 1e300:
        return found / 16  # differences of the largest floats would overflow
    if (np.diff(found) <= 0).any() and not pat.is_floating(values.type):
        first = values[0].as_py()
        return np.array([float(value - first) for value in values.to_pylist()], dtype=np.float64)
    return found


def nearly_numbers(cells: CodedCells) -> tuple[int, int]:
    """Count the cells of a text column that are numbers and that are not; codes with leading zeros are not."""
    if not pat.is_string(cells.values.type) and not pat.is_large_string(cells.values.type):
        return 0, 0
    number = pc.match_substring_regex(pc.utf8_trim_whitespace(cells.values), _NUMBER)
    flags = np.asarray(number.to_numpy(zero_copy_only=False), dtype=np.bool_)
    if pc.any(pc.match_substring_regex(cells.values, r"^0\d")).as_py():
        flags[:] = False
    counts = np.bincount(cells.codes[cells.codes >= 0], minlength=len(flags))
    many = flags.sum() >= _SEVERAL
    return (int(counts[flags].sum()) if many else 0), int(counts[~flags].sum())


def _number_text(cell: float | None) -> str | None:
    if cell is None:
        return None
    return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pat.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    if pat.is_string_view(column.type) or pat.is_null(column.type):
        return column.cast(pa.string())
    return column.cast(pa.float32()) if pat.is_float16(column.type) else column


def _without_nan(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pat.is_floating(column.type):
        return column
    # and without the minus of a zero, which is the same number
    return pc.add(pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column), pa.scalar(0.0, column.type))


def _as_number(column: pa.ChunkedArray, where: str) -> pa.ChunkedArray:
    if pat.is_string(column.type) or pat.is_large_string(column.type):
        column = _parse_number(column, where)
    elif _code_kind(column.type) is not Kind.NUMBER:
        raise UnreadableColumn(
            Fault(where, f"the column holds {column.type}", "numbers", 'set kind = "category" or "date"')
        )
    if pat.is_floating(column.type):
        infinite = pc.sum(pc.is_inf(column)).as_py() or 0
        if infinite:
            raise UnreadableColumn(Fault(where, f"{infinite} infinite cells", "finite numbers", "make them missing"))
    return column


def _parse_number(column: pa.ChunkedArray, where: str) -> pa.ChunkedArray:
    column = pc.utf8_trim_whitespace(column)
    for kind in (pa.int64(), *_wide_kinds(column), pa.float64()):
        try:
            parsed = _without_nan(pc.cast(column, kind))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
        if pat.is_floating(kind):
            _refuse_changed(column, where)
        return parsed
    readable = pc.sum(pc.match_substring_regex(column, _NUMBER)).as_py() or 0
    bad = len(column) - column.null_count - readable
    found = f"{bad} cells cannot be read as numbers" if bad else "numbers too large to read"
    remedy = 'correct them, or set kind = "category"'
    raise UnreadableColumn(Fault(where, found, "numbers with a decimal point", remedy))


def _wide_kinds(column: pa.ChunkedArray) -> tuple[pa.DataType, ...]:
    """Return decimal types that hold every number exactly: Arrow wraps numbers with more digits around."""
    texts = pc.unique(column).drop_null()
    if pc.any(pc.match_substring(texts, ".")).as_py():
        return ()
    exact = [_exact_number(text) for text in texts.to_pylist()]
    if any(number is None or number.denominator != 1 or abs(number) >= 10**_DIGITS for number in exact):
        return ()
    return (pa.decimal128(_DIGITS, 0),)


def _refuse_changed(column: pa.ChunkedArray, where: str) -> None:
    """Raise an error for numbers that a float would change: too many digits, too large or too small."""
    doubtful = column.filter(pc.match_substring_regex(column, _DOUBTFUL).fill_null(False))
    texts = pc.dictionary_encode(doubtful.combine_chunks())
    changed = [place for place, text in enumerate(texts.dictionary.to_pylist()) if not _is_float(text)]
    n = int(pc.sum(pc.is_in(texts.indices, pa.array(changed, texts.indices.type))).as_py() or 0)
    if n:
        found = f"{n} numbers with more digits than can be kept"
        allowed = f"whole numbers of up to {_DIGITS} digits, others of up to 15"
        raise UnreadableColumn(Fault(where, found, allowed, 'round them or set kind = "category"'))


def _is_float(text: str) -> bool:
    """Return whether a text is the number that its float is published as, or that float with more digits."""
    number, near = _exact_number(text), float(text)
    if number is None or not math.isfinite(near):
        return math.isinf(near)  # reported elsewhere
    if Fraction(Decimal(repr(near))) == number:
        return True
    digits = len(re.sub(r"[eE].*|[-+.]", "", text).lstrip("0"))
    return digits >= _DOUBLE and Fraction(Decimal(f"{near:.{digits - 1}e}")) == number


def _exact_number(text: str) -> Fraction | None:
    """Return the number of a text, to its last digit; None for none, and beyond the range of floats."""
    if len(text) > LONGEST_NUMBER:
        return None
    found = re.fullmatch(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE]([-+]?\d+))?", text, re.ASCII)
    if found is None or (found[1] and abs(int(found[1][:6])) > _POWERS):
        return None
    return Fraction(text)


def _as_date(column: pa.ChunkedArray, where: str) -> pa.ChunkedArray:
    if _code_kind(column.type) is Kind.DATE:
        return column
    if pat.is_string(column.type) or pat.is_large_string(column.type):
        for kind in (pa.date32(), pa.timestamp("us")):
            try:
                return pc.cast(column, kind)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                continue
    raise UnreadableColumn(
        Fault(where, "cells that are not dates", "dates as 2026-11-15", 'correct them, or drop kind = "date"')
    )
