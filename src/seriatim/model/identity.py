"""Identifies people over the releases of a series: a respondent is known by their text.

Defences and the ledger look up hundreds of thousands of people among all there ever were; promises number them
separately (``model/history.py``). Arrow would hash all known ones for every lookup, and again for the
newcomers; here the known ones are only read.
"""

from __future__ import annotations

import secrets

import numpy as np
import pyarrow as pa

from seriatim.kernels.text_hash import number_texts
from seriatim.model.scale import IntArray
from seriatim.model.text_hash import hashable_texts

_KEY = np.uint64(secrets.randbits(64))
"""Every process draws its own, so that nobody can choose ids that all collide."""


def identity_numbers(known: pa.Array, wanted: pa.Array | pa.ChunkedArray) -> tuple[IntArray, IntArray]:
    """Return the number of each wanted text, -1 for null, and the first rows of the new ones.

    A known text's number is its position among the known texts, where null is nobody; new ones follow in order of
    appearance.
    """
    number, fresh = number_texts(hashable_texts(known), hashable_texts(wanted), _KEY)
    return number, fresh
