"""Erases a person: removes the one row that says who a number is, and what methods remembered about them.

What was published stays countable. Every new file is written beside the old one, then the chain states its digest, then
it replaces the old one. A crash in between loses nothing: readers use the file that the chain knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import Fault, InputError
from seriatim.ledger import catalogue, chain, people_index, pseudonyms, shelf
from seriatim.ledger.drafts import clear_ended, end_draft, is_named_in_draft, open_draft
from seriatim.ledger.manifests import refuse_behind_manifest
from seriatim.ledger.shelf import Shelf
from seriatim.ledger.stored_history import Facts, current_file, memory_files
from seriatim.storage.database import Database
from seriatim.storage.durable_files import disk_errors


def forget_person(database: Database, place: Shelf, series: str, respondent: str) -> int:
    """Forget who a person is and what was remembered about them, in every file; return the number of files.

    A draft that waits is removed: it was judged with them.

    The same person is a newcomer with a new number if they return later.
    """
    settle_erasures(database, place, series)
    with disk_errors(place.root), database.writing() as connection:
        refuse_behind_manifest(connection, place, series)
        past = catalogue.past(connection, series)
        numbers: set[int] = set()
        found = 0
        for facts in past.made:
            files = {name: current_file(place, series, facts, name, past.erased) for name in _naming(facts)}
            numbers |= _numbers_of(files[shelf.PEOPLE], respondent)
            rest = {name: less for name, table in files.items() if (less := _without(table, numbers)) is not None}
            if rest:
                written = _written(place, series, facts["number"], rest)
                entry = {"kind": chain.ERASED, "series": series, "number": facts["number"], **_told(written)}
                catalogue.append(connection, entry, catalogue.circumstances())
                found += len(rest)
        draft = open_draft(connection, series)
        newcomer = draft is not None and not numbers and is_named_in_draft(place, draft, respondent)
        if not numbers and not newcomer:
            raise InputError(Fault(f"series {series!r}", "this respondent is not in the ledger", "", "check the id"))
        if draft is not None:  # its table may show them, and it must be judged again anyway
            end_draft(connection, draft, {"by": "", "reason": "a person was erased"})
        people_index.remove(place, series)
    settle_erasures(database, place, series)
    clear_ended(database, place)
    return found + newcomer


def _naming(facts: Facts) -> list[str]:
    """Return the files of a release from which a person can be erased."""
    together = [shelf.NEWCOMERS] if shelf.NEWCOMERS in facts["private"] else []
    return [shelf.PEOPLE, *together, *memory_files(facts).values()]


def _numbers_of(people: pa.Table, respondent: str) -> set[int]:
    hit = pc.equal(people.column(pseudonyms.RESPONDENT), respondent)
    return set(people.column(pseudonyms.PERSON).filter(hit).to_pylist())


def _without(table: pa.Table, numbers: set[int]) -> pa.Table | None:
    """Return the table without the rows of these people; None if it has none of them."""
    hit = pc.is_in(table.column(pseudonyms.PERSON), value_set=pa.array(sorted(numbers), pa.int64()))
    return table.filter(pc.invert(hit)) if pc.any(hit).as_py() else None


def _written(place: Shelf, series: str, number: int, files: Mapping[str, pa.Table]) -> dict[str, Any]:
    """Write the next versions of files beside them; return their fingerprints."""
    found = {}
    for file, table in files.items():
        data = pseudonyms.pseudonymous_parquet(table)
        place.replace(shelf.pending(shelf.release_file(series, number, file)), data)
        found[file] = shelf.fingerprint_of(data)
    return found


def _told(written: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the entry says about the files: the people's as ever, the others by their names."""
    memory = {name: fingerprint for name, fingerprint in written.items() if name != shelf.PEOPLE}
    people = {"people": written[shelf.PEOPLE]} if shelf.PEOPLE in written else {}
    return people | ({"memory": memory} if memory else {})


def settle_erasures(database: Database, place: Shelf, series: str) -> None:
    """Move every pending file into place if the chain knows it, or remove it."""
    if not _waiting(place, series):
        return
    with disk_errors(place.root), database.writing() as connection:
        wanted = catalogue.past(connection, series).erased
        for name in _waiting(place, series):
            folder, _, waiting = name.rpartition("/")
            file, data = shelf.awaited(waiting) or "", place.read(name)
            if wanted.get(int(folder.rpartition("/")[2]), {}).get(file) == shelf.fingerprint_of(data):
                place.replace(f"{folder}/{file}", data)
            place.remove(name)


def _waiting(place: Shelf, series: str) -> list[str]:
    return [name for name in place.names(shelf.slug(series)) if shelf.awaited(name.rpartition("/")[2])]
