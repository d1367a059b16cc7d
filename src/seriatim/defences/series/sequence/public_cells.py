"""Fixed public cells: people are grouped by where they are, in the same cells every time, blind to their values.

Before the first release a tree of cells is cut from the domain of the quasi-identifiers and the first release's
density, with about n / (1.6 k) leaves, and kept for ever. In each release a group is the people present in a leaf; a
group that is too small is merged with its nearest neighbour in the tree, for this release only. Nobody is suppressed
and no model of an adversary is needed; where l or t is promised, whole cells are merged until they pass, which looks at
values. A column that ages people (age itself) moves them through the cells: publish the year of birth instead.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from seriatim.errors import Fault, TableError
from seriatim.kernels.arrays import Floats, Longs
from seriatim.model import CodedColumn, View
from seriatim.model.history import SeriesState

CELLS = "sequence_cells"
"""The name of the memory that keeps the cells of a series."""
FEWEST = 8
_PER_LEAF = 1.6
_EVEN = 0.15
"""A cut that leaves less than this share on one side is no cut: many people have one value (an atom)."""

_DRIFT = 0.1
"""A middle that has moved by more, in those units, has drifted."""

Passes = Callable[[Longs], bool]


@dataclass(frozen=True, slots=True)
class CellCut:
    """A cut of the tree: values up to ``at`` go left (numbers), or those in ``texts`` do; None for a leaf."""

    column: int = -1
    at: float = 0.0
    texts: tuple[str, ...] | None = None
    left: CellCut | None = None
    right: CellCut | None = None

    @property
    def n_leaves(self) -> int:
        return 1 if self.left is None or self.right is None else self.left.n_leaves + self.right.n_leaves


def first_or_new_tree(view: View, state: SeriesState, k: int) -> CellCut:
    """Return the series' cells: those of its first release, or cut from this view."""
    kept = _kept(state)
    if kept:
        return _read(kept["tree"])
    rows = np.flatnonzero(~view.suppressed)
    wanted = int(len(rows) / (_PER_LEAF * k))
    tree = _cut(view.quasi, _places(view.quasi), rows, wanted)
    if tree.n_leaves < FEWEST:
        found = f"{tree.n_leaves} cells for {len(rows)} people at k = {k}"
        remedy = 'use method = "median", or a smaller k'
        raise TableError(Fault('[defence] mode = "cells"', found, f"{FEWEST} or more", remedy))
    return tree


def tree_to_keep(tree: CellCut, view: View, state: SeriesState) -> dict[str, pa.Table]:
    """Return what the ledger keeps: the tree, beside the id of one person, since memories are about people."""
    assert view.respondent is not None
    who = view.cells(view.respondent).cast(pa.string()).slice(0, 1)
    kept = {"tree": _written(tree), "middles": _kept(state).get("middles", _middles(view))}
    return {CELLS: pa.table({"respondent": who, "cells": pa.array([json.dumps(kept)])})}


def drifted_columns(view: View, state: SeriesState) -> list[str]:
    """Name the columns whose middle has moved far since the cells were cut: a column that ages people, mostly."""
    then, now = _kept(state).get("middles", {}), _middles(view)
    far = [name for name, middle in now.items() if abs(middle - then.get(name, middle)) > _DRIFT]
    return [
        f"column {name!r}: people have moved through its cells since they were cut; if it is an age, "
        "publish the year of birth instead, which stays"
        for name in far
    ]


def _kept(state: SeriesState) -> dict[str, Any]:
    """Return what the ledger kept of the cells; nothing before the first release."""
    kept = state.memory.get(CELLS)
    if kept is None or not kept.num_rows:
        return {}
    found = json.loads(kept.column("cells").to_pylist()[0])
    return found if isinstance(found, dict) else {"tree": found}  # older versions kept the tree alone


def _middles(view: View) -> dict[str, float]:
    """Return the median of each column of numbers, in units of the spread between nine people in ten and one."""
    found = {}
    for column in view.quasi:
        at = column.scale.positions[column.codes[~view.suppressed]] if column.scale.form == "interval" else np.zeros(0)
        low, middle, high = np.nanquantile(at, (0.1, 0.5, 0.9)) if np.isfinite(at).any() else (0.0, 0.0, 0.0)
        if high > low:
            found[column.name] = float(middle / (high - low))
    return found


def merged_leaves(tree: CellCut, columns: Sequence[CodedColumn], rows: Longs, passes: Passes) -> list[Longs]:
    """Return the people of each group: leaves, merged with neighbours until they pass."""
    done, left = _merged(tree, columns, rows, passes)
    if len(left):
        while done and not passes(left):
            near = min(range(len(done)), key=lambda g: len(done[g]))
            left = np.concatenate((left, done.pop(near)))
        done.append(left)
    return done


def _merged(tree: CellCut, columns: Sequence[CodedColumn], rows: Longs, passes: Passes) -> tuple[list[Longs], Longs]:
    """Return the groups of a part of the tree that pass, and the people left over."""
    none = np.empty(0, dtype=np.int64)
    if tree.left is None or tree.right is None or not len(rows):
        return ([rows], none) if len(rows) and passes(rows) else ([], rows)
    goes_left = _side(tree, columns[tree.column])[columns[tree.column].codes[rows]]
    one, left_over = _merged(tree.left, columns, rows[goes_left], passes)
    two, right_over = _merged(tree.right, columns, rows[~goes_left], passes)
    for own, other, over in ((one, two, left_over), (two, one, right_over)):
        near = own or other
        if len(over) and near and not (len(left_over) and len(right_over)):
            smallest = min(range(len(near)), key=lambda g: len(near[g]))
            joined = np.concatenate((near[smallest], over))
            if passes(joined):
                near[smallest] = joined
                return [*one, *two], none
    over = np.concatenate((left_over, right_over))
    if len(over) and passes(over):
        return [*one, *two, over], none
    if len(over) and (one or two):
        near = one or two
        smallest = min(range(len(near)), key=lambda g: len(near[g]))
        joined = np.concatenate((near[smallest], over))
        if passes(joined):
            near[smallest] = joined
            return [*one, *two], none
    return [*one, *two], over


def _side(tree: CellCut, column: CodedColumn) -> Any:
    """Return for each code of a column whether it goes left."""
    if tree.texts is not None:
        return np.array([str(text) in tree.texts for text in column.scale.texts.to_pylist()], dtype=np.bool_)
    return ~(column.scale.positions > tree.at)


def _places(columns: Sequence[CodedColumn]) -> Floats:
    """Return where each record is, every column spread over 0 to 1."""
    parts = []
    for column in columns:
        at = column.scale.positions if column.scale.form == "interval" else np.arange(len(column.scale), dtype=float)
        low, high = (np.nanmin(at), np.nanmax(at)) if len(at) else (0.0, 0.0)
        parts.append((np.nan_to_num((at - low) / (high - low), nan=1.0) if high > low else at * 0.0)[column.codes])
    return np.stack(parts, axis=1) if parts else np.zeros((0, 0))


def _cut(columns: Sequence[CodedColumn], place: Floats, rows: Longs, n_leaves: int) -> CellCut:
    if n_leaves < 2 or not len(rows) or not place.shape[1]:
        return CellCut()
    widths = place[rows].max(axis=0) - place[rows].min(axis=0)
    share = (n_leaves // 2) / n_leaves
    for c in np.argsort(-widths, kind="stable").tolist():
        values, counts = np.unique(place[rows, c], return_counts=True)
        below = np.cumsum(counts)[:-1] / len(rows)
        fair = np.flatnonzero((below >= _EVEN) & (below <= 1.0 - _EVEN))
        if len(fair):
            edge = values[fair[np.argmin(np.abs(below[fair] - share))]]
            left = rows[place[rows, c] <= edge]
            n_left = min(max(round(n_leaves * len(left) / len(rows)), 1), n_leaves - 1)
            at, texts = _edge(columns[c], place, c, edge)
            return CellCut(
                c, at, texts,
                _cut(columns, place, left, n_left),
                _cut(columns, place, rows[place[rows, c] > edge], n_leaves - n_left),
            )  # fmt: skip
    return CellCut()


def _edge(column: CodedColumn, place: Floats, c: int, edge: float) -> tuple[float, tuple[str, ...] | None]:
    """Return a cut as later views can read it, whose scales differ: a number, or the texts that go left."""
    codes = np.unique(column.codes[place[:, c] <= edge])
    if column.scale.form == "interval":
        return float(np.nanmax(column.scale.positions[codes])), None
    return 0.0, tuple(str(column.scale.texts[int(code)].as_py()) for code in codes)


def _written(tree: CellCut) -> Any:
    if tree.left is None or tree.right is None:
        return None
    return [tree.column, tree.at, tree.texts, _written(tree.left), _written(tree.right)]


def _read(found: Any) -> CellCut:
    if found is None:
        return CellCut()
    texts = None if found[2] is None else tuple(found[2])
    return CellCut(int(found[0]), float(found[1]), texts, _read(found[3]), _read(found[4]))
