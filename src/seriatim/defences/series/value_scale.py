"""The scale of a serial method's values: those of the view and of earlier releases together.

Promises about numbers need their distances, and values that only earlier releases had may come back as counterfeits.
Serial methods themselves see values as names without an order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model import CodedColumn, Scale, scale_of
from seriatim.model.scale import FloatArray, IntArray


def value_scale(column: CodedColumn, domain: pa.Array) -> tuple[Scale, IntArray]:
    """Return the scale of the domain, and the place on it of each of the domain's values."""
    texts = domain.cast(pa.string())
    positions = _positions(column.scale, domain, texts)
    if positions is None:
        n = len(domain)
        return scale_of("set", texts, np.arange(n, dtype=np.float64)), np.arange(n, dtype=np.int32)
    order = np.argsort(positions, kind="stable")
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    known = len(domain) - domain.null_count
    beyond = np.arange(1, domain.null_count + 1) + np.nanmax(positions, initial=0.0)
    rising = np.append(positions[order][:known], beyond)
    scale = scale_of(column.scale.form, texts.take(pa.array(order)), rising)
    return replace(scale, ranked=column.scale.ranked, dated=column.scale.dated), place


def _positions(scale: Scale, domain: pa.Array, texts: pa.StringArray) -> FloatArray | None:
    """Return the number, day or declared rank of each value, nan for a missing one; None if they have no distances."""
    if scale.form == "interval":
        try:
            if scale.dated:
                return _floats(domain.cast(pa.date32()).cast(pa.int32()))
            return _floats(domain.cast(pa.float64()))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # codes of earlier releases that are no numbers
            return None
    ranks = pc.index_in(texts, value_set=scale.texts)
    return _floats(ranks) if scale.ranked and ranks.null_count == 0 else None


def _floats(numbers: pa.Array) -> FloatArray:
    return np.asarray(numbers.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
