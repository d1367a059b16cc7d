"""Texts as kernels read them, and a keyed number for each of them."""

from __future__ import annotations

import secrets

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.kernels.text_hash import Texts, digest_texts, number_texts
from seriatim.model.scale import IntArray

WordArray = npt.NDArray[np.uint64]


def hashes_of(column: pa.Array | pa.ChunkedArray, key: int) -> WordArray:
    """Return a number of 64 bits for every cell, by its text; equal texts have equal numbers, whatever their type."""
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    return digest_texts(hashable_texts(_as_text(column)), np.uint64(key))


def _as_text(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    try:
        return pc.cast(column, pa.large_string())
    except pa.ArrowException:  # nested cells and bytes, which only Parquet files have
        return pa.array([None if cell is None else repr(cell) for cell in column.to_pylist()], pa.large_string())


def hashable_texts(texts: pa.Array | pa.ChunkedArray) -> Texts:
    """Return the texts as a kernel reads them; all arrays read-only, so that it is compiled once."""
    starts, data, there = _buffers(texts)
    starts, data, there = starts.view(), data.view(), there.view()
    starts.flags.writeable = data.flags.writeable = there.flags.writeable = False
    return Texts(starts, data, there)


def _buffers(
    texts: pa.Array | pa.ChunkedArray,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
    """Return where each text starts, the bytes, and which texts are not null; the last is empty if all are."""
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    if not len(texts):
        return np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.uint8), np.empty(0, dtype=np.bool_)
    texts = pc.cast(texts, pa.large_string())
    there = pc.is_valid(texts).to_numpy(zero_copy_only=False) if texts.null_count else np.empty(0, dtype=np.bool_)
    _, starts, data = texts.buffers()
    begin = np.frombuffer(starts, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return begin, np.frombuffer(data or b"", dtype=np.uint8), there


_KEY = np.uint64(secrets.randbits(64))
"""Every process draws its own, so that nobody can choose ids that all collide."""


def identity_numbers(known: pa.Array, wanted: pa.Array | pa.ChunkedArray) -> tuple[IntArray, IntArray]:
    """Return the number of each wanted text, -1 for null, and the first rows of the new ones.

    A respondent is known by their text. Arrow would hash all known people for every lookup, and again for the
    newcomers; here the known ones are only read. Promises number people separately (``model/history.py``).

    A known text's number is its position among the known texts, where null is nobody; new ones follow in order of
    appearance.
    """
    number, fresh = number_texts(hashable_texts(known), hashable_texts(wanted), _KEY)
    return number, fresh
