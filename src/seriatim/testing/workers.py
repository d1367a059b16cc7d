"""What everyone relies on in ``ports.Workers``."""

from __future__ import annotations

from threading import Barrier, BrokenBarrierError
from time import sleep

from seriatim.ports import Workers
from seriatim.testing.clauses import ContractBroken, check_contract, require_clause

_PATIENCE = 60.0
_MANY = 40


def check_workers(workers: Workers) -> None:
    """Raise ``ContractBroken`` with a line for each clause that ``workers`` break."""
    check_contract(WORKERS_CONTRACT, lambda: workers)


def _there_is_a_worker(workers: Workers) -> None:
    """The count of workers is 1 or more."""
    require_clause(workers.count >= 1, f"a count of {workers.count}")


def _results_stand_in_the_order_of_the_items(workers: Workers) -> None:
    """Results come in the order of the items, even when later items are done first."""

    def slow_first(item: int) -> int:
        sleep(0.002 * max(0, 5 - item))
        return item * item

    made = workers.map(slow_first, range(_MANY))
    require_clause(made == [item * item for item in range(_MANY)], "results in another order")


def _every_item_is_worked_on_once(workers: Workers) -> None:
    """Every item is worked on exactly once, whether items come as a list or one by one, and none make none."""
    seen: list[int] = []
    workers.map(seen.append, (item for item in range(_MANY)))
    require_clause(sorted(seen) == list(range(_MANY)), f"{len(seen)} calls for {_MANY} items")
    require_clause(workers.map(abs, []) == [], "results without items")


def _an_error_reaches_the_caller(workers: Workers) -> None:
    """An error in a piece of work is raised to the caller, and the workers can be used again."""

    def fails_late(item: int) -> int:
        if item == _MANY - 1:
            raise KeyError("the work's own")
        return item

    try:
        workers.map(fails_late, range(_MANY))
    except KeyError:
        pass
    else:
        raise ContractBroken("the error was lost")
    require_clause(workers.map(abs, [-1]) == [1], "no result after an error")


def _workers_work_side_by_side(workers: Workers) -> None:
    """More than one worker means that pieces of work run at the same time."""
    if workers.count == 1:
        return
    meeting = Barrier(2)

    def meet(item: int) -> int:
        meeting.wait(_PATIENCE)
        return item

    try:
        workers.map(meet, range(2))
    except BrokenBarrierError:
        raise ContractBroken("one piece of work waited for the other to end") from None


WORKERS_CONTRACT = (
    _there_is_a_worker,
    _results_stand_in_the_order_of_the_items,
    _every_item_is_worked_on_once,
    _an_error_reaches_the_caller,
    _workers_work_side_by_side,
)
