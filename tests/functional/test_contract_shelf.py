"""The folder keeps the shipped clauses of a shelf, so does a shelf without any files, and wrong ones are found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock

import pytest

from seriatim.ledger.shelf import Shelf
from seriatim.testing import SHELF_CONTRACT, ContractBroken, check_shelf
from seriatim.testing.clauses import clause_name
from seriatim.testing.shelf import Place


class InMemory:
    """A shelf as an object store is one: whole values under names, and no folder."""

    _lock = Lock()
    _shelves: dict[Path, dict[str, bytes]] = {}  # noqa: RUF012 - all that were opened at a place are one

    def __init__(self, place: Path) -> None:
        with self._lock:
            self._kept = self._shelves.setdefault(place, {})

    def put(self, name: str, data: bytes) -> bool:
        if not name or name.startswith("/") or ".." in name.split("/"):
            raise ValueError(name)
        with self._lock:
            return self._kept.setdefault(name, data) is data

    def replace(self, name: str, data: bytes) -> None:
        self._kept[name] = data

    def read(self, name: str) -> bytes:
        if name not in self._kept:
            raise FileNotFoundError(name)
        return self._kept[name]

    def names(self, below: str = "") -> Sequence[str]:
        return sorted(name for name in self._kept if name.startswith(f"{below}/" if below else ""))

    def remove(self, name: str) -> None:
        self._kept.pop(name, None)

    def where(self, name: str) -> str:
        return name


class TakesTheLast(InMemory):
    def put(self, name: str, data: bytes) -> bool:
        super().put(name, data)
        self.replace(name, data)
        return True


class ListsWhatBeginsAlike(InMemory):
    def names(self, below: str = "") -> Sequence[str]:
        return sorted(name for name in self._kept if name.startswith(below))


class FindsNothingEmpty(InMemory):
    def read(self, name: str) -> bytes:
        return self._kept.get(name, b"")


WRONG: dict[type[InMemory], set[str]] = {
    TakesTheLast: {"the_first_stays", "of_rivals_one_puts"},
    ListsWhatBeginsAlike: {"names_are_listed_below_a_name"},
    FindsNothingEmpty: {"what_is_not_there_is_an_error"},
}


@pytest.mark.parametrize("clause", SHELF_CONTRACT, ids=clause_name)
@pytest.mark.parametrize("kind", [Shelf, InMemory])
def test_a_shelf_keeps(clause: Callable[[Place], None], kind: type[Shelf] | type[InMemory], tmp_path: Path) -> None:
    clause(Place(kind, tmp_path / "shelf"))


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_a_wrong_shelf_is_found(wrong: type[InMemory]) -> None:
    with pytest.raises(ContractBroken) as raised:
        check_shelf(wrong)
    assert {line.partition(":")[0] for line in str(raised.value).splitlines()} == WRONG[wrong]


def test_half_a_value_has_no_name(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.put("ward/000001/a", b"whole")
    (tmp_path / "ward" / "000001" / ".b.partial").write_bytes(b"ha")
    assert list(shelf.names()) == ["ward/000001/a"]
