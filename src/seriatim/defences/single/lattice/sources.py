"""Classes at hand, from which those of coarser nodes are rolled up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seriatim.defences.single.lattice.nodes import Heights, Lattice
from seriatim.kernels.single.rollup import RollupBars, RollupClasses, rollup_coarser
from seriatim.ports import Workers

SMALL = 1 << 15
"""Roll up from any source with at most this many classes: choosing would take longer."""
_DEPTH = 2
_WORTH = 0.7
"""Do not keep classes that are more than this share of those they were made from."""
_LEAST_ROOM = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    heights: Heights
    classes: RollupClasses

    @property
    def n_classes(self) -> int:
        return len(self.classes.sizes)


class Sources:
    """The finest classes, and those with only the largest columns raised.

    The nodes of a search share the heights of the columns with most values far more often than those of the others. So
    the classes left after raising those columns are kept, and only the first such node starts from many classes.
    """

    def __init__(self, lattice: Lattice, finest: RollupClasses, bars: RollupBars, workers: Workers) -> None:
        self.lattice = lattice
        self.bars = bars
        self.workers = workers
        self.largest = sorted(range(len(lattice.shape)), key=lambda column: -lattice.sizes[column])[:_DEPTH]
        self.room = max(4 * len(finest.sizes), _LEAST_ROOM)
        self.finest = Source(np.zeros(len(lattice.shape), dtype=np.int64), finest)
        self.kept: dict[bytes, Source] = {self.finest.heights.tobytes(): self.finest}
        self.made: set[bytes] = set(self.kept)

    def smallest(self, heights: Heights) -> Source:
        """Return the source with the fewest classes that is nowhere coarser than this node."""
        if len(self.kept) == 1:
            return self.finest
        fine = [source for source in self.kept.values() if (source.heights <= heights).all()]
        return min(fine, key=lambda source: source.n_classes)

    def near(self, wanted: list[Heights]) -> list[RollupClasses]:
        """Return for each of these nodes the classes of a node nowhere coarser, with few of them."""
        missing: dict[bytes, tuple[Heights, Source]] = {}
        for heights in wanted:
            raised, finer = self._raised(heights), self.smallest(heights)
            if finer.n_classes > SMALL and raised.tobytes() not in self.made:
                missing[raised.tobytes()] = raised, self.smallest(raised)
        self.made |= missing.keys()
        for source, (_, finer) in zip(
            self.workers.map(self._rolled_up, missing.values()) if missing else (), missing.values(), strict=True
        ):
            if source.n_classes <= _WORTH * finer.n_classes:
                self.kept[source.heights.tobytes()] = source
        used = [self.smallest(heights) for heights in wanted]
        self._trim({source.heights.tobytes() for source in used})
        return [source.classes for source in used]

    def _raised(self, heights: Heights) -> Heights:
        raised = np.zeros_like(heights)
        raised[self.largest] = heights[self.largest]
        return raised

    def _rolled_up(self, step: tuple[Heights, Source]) -> Source:
        heights, finer = step
        node = self.lattice.node(heights)
        return Source(heights, RollupClasses(*rollup_coarser(finer.classes, self.lattice.lookups, node, self.bars)))

    def _trim(self, used: set[bytes]) -> None:
        """Discard the sources unused for longest, never the finest, until the rest fits."""
        for key in sorted(used - {self.finest.heights.tobytes()}):
            self.kept[key] = self.kept.pop(key)
        total = sum(source.n_classes for source in self.kept.values())
        for key in list(self.kept)[1:]:
            if total <= self.room:
                break
            total -= self.kept.pop(key).n_classes
            self.made.discard(key)
