"""Cuts people who found lineages into fair cells of near people, those of a large table side by side."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from seriatim.defences.series.contract import LongArray, PlaceArray
from seriatim.kernels.lineage.fair_cells import CellFairness, fair_cells
from seriatim.model.scale import IntArray
from seriatim.ports import Workers

FEW = 20_000
"""So many people or fewer are cut to the end by one worker."""


class FoundingPart(NamedTuple):
    """People near each other, with what is known about them side by side; and whether they can be cut no further."""

    ids: IntArray
    place: PlaceArray
    value: IntArray
    whole: bool


def founding_cells(
    ids: IntArray, place: PlaceArray, value: IntArray, fairness: CellFairness, least: int, workers: Workers
) -> LongArray:
    """Return where each cell starts; reorder ``ids`` in place. The cells do not depend on the number of workers.

    A part that was tried and could not be halved is never tried again, since its order has changed. Large parts are
    halved once and laid out anew, so that whoever cuts them further finds near people near each other in memory.
    """

    def cut(part: FoundingPart) -> list[FoundingPart]:
        if part.whole:
            return [part]
        order, once = np.arange(len(part.ids), dtype=np.int32), len(part.ids) > FEW
        starts = fair_cells(order, part.place, part.value, fairness, least, len(order) - 1 if once else 0)
        own, whole = part.ids.take(order), not once or len(starts) == 2
        if whole:
            return [FoundingPart(own[a:b], part.place, part.value, whole) for a, b in pairwise(starts.tolist())]
        place, value = part.place.take(order, axis=0), part.value.take(order)
        return [FoundingPart(own[a:b], place[a:b], value[a:b], whole) for a, b in pairwise(starts.tolist())]

    parts = [FoundingPart(ids, place.take(ids, axis=0), value.take(ids), False)] if len(ids) else []
    while any(not part.whole for part in parts):
        parts = [part for some in workers.map(cut, parts) for part in some]
    ids[:] = np.concatenate([ids[:0], *(part.ids for part in parts)])
    return np.cumsum([0, *(len(part.ids) for part in parts)])
