"""Full-domain generalisation: every column at one height of its hierarchy, failing classes suppressed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seriatim.defences.labels import LabelPieces, range_texts
from seriatim.defences.single.draft import draft_of
from seriatim.defences.single.lattice.nodes import (
    Heights,
    Lattice,
    LossKind,
    all_heights,
    finest_node_classes,
    width_prices,
)
from seriatim.defences.single.lattice.optimum import AllowedNode, NodeDemand, NodeSearch, find_best
from seriatim.defences.single.trim import class_tests, only_those, publishable_records
from seriatim.errors import Fault, PolicyError
from seriatim.kernels.single.acceptance import ENTROPY_LEAKAGE, L_DISTINCT, L_ENTROPY, L_RECURSIVE, ClassTests
from seriatim.kernels.single.rollup import (
    ClassBars,
    NodeClasses,
    count_values,
    join_classes,
    judge_node,
    numbered_alike,
)
from seriatim.model import TOP, CodedColumn, Draft, Generalised, Policy, Scale, SeriesState, View
from seriatim.model.chance import secret_chance
from seriatim.ports import Workers

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SearchTask:
    """The records that a lattice is searched for, and the tests they must pass."""

    quasi: tuple[CodedColumn, ...]
    sensitive: tuple[CodedColumn, ...]
    lattice: Lattice
    demand: NodeDemand
    finest: NodeClasses
    class_of_record: npt.NDArray[np.int32]


def lattice(view: View, policy: Policy, state: SeriesState, workers: Workers) -> Draft:
    """Publish the node with the least loss among those that suppress no more than allowed (proof: ``optimum``).

    If no node is allowed, values too frequent for any class are trimmed as in the other methods, and the search is
    repeated. If there is still none, everything is published as ``*``, and the verdict says which promise is broken.
    """
    assert state.secret is not None
    assert policy.defence is not None
    number = state.n_releases + 1
    keep = ~view.suppressed
    task, found = _searched(view, policy, keep, workers)
    if found is None:
        trimmed = publishable_records(
            view.sensitive, policy, view.suppressed, secret_chance(state.secret, number, "trim")
        )
        if (trimmed != keep).any():
            keep = trimmed
            task, found = _searched(view, policy, keep, workers)
    rows = np.flatnonzero(keep)
    heights = found.heights if found else np.array(task.lattice.shape, dtype=np.int64) - 1
    pieces = published_pieces(task, heights, rows, everything=found is None)
    codes = [column.codes[pieces.order[pieces.bounds[:-1]]] for column in view.quasi]
    labelled = tuple(
        _labels_at(column, int(height), code) for column, height, code in zip(view.quasi, heights, codes, strict=True)
    )
    return draft_of(view, pieces, secret_chance(state.secret, number, "shuffle"), workers, labelled)


def _searched(
    view: View, policy: Policy, keep: npt.NDArray[np.bool_], workers: Workers
) -> tuple[SearchTask, AllowedNode | None]:
    task = search_task(view, policy, keep)
    return task, find_best(NodeSearch(task.lattice, task.finest, task.demand, workers))


def search_task(view: View, policy: Policy, keep: npt.NDArray[np.bool_]) -> SearchTask:
    """Return the task for the records in ``keep``; records withheld before count against the budget."""
    assert policy.defence is not None
    allowed = math.floor(policy.defence.allowed * len(view) + 1e-9)
    budget = allowed - int((~keep).sum())
    rows = None if keep.all() else np.flatnonzero(keep)
    quasi, sensitive = _taken(view.quasi, rows), _taken(view.sensitive, rows)
    tests = class_tests(sensitive, policy.terms.per_column)
    sensitive = sensitive if len(tests.kinds) else ()
    bars = pruning_bars(tests if len(tests.kinds) else class_tests((), {}), policy.terms.least_people, budget)
    loss = loss_named(policy.defence.options.loss)
    whole = all_heights(quasi, loss)
    finest, ids = finest_node_classes(quasi, whole)
    if sensitive:
        finest = _with_values(finest, ids, sensitive, tests)
    return SearchTask(
        quasi=quasi,
        sensitive=sensitive,
        lattice=whole,
        demand=NodeDemand(bars, loss, int(keep.sum())),
        finest=finest,
        class_of_record=ids,
    )


def loss_named(name: str | None) -> LossKind:
    """Return the loss that ``[defence] loss`` names; NCP by default."""
    if name is None:
        return LossKind.NCP
    if name not in set(LossKind):
        raise PolicyError(Fault("[defence] loss", "an unknown loss", ", ".join(LossKind), "choose one"))
    return LossKind(name)


def pruning_bars(tests: ClassTests, k: int, budget: int) -> ClassBars:
    """Return which tests may prune: those that last as a class grows; without a budget, all that survive a union."""
    lasts = tests.kinds == L_DISTINCT if budget > 0 else tests.kinds != ENTROPY_LEAKAGE
    implied = (tests.kinds == L_ENTROPY) | (tests.kinds == L_RECURSIVE)
    lasting, weaker = only_those(tests, lasts), only_those(tests, implied)
    # entropy and recursive l need at least l values in any case, and that lasts
    return ClassBars(
        k,
        budget,
        lasting._replace(
            kinds=np.append(lasting.kinds, np.full(int(implied.sum()), L_DISTINCT)),
            columns=np.append(lasting.columns, weaker.columns),
            limits=np.append(lasting.limits, np.ceil(weaker.limits - 1e-9)),
            seconds=np.append(lasting.seconds, weaker.seconds),
        ),
        only_those(tests, ~lasts),
    )


def published_pieces(task: SearchTask, heights: Heights, rows: Rows, everything: bool = False) -> LabelPieces:
    """Return the published classes of a node as pieces of an order of ``rows``."""
    ids = np.empty(len(task.finest.sizes), dtype=np.int32)
    node = task.lattice.node(heights)
    n_ids = numbered_alike(task.finest.codes, task.lattice.lookups, node, ids)
    classes = join_classes(task.finest, ids, n_ids, int(task.demand.bars.other.offsets[-1]))
    kept = np.empty(n_ids, dtype=np.int8)
    judge_node(classes, task.lattice.lookups, node, task.demand.bars, kept)
    published = np.full(n_ids, True) if everything else kept == 2
    number = np.where(published, np.cumsum(published) - 1, -1)
    of_record = number[ids[task.class_of_record]] if len(rows) else np.zeros(0, dtype=np.int64)
    inside = np.flatnonzero(of_record >= 0)
    order = inside[np.argsort(of_record[inside], kind="stable")]
    bounds = np.concatenate(([0], np.cumsum(np.bincount(of_record[inside], minlength=int(published.sum())))))
    return LabelPieces(rows[order], bounds.astype(np.int64))


def _labels_at(column: CodedColumn, height: int, codes: npt.NDArray[np.int32]) -> Generalised:
    """Return the labels of groups at one height of the hierarchy, given a code of each."""
    scale = column.scale
    if not len(codes):
        return Generalised(
            column.name, scale.form, label_of_group=np.zeros(0, dtype=np.int32), labels=(), loss_of_group=np.zeros(0)
        )
    low, high = scale.starts[height][codes], (scale.ends[height][codes] - 1).astype(np.int32)
    if scale.form == "interval":
        return range_texts(column.name, scale, low, high)
    firsts, which = np.unique(low, return_inverse=True)
    labels = tuple(_label(scale, height, int(first)) for first in firsts)
    loss = width_prices(scale)[height][low]
    return Generalised(
        column.name,
        scale.form,
        label_of_group=which.astype(np.int32),
        labels=labels,
        loss_of_group=loss,
        low=low,
        high=high,
    )


def _label(scale: Scale, height: int, start: int) -> str | None:
    if height == 0 or (scale.form == "set" and scale.ends[height][start] == start + 1):
        return scale.texts[start].as_py()  # type: ignore[no-any-return]
    return scale.node_labels[height - 1][start] if scale.form == "node" else TOP


def _with_values(
    finest: NodeClasses, ids: npt.NDArray[np.int32], sensitive: Sequence[CodedColumn], tests: ClassTests
) -> NodeClasses:
    values = np.stack([column.codes + np.int32(at) for column, at in zip(sensitive, tests.offsets, strict=False)])
    return NodeClasses(
        finest.codes, finest.sizes, *count_values(ids, len(finest.sizes), values, int(tests.offsets[-1]))
    )


def _taken(columns: tuple[CodedColumn, ...], rows: Rows | None) -> tuple[CodedColumn, ...]:
    return columns if rows is None else tuple(CodedColumn(c.name, c.codes[rows], c.scale) for c in columns)
