"""Identifies people over the releases of a series: a respondent is known by their text.

Defences and the ledger look up hundreds of thousands of people among all there ever were; promises number them
separately (``promises/series/newest.py``). Arrow would hash all known ones for every lookup, and again for the
newcomers; here the known ones are only read.
"""

from __future__ import annotations

import secrets

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.kernels.text_hash import Texts, number_texts
from seriatim.model.scale import IntArray

_KEY = np.uint64(secrets.randbits(64))
"""Drawn anew by every process, so that nobody can choose ids that all collide."""


def identity_numbers(known: pa.Array, wanted: pa.Array | pa.ChunkedArray) -> tuple[IntArray, IntArray]:
    """Return the number of each wanted text, -1 for null, and the first rows of the new ones.

    A known text's number is its position among the known texts, where null is nobody; new ones follow in order of
    appearance.
    """
    number, fresh = number_texts(_texts(known), _texts(wanted), _KEY)
    return number, fresh


def _texts(texts: pa.Array | pa.ChunkedArray) -> Texts:
    """The texts as a kernel reads them; all arrays read-only, so that it is compiled once."""
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
