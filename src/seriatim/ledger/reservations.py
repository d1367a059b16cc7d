"""Reserves releases: everything slow is done before the lock; under it only checks, renames and rows."""

from __future__ import annotations

import hmac
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy.engine import Connection

from seriatim.errors import Fault, LedgerBehind, LedgerDamaged, LedgerError, LedgerMoved, PolicyError, SeriatimError
from seriatim.ledger import catalogue, chain, pseudonyms, shelf
from seriatim.ledger.shelf import Shelf, newcomers_since
from seriatim.model.history import SeriesState
from seriatim.model.names import recipients_given
from seriatim.model.policy import Policy
from seriatim.model.policy_in_force import check_epoch
from seriatim.model.text_hash import WordArray
from seriatim.model.verdict import checked_approval
from seriatim.ports import ReleaseRecord, Reservation
from seriatim.storage import durable_files
from seriatim.storage.database import Database

_FEW = 20_000
"""So few people are numbered before a second thread has begun."""


@dataclass(frozen=True, slots=True, eq=False)
class ReservedFolder:
    """A release folder that is complete and flushed, and the facts of its entry."""

    folder: Path
    facts: Mapping[str, Any]
    circumstances: Mapping[str, Any]
    people: WordArray = field(default_factory=lambda: np.empty(0, dtype=np.uint64), repr=False)
    """Everyone in the series from then on, for the index of people."""


@dataclass(frozen=True, slots=True, eq=False)
class ReservedPeople:
    """The people of a series so far."""

    known: pa.Table
    first_free: int
    firsts: tuple[int, ...] = ()
    """The first number that was free before each release."""


def reservation_crowd(crowd: ReservedPeople, corrected: Sequence[str]) -> tuple[ReservedPeople, list[int]]:
    """Return the people without those whose values were corrected, and the numbers that name nobody any more."""
    hit = pc.is_in(crowd.known.column(pseudonyms.RESPONDENT), value_set=pa.array(corrected, pa.string()))
    gone = crowd.known.column(pseudonyms.PERSON).filter(hit).to_pylist()
    return replace(crowd, known=crowd.known.filter(pc.invert(hit))), sorted(gone)


@dataclass(frozen=True, slots=True, eq=False)
class ReservationContents:
    """What a release puts on the shelf."""

    groups: pa.Table = field(repr=False)
    sensitive: Sequence[str]
    memory: Mapping[str, pa.Table] = field(default_factory=dict, repr=False)
    write: Callable[[], None] | None = None
    """Writes the published files; None if they are there already, or there are none."""


def prepare_reservation_folder(
    folder: Path, contents: ReservationContents, crowd: ReservedPeople
) -> tuple[dict[str, Any], ReservedPeople]:
    """Write groups, newcomers and memories beside ``published``, flush all, and return the facts about the files."""
    publishing = partial(_published_facts, folder / shelf.PUBLISHED, contents.write)
    with ThreadPoolExecutor(1) as beside:  # what is published is written, flushed and hashed while people are numbered
        # for a few people starting a thread takes longer than writing
        published = beside.submit(publishing).result if len(contents.groups) > _FEW else publishing
        files, newcomers = _private_files(contents, crowd)
        after = _with_newcomers(crowd, newcomers)
        files |= _kept_together(after)
        for name, table in files.items():
            (folder / name).write_bytes(pseudonyms.pseudonymous_parquet(table))
        found = published()
    durable_files.close_and_flush(folder)
    facts = {
        "files": found,
        "private": {name: shelf.fingerprint(folder / name) for name in files},
        "people": {"first": crowd.first_free, "new": len(newcomers)},
        "sensitive": list(contents.sensitive),
    }
    return facts, after


def _with_newcomers(crowd: ReservedPeople, newcomers: pa.Table) -> ReservedPeople:
    everyone = pa.concat_tables([crowd.known, newcomers])
    return ReservedPeople(everyone, crowd.first_free + len(newcomers), (*crowd.firsts, crowd.first_free))


def _kept_together(crowd: ReservedPeople) -> dict[str, pa.Table]:
    """Return the file of newcomers that the newest release keeps for others as well, if it is its turn."""
    # every so many releases one file names the newcomers of many: a late release opens few files
    since = newcomers_since(len(crowd.firsts))
    if since is None:
        return {}
    late = pc.greater_equal(crowd.known.column(pseudonyms.PERSON), crowd.firsts[since - 1])
    return {shelf.NEWCOMERS: crowd.known.filter(late)}


def _private_files(contents: ReservationContents, crowd: ReservedPeople) -> tuple[dict[str, pa.Table], pa.Table]:
    """Return what the shelf keeps beside the published files, people as numbers; and the newcomers."""
    groups, memory = contents.groups, contents.memory
    asked = [pseudonyms.pseudonym_text(groups.column(pseudonyms.RESPONDENT))]
    asked += [pseudonyms.people_remembered(name, table) for name, table in memory.items()]
    everyone = pa.chunked_array([piece for one in asked for piece in _pieces(one)], pa.string())
    numbers, newcomers = pseudonyms.number_people(everyone, crowd.known, crowd.first_free)
    files = {
        shelf.GROUPS: pseudonyms.pseudonymous_groups(groups, numbers.slice(0, len(groups)), contents.sensitive),
        shelf.PEOPLE: newcomers,
    }
    at = len(groups)
    for name, table in memory.items():
        files[shelf.memory_file(name)] = pseudonyms.pseudonymous_memory(table, numbers.slice(at, len(table)))
        at += len(table)
    return files, newcomers


def _pieces(column: pa.ChunkedArray | pa.Array) -> list[pa.Array]:
    return list(column.chunks) if isinstance(column, pa.ChunkedArray) else [column]


def _published_facts(folder: Path, write: Callable[[], None] | None) -> dict[str, Any]:
    if write is not None:
        write()
    durable_files.close_and_flush(folder)
    return _reservation_fingerprints(folder)


def _reservation_fingerprints(folder: Path) -> dict[str, Any]:
    """Return the fingerprint of every published file. Links and the manifest's name are errors."""
    found = {}
    for name in shelf.files_under(folder) if folder.is_dir() else ():
        if (folder / name).is_symlink() or not (folder / name).is_file() or Path(name).name == shelf.MANIFEST:
            raise SeriatimError(f"staged files: {name} is a link, not a file, or the manifest, which the ledger writes")
        found[name] = shelf.fingerprint(folder / name)
    return found


def check_reservation_storable(texts: Mapping[str, str | None]) -> None:
    """Raise an error for a text that one of the databases cannot store byte for byte."""
    for where, text in texts.items():
        try:
            storable = "\0" not in (text or "").encode().decode()
        except UnicodeEncodeError:
            storable = False
        if not storable:
            raise PolicyError(Fault(where, "holds a NUL or half a character", "text that UTF-8 can carry"))


def check_reservation(place: Shelf, reservation: Reservation) -> None:
    """Raise the caller's mistakes before anything is written."""
    if reservation.approval is not None:
        checked_approval(reservation.approval)
    recipients_given(reservation.recipients)
    if reservation.policy.series != reservation.state.series:
        raise LedgerError("the policy and the state are of different series")
    # a folder of elsewhere could not be renamed into the shelf in one step
    if reservation.staged.parent.parent.parent != place.root:
        raise LedgerError(f"{reservation.staged}: not a folder of this ledger's stage()")
    check_reservation_storable(
        {
            "[series] name": reservation.policy.series,
            "destination": str(reservation.destination) if reservation.destination else None,
            "name of the table": reservation.source + reservation.input_name,
            "policy": reservation.policy.canonical,
        }
    )


def check_reservation_unmoved(judged: SeriesState, found: SeriesState) -> None:
    if judged.version != found.version or judged.head != found.head:
        raise LedgerMoved(
            f"series {judged.series!r} moved from version {judged.version} to {found.version} "
            "since the draft was judged; nothing was recorded, judge again"
        )
    if judged.n_deliveries != found.n_deliveries:
        raise LedgerMoved(
            f"series {judged.series!r}: a release was delivered to someone meanwhile; nothing was recorded, judge again"
        )


def reservation_of_series(connection: Connection, state: SeriesState, policy: Policy, secret: bytes) -> None:
    """Write the series and its policy if they are new; refuse another secret or a policy of the wrong epoch."""
    check_epoch(state, policy)
    enter_series(connection, state, secret)
    enter_policy(connection, state, policy.digest, policy.epoch, policy.canonical)


def enter_series(connection: Connection, state: SeriesState, secret: bytes) -> None:
    """Write the series with its secret if it is new; refuse another secret."""
    if state.secret is None:
        facts = {"kind": chain.SERIES, "series": state.series, "secret": chain.sha256(secret)}
        entry = catalogue.append(connection, facts, catalogue.circumstances())
        created = entry.circumstances["time"]
        connection.execute(catalogue.ENTER_SERIES, {"name": state.series, "secret": secret, "created": created})
    # in constant time: a secret must not be guessed byte by byte
    elif not hmac.compare_digest(state.secret, secret):
        raise LedgerError(f"series {state.series!r}: the secret is not the one in the ledger")


def enter_policy(connection: Connection, state: SeriesState, digest: str, epoch: int, canonical: str) -> None:
    """Write that the series is published under this policy from now on, unless it is already."""
    if (state.policy_digest, state.epoch) == (digest, epoch):
        return
    facts = {
        "kind": chain.POLICY,
        "series": state.series,
        "policy": digest,
        "canonical": chain.sha256(canonical.encode()),
        "epoch": epoch,
    }
    catalogue.append(connection, facts, catalogue.circumstances())
    keep_policy_text(connection, digest, canonical)


def keep_policy_text(connection: Connection, digest: str, canonical: str) -> None:
    known = connection.execute(catalogue.POLICY, {"digest": digest}).scalar()
    if known is None:
        connection.execute(catalogue.ENTER_POLICY, {"digest": digest, "canonical": canonical})
    elif known != canonical:
        raise LedgerDamaged(f"policy {digest[:12]}: the ledger holds another text under this digest")


def reservation_of_release(connection: Connection, place: Shelf, prepared: ReservedFolder) -> ReleaseRecord:
    """Write the entry and the row, and move the folder into place: all visible when the transaction commits."""
    series, number = prepared.facts["series"], prepared.facts["number"]
    _clear_leftovers(place, series, number)
    entry = catalogue.append(connection, prepared.facts, prepared.circumstances)
    row = catalogue.release_row(entry)
    connection.execute(catalogue.ENTER_RELEASE, row)
    place.take(prepared.folder, place.release(series, number))
    return catalogue.record_of_row(row)


def clear_without_reservation(database: Database, place: Shelf) -> None:
    """Remove release folders that a crash left before their rows were committed; published ones have a manifest."""
    # looked at before the lock is taken: mostly there is nothing to do
    if not any(not (folder / shelf.MANIFEST).exists() for folder in place.release_folders()):
        return
    with database.writing() as connection:
        records = catalogue.records(connection)
        known = {place.release(record.series, record.number) for record in records}
        for folder in place.release_folders():
            if folder not in known and folder.name.isdecimal() and not (folder / shelf.MANIFEST).exists():
                shutil.rmtree(folder)


def clear_unwritten(database: Database, place: Shelf) -> None:
    """Remove files that a crash left half written, while nobody seals or erases."""
    if not any(_half_written(place)):
        return
    with place.sealing(), database.writing():
        for path in _half_written(place):
            path.unlink(missing_ok=True)


def _half_written(place: Shelf) -> list[Path]:
    folders = [*place.root.glob("[!.]*"), *place.release_folders()]
    return [path for folder in folders for path in folder.glob(".*.partial") if path.is_file()]


def _clear_leftovers(place: Shelf, series: str, next_number: int) -> None:
    """Remove folders from ``next_number`` on: a crash left them, unless a manifest says they were published.

    Call it only under the write lock: then nobody is between renaming a folder and committing its row.
    """
    folder = place.series(series)
    names = os.listdir(folder) if folder.is_dir() else []  # noqa: PTH208 - a long series has hundreds of these
    unknown = [folder / name for name in sorted(names) if name.isdecimal() and int(name) >= next_number]
    if any((path / shelf.MANIFEST).exists() for path in unknown):
        raise LedgerBehind(
            f"series {series!r}: the shelf holds the published release {unknown[0].name} unknown to the database; "
            "an old backup was restored: restore a newer one"
        )
    for path in unknown:
        shutil.rmtree(path)
