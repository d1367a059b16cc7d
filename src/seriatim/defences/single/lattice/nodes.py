"""The lattice of full-domain generalisations: every quasi column at one of its heights.

Nodes are numbered like the cells of an array whose axes are the columns, so the nodes between two nodes are a box.

A node's cost is in whole units, so that sums are exact and ties are ties. An additive loss is the sum over cells of a
penalty that depends on the column, its height and the value. A suppressed record pays, in each column, what publishing
``*`` would. So the loss of a node is the loss of its generalisation, known from the columns' margins alone, plus a
surcharge for every suppressed record. A loss of classes depends only on their sizes. Neither is ever less than a figure
that does not fall on the way up: see ``optimum``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from seriatim.defences.labels import label_penalties
from seriatim.errors import Fault, PolicyError
from seriatim.kernels.single.rollup import HeightLookups, NodeClasses, NodeLayout, join_classes, numbered_alike
from seriatim.model import TOP, CodedColumn, Scale

_LARGEST = 1 << 61

Penalties = npt.NDArray[np.float64]


class LossKind(StrEnum):
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
        return self in (LossKind.NCP, LossKind.PRECISION, LossKind.ENTROPY)


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


def price_unit(n_records: int, n_columns: int) -> int:
    """Return the largest power of two, up to 2**32, in which the whole loss still fits."""
    unit = 1 << 32
    while unit > 1 and unit * max(n_records, 1) * max(n_columns, 1) >= _LARGEST:
        unit >>= 1
    return unit


def prices(column: CodedColumn, loss: LossKind, unit: int) -> Prices:
    """Return the prices of a column. A loss of classes has none; its search follows the order of the NCP."""
    counts = column.counts()
    if loss is LossKind.ENTROPY:
        return _entropy_prices(column.scale, counts, unit)
    if loss is LossKind.PRECISION:
        steps = np.arange(column.scale.top + 1) / max(column.scale.top, 1)
        penalty = np.repeat(steps[:, None], len(column.scale), axis=1)
    else:
        penalty = width_prices(column.scale)
    # whole units: sums are exact, whatever the order, and ties are ties
    whole = np.round(penalty * unit).astype(np.int64)
    return Prices(whole @ counts, unit - whole)


def _entropy_prices(scale: Scale, counts: npt.NDArray[np.int64], unit: int) -> Prices:
    upto = np.concatenate(([0], np.cumsum(counts)))
    of_range = (upto[scale.ends] - upto[scale.starts]).astype(np.float64)
    held = counts > 0
    bits = np.zeros((2, *scale.starts.shape))
    # what the label leaves open of a value, and what suppressing it leaves beyond that
    bits[0][:, held] = np.log2(of_range[:, held] / counts[held])
    bits[1][:, held] = np.log2(counts.sum() / of_range[:, held])
    entropy = float(bits[0][-1] @ counts) / max(int(counts.sum()), 1)
    whole = np.round(bits * (unit / entropy if entropy > 0 else 0.0)).astype(np.int64)
    return Prices(whole[0] @ counts, whole[1])


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
    lookups: HeightLookups
    chunks: tuple[_Chunk, ...]

    @property
    def n_nodes(self) -> int:
        return len(self.heights)

    @property
    def strides(self) -> npt.NDArray[np.int64]:
        behind = [*itertools.accumulate(reversed(self.shape[1:]), lambda a, b: a * b, initial=1)]
        return np.array(behind[::-1][: len(self.shape)], dtype=np.int64)

    def node(self, heights: npt.NDArray[np.integer]) -> NodeLayout:
        """Return where the lookups of these heights are."""
        at = np.empty(len(self.chunks), dtype=np.int64)
        cards = np.empty(len(self.chunks), dtype=np.int64)
        for index, chunk in enumerate(self.chunks):
            cell = 0
            for column in chunk.columns:
                # combinations of heights are numbered like the cells of an array
                cell = cell * self.shape[column] + int(heights[column])
            at[index], cards[index] = chunk.at[cell], chunk.cards[cell]
        return NodeLayout(at, cards)


def all_heights(columns: Sequence[CodedColumn], loss: LossKind) -> Lattice:
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
    unit = price_unit(n_records, len(columns))
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


def finest_node_classes(columns: Sequence[CodedColumn], lattice: Lattice) -> tuple[NodeClasses, npt.NDArray[np.int32]]:
    """Return the classes of the lowest node, without sensitive values, and each record's class."""
    n_records = len(columns[0].codes) if columns else 0
    codes = np.empty((len(lattice.chunks), n_records), dtype=np.int32)
    for index, chunk in enumerate(lattice.chunks):
        joined = np.zeros(n_records, dtype=np.int32)
        for column in chunk.columns:
            joined = joined * np.int32(len(columns[column].scale)) + columns[column].codes
        codes[index] = joined
    nothing = np.zeros(0, dtype=np.int64)
    records = NodeClasses(codes, np.ones(n_records, dtype=np.int64), nothing, nothing.astype(np.int32), nothing)
    ids = np.empty(n_records, dtype=np.int32)
    n_ids = numbered_alike(codes, lattice.lookups, lattice.node(np.zeros(len(columns), dtype=np.int64)), ids)
    return join_classes(records, ids, n_ids, 0), ids


def _lookups(columns: Sequence[CodedColumn], priced: Sequence[Prices]) -> tuple[HeightLookups, tuple[_Chunk, ...]]:
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
                # a range begins where its first value is: counting beginnings numbers the ranges
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
    return HeightLookups(np.concatenate(local).astype(np.int32), np.concatenate(surcharge)), tuple(chunks)


def _joined(sizes: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Join columns into chunks, largest first, while a chunk's codes and lookups stay few."""
    found: list[list[int]] = []
    # the largest first: small ones fill up what room is left in a chunk
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
