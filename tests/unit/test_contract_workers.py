"""Threads keep the shipped clauses of workers, and each clause finds workers that break it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

import pytest
from support.random_series import OneWorker

from seriatim.engines.threads import Threads
from seriatim.testing import WORKERS_CONTRACT, ContractBroken, check_workers
from seriatim.testing.clauses import clause_name


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("check_clause", WORKERS_CONTRACT, ids=clause_name)
def test_threads_keep(check_clause: Callable[[Any], None], count: int) -> None:
    check_clause(Threads(count))


def test_the_tests_own_worker_keeps_them_all() -> None:
    check_workers(OneWorker())


@dataclass(frozen=True)
class AsTheyEnd:
    count: int = 4

    def map(self, work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        with ThreadPoolExecutor(self.count) as pool:
            return [done.result() for done in as_completed([pool.submit(work, item) for item in items])]


@dataclass(frozen=True)
class LosesErrors:
    count: int = 1

    def map(self, work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        made = []
        for item in items:
            try:
                made.append(work(item))
            except KeyError:
                made.append(None)
        return made


@dataclass(frozen=True)
class Twice:
    count: int = 1

    def map(self, work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        items = list(items)
        return [(work(item), work(item))[1] for item in items]


@dataclass(frozen=True)
class Nobody:
    count: int = 0

    def map(self, work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        return [work(item) for item in items]


@dataclass(frozen=True)
class OneAfterAnother(Nobody):
    count: int = 3


@pytest.mark.parametrize(
    ("wrong", "clause"),
    [
        (AsTheyEnd(), "results_stand_in_the_order_of_the_items"),
        (LosesErrors(), "an_error_reaches_the_caller"),
        (Twice(), "every_item_is_worked_on_once"),
        (Nobody(), "there_is_a_worker"),
        (OneAfterAnother(), "workers_work_side_by_side"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_wrong_workers_are_found(wrong: Any, clause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seriatim.testing.workers._PATIENCE", 0.2)
    with pytest.raises(ContractBroken, match=rf"^{clause}: .* Found: "):
        check_workers(wrong)
