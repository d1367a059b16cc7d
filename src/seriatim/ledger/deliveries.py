"""Deliveries under way: a note on the shelf names the copy that is being made, so that resume can finish it."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from seriatim.ledger import catalogue, chain, seals
from seriatim.ledger.shelf import Shelf
from seriatim.storage import schema
from seriatim.storage.database import Database
from seriatim.storage.durable_files import write_durably
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


def note_delivery(place: Shelf, series: str, number: int, out: Path) -> Path:
    """Write down what is about to be copied where; remove the note once the copy is there. The caller seals alone."""
    path = place.root / f"{_UNDER_WAY}{secrets.token_hex(8)}"
    write_durably(path, chain.chain_text({"series": series, "number": number, "out": str(out)}).encode())
    return path


def deliveries_under_way(place: Shelf) -> list[Path]:
    return sorted(place.root.glob(f"{_UNDER_WAY}*"))


def finish_deliveries(database: Database, place: Shelf, out: Path | None = None) -> None:
    """Make every copy that a crash cut short, in ``out`` if named. One that the chain does not know was never made."""
    if any(place.root.glob(_HALF_NOTED)):
        with place.sealing():
            for path in place.root.glob(_HALF_NOTED):
                path.unlink(missing_ok=True)
    for path in deliveries_under_way(place):
        with place.sealing(), database.reading() as connection:
            try:
                told = json.loads(path.read_bytes())
            except (OSError, ValueError):
                continue  # another process finished it
            record = catalogue.catalogue_newest_record(connection, told["series"], told["number"])
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
