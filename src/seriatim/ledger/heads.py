"""Heads: a line in a file outside the shelf names a series' newest release, which an old backup does not know.

The policy names the file (``[series] head``): manifests show the same only as long as they are found again.
"""

from __future__ import annotations

import json
from collections.abc import Container
from pathlib import Path
from typing import Any

from sqlalchemy.engine import Connection

from seriatim.errors import Fault, InputError, LedgerBehind
from seriatim.ledger import chain, statements
from seriatim.ports import ReleaseRecord
from seriatim.storage.own_files import HEAD, kind_of_bytes, refuse_foreign_file, write_whole

_KEY = "[series] head"


def files_of_series(connection: Connection, series: str) -> list[Path]:
    """Return every file that the heads of a series were written to."""
    told = connection.execute(statements.CIRCUMSTANCES, {"series": series}).scalars()
    return sorted({Path(head) for text in told if (head := json.loads(text).get("head"))})


def refuse_behind_head(path: Path, series: str, known: Container[str]) -> None:
    """Refuse a head that the chain does not know; ``known`` are its digests."""
    head = read_head(path)
    if head is not None and head["series"] == series and head["chain"] not in known:
        raise LedgerBehind(
            f"{path}: release {head['release']} of series {series!r} was published, but this ledger does not know it; "
            "an old backup was restored or this is another ledger: restore the newest one"
        )


def refuse_unusable_head(path: Path, series: str) -> None:
    """Refuse a file that holds something else, or the head of another series."""
    refuse_foreign_file(path, _KEY, HEAD)
    head = read_head(path)
    if head is not None and head["series"] != series:
        raise InputError(Fault(_KEY, "names the head of another series", "a file for each series", "name another"))


def write_head(connection: Connection, record: ReleaseRecord) -> None:
    """Write the head that the policy of a release named, unless a later release has been there."""
    asked = {"series": record.series, "digest": record.manifest["chain"]}
    named = json.loads(connection.execute(statements.CIRCUMSTANCE, asked).scalar_one()).get("head")
    if named is None:
        return
    there = read_head(Path(named))
    if there is None or there["release"] < record.number:
        write_whole({Path(named): head_bytes(record)}, _KEY)


def head_bytes(record: ReleaseRecord) -> bytes:
    """Return the line of a release."""
    told = {"schema": "seriatim.head/1", "series": record.series, "release": record.number}
    return chain.text({**told, "chain": record.manifest["chain"]}).encode() + b"\n"


def read_head(path: Path) -> dict[str, Any] | None:
    """Return what a head says; None if there is no head."""
    try:
        data = path.read_bytes() if path.is_file() else b""
        found: dict[str, Any] | None = json.loads(data) if kind_of_bytes(data) == HEAD else None
    except (OSError, ValueError):
        return None
    return found
