"""Records packed into words, and their order along a Hilbert curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from seriatim.kernels.single.hilbert import CurveAxes, PackedLayout, RowScramble, curve_keys, pack_column, rows_of_keys
from seriatim.model import CodedColumn, Scale
from seriatim.ports import Workers

_TOGETHER = 1 << 14
_WORD_BITS = 64
_KEY_BITS = 40
_MOST_BITS = 16
_ROUNDS = 3


@dataclass(frozen=True, slots=True, eq=False)
class PackedRecords:
    """All records as words."""

    words: npt.NDArray[np.uint64]
    """words x records"""
    layout: PackedLayout

    def __len__(self) -> int:
        return int(self.words.shape[1])


def hilbert_rows(
    columns: Sequence[CodedColumn], chance: np.random.Generator, workers: Workers
) -> tuple[npt.NDArray[np.int32], PackedRecords]:
    """Return the rows in the order of the curve; rows in the same cell are shuffled.

    Each column's values are spread evenly over one range, so that no unit of measurement weighs more than another.
    """
    n = len(columns[0].codes) if columns else 0
    scramble = _scramble(max(n - 1, 1).bit_length(), chance)
    scales = [column.scale for column in columns]
    axes, packed = _axes(scales, _WORD_BITS - scramble.width), _empty(n, scales)
    keys, rows = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.int32)

    def pack(part: slice) -> None:
        _lay_rows(packed, columns, part)
        curve_keys(packed.words, packed.layout, axes, scramble, part.start, keys[part])

    workers.map(pack, even_slices(n, -(-n // _TOGETHER)))
    keys.sort()
    workers.map(lambda part: rows_of_keys(keys[part], scramble, rows[part]), even_slices(n, workers.count))
    return rows, packed


def packed_records(columns: Sequence[CodedColumn]) -> PackedRecords:
    """Return all records, packed in their own order."""
    packed = _empty(len(columns[0].codes) if columns else 0, [column.scale for column in columns])
    _lay_rows(packed, columns, slice(0, len(packed)))
    return packed


def _lay_rows(packed: PackedRecords, columns: Sequence[CodedColumn], part: slice) -> None:
    for word, shift, column in zip(packed.layout.words, packed.layout.shifts, columns, strict=True):
        pack_column(column.codes[part], shift, packed.words[word, part])


def even_slices(n: int, n_parts: int) -> list[slice]:
    """Split ``n`` positions into parts of about equal size."""
    bounds = np.linspace(0, n, max(n_parts, 1) + 1).astype(np.int64).tolist()
    return [slice(first, last) for first, last in pairwise(bounds)]


def _empty(n: int, scales: Sequence[Scale]) -> PackedRecords:
    """Return empty words, with each column in the first word that has room for it."""
    words, shifts, used = [], [], [0]
    needs = [(max(len(scale), 1) - 1).bit_length() for scale in scales]
    for need in needs:
        word = next((word for word, bits in enumerate(used) if bits + need <= _WORD_BITS), len(used))
        used += [0] * (word == len(used))
        words.append(word)
        shifts.append(min(used[word], _WORD_BITS - 1))
        used[word] += need
    masks = np.array([(1 << need) - 1 for need in needs], dtype=np.uint64)
    layout = PackedLayout(np.array(words, dtype=np.int64), np.array(shifts, dtype=np.uint64), masks)
    return PackedRecords(np.zeros((len(used), n), dtype=np.uint64), layout)


def _scramble(width: int, chance: np.random.Generator) -> RowScramble:
    drawn = chance.integers(0, 1 << 63, 2 * _ROUNDS, dtype=np.uint64).tolist()
    factors = [(factor | 1) % (1 << width) for factor in drawn[:_ROUNDS]]
    inverses = [pow(factor, -1, 1 << width) for factor in factors]
    arrays = [np.array(part, dtype=np.uint64) for part in (factors, inverses, drawn[_ROUNDS:])]
    return RowScramble(width, *arrays)


def _axes(scales: Sequence[Scale], room: int) -> CurveAxes:
    """Spread values over the cells by rank, so that an outlier does not press the others into one cell."""
    used = [column for column, scale in enumerate(scales) if len(scale) > 1][:room]
    bits = max(min(_MOST_BITS, min(_KEY_BITS, room) // max(len(used), 1)), 1)
    cells = np.zeros((len(used), max((len(scales[column]) for column in used), default=1)), dtype=np.uint16)
    for axis, column in enumerate(used):
        n = len(scales[column])
        cells[axis, :n] = np.arange(n, dtype=np.int64) * ((1 << bits) - 1) // (n - 1)
    return cell_axes(cells, np.array(used, dtype=np.int64), bits)


def cell_axes(cells: npt.NDArray[np.uint16], columns: npt.NDArray[np.int64], bits: int) -> CurveAxes:
    numbers = np.arange(1 << bits, dtype=np.uint64)
    spread = np.zeros(1 << bits, dtype=np.uint64)
    for bit in range(bits):
        spread |= ((numbers >> np.uint64(bit)) & np.uint64(1)) << np.uint64(bit * len(columns))
    return CurveAxes(cells, columns, bits, spread)
