"""The kernels' arrays of a gate that has answered nothing, made from its rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seriatim_gate.engine.inputs import MERGES, TESTS, FloatArray
from seriatim_gate.engine.limits import beyond_table, dixon_limits, in_nats, without_ties
from seriatim_gate.engine.rules import Rules
from seriatim_gate.kernels.board import CELL, DEPENDENCY, TARGET, WORK, Board, Rows
from seriatim_gate.kernels.lines import BLOCKS, LINE, NOTHING, RELEASE, REQUEST, SETS, WHOLE, Queue

_LINES = 64


def open_board(rules: Sequence[Rules], most: int) -> Board:
    """Return boards on which nothing has left, for up to ``most`` records of one target."""
    widths, heights = [len(one.p) for one in rules], [one.n_targets for one in rules]
    n_cells = int(np.dot(widths, heights))
    board = Board(
        dependencies=rows(DEPENDENCY, len(rules)),
        targets=rows(TARGET, sum(heights)),
        cells=rows(CELL, n_cells),
        ranked=np.zeros(sum(heights) + len(rules)),
        limits=np.empty(0),
        n_log_n=n_log_n(most),
        work=rows(WORK, max(widths)),
    )
    board.targets["distance"], board.targets["least"] = np.nan, np.inf
    board.cells["first_line"] = np.arange(n_cells) if len(rules) == 1 else -1
    limits: list[FloatArray] = []
    target = cell = 0
    for at, (one, width, height) in enumerate(zip(rules, widths, heights, strict=True)):
        own, size = board.dependencies[at], width * height
        own.width, own.height, own.first_target, own.first_ranked = width, height, target, target + at
        own.tests, own.merge = sum(1 << TESTS.index(name) for name in one.tests), MERGES.index(one.merge)
        own.by_pearson = one.distance == "pearson"
        _set_limits(own, one, limits)  # all limits lie in one array, since kernels take few
        targets, cells = board.targets[target : target + height], board.cells[cell : cell + size]
        targets["dependency"], targets["first_cell"] = at, cell + width * np.arange(height)
        cells["target"] = target + np.arange(size) // width
        with np.errstate(divide="ignore"):
            given = {"share": one.p, "inverse": np.where(one.p > 0, 1 / one.p, 0.0)}
            given["log_p"] = np.where(one.p > 0, np.log(one.p), 0.0)
        for name, values in (given | {"step": -given["log_p"]}).items():
            cells[name] = np.tile(values, height)
        target, cell = target + height, cell + size
    return board._replace(limits=np.concatenate(limits))


def open_queue(rules: Sequence[Rules], board: Board, sets: bool | None, room: int) -> Queue:
    """Return a queue in which nobody waits. ``sets`` says whether sets may leave; None does as the rules say."""
    alone, n_lines = len(rules) == 1, len(board.cells) if len(rules) == 1 else _LINES
    wanted = any(one.joint or "wdt" in one.tests for one in rules) if sets is None else sets
    queue = Queue(
        whole=rows(WHOLE, 1),
        lines=rows(LINE, n_lines),
        line_cells=np.arange(n_lines, dtype=np.int32)[:, None].repeat(len(rules), 1),
        next_line=np.full((n_lines, len(rules)), -1, np.int32),
        requests=rows(REQUEST, room),
        releases=rows(RELEASE, room),
    )
    whole: Any = queue.whole[0]
    whole.alone, whole.keep = alone, all(one.queue for one in rules)
    # one dependency looks for blocks, except where gates decide together: theirs is the search of several
    whole.search = NOTHING if not wanted else BLOCKS if alone and sets is None else SETS
    return queue


def n_log_n(last: int) -> FloatArray:
    """Return n ln n up to a number of records, and of the few more that a verdict asks about."""
    n = np.arange(last + 4, dtype=np.float64)
    found = np.zeros(len(n))
    np.log(n[1:], out=found[1:])
    found *= n
    return found


def rows(kind: np.dtype[np.void], n: int) -> Rows:
    """Return so many records whose fields are zero."""
    return np.zeros(n, kind).view(np.recarray)


def _set_limits(own: Any, one: Rules, limits: list[FloatArray]) -> None:
    """Write where a dependency's limits begin into its record, and those beyond simulated ones; 0 without a test."""
    free, first = len(one.p) - 1, sum(map(len, limits))
    for name, freedom in (("mis", free * one.n_targets), ("kld", free)):
        table = one.tables.get(name)
        own[f"{name}_limits"], own[f"{name}_length"] = first, 0 if table is None else len(table)
        limits.append(np.empty(0) if table is None else in_nats(table))
        first += len(limits[-1])
        if name in one.tests:
            own[f"{name}_beyond"], own[f"{name}_fading"] = beyond_table(one.chi_square(freedom), table)
    freedoms = range(1, free + 1) if "cst" in one.tests else range(0)
    own.cst_limits, own.dixon_limits = first, first + 2 + len(freedoms)
    limits.append(without_ties(np.array([np.inf, np.inf, *(one.chi_square(each) for each in freedoms)])))
    if "dqt" in one.tests:
        limits.append(without_ties(dixon_limits(one.n_targets, one.alpha)))
    if "wdt" in one.tests:
        own.wdt_limit = float(without_ties(np.array(one.chi_square(1))))
