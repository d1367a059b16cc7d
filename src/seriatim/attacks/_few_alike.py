"""A few alike: worlds in which some of a part's people differ from the truth, a few of those who are interchangeable.

Where one of the interchangeable people can hold another value, each of them can: a few of each class are enough to
clear it, and a solver decides a part of so few people within milliseconds. One world clears everyone who differs in it.
Nothing is proved about the others (:mod:`~seriatim.attacks._solver_answers`): a world may need more of those alike.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from seriatim.attacks._connected_parts import LITERALS, PROPAGATIONS, ConnectedParts
from seriatim.kernels.arrays import Flags

MOST_LITERALS = 100_000
"""Larger parts are not asked."""
TIMES = 8.0
"""Steps of the solver for one class, in literals of its part."""
FAILURES = 4
"""After this many undecided classes in a row, no more is asked about a part."""


def clear_by_few_alike(parts: ConnectedParts, cleared: Flags, work: float) -> tuple[Flags, Flags, float]:
    """Return the cleared classes, those that a few cannot clear, and the work it took."""
    found, closed, spent = cleared.copy(), np.zeros(len(cleared), dtype=np.bool_), 0.0
    failed = Counter[int]()
    for one in np.flatnonzero(parts.worlds.pure & ~cleared).tolist():
        number = int(parts.part_of[one])
        if found[one] or failed[number] >= FAILURES or spent >= work:
            continue
        part, fresh = parts.few(one)
        if part.n_literals > MOST_LITERALS:
            failed[number] = FAILURES
            continue
        spent += part.n_literals / LITERALS if fresh else 0.0
        said, took = part.differing(one, TIMES * part.n_literals / PROPAGATIONS)
        spent += took
        failed[number] = failed[number] + 1 if said is None else 0
        closed[one] = said is False
        if isinstance(said, np.ndarray):
            found[said] = True
    return found, closed, spent
