"""Compile kernels in other processes, before a command needs them.

The first command on a machine waits for the compiler, which works on one core. What such a command needs later is
compiled here meanwhile, on another core, and found in the cache when its time comes. Every kernel is called once on
next to nothing: what counts are the types, and those must be the ones that the command will call with. A kernel that
takes longest calls others that are kept too: both are compiled side by side, and the longer one waits for the shorter.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from seriatim.kernels.arrays import Flags, Floats, Ints, Longs, Words

if TYPE_CHECKING:
    from seriatim.kernels.deduce.board import Board
    from seriatim.kernels.single.acceptance import ClassTests


def _ints(*shape: int) -> Ints:
    return np.zeros(shape, dtype=np.int32)


def _longs(*shape: int) -> Longs:
    return np.zeros(shape, dtype=np.int64)


def _no_tests() -> ClassTests:
    from seriatim.kernels.single.acceptance import ClassTests

    none, figures = _longs(0), np.zeros(0)
    return ClassTests(none, none, figures, figures, _longs(1), none, _ints(0), _longs(1), none, none)


def compile_acceptance() -> None:
    """Compile what says whether a class passes: every method for one release calls it."""
    from seriatim.kernels.single.acceptance import passes_tests

    passes_tests(_no_tests(), _longs(0), 0, np.zeros(2))


def compile_cuts() -> None:
    """Compile the cuts at medians, which call what says whether a class passes."""
    from seriatim.kernels.single.median import ColumnScales, CutRules, RowWords, cut_rows

    words: Words = np.zeros((2, 0, 1), dtype=np.uint64)
    rows = RowWords(words.view(np.uint8), words.view(np.int32), words, 0, 0)
    trees = ColumnScales(_ints(0), _ints(0), _longs(0, 3), np.zeros(0), np.zeros(0))
    cut_rows(rows, (0, 0), trees, CutRules(1, False, 0), _no_tests())


def compile_judging() -> None:
    """Compile what judges a draft: classes, their values, and query error."""
    from seriatim.kernels.check.box_counts import count_inside, expected_inside, fit_box
    from seriatim.kernels.check.classes import fold_class_keys, number_directly, rows_by_class, value_counts_by_class

    weights: Floats = np.zeros(1)
    expected_inside(_ints(1, 1), _ints(1, 1), weights, _ints(1), _ints(1), _ints(1))
    count_inside(_ints(1, 1), _ints(1), _ints(1), _ints(1))
    fit_box(_ints(1, 1), np.ones(1, dtype=np.int64), _ints(1), _ints(1), np.zeros(1), 1.0)
    value_counts_by_class(_ints(1), 1, _ints(1), 1)
    rows_by_class(_ints(1), 1)
    number_directly(_longs(1), 1)
    fold_class_keys(_longs(1), _ints(1), 1)


def compile_figures() -> None:
    """Compile the figures of classes: promises, charts and an audit ask for them."""
    from seriatim.kernels.check.class_figures import class_figures

    class_figures(_longs(1), _ints(1), _ints(1), _longs(1), np.ones(1), 2)


def compile_narrowing() -> None:
    """Compile the heart of an attack: candidates narrowed to the fixed point."""
    from seriatim.kernels.deduce.board import EpisodeLinks
    from seriatim.kernels.deduce.fixed_point import narrow_fully

    none, words = _ints(0), _candidates()
    narrow_fully(_empty_board(), EpisodeLinks(none, none, words, words), words, none, False)


def compile_conclusions() -> None:
    """Compile what the heart of an attack calls: what two groups say about their people."""
    from seriatim.kernels.deduce.board import PairScratch
    from seriatim.kernels.deduce.conclusions import compare_groups

    none, counts, words = _ints(1), _ints(3, 64), _candidates()
    desk = PairScratch(none, none, np.zeros(1, dtype=np.bool_), words, counts, counts, counts, counts, _ints(64))
    board = _empty_board()._replace(mem_ptr=_longs(2), sig_ptr=_longs(2))
    compare_groups(board, 0, -1, words, desk)


def compile_twins() -> None:
    """Compile what an attack ends with: one round by each rule alone, and linear combinations of groups."""
    from seriatim.kernels.deduce.nullspace import SparseMatrix, peel_lone_columns, solve_dense, substitute_peeled
    from seriatim.kernels.deduce.one_round import alike_overlaps, narrow_by_compromised, narrow_by_correlations

    alike_overlaps(_empty_board(), _longs(1), _ints(0))
    narrow_by_correlations(_empty_board(), _longs(1), _ints(0), _candidates())
    narrow_by_compromised(_empty_board(), _candidates())
    gone: Flags = np.zeros(0, dtype=np.bool_)
    matrix = SparseMatrix(_longs(1), _ints(0), _longs(1), _ints(0))
    solve_dense(_longs(1, 1), _longs(1, 1))
    substitute_peeled(matrix, _ints(0), _ints(0), _longs(1, 1))
    peel_lone_columns(matrix, gone, gone.copy())


def _empty_board() -> Board:
    from seriatim.kernels.deduce.board import Board

    begin, none = _longs(1), _ints(0)
    plain: Flags = np.zeros(0, dtype=np.bool_)
    return Board(begin, none, begin, none, begin, none, none, none, plain, begin, none)


def _candidates() -> Words:
    return np.zeros((0, 1), dtype=np.uint64)


STEPS: dict[str, Callable[[], None]] = {
    "cutting": compile_cuts,
    "accepting": compile_acceptance,
    "judging": compile_judging,
    "figures": compile_figures,
    "narrowing": compile_narrowing,
    "conclusions": compile_conclusions,
    "twins": compile_twins,
}

if __name__ == "__main__":
    for step in sys.argv[1:]:
        STEPS[step]()
