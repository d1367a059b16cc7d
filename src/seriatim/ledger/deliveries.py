"""Deliveries. While one is under way a note on the shelf names the copy that is made, so that resume can finish it."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from seriatim.errors import Fault, InputError, LedgerError
from seriatim.ledger import catalogue, chain, seals, shelf
from seriatim.ledger.destinations import (
    destination_in,
    make_destination_ready,
    refuse_destination,
    refuse_taken_destination,
)
from seriatim.ledger.manifests import refuse_behind_manifest
from seriatim.ledger.reservations import check_reservation_unmoved
from seriatim.ledger.shelf import Shelf
from seriatim.model.history import SeriesState
from seriatim.ports import ReleaseRecord
from seriatim.storage import schema
from seriatim.storage.database import Database
from seriatim.storage.durable_files import disk_errors, write_durably
from seriatim.usecases.deliver import Delivery

_UNDER_WAY = ".delivering-"
_HALF_NOTED = f".{_UNDER_WAY}*.partial"


def delivery_facts(asked: Delivery) -> dict[str, Any]:
    """Return what the chain keeps of a delivery; who overrode a refusal, and why, only if someone did."""
    facts = {
        "kind": chain.DELIVERED,
        "series": asked.series,
        "number": asked.number,
        "recipients": list(asked.recipients),
    }
    if asked.approval is None:
        return facts
    return {**facts, "approval": {"by": asked.approval.by, "override": asked.approval.override}}


def deliver_release(
    database: Database, place: Shelf, asked: Delivery, judged: SeriesState, out: str | Path | None
) -> ReleaseRecord:
    """Record a delivery that was judged in this state of the series; with ``out`` also copy the public part there."""
    if out is None:
        return _record(database, place, asked, judged, None)
    out = Path(out).absolute()
    refuse_destination(out, place)
    with disk_errors(place.root), place.sealing():
        _make_ready(database, asked, out)
        note = note_delivery(place, asked.series, asked.number, out)
        try:
            delivered = _record(database, place, asked, judged, out)
        except Exception:
            note.unlink()  # nothing is recorded, so nothing is to be finished
            raise
        seals.hand_out_sealed(place, delivered, out)
        note.unlink()
    return delivered


def _make_ready(database: Database, asked: Delivery, out: Path) -> None:
    """Try where a copy would go before it is recorded; one that is there already is a delivery to several."""
    with database.reading() as connection:
        record = catalogue.record(connection, asked.series, asked.number)
    if record is None:
        raise catalogue.no_release(asked.series, asked.number)
    if record.state == chain.RECALLED:
        return  # recording it will say so
    _refuse_undeliverable(record)
    target = destination_in(out, asked.series, asked.number)
    if seals.seal_differences(target, seals.sealed_public_manifest(record.manifest)):
        refuse_taken_destination(target)
    make_destination_ready(target)


def _refuse_undeliverable(record: ReleaseRecord) -> None:
    """Refuse to hand out a release whose public files do not lie apart, or that is not finished."""
    where = f"series {record.series!r} release {record.number}"
    if record.state == chain.RESERVED:
        raise LedgerError(f"{where}: reserved, not finished; run seriatim ledger resume first")
    if not shelf.is_split(record.manifest["files"]):
        found = "holds no public part: it was imported or made by an older version"
        raise InputError(Fault(where, found, "", "copy its table yourself, and omit the folder (out)"))


def _record(database: Database, place: Shelf, asked: Delivery, judged: SeriesState, out: Path | None) -> ReleaseRecord:
    series, number = asked.series, asked.number
    with database.writing() as connection:
        refuse_behind_manifest(connection, place, series)
        check_reservation_unmoved(judged, catalogue.state(connection, series))
        record = catalogue.record(connection, series, number)
        if record is None:
            raise catalogue.no_release(series, number)
        if record.state == chain.RECALLED:
            found = "was recalled: it no longer counts"
            raise InputError(Fault(f"series {series!r} release {number}", found, "", "deliver a later one"))
        if out is not None:
            _refuse_undeliverable(record)
        further = {"destination": str(out)} if out is not None else {}
        circumstances = catalogue.circumstances(**further)
        catalogue.append(connection, delivery_facts(asked), circumstances)
        everyone = chain.text([*record.recipients, *asked.recipients])
        catalogue.update_release(connection, series, number, recipients=everyone)
        delivered = catalogue.record(connection, series, number)
    assert delivered is not None
    return delivered


def note_delivery(place: Shelf, series: str, number: int, out: Path) -> Path:
    """Write down what is about to be copied where; remove the note once the copy is there. The caller seals alone."""
    path = place.root / f"{_UNDER_WAY}{secrets.token_hex(8)}"
    write_durably(path, chain.text({"series": series, "number": number, "out": str(out)}).encode())
    return path


def copies_under_way(place: Shelf) -> list[Path]:
    return sorted(place.root.glob(f"{_UNDER_WAY}*"))


def finish_copies(database: Database, place: Shelf, out: Path | None = None) -> None:
    """Make every copy that a crash cut short, in ``out`` if named. One that the chain does not know was never made."""
    if any(place.root.glob(_HALF_NOTED)):
        with place.sealing():
            for path in place.root.glob(_HALF_NOTED):
                path.unlink(missing_ok=True)
    for path in copies_under_way(place):
        with place.sealing(), database.reading() as connection:
            try:
                told = json.loads(path.read_bytes())
            except (OSError, ValueError):
                continue  # another process finished it
            record = catalogue.record(connection, told["series"], told["number"])
            if record is not None and _delivered_to(connection, told["series"], told["number"], told["out"]):
                seals.hand_out_sealed(place, record, out or Path(told["out"]))
            path.unlink()


def _delivered_to(connection: Connection, series: str, number: int, out: str) -> bool:
    entries = schema.entries.c
    query = sa.select(entries.body, entries.circumstance).where(
        (entries.series == series) & (entries.kind == chain.DELIVERED)
    )
    return any(
        json.loads(body)["number"] == number and json.loads(circumstance).get("destination") == out
        for body, circumstance in connection.execute(query)
    )
