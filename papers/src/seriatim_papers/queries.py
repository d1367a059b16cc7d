"""Random range-count queries, and the error of counts from a release."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seriatim.kernels.check.box_counts import range_boxes
from seriatim.model.chance import open_chance
from seriatim.model.scale import IntArray
from seriatim.reading import Boxes, RangeQueries, count_in_ranges

FloatArray = npt.NDArray[np.float64]


def draw_queries(codes: IntArray, domains: tuple[int, ...], selectivity: float, n: int, seed: int) -> RangeQueries:
    """Draw ranges over all columns whose volume is the selectivity, each around a random record, so none is empty."""
    chance = open_chance(seed, f"queries {selectivity}")
    centre = codes[chance.integers(0, len(codes), n)]
    from_, to = np.empty_like(centre), np.empty_like(centre)
    for d, size in enumerate(domains):
        length = _length(size, selectivity, len(domains))
        begin = np.clip(centre[:, d] - chance.integers(0, length, n), 0, size - length)
        from_[:, d], to[:, d] = begin, begin + length - 1
    return RangeQueries(from_, to)


def queries_anywhere(codes: IntArray, domains: tuple[int, ...], selectivity: float, n: int, seed: int) -> RangeQueries:
    """Draw ranges of the same volume anywhere in the domain; some match nobody."""
    chance = open_chance(seed, f"queries anywhere {selectivity}")
    from_ = np.empty((n, len(domains)), dtype=codes.dtype)
    lengths = np.array([_length(size, selectivity, len(domains)) for size in domains], dtype=codes.dtype)
    for d, size in enumerate(domains):
        from_[:, d] = chance.integers(0, size - lengths[d] + 1, n)
    return RangeQueries(from_, from_ + lengths - 1)


def queries_by_share(codes: IntArray, domains: tuple[int, ...], selectivity: float, n: int, seed: int) -> RangeQueries:
    """Draw ranges that would match this share of the people if columns were independent."""
    chance = open_chance(seed, f"queries by share {selectivity}")
    wanted = selectivity ** (1 / len(domains))
    from_ = np.empty((n, len(domains)), dtype=codes.dtype)
    to = np.empty_like(from_)
    for d, size in enumerate(domains):
        below = np.concatenate(([0], np.cumsum(np.bincount(codes[:, d], minlength=size)))) / len(codes)
        begin = chance.random(n) * (1 - wanted)
        from_[:, d] = np.clip(np.searchsorted(below, begin, side="right") - 1, 0, size - 1)
        to[:, d] = np.clip(np.searchsorted(below, begin + wanted, side="left") - 1, from_[:, d], size - 1)
    return RangeQueries(from_, to)


def _length(size: int, selectivity: float, n_columns: int) -> int:
    return max(1, round(size * float(selectivity ** (1 / n_columns))))


def study_query_answers(codes: IntArray, queries: RangeQueries) -> FloatArray:
    """Return the true counts: every record is its own box, equal ones together."""
    points, counts = np.unique(codes, axis=0, return_counts=True)
    return count_in_ranges(Boxes(points, points, counts.astype(np.float64)), queries)


class QueryWorkload:
    """The same queries for every method; the true counts of a view are found once."""

    def __init__(self, domains: tuple[int, ...], n: int, seed: int) -> None:
        self.domains, self.n, self.seed = domains, n, seed
        self._known: dict[tuple[int, float], tuple[RangeQueries, FloatArray]] = {}

    def errors(
        self, release: int, codes: IntArray, box: IntArray, selectivities: tuple[float, ...]
    ) -> dict[float, float]:
        """Return the median relative error by selectivity, of counts from the boxes of a release's real records."""
        boxes = Boxes(*range_boxes(codes, box, int(box.max(initial=-1)) + 1))
        return {share: self._error(release, codes, boxes, share) for share in selectivities}

    def _error(self, release: int, codes: IntArray, boxes: Boxes, share: float) -> float:
        if (release, share) not in self._known:
            queries = draw_queries(codes, self.domains, share, self.n, self.seed)
            self._known[release, share] = queries, study_query_answers(codes, queries)
        queries, truth = self._known[release, share]
        return float(np.median(np.abs(count_in_ranges(boxes, queries) - truth) / truth))
