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
    from seriatim.kernels.single.acceptance import AcceptanceTests


def _ints(*shape: int) -> Ints:
    return np.zeros(shape, dtype=np.int32)


def _longs(*shape: int) -> Longs:
    return np.zeros(shape, dtype=np.int64)


def _no_tests() -> AcceptanceTests:
    from seriatim.kernels.single.acceptance import AcceptanceTests

    none, figures = _longs(0), np.zeros(0)
    return AcceptanceTests(none, none, figures, figures, _longs(1), none, _ints(0), _longs(1), none, none)


def accepting_ahead() -> None:
    """Compile what says whether a class passes: every method for one release calls it."""
    from seriatim.kernels.single.acceptance import class_acceptance

    class_acceptance(_no_tests(), _longs(0), 0, np.zeros(2))


def cutting_ahead() -> None:
    """Compile the cuts at medians, which call what says whether a class passes."""
    from seriatim.kernels.single.median import MedianRows, MedianRules, MedianScales, cut_by_median

    words: Words = np.zeros((2, 0, 1), dtype=np.uint64)
    rows = MedianRows(words.view(np.uint8), words.view(np.int32), words, 0, 0)
    trees = MedianScales(_ints(0), _ints(0), _longs(0, 3), np.zeros(0), np.zeros(0))
    cut_by_median(rows, (0, 0), trees, MedianRules(1, False, 0), _no_tests())


def judging_ahead() -> None:
    """Compile what judges a draft: classes, their values, and query error."""
    from seriatim.kernels.check.box_counts import count_inside, estimate_box_counts, fit_box
    from seriatim.kernels.check.classes import fold_class_keys, number_classes_direct, rows_by_class
    from seriatim.kernels.check.value_counts import value_counts_by_class

    weights: Floats = np.zeros(1)
    estimate_box_counts(_ints(1, 1), _ints(1, 1), weights, _ints(1), _ints(1), _ints(1))
    count_inside(_ints(1, 1), _ints(1), _ints(1), _ints(1))
    fit_box(_ints(1, 1), np.ones(1, dtype=np.int64), _ints(1), _ints(1), np.zeros(1), 1.0)
    value_counts_by_class(_ints(1), 1, _ints(1), 1)
    rows_by_class(_ints(1), 1)
    number_classes_direct(_longs(1), 1)
    fold_class_keys(_longs(1), _ints(1), 1)


def figures_ahead() -> None:
    """Compile the figures of classes: promises, charts and an audit ask for them."""
    from seriatim.kernels.check.class_figures import class_figures

    class_figures(_longs(1), _ints(1), _ints(1), _longs(1), np.ones(1), 2)


def narrowing_ahead() -> None:
    """Compile the heart of an attack: candidates narrowed to the fixed point."""
    from seriatim.kernels.deduce.board import BoardLinks
    from seriatim.kernels.deduce.fixed_point import narrow_to_fixed_point

    none, words = _ints(0), _candidates()
    narrow_to_fixed_point(_empty_board(), BoardLinks(none, none, words, words), words, none, False)


def conclusions_ahead() -> None:
    """Compile what the heart of an attack calls: what two groups say about their people."""
    from seriatim.kernels.deduce.board import BoardScratch
    from seriatim.kernels.deduce.conclusions import look_for_conclusions

    none, counts, words = _ints(1), _ints(3, 64), _candidates()
    desk = BoardScratch(none, none, np.zeros(1, dtype=np.bool_), words, counts, counts, counts, counts, _ints(64))
    board = _empty_board()._replace(mem_ptr=_longs(2), sig_ptr=_longs(2))
    look_for_conclusions(board, 0, -1, words, desk)


def twins_ahead() -> None:
    """Compile what an attack ends with: one round by each rule alone, and linear combinations of groups."""
    from seriatim.kernels.deduce.nullspace import (
        NullspaceMatrix,
        peel_nullspace,
        solve_dense_nullspace,
        substitute_in_nullspace,
    )
    from seriatim.kernels.deduce.one_round import alike_overlaps, one_round_by_compromised, one_round_by_correlations

    alike_overlaps(_empty_board(), _longs(1), _ints(0))
    one_round_by_correlations(_empty_board(), _longs(1), _ints(0), _candidates())
    one_round_by_compromised(_empty_board(), _candidates())
    gone: Flags = np.zeros(0, dtype=np.bool_)
    matrix = NullspaceMatrix(_longs(1), _ints(0), _longs(1), _ints(0))
    solve_dense_nullspace(_longs(1, 1), _longs(1, 1))
    substitute_in_nullspace(matrix, _ints(0), _ints(0), _longs(1, 1))
    peel_nullspace(matrix, gone, gone.copy())


def _empty_board() -> Board:
    from seriatim.kernels.deduce.board import Board

    begin, none = _longs(1), _ints(0)
    plain: Flags = np.zeros(0, dtype=np.bool_)
    return Board(begin, none, begin, none, begin, none, none, none, plain, begin, none)


def _candidates() -> Words:
    return np.zeros((0, 1), dtype=np.uint64)


STEPS: dict[str, Callable[[], None]] = {
    "cutting": cutting_ahead,
    "accepting": accepting_ahead,
    "judging": judging_ahead,
    "figures": figures_ahead,
    "narrowing": narrowing_ahead,
    "conclusions": conclusions_ahead,
    "twins": twins_ahead,
}

if __name__ == "__main__":
    for step in sys.argv[1:]:
        STEPS[step]()
