"""The lattice of full-domain generalisations: every quasi column at one of its heights.

Nodes are numbered like the cells of an array whose axes are the columns, so the nodes between two nodes are a box.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seriatim.defences.single.lattice.prices import LatticeLoss, Prices, lattice_price_unit, prices
from seriatim.errors import Fault, PolicyError
from seriatim.kernels.single.rollup import RollupClasses, RollupLookups, RollupNode, rollup_classes, rollup_joined
from seriatim.model import CodedColumn

MOST_NODES = 1 << 22
_CHUNK_CODES = 1 << 13
_CHUNK_ENTRIES = 1 << 17

Heights = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Chunk:
    """Columns with few values, looked up together."""

    columns: tuple[int, ...]
    at: npt.NDArray[np.int64]
    """Where the lookup of each combination of heights starts, numbered like array cells."""
    cards: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lattice:
    """All nodes, their lookups, and the loss of their generalisation alone."""

    shape: tuple[int, ...]
    sizes: tuple[int, ...]
    """Number of values of each column."""
    heights: npt.NDArray[np.int8]
    """nodes x columns"""
    generalisation: npt.NDArray[np.int64]
    """The additive loss of each node before any suppression, in units."""
    whole: int
    """The loss of a table with nothing in it, in units."""
    lookups: RollupLookups
    chunks: tuple[_Chunk, ...]

    @property
    def n_nodes(self) -> int:
        return len(self.heights)

    @property
    def strides(self) -> npt.NDArray[np.int64]:
        behind = [*itertools.accumulate(reversed(self.shape[1:]), lambda a, b: a * b, initial=1)]
        return np.array(behind[::-1][: len(self.shape)], dtype=np.int64)

    def node(self, heights: npt.NDArray[np.integer]) -> RollupNode:
        """Return where the lookups of these heights are."""
        at = np.empty(len(self.chunks), dtype=np.int64)
        cards = np.empty(len(self.chunks), dtype=np.int64)
        for index, chunk in enumerate(self.chunks):
            cell = 0
            for column in chunk.columns:
                cell = cell * self.shape[column] + int(heights[column])
            at[index], cards[index] = chunk.at[cell], chunk.cards[cell]
        return RollupNode(at, cards)


def nodes_of_lattice(columns: Sequence[CodedColumn], loss: LatticeLoss) -> Lattice:
    """Return the lattice over the heights of these columns' scales."""
    shape = tuple(column.scale.top + 1 for column in columns)
    if math.prod(shape) > MOST_NODES:
        raise PolicyError(
            Fault(
                "[defence] method",
                f"the hierarchies of {len(columns)} columns span {math.prod(shape):,} nodes",
                f"at most {MOST_NODES:,} for lattice",
                "declare fewer levels, or use median or curve",
            )
        )
    n_records = len(columns[0].codes) if columns else 0
    unit = lattice_price_unit(n_records, len(columns))
    priced = [prices(column, loss, unit) for column in columns]
    nodes = np.indices(shape, dtype=np.int8).reshape(len(shape), math.prod(shape)).T
    total = np.zeros(len(nodes), dtype=np.int64)
    for column, price in enumerate(priced):
        total += price.total[nodes[:, column]]
    lookups, chunks = _lookups(columns, priced)
    sizes = tuple(len(column.scale) for column in columns)
    return Lattice(
        shape=shape,
        sizes=sizes,
        heights=np.ascontiguousarray(nodes),
        generalisation=total,
        whole=unit * n_records * len(columns),
        lookups=lookups,
        chunks=chunks,
    )


def finest_node_classes(
    columns: Sequence[CodedColumn], lattice: Lattice
) -> tuple[RollupClasses, npt.NDArray[np.int32]]:
    """Return the classes of the lowest node, without sensitive values, and each record's class."""
    n_records = len(columns[0].codes) if columns else 0
    codes = np.empty((len(lattice.chunks), n_records), dtype=np.int32)
    for index, chunk in enumerate(lattice.chunks):
        joined = np.zeros(n_records, dtype=np.int32)
        for column in chunk.columns:
            joined = joined * np.int32(len(columns[column].scale)) + columns[column].codes
        codes[index] = joined
    nothing = np.zeros(0, dtype=np.int64)
    records = RollupClasses(codes, np.ones(n_records, dtype=np.int64), nothing, nothing.astype(np.int32), nothing)
    ids = np.empty(n_records, dtype=np.int32)
    n_ids = rollup_classes(codes, lattice.lookups, lattice.node(np.zeros(len(columns), dtype=np.int64)), ids)
    return rollup_joined(records, ids, n_ids, 0), ids


def _lookups(columns: Sequence[CodedColumn], priced: Sequence[Prices]) -> tuple[RollupLookups, tuple[_Chunk, ...]]:
    local: list[npt.NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    surcharge: list[npt.NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    chunks, used = [], 0
    for members in _joined([(len(column.scale), column.scale.top + 1) for column in columns]):
        at, cards = [], []
        for combination in itertools.product(*(range(columns[member].scale.top + 1) for member in members)):
            code = np.zeros(1, dtype=np.int64)
            extra = np.zeros(1, dtype=np.int64)
            card = 1
            for member, height in zip(members, combination, strict=True):
                starts = columns[member].scale.starts[height]
                rank = np.cumsum(starts == np.arange(len(starts))) - 1
                n_ranges = int(rank[-1]) + 1 if len(rank) else 1
                code = (code[:, None] * n_ranges + rank[None, :]).reshape(-1)
                extra = (extra[:, None] + priced[member].surcharge[height][None, :]).reshape(-1)
                card *= n_ranges
            at.append(used)
            cards.append(card)
            local.append(code)
            surcharge.append(extra)
            used += len(code)
        chunks.append(_Chunk(members, np.array(at, dtype=np.int64), np.array(cards, dtype=np.int64)))
    return RollupLookups(np.concatenate(local).astype(np.int32), np.concatenate(surcharge)), tuple(chunks)


def _joined(sizes: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Join columns into chunks, largest first, while a chunk's codes and lookups stay few."""
    found: list[list[int]] = []
    for column in sorted(range(len(sizes)), key=lambda c: -sizes[c][0]):
        for chunk in found:
            codes = math.prod(sizes[c][0] for c in [*chunk, column])
            entries = codes * math.prod(sizes[c][1] for c in [*chunk, column])
            if codes <= _CHUNK_CODES and entries <= _CHUNK_ENTRIES:
                chunk.append(column)
                break
        else:
            found.append([column])
    return [tuple(sorted(chunk)) for chunk in found]
