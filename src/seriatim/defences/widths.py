"""What a range of values costs in each column, laid out for the segment kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.defences.loss import width_penalties
from seriatim.kernels.search.segments import Widths
from seriatim.model import Scale

_MOST_PAIRS = 1 << 15


def widths_of(scales: Sequence[Scale]) -> Widths:
    """Tables of pairs where there are few values, else shares of the scale or the hierarchy itself."""
    paired = [c for c, scale in enumerate(scales) if len(scale) ** 2 <= _MOST_PAIRS]
    plain = [c for c, scale in enumerate(scales) if c not in paired and scale.form != "node"]
    nested = [c for c, scale in enumerate(scales) if c not in paired and scale.form == "node"]
    tables = [_pairs(scales[c]).ravel() for c in paired]
    shares = [_shares(scales[c]) for c in plain]
    starts = [scales[c].starts.ravel() for c in nested]
    return Widths(
        np.array(paired, dtype=np.int64),
        _begins(tables),
        np.array([len(scales[c]) for c in paired], dtype=np.int64),
        _flat(tables).astype(np.float32),
        np.array(plain, dtype=np.int64),
        _begins(shares),
        _flat(shares).astype(np.float32),
        np.array(nested, dtype=np.int64),
        _begins(starts),
        np.array([len(scales[c]) for c in nested], dtype=np.int64),
        _flat(starts).astype(np.int32),
        _flat([width_penalties(scales[c]).ravel() for c in nested]).astype(np.float32),
    )


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


def _begins(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum([part.size for part in parts])))[:-1].astype(np.int64)


def _flat(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return np.concatenate([np.zeros(0), *parts])
