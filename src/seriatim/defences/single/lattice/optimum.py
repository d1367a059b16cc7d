"""The best node of a lattice, proved best, and all minimal nodes.

A node publishes a class when it passes every test and suppresses the others; it is allowed when it suppresses no more
than the budget. Write v <= w when w is nowhere lower than v. What may prune, and why:

1. *Lasting* tests: a class that passes keeps passing when any records join it (k; distinct l). The classes of w are
   unions of classes of v, so what w suppresses for a lasting test, v suppresses too. Hence the records suppressed for
   lasting tests never grow on the way up: if w exceeds the budget by lasting tests alone, all v <= w do.
2. Tests that only survive the union of two classes that BOTH pass (entropy and recursive l, t, alpha, beta, delta,
   value bounds, distribution leakage: each asks the class's distribution to lie in a convex set that is fixed
   beforehand, the prior being the original margin) are not lasting: a good class can be spoilt by a bad one that was
   suppressed before. With a budget above 0 they prune nothing. With budget 0 nothing may be suppressed, so an allowed
   v has only good classes, and so has every w >= v: then they count as lasting. The absolute entropy leakage survives
   no union and never prunes.
3. Additive losses: loss(v) = generalisation(v) + sum of surcharges of suppressed records, the surcharge of a record
   never rising on the way up. By 1, for every w >= v that was assessed,
   loss(v) >= generalisation(v) + surcharge of the records that w suppresses for lasting tests, taken at w.
4. Losses of classes: the sum of squared sizes of ALL classes, and records over the number of all classes, never fall
   on the way up, and neither is more than the loss itself; so every assessed u <= v bounds the loss of v.

Of a node that exceeds the budget by lasting tests alone no more need be known: most are told by too few records (k
lasts) in a part of their classes (``shortfall``), and are never assessed in full.

A node is passed over only when it is known to exceed the budget or when its bound is no less than the loss of an
allowed node in hand. What remains at the end is the optimum. (Incognito, LeFevre et al. 2005, prunes by 1 alone.)

Classes at hand (``Sources``) are those from which the classes of coarser nodes are rolled up.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seriatim.defences.single.lattice.nodes import Heights, Lattice, LossKind
from seriatim.kernels.single.rollup import (
    ClassBars,
    NodeClasses,
    NodeJudgement,
    assess_node,
    coarser_classes,
    raise_levels,
)
from seriatim.kernels.single.shortfall import shortfall
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
    classes: NodeClasses

    @property
    def n_classes(self) -> int:
        return len(self.classes.sizes)


class Sources:
    """The finest classes, and those with only the largest columns raised.

    The nodes of a search share the heights of the columns with most values far more often than those of the others. So
    the classes left after raising those columns are kept, and only the first such node starts from many classes.
    """

    def __init__(self, lattice: Lattice, finest: NodeClasses, bars: ClassBars, workers: Workers) -> None:
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

    def near(self, wanted: list[Heights]) -> list[NodeClasses]:
        """Return for each of these nodes the classes of a node nowhere coarser, with few of them."""
        missing: dict[bytes, tuple[Heights, Source]] = {}
        for heights in wanted:
            raised, finer = self._raised(heights), self.smallest(heights)
            # few classes are sooner rolled up again than kept
            if finer.n_classes > SMALL and raised.tobytes() not in self.made:
                missing[raised.tobytes()] = raised, self.smallest(raised)
        self.made |= missing.keys()
        for source, (_, finer) in zip(
            self.workers.map(self._rolled_up, missing.values()) if missing else (), missing.values(), strict=True
        ):
            # nearly as many classes as before save no work later
            if source.n_classes <= _WORTH * finer.n_classes:
                self.kept[source.heights.tobytes()] = source
        # asked again: what was just made may serve several of them
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
        return Source(heights, NodeClasses(*coarser_classes(finer.classes, self.lattice.lookups, node, self.bars)))

    def _trim(self, used: set[bytes]) -> None:
        """Discard the sources unused for longest, never the finest, until the rest fits."""
        for key in sorted(used - {self.finest.heights.tobytes()}):
            # put last: the mapping is in order of use
            self.kept[key] = self.kept.pop(key)
        total = sum(source.n_classes for source in self.kept.values())
        for key in list(self.kept)[1:]:
            if total <= self.room:
                break
            total -= self.kept.pop(key).n_classes
            self.made.discard(key)


_BATCH = 16
_REACH = (0.4, 0.9)
"""Of the open nodes in order of generalisation loss, a batch is spread over this part: near the upper end a failing
node prunes most, and somewhat below it an allowed one improves most."""


@dataclass(frozen=True, slots=True, eq=False)
class AllowedNode:
    """An allowed node."""

    heights: Heights
    cost: int
    judgement: NodeJudgement


@dataclass(frozen=True, slots=True, eq=False)
class NodeDemand:
    """What a node must fulfil."""

    bars: ClassBars
    loss: LossKind
    n_records: int


class NodeSearch:
    """Assesses nodes batch by batch and remembers what each says about the others."""

    def __init__(self, lattice: Lattice, finest: NodeClasses, demand: NodeDemand, workers: Workers) -> None:
        self.lattice = lattice
        self.demand = demand
        self.workers = workers
        self.strides = lattice.strides
        self.sources = Sources(lattice, finest, demand.bars, workers)
        self.closed = np.zeros(lattice.n_nodes, dtype=np.int64)
        """Not 0 for a node that was assessed or need not be."""

    def sifted(self, nodes: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Return the nodes that may keep to the budget; close the others, and all nodes below them.

        Most nodes that a search meets fail by far, and a part of their records shows it.
        """
        wanted = [self.lattice.heights[node].astype(np.int64) for node in nodes]
        sources = [self.sources.smallest(heights) for heights in wanted]
        many = np.array([source.n_classes > SMALL for source in sources], dtype=np.bool_)
        work = list(itertools.compress(zip(wanted, sources, strict=True), many))
        fails = many.copy()
        fails[many] = self.workers.map(self._fails, work) if work else []
        for heights in itertools.compress(wanted, fails):
            self.close_below(heights)
        return nodes[~fails]

    def close_below(self, heights: Heights) -> None:
        raise_levels(np.zeros_like(heights), heights, self.strides, 1, self.closed)

    def _fails(self, task: tuple[Heights, Source]) -> bool:
        (heights, source), bars = task, self.demand.bars
        node = self.lattice.node(heights)
        return bool(shortfall(source.classes, self.lattice.lookups, node, bars.k, bars.budget) > bars.budget)

    def assess(self, nodes: npt.NDArray[np.intp]) -> list[tuple[Heights, NodeJudgement]]:
        """Assess these nodes in parallel, and close each."""
        wanted = [self.lattice.heights[node].astype(np.int64) for node in nodes]
        done = self.workers.map(self._judged, list(zip(wanted, self.sources.near(wanted), strict=True)))
        self.closed[nodes] = 1
        return list(zip(wanted, done, strict=True))

    def _judged(self, task: tuple[Heights, NodeClasses]) -> NodeJudgement:
        heights, classes = task
        return NodeJudgement(*assess_node(classes, self.lattice.lookups, self.lattice.node(heights), self.demand.bars))


def find_best(search: NodeSearch) -> AllowedNode | None:
    """Return the allowed node with the least loss; None if no node is allowed."""
    lattice, demand = search.lattice, search.demand
    order = np.argsort(lattice.generalisation, kind="stable")
    extra = np.zeros(lattice.n_nodes, dtype=np.int64)
    floor = np.zeros(lattice.n_nodes, dtype=np.int64)
    best: AllowedNode | None = None
    while True:
        # what suppression costs adds up; sizes of classes only bound the loss from below
        bound = lattice.generalisation + extra if demand.loss.additive else np.maximum(floor, extra)
        if best is not None:
            search.closed[bound >= best.cost] = 1
        candidates = order[search.closed[order] == 0]
        if not len(candidates):
            return best
        for heights, judgement in search.assess(search.sifted(_batch(candidates))):
            cost = _cost(search, heights, judgement)
            if judgement.suppressed <= demand.bars.budget and (best is None or cost < best.cost):
                best = AllowedNode(heights, cost, judgement)
            _learn(search, heights, judgement, extra, floor)


def _batch(candidates: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    low, high = (int(share * (len(candidates) - 1)) for share in _REACH)
    return candidates[np.unique(np.linspace(low, high, _BATCH).astype(np.int64))]


def _cost(search: NodeSearch, heights: Heights, judgement: NodeJudgement) -> int:
    demand = search.demand
    if demand.loss.additive:
        return int(search.lattice.generalisation[int(heights @ search.strides)]) + judgement.surcharge
    if demand.loss is LossKind.DISCERNIBILITY:
        return judgement.kept_squares + judgement.suppressed * demand.n_records
    return demand.n_records - judgement.n_kept - (judgement.suppressed > 0)


def _learn(
    search: NodeSearch,
    heights: Heights,
    judgement: NodeJudgement,
    extra: npt.NDArray[np.int64],
    floor: npt.NDArray[np.int64],
) -> None:
    """Record what one assessment says of the nodes below (failing, surcharge) and above (sizes of classes)."""
    loss = search.demand.loss
    if judgement.lasting_suppressed > search.demand.bars.budget:
        search.close_below(heights)
    elif loss.additive:
        raise_levels(np.zeros_like(heights), heights, search.strides, judgement.lasting_surcharge, extra)
    if not loss.additive:
        tops = np.array(search.lattice.shape, dtype=np.int64) - 1
        least = judgement.squares if loss is LossKind.DISCERNIBILITY else search.demand.n_records - judgement.n_classes
        raise_levels(heights, tops, search.strides, least, floor)
