"""What a range of values costs in each column, laid out for the segment kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seriatim.defences.loss import width_penalties
from seriatim.kernels.search.segments import LANES, NESTED, PAIRED, PLAIN, Widths
from seriatim.model import Scale

_MOST_PAIRS = 1 << 15


def widths_of(scales: Sequence[Scale]) -> Widths:
    """Tables of pairs where there are few values, else shares of the scale or the hierarchy itself."""
    n_lanes = -(-max(len(scales), 1) // LANES) * LANES
    kinds, at, sizes = (np.zeros(n_lanes, dtype=np.int64) for _ in range(3))
    tables, starts = [np.zeros(0)], [np.zeros(0, dtype=np.int32)]
    used = 0
    for column, scale in enumerate(scales):
        small = len(scale) ** 2 <= _MOST_PAIRS
        kinds[column] = PAIRED if small else NESTED if scale.form == "node" else PLAIN
        table = _pairs(scale) if small else width_penalties(scale) if scale.form == "node" else _shares(scale)
        at[column], sizes[column] = used, len(scale)
        tables.append(table.ravel())
        starts.append(scale.starts.ravel() if kinds[column] == NESTED else np.zeros(table.size, dtype=np.int32))
        used += table.size
    return Widths(kinds, at, sizes, np.concatenate(tables).astype(np.float32), np.concatenate(starts))


def _pairs(scale: Scale) -> npt.NDArray[np.float64]:
    n = len(scale)
    if scale.form != "node":
        shares = _shares(scale)
        return np.abs(shares[None, :] - shares[:, None])
    paid = width_penalties(scale)
    table = np.repeat(paid[-1][:, None], n, axis=1) if n else np.zeros((0, 0))
    for height in range(scale.top - 1, -1, -1):
        together = scale.starts[height][:, None] == scale.starts[height][None, :]
        table = np.where(together, paid[height][:, None], table)
    return table


def _shares(scale: Scale) -> npt.NDArray[np.float64]:
    """The share of the domain below each value; a missing one lies beyond all others, as far as they span."""
    known = len(scale) - int(scale.texts.null_count)
    places = scale.positions[:known] if scale.form == "interval" else np.arange(known, dtype=np.float64)
    span = float(places[-1] - places[0]) if known else 0.0
    shares = (places - places[0]) / span if span > 0 else np.zeros(known)
    return np.append(shares, np.full(len(scale) - known, 2.0 if known else 0.0))
