"""Random range-count queries, and how far off the answers from a release are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seriatim.kernels.search.ranges import boxes_of
from seriatim.model.chance import open_chance
from seriatim.model.scale import IntArray
from seriatim.reading import Boxes, RangeQueries, count_in_ranges

FloatArray = npt.NDArray[np.float64]


def draw_queries(codes: IntArray, domains: tuple[int, ...], selectivity: float, n: int, seed: int) -> RangeQueries:
    """Ranges over all columns whose volume is the selectivity, each around a random record, so none is empty."""
    chance = open_chance(seed, f"queries {selectivity}")
    centre = codes[chance.integers(0, len(codes), n)]
    from_, to = np.empty_like(centre), np.empty_like(centre)
    for d, size in enumerate(domains):
        length = max(1, round(size * selectivity ** (1 / len(domains))))
        begin = np.clip(centre[:, d] - chance.integers(0, length, n), 0, size - length)
        from_[:, d], to[:, d] = begin, begin + length - 1
    return RangeQueries(from_, to)


def exact_answers(codes: IntArray, queries: RangeQueries) -> FloatArray:
    """The truth: every record its own box, equal ones together."""
    points, counts = np.unique(codes, axis=0, return_counts=True)
    return count_in_ranges(Boxes(points, points, counts.astype(np.float64)), queries)


class Workload:
    """The same queries for every method: of one view the true answers are found once."""

    def __init__(self, domains: tuple[int, ...], n: int, seed: int) -> None:
        self.domains, self.n, self.seed = domains, n, seed
        self._known: dict[tuple[int, float], tuple[RangeQueries, FloatArray]] = {}

    def errors(
        self, release: int, codes: IntArray, box: IntArray, selectivities: tuple[float, ...]
    ) -> dict[float, float]:
        """Median relative error by selectivity, of answers from the boxes over a release's real records."""
        boxes = Boxes(*boxes_of(codes, box, int(box.max(initial=-1)) + 1))
        return {share: self._error(release, codes, boxes, share) for share in selectivities}

    def _error(self, release: int, codes: IntArray, boxes: Boxes, share: float) -> float:
        if (release, share) not in self._known:
            queries = draw_queries(codes, self.domains, share, self.n, self.seed)
            self._known[release, share] = queries, exact_answers(codes, queries)
        queries, truth = self._known[release, share]
        return float(np.median(np.abs(count_in_ranges(boxes, queries) - truth) / truth))
