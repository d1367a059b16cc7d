"""Why records wait, for the officer only: which target, which test, and what would free it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from seriatim_gate.engine.inputs import LongArray
from seriatim_gate.engine.results import results
from seriatim_gate.engine.rules import Rules

_MOST = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class StarvedCell:
    """One cell whose records wait. ``helper`` records of value ``helper_value`` at the same target would free one."""

    value: int
    target: int
    n_waiting: int
    tests: tuple[str, ...]
    helper_value: int | None = None
    helpers: int = 0

    def __str__(self) -> str:
        """Return a sentence that counts targets and values from 1, as pages do."""
        what = f"target {self.target + 1}: {self.n_waiting} records of value {self.value + 1} wait"
        if not self.helpers or self.helper_value is None:
            return f"{what} ({', '.join(self.tests)})"
        more = "1 more record" if self.helpers == 1 else f"{self.helpers} more records"
        return f"{what} ({', '.join(self.tests)}); {more} of value {self.helper_value + 1} would free one"


def starved_cells(counts: LongArray, waiting: LongArray, asked: Rules, most: int = 20) -> tuple[StarvedCell, ...]:
    """Explain the ``most`` largest waiting cells; both tables are |X| x |Y|. Values and targets are places."""
    order = np.argsort(-waiting, axis=None, kind="stable")[:most]
    cells = [(int(x), int(y)) for x, y in zip(*np.unravel_index(order, waiting.shape), strict=True)]
    return tuple(_explain(counts, int(waiting[x, y]), asked, x, y) for x, y in cells if waiting[x, y] > 0)


def starved_targets(counts: LongArray, waiting: LongArray, asked: Rules, most: int = 10) -> tuple[int, ...]:
    """Return the targets at which records wait and no record of any value could leave now: a deadlock.

    Tests that release sets are not judged record by record, so none of their targets is returned.
    """
    if asked.joint or "wdt" in asked.tests:
        return ()
    held = waiting.sum(axis=0)
    largest = [int(y) for y in np.argsort(-held, kind="stable")[:most] if held[y]]
    return tuple(y for y in largest if not any(_may_leave(counts, asked, int(x), y) for x in np.flatnonzero(asked.p)))


def _may_leave(counts: LongArray, asked: Rules, x: int, y: int) -> bool:
    tried, rules, y = _alone(counts, asked, y)
    tried[x, y] += 1
    return all(each.safe for each in results(tried, rules))


def _alone(counts: LongArray, asked: Rules, y: int) -> tuple[LongArray, Rules, int]:
    """Return a copy of the counts that the tests need to judge one target, the rules, and the target's place there."""
    if set(asked.tests) <= {"kld", "cst", "wdt"}:  # these judge every target on its own
        return counts[:, [y]], replace(asked, n_targets=1), 0
    return counts.copy(), asked, y


def _explain(counts: LongArray, n_waiting: int, asked: Rules, x: int, target: int) -> StarvedCell:
    one_more, asked, y = _alone(counts, asked, target)
    one_more[x, y] += 1
    tests = tuple(each.test for each in results(one_more, asked) if not each.safe)
    best: tuple[int, int] | None = None
    for other in np.flatnonzero(asked.p > 0):
        step = 1
        while step <= (_MOST if best is None else best[0] - 1):
            tried = one_more.copy()
            tried[other, y] += step
            if other != x and all(each.safe for each in results(tried, asked)):
                best = (step, int(other))
                break
            step = step + max(1, step // 4)
    value, helpers = (best[1], best[0]) if best else (None, 0)
    return StarvedCell(value=x, target=target, n_waiting=n_waiting, tests=tests, helper_value=value, helpers=helpers)
