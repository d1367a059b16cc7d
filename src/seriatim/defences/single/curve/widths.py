"""What a range of values costs in each column, laid out for the segment kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seriatim.kernels.single.window_costs import WindowWidths
from seriatim.model import Scale


def widths_of(scales: Sequence[Scale]) -> WindowWidths:
    """Return the shares of each scale, or its hierarchy."""
    nested = np.array([scale.form == "node" for scale in scales], dtype=np.bool_)
    tables = [_nodes(scale) if scale.form == "node" else _shares(scale) for scale in scales]
    starts = [
        scale.starts.ravel() if scale.form == "node" else np.zeros(len(scale), dtype=np.int32) for scale in scales
    ]
    at = np.concatenate(([0], np.cumsum([len(table) for table in tables]))).astype(np.int64)
    sizes = np.array([len(scale) for scale in scales], dtype=np.int64)
    nothing = np.zeros(0, dtype=np.float32)
    return WindowWidths(
        nested,
        at,
        sizes,
        np.concatenate([nothing, *tables]),
        np.concatenate([nothing, *starts], dtype=np.int32, casting="unsafe"),
    )


def _nodes(scale: Scale) -> npt.NDArray[np.float32]:
    """Return heights x codes, flat: how many other values are in the range, as a share of all others."""
    others = (scale.ends - scale.starts - 1).ravel()
    return (others / np.float32(max(len(scale) - 1, 1))).astype(np.float32)


def _shares(scale: Scale) -> npt.NDArray[np.float32]:
    """Return the share of the domain below each value; a missing one lies beyond all others, as far as they span."""
    known = len(scale) - int(scale.texts.null_count)
    places = scale.positions[:known] if scale.form == "interval" else np.arange(known, dtype=np.float64)
    span = float(places[-1] - places[0]) if known else 0.0
    shares = (places - places[0]) / span if span > 0 else np.zeros(known)
    return np.append(shares, np.full(len(scale) - known, 2.0 if known else 0.0)).astype(np.float32)
