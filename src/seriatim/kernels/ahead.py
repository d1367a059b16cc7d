"""Compile kernels in another process, before a command needs them.

The first command on a machine waits for the compiler, which works on one core. What such a command needs last is
compiled here meanwhile, on another core, and found in the cache when its time comes. Every kernel is called once on
next to nothing: what counts are the types, and those must be the ones that the command will call with.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from seriatim.kernels.arrays import Flags, Floats, Ints, Longs, Words


def _ints(*shape: int) -> Ints:
    return np.zeros(shape, dtype=np.int32)


def _longs(*shape: int) -> Longs:
    return np.zeros(shape, dtype=np.int64)


def accepting_ahead() -> None:
    """Compile what says whether a class passes: every method for one release calls it."""
    from seriatim.kernels.single.acceptance import Tests, class_acceptance

    none, figures = _longs(0), np.zeros(0)
    tests = Tests(none, none, figures, figures, _longs(1), none, _ints(0), _longs(1), none, none, figures)
    class_acceptance(tests, none, 0, np.zeros(2))


def judging_ahead() -> None:
    """Compile what judges a draft: classes, diversity, closeness and query error."""
    from seriatim.kernels.check.box_counts import count_inside, estimate_box_counts
    from seriatim.kernels.check.classes import fold_class_keys, number_classes_direct, rows_by_class
    from seriatim.kernels.check.diversity import diversity_of_classes, diversity_total_variation

    weights: Floats = np.zeros(1)
    estimate_box_counts(_ints(1, 1), _ints(1, 1), weights, _ints(1), _ints(1), _ints(1))
    count_inside(_ints(1, 1), _ints(1), _ints(1), _ints(1))
    diversity_total_variation(_longs(1), _ints(1), weights)
    diversity_of_classes(_longs(1), _ints(1), 1)
    rows_by_class(_ints(1), 1)
    number_classes_direct(_longs(1), 1)
    fold_class_keys(_longs(1), _ints(1), 1)


def figures_ahead() -> None:
    """Compile the figures of an audit."""
    from seriatim.kernels.check.class_figures import class_figures

    class_figures(_longs(1), _ints(1), _ints(1), _longs(1), np.ones(1), 2)


def twins_ahead() -> None:
    """Compile what an attack ends with: linear combinations of groups."""
    from seriatim.kernels.deduce.nullspace import Matrix, peel_nullspace, solve_dense_nullspace, substitute_in_nullspace

    gone: Flags = np.zeros(0, dtype=np.bool_)
    matrix = Matrix(_longs(1), _ints(0), _longs(1), _ints(0))
    solve_dense_nullspace(_longs(1, 1), _longs(1, 1))
    substitute_in_nullspace(matrix, _ints(0), _ints(0), _longs(1, 1))
    peel_nullspace(matrix, gone, gone.copy())


def narrowing_ahead() -> None:
    """Compile the heart of an attack: candidates narrowed to the fixed point."""
    from seriatim.kernels.deduce.board import Board, Links
    from seriatim.kernels.deduce.fixed_point import narrow_to_fixed_point

    begin, none = _longs(1), _ints(0)
    plain: Flags = np.zeros(0, dtype=np.bool_)
    words: Words = np.zeros((0, 1), dtype=np.uint64)
    board = Board(begin, none, begin, none, begin, none, none, none, plain, begin, none)
    narrow_to_fixed_point(board, Links(none, none, words, words), words, none, False)


STEPS: dict[str, Callable[[], None]] = {
    "accepting": accepting_ahead,
    "judging": judging_ahead,
    "figures": figures_ahead,
    "twins": twins_ahead,
    "narrowing": narrowing_ahead,
}

if __name__ == "__main__":
    for step in sys.argv[1:]:
        STEPS[step]()
