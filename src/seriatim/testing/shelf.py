"""What everyone relies on in ``ports.Shelf``."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Barrier

from seriatim.ports import Shelf
from seriatim.testing.clauses import check_contract, clause_refusal, require_clause

_PATIENCE = 60.0
_NAME = "ward/000001/groups.parquet"
_RIVALS = 4


@dataclass(frozen=True, slots=True)
class Place:
    """Opens the shelf of one clause as often as it likes: each time the same one."""

    open_shelf: Callable[[Path], Shelf]
    folder: Path

    def shelf(self) -> Shelf:
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.open_shelf(self.folder)


def check_shelf(open_shelf: Callable[[Path], Shelf]) -> None:
    """Raise ``ContractBroken`` with a line for each clause of ``ports.Shelf`` that the shelf breaks.

    ``open_shelf`` takes a folder that exists. A new folder stands for a new shelf; a folder that was opened before
    stands for the same shelf, opened once more.
    """
    with tempfile.TemporaryDirectory(prefix="seriatim-contract-") as folder:
        numbers = count(1)
        check_contract(SHELF_CONTRACT, lambda: Place(open_shelf, Path(folder) / str(next(numbers))))


def _what_was_put_lasts(place: Place) -> None:
    """Bytes are read as they were put, empty ones too, also when the shelf is opened once more."""
    for name, data in ((_NAME, bytes(range(256)) * 3), ("ward/empty", b"")):
        require_clause(place.shelf().put(name, data), "a name that was free is taken")
        require_clause(place.shelf().read(name) == data, f"other bytes than the {len(data)} that were put")


def _the_first_stays(place: Place) -> None:
    """``put`` under a name that has bytes changes nothing and returns False."""
    shelf = place.shelf()
    shelf.put(_NAME, b"first")
    require_clause(not shelf.put(_NAME, b"second"), "a second value that was accepted")
    require_clause(shelf.read(_NAME) == b"first", "a first value that is gone")


def _of_rivals_one_puts(place: Place) -> None:
    """Of several that put under one name at once exactly one hears True, and its bytes are there."""
    start = Barrier(_RIVALS)

    def rival(number: int) -> bool:
        shelf = place.shelf()
        start.wait(_PATIENCE)
        return shelf.put(_NAME, bytes([number]) * 10_000)

    with ThreadPoolExecutor(_RIVALS) as pool:
        won = [number for number, put in enumerate(pool.map(rival, range(_RIVALS))) if put]
    require_clause(len(won) == 1, f"{len(won)} winners of {_RIVALS}")
    require_clause(place.shelf().read(_NAME) == bytes(won) * 10_000, "bytes that the winner did not put")


def _the_last_replaces(place: Place) -> None:
    """``replace`` keeps the new bytes, whether or not there were others."""
    shelf = place.shelf()
    for data in (b"one", b"another, longer one", b"2"):
        shelf.replace(_NAME, data)
        require_clause(place.shelf().read(_NAME) == data, "bytes that were replaced")


def _what_is_not_there_is_an_error(place: Place) -> None:
    """Reading what was never put, or was removed, raises FileNotFoundError; to remove it again does nothing."""
    shelf = place.shelf()
    with clause_refusal(FileNotFoundError, "a name that has nothing"):
        shelf.read(_NAME)
    shelf.put(_NAME, b"x")
    for _ in range(2):
        shelf.remove(_NAME)
    with clause_refusal(FileNotFoundError, "a name that was removed"):
        shelf.read(_NAME)
    require_clause(shelf.put(_NAME, b"y"), "a name that cannot be used again")


def _names_are_listed_below_a_name(place: Place) -> None:
    """``names`` returns sorted names below a whole name, or all; what only begins alike is not below it."""
    shelf = place.shelf()
    everything = ["ward-2/000001/a", "ward/000001/b", "ward/000001/deep/c", "ward/000002/a", "ward/people.index"]
    for name in reversed(everything):
        shelf.put(name, b"")
    require_clause(list(shelf.names()) == everything, f"{len(shelf.names())} names of {len(everything)}")
    require_clause(list(shelf.names("ward/000001")) == everything[1:3], "other names below a release")
    require_clause(list(shelf.names("ward")) == everything[1:], "other names below a series")
    require_clause(list(shelf.names("nothing")) == [], "names below nothing")


def _names_stay_on_the_shelf(place: Place) -> None:
    """A name that leads elsewhere is refused."""
    for name in ("../outside", "ward/../../outside", "/outside", ""):
        with clause_refusal(ValueError, "a name that leads elsewhere"):
            place.shelf().put(name, b"x")
    require_clause([path.name for path in place.folder.parent.glob("outside")] == [], "a file outside")


SHELF_CONTRACT = (
    _what_was_put_lasts,
    _the_first_stays,
    _of_rivals_one_puts,
    _the_last_replaces,
    _what_is_not_there_is_an_error,
    _names_are_listed_below_a_name,
    _names_stay_on_the_shelf,
)
