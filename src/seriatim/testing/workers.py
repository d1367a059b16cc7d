"""What everyone relies on in ``ports.Workers``."""

from __future__ import annotations

from threading import Barrier, BrokenBarrierError
from time import sleep

from seriatim.ports import Workers
from seriatim.testing.laws import LawBroken, check_laws, require_law

_PATIENCE = 60.0
_MANY = 40


def check_workers(workers: Workers) -> None:
    """Raise ``LawBroken`` with a line for each law that ``workers`` break."""
    check_laws(WORKERS_LAWS, lambda: workers)


def there_is_a_worker(workers: Workers) -> None:
    """The count of workers is 1 or more."""
    require_law(workers.count >= 1, f"a count of {workers.count}")


def results_stand_in_the_order_of_the_items(workers: Workers) -> None:
    """Results come in the order of the items, even when later items are done first."""

    def slow_first(item: int) -> int:
        sleep(0.002 * max(0, 5 - item))
        return item * item

    made = workers.map(slow_first, range(_MANY))
    require_law(made == [item * item for item in range(_MANY)], "results in another order")


def every_item_is_worked_on_once(workers: Workers) -> None:
    """Every item is worked on exactly once, whether items come as a list or one by one, and none make none."""
    seen: list[int] = []
    workers.map(seen.append, (item for item in range(_MANY)))
    require_law(sorted(seen) == list(range(_MANY)), f"{len(seen)} calls for {_MANY} items")
    require_law(workers.map(abs, []) == [], "results without items")


def an_error_reaches_the_caller(workers: Workers) -> None:
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
        raise LawBroken("the error was lost")
    require_law(workers.map(abs, [-1]) == [1], "no result after an error")


def workers_work_side_by_side(workers: Workers) -> None:
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
        raise LawBroken("one piece of work waited for the other to end") from None


WORKERS_LAWS = (
    there_is_a_worker,
    results_stand_in_the_order_of_the_items,
    every_item_is_worked_on_once,
    an_error_reaches_the_caller,
    workers_work_side_by_side,
)
