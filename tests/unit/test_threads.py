"""Threads over independent work: results in order, the first item's error, nothing begun after an error."""

from __future__ import annotations

import threading
import time

import pytest

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
