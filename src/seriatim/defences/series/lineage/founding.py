"""Cuts people who found lineages into fair cells of near people, those of a large table side by side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.defences.series.contract import LongArray, PlaceArray
from seriatim.kernels.lineage.cells import Fairness, fair_cells
from seriatim.model.scale import IntArray
from seriatim.ports import Workers

FEW = 50_000
"""So many people or fewer are cut to the end by one worker."""


class Part(NamedTuple):
    """People next to each other in the order, and whether they can be cut no further."""

    first: int
    end: int
    whole: bool


def founding_cells(
    ids: IntArray, place: PlaceArray, value: IntArray, fairness: Fairness, least: int, workers: Workers
) -> LongArray:
    """Return where each cell starts; reorder ``ids`` in place. The cells do not depend on the number of workers.

    A part that was tried and could not be halved is never tried again, since its order has changed. Large parts are
    halved once, and what is known about their people is laid side by side before each cut: then most of it is near.
    """

    def cut(part: Part) -> list[Part]:
        if part.whole:
            return [part]
        inside, once = ids[part.first : part.end], part.end - part.first > FEW
        order = np.arange(len(inside), dtype=np.int32)
        starts = fair_cells(order, place[inside], value[inside], fairness, least, len(inside) - 1 if once else 0)
        inside[:] = inside[order]
        starts, whole = starts + part.first, not once or len(starts) == 2
        return [Part(a, b, whole) for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)]

    parts = [Part(0, len(ids), False)]
    while any(not part.whole for part in parts):
        parts = [part for some in workers.map(cut, parts) for part in some]
    return np.array([0, *(part.end for part in parts)], dtype=np.int64)
