"""Erasing a person: the one row that says who a number is goes; what was published stays countable.

The new file of people is written beside the old one, then the chain states its digest, then it takes the
old one's place. A crash in between loses nothing: readers take the one that the chain knows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import Fault, InputError
from seriatim.ledger import catalogue, chain, pseudonyms, shelf
from seriatim.ledger.recall import newcomers
from seriatim.ledger.shelf import Shelf
from seriatim.storage import durable
from seriatim.storage.database import Database
from seriatim.storage.durable import disk_errors


def erase_person(database: Database, place: Shelf, series: str, respondent: str) -> int:
    """Forget who a person is, in every file that says so; how many files that were.

    The same person coming back later is a newcomer with a new number.
    """
    settle_erasures(database, place, series)
    with disk_errors(place.root), database.writing() as connection:
        erased = catalogue.people_after_erasures(connection, series)
        found = 0
        for facts in catalogue.release_facts(connection, series):
            number = facts["number"]
            rest = _without(newcomers(place, series, facts, erased.get(number)), respondent)
            if rest is not None:
                waiting = shelf.pending(place.release(series, number) / shelf.PEOPLE)
                durable.write_durably(waiting, pseudonyms.parquet_bytes(rest))
                entry: dict[str, Any] = {"kind": chain.ERASED, "series": series, "number": number}
                entry["people"] = shelf.fingerprint(waiting)
                catalogue.append(connection, entry, catalogue.circumstances())
                found += 1
        if not found:
            raise InputError(Fault(f"series {series!r}", "this respondent is not in the ledger", "", "check the id"))
    settle_erasures(database, place, series)
    return found


def _without(people: pa.Table, respondent: str) -> pa.Table | None:
    hit = pc.equal(people.column(pseudonyms.RESPONDENT), respondent)
    return people.filter(pc.invert(hit)) if pc.any(hit).as_py() else None


def settle_erasures(database: Database, place: Shelf, series: str) -> None:
    """Let every waiting file take its place if the chain knows it, or go if it does not."""
    if not any(_waiting(place, series)):
        return
    with disk_errors(place.root), database.writing() as connection:
        wanted = catalogue.people_after_erasures(connection, series)
        for path in _waiting(place, series):
            number = int(path.parent.name)
            if number in wanted and shelf.fingerprint(path) == wanted[number]:
                path.rename(path.with_name(shelf.PEOPLE))
            else:
                path.unlink()
            durable.flush_folder(path.parent)


def _waiting(place: Shelf, series: str) -> list[Path]:
    return sorted(place.series(series).glob(f"[0-9]*/{shelf.pending(place.root / shelf.PEOPLE).name}"))
