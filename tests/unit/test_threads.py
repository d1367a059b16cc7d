"""Threads over independent work: results in order, the first item's error, nothing begun after an error."""

from __future__ import annotations

import gc
import os
import threading
import time
import weakref

import pytest

from seriatim.engines import threads as pool
from seriatim.engines.threads import Threads


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 2, 30])
def test_results_come_back_in_order(count: int, n: int) -> None:
    def work(number: int) -> int:
        time.sleep(0.001 * (number % 3))
        return number * number

    assert Threads(count).map(work, iter(range(n))) == [number * number for number in range(n)]


def test_two_threads_work_at_once() -> None:
    both = threading.Barrier(2, timeout=30)
    assert len(Threads(2).map(lambda _: both.wait(), range(2))) == 2


@pytest.mark.parametrize("count", [1, 3])
def test_the_first_items_error_is_raised_and_the_rest_is_left(count: int) -> None:
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        if number >= 4:
            time.sleep(0.02 * (number == 4))  # item 5 fails before item 4 does
            raise ValueError(f"item {number}")

    with pytest.raises(ValueError, match="item 4"):
        Threads(count).map(work, range(100))
    assert len(begun) <= 4 + count


def test_maps_inside_maps() -> None:
    threads = Threads(2)
    assert threads.map(lambda n: sum(threads.map(lambda k: k * n, range(5))), range(6)) == [10 * n for n in range(6)]


def meet(threads: Threads) -> list[int]:
    """Two items that wait for each other: nothing but two threads at once ends this."""
    both = threading.Barrier(2, timeout=30)
    return sorted(threads.map(lambda _: both.wait(), range(2)))


def test_threads_are_used_again() -> None:
    meet(Threads(2))
    before = threading.active_count()
    for _ in range(50):
        assert meet(Threads(2)) == [0, 1]
        Threads(2).map(abs, range(3))
    assert threading.active_count() == before


def test_others_at_work_keep_nobody_from_a_second_thread() -> None:
    assert Threads(2).map(lambda _: meet(Threads(2)), range(6)) == [[0, 1]] * 6


def test_a_forked_child_has_threads_of_its_own() -> None:
    meet(Threads(2))
    child = os.fork()
    if child == 0:
        failed = 1
        try:
            failed = int(meet(Threads(2)) != [0, 1])
        finally:
            os._exit(failed)
    assert os.waitpid(child, 0)[1] == 0


def test_what_is_done_is_forgotten() -> None:
    class Heavy:
        """Something that can be watched."""

    heavy = Heavy()
    watched = weakref.ref(heavy)
    both = threading.Barrier(2, timeout=30)
    Threads(2).map(lambda _, held=heavy: (both.wait(), held)[0], range(2))
    del heavy
    gc.collect()
    assert watched() is None


def test_no_more_than_so_many_threads_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_MOST", 1)
    all_at_once = threading.Barrier(5, timeout=30)
    before = set(threading.enumerate())
    Threads(5).map(lambda _: all_at_once.wait(), range(5))
    until = time.monotonic() + 30
    while len(set(threading.enumerate()) - before) > 1 and time.monotonic() < until:
        time.sleep(0.001)
    assert len(set(threading.enumerate()) - before) <= 1
