"""Tables of counts that fit what groups say, walked through at random: how many people of each cell hold each value."""

from __future__ import annotations

from typing import NamedTuple

from seriatim.kernels.arrays import Flags, Floats, Longs, kernel, leaf


class Moves(NamedTuple):
    """Combinations of cells that no group notices; those of move i are ``cell[ptr[i]:ptr[i + 1]]``, with steps."""

    ptr: Longs
    cell: Longs
    step: Longs


class DrawnMoves(NamedTuple):
    """What chance says about every step of the walk: three moves, each with two values, of which some are made."""

    moves: Longs
    """(steps, 3)"""
    values: Longs
    """(steps, 6): the value that gains and the value that loses, three times"""
    made: Longs
    """How many of the three moves are made, together or not at all."""
    log_chance: Floats


class Weights(NamedTuple):
    """What tables weigh: the logarithms of factorials, and of the share of every value."""

    factorial: Floats
    share: Floats


@leaf
def _log_factorial(count: int, weights: Weights) -> float:
    """Return 0 below 0: what is passed on the way cancels out, and where a walk ends below 0 it is not taken."""
    return weights.factorial[count] if count > 0 else 0.0


@leaf
def _make_move(counts: Longs, moves: Moves, move: int, values: Longs, sign: int, weights: Weights) -> float:
    """Return how much more the table weighs, as a logarithm, once a move is made; change ``counts`` in place.

    One value gains along the move what another loses.
    """
    gains, loses = values[0], values[1]
    gain, total = 0.0, 0
    for at in range(moves.ptr[move], moves.ptr[move + 1]):
        cell, step = moves.cell[at], sign * moves.step[at]
        # a table weighs as many ways as its people can be dealt: counts stand below, as factorials
        gain += _log_factorial(counts[cell, gains], weights) + _log_factorial(counts[cell, loses], weights)
        counts[cell, gains] += step
        counts[cell, loses] -= step
        gain -= _log_factorial(counts[cell, gains], weights) + _log_factorial(counts[cell, loses], weights)
        total += step
    return float(gain + total * (weights.share[gains] - weights.share[loses]))


@leaf
def _below_zero(counts: Longs, moves: Moves, move: int, values: Longs) -> bool:
    """Return whether a move left a cell with fewer than nobody."""
    for at in range(moves.ptr[move], moves.ptr[move + 1]):
        cell = moves.cell[at]
        if counts[cell, values[0]] < 0 or counts[cell, values[1]] < 0:
            return True
    return False


@kernel
def random_walk(
    counts: Longs, moves: Moves, drawn: DrawnMoves, weights: Weights, counted: Flags, total: Floats
) -> None:
    """Change ``counts`` in place along a walk through the tables that fit; add those that are counted to ``total``.

    A step makes one to three moves, together or not at all: some tables are reached only through others that would
    have fewer than nobody in a cell. Each table is passed as often as it weighs.
    """
    for step in range(len(drawn.made)):
        gain, fits = 0.0, True
        for one in range(drawn.made[step]):
            pair = drawn.values[step, 2 * one : 2 * one + 2]
            gain += _make_move(counts, moves, drawn.moves[step, one], pair, 1, weights)
        for one in range(drawn.made[step]):
            pair = drawn.values[step, 2 * one : 2 * one + 2]
            # asked after all of them: on the way a cell may lack people that the next move brings
            fits = fits and not _below_zero(counts, moves, drawn.moves[step, one], pair)
        # taken as often as the new table weighs against the old one; else all is undone
        if not fits or drawn.log_chance[step] >= gain:
            for one in range(drawn.made[step]):
                pair = drawn.values[step, 2 * one : 2 * one + 2]
                _make_move(counts, moves, drawn.moves[step, one], pair, -1, weights)
        # the first steps only lead away from where the walk began
        if counted[step]:
            for cell in range(counts.shape[0]):
                for value in range(counts.shape[1]):
                    total[cell, value] += counts[cell, value]
