"""What a gate knows of what left, as records: its dependencies, their targets, and the cells of each target.

A record of the table falls into one cell per dependency: a value of X at a target, which is a value of Y. All
dependencies lie in the same arrays, one after another, so that one kernel serves any number of them; a target or a cell
is known by its place there. f(n) = n ln n throughout. The exposure of a target with N records, c of them in the cell of
a value of share p, is sum f(c) - f(N) - sum c ln p: half the G statistic.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from seriatim.kernels.arrays import Floats

Rows = np.recarray[Any, Any]
"""An array of records: ``rows[i].name``. A row is a view, so writing to its field writes to the array."""
MIS, KLD, CST, DQT, WDT = 1, 2, 4, 8, 16
COUPLED = MIS | DQT
"""Tests in which a release at one target changes what is safe at another."""


def row_type(floats: str, longs: str, ints: str = "") -> np.dtype[np.void]:
    """Return a type of records with fields of these names."""
    fields = [(name, kind) for names, kind in ((floats, "f8"), (longs, "i8"), (ints, "i4")) for name in names.split()]
    return np.dtype(fields, align=True)


DEPENDENCY = row_type(
    # half a chi-square value, and its correction that fades as 1/n; then figures of all targets together
    "mis_beyond mis_fading kld_beyond kld_fading wdt_limit all_exposure mis_room",
    # where its limits begin and how many are simulated; where its own rows begin in the other arrays
    "tests merge by_pearson mis_limits mis_length kld_limits kld_length cst_limits dixon_limits"
    " width height first_target first_ranked all_released n_ranked all_differ",
)
TARGET = row_type(
    # one more record is safe by KLD where its ``step`` is below ``room``; ``least`` is the smallest of waiting cells
    "exposure step square room merged_square distance least",
    # ``stuck``: waiting records changed since a set was looked for. Bits: which cells start a merged one, which of them
    # stay alone; ``slack`` is how much merged cells may grow until cells merge in another way
    "dependency first_cell total n_busy stuck oldest merged_cells mask slack loners",
)
CELL = row_type(
    # of its value: share, 1 / share (0 where there is none) and ln share. ``step`` is what one more record adds:
    # f(c + 1) - f(c) - ln p. The squares of a merged cell stand at its first cell
    "share inverse log_p own step merged_own merged_step",
    # ``mask``, ``parts`` and ``slack``: how cells merge once one more record of this one has left (mask 0: to be found)
    "mask slack",
    # ``busy`` of a target's first cells lists its waiting cells, ``spot`` says where one stands there
    "count waiting extra target parts busy spot safe first_line",
)
WORK = row_type("", "held end before extra")


class Board(NamedTuple):
    """What has left, and what the tests need of it."""

    dependencies: Rows
    targets: Rows
    cells: Rows
    """Target by target, in each the values of X in their order."""
    ranked: Floats
    """The distances of each dependency's targets in rising order, for Dixon's test."""
    limits: Floats
    """Critical values of each dependency, the margin for ties taken off."""
    n_log_n: Floats
    work: Rows
    """Scratch space, a row per value of X."""
