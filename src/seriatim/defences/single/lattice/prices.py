"""What a full-domain generalisation costs, in whole units so that sums are exact and ties are ties.

An additive loss is the sum over cells of a penalty that depends on the column, its height and the value. A suppressed
record pays, in each column, what publishing ``*`` would. So the loss of a node is the loss of its generalisation, known
from the columns' margins alone, plus a surcharge for every suppressed record. A loss of classes depends only on their
sizes. Neither is ever less than a figure that does not fall on the way up: see ``optimum``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from seriatim.defences.labels import label_penalties
from seriatim.model import TOP, CodedColumn, Scale

_LARGEST = 1 << 61

Penalties = npt.NDArray[np.float64]


class LatticeLoss(StrEnum):
    """The losses a lattice can be searched for."""

    NCP = "ncp"
    """Normalised certainty penalty (Xu et al. 2006): width of the label over width of the domain."""
    PRECISION = "precision"
    """Height over the hierarchy's height (Sweeney 2002)."""
    ENTROPY = "entropy"
    """Non-uniform entropy (Gionis and Tassa 2009), each column over its own entropy, by counts of the original table.
    """
    DISCERNIBILITY = "discernibility"
    """Sum of squared class sizes; a suppressed record pays for the whole table (Bayardo and Agrawal 2005)."""
    CLASS_SIZE = "class_size"
    """Records per class; the suppressed records are one class."""

    @property
    def additive(self) -> bool:
        return self in (LatticeLoss.NCP, LatticeLoss.PRECISION, LatticeLoss.ENTROPY)


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """An additive loss of one column: what each height costs in all, and what suppression adds per record."""

    total: npt.NDArray[np.int64]
    """The sum over all records, for each height."""
    surcharge: npt.NDArray[np.int64]
    """heights x codes"""


def width_prices(scale: Scale) -> Penalties:
    """Return heights x codes: the normalised certainty penalty of the range with the code, as its label would pay."""
    n, star = len(scale), scale.texts.index(TOP).as_py()
    known = n - int(scale.texts.null_count) - (star >= 0)
    paid = np.zeros(scale.starts.shape)
    for height in range(len(scale.starts)):
        low, high = scale.starts[height], (scale.ends[height] - 1).astype(np.int32)
        if scale.form == "set":
            wide = np.where(high >= known, 1.0, (high - low) / max(known - 1, 1))
            paid[height] = np.where(low == high, np.where(low == star, 1.0, 0.0), wide)
        elif n:
            paid[height] = label_penalties(scale, low, high, np.full(n, height, dtype=np.int32))
    return np.maximum.accumulate(paid, axis=0)


def lattice_price_unit(n_records: int, n_columns: int) -> int:
    """Return the largest power of two, up to 2**32, in which the whole loss still fits."""
    unit = 1 << 32
    while unit > 1 and unit * max(n_records, 1) * max(n_columns, 1) >= _LARGEST:
        unit >>= 1
    return unit


def prices(column: CodedColumn, loss: LatticeLoss, unit: int) -> Prices:
    """Return the prices of a column. A loss of classes has none; its search follows the order of the NCP."""
    counts = column.counts()
    if loss is LatticeLoss.ENTROPY:
        return _entropy_prices(column.scale, counts, unit)
    if loss is LatticeLoss.PRECISION:
        steps = np.arange(column.scale.top + 1) / max(column.scale.top, 1)
        penalty = np.repeat(steps[:, None], len(column.scale), axis=1)
    else:
        penalty = width_prices(column.scale)
    whole = np.round(penalty * unit).astype(np.int64)
    return Prices(whole @ counts, unit - whole)


def _entropy_prices(scale: Scale, counts: npt.NDArray[np.int64], unit: int) -> Prices:
    upto = np.concatenate(([0], np.cumsum(counts)))
    of_range = (upto[scale.ends] - upto[scale.starts]).astype(np.float64)
    held = counts > 0
    bits = np.zeros((2, *scale.starts.shape))
    bits[0][:, held] = np.log2(of_range[:, held] / counts[held])
    bits[1][:, held] = np.log2(counts.sum() / of_range[:, held])
    entropy = float(bits[0][-1] @ counts) / max(int(counts.sum()), 1)
    whole = np.round(bits * (unit / entropy if entropy > 0 else 0.0)).astype(np.int64)
    return Prices(whole[0] @ counts, whole[1])
