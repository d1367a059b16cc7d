"""The chain: every entry has the digest of everything before it.

There is one chain for a whole ledger, not one for each series, so that removing a series with all its rows breaks the
chain for everyone and is found without help from outside.

An entry has a body (what happened) and a circumstance (when and by which software). The digest covers only bodies: the
same view, policy, ledger and secret give the same digest, which the manifest publishes. The witness covers
circumstances too, so that nobody can change them unseen either.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from seriatim.errors import LedgerDamaged

GENESIS = "0" * 64

SERIES = "series"
POLICY = "policy"
RESERVED = "reserved"
SEALED = "sealed"
DELIVERED = "delivered"
IMPORTED = "imported"
ERASED = "erased"
REDIRECTED = "redirected"
"""A reserved release goes to another folder than was asked for; its circumstance names it."""

RECALLED = "recalled"
"""A release that nobody received no longer counts."""

ANSWERED = "answered"
"""A query about the series' table was answered, or refused."""

DRAFTED = "drafted"
"""A judged draft is kept until somebody approves it: its body has the facts of the release that it would become."""

APPROVED = "approved"
"""A draft becomes a release, reserved by the next entry."""

DECLINED = "declined"
"""A draft's bytes are removed."""

MOVING = (RESERVED, IMPORTED, ERASED, RECALLED)
"""Kinds of entries that change what the next draft is judged against: they count for the version of a series."""


def text(value: Any) -> str:
    """Write JSON with one spelling for each value: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One link of the chain."""

    seq: int
    series: str
    kind: str
    body: str
    digest: str
    circumstance: str
    witness: str

    @property
    def facts(self) -> dict[str, Any]:
        return _read(self.body)

    @property
    def circumstances(self) -> dict[str, Any]:
        return _read(self.circumstance)


class _UnreadableError(LedgerDamaged, ValueError):
    """A ValueError too: verifying counts the entry as changed and goes on."""


def _read(told: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(told)
    except ValueError:
        raise _UnreadableError("an entry of the ledger cannot be read; run seriatim ledger verify") from None
    return found


def link(last: Entry | None, facts: Mapping[str, Any], circumstances: Mapping[str, Any]) -> Entry:
    """Return the entry after ``last``. The facts name their ``series`` and ``kind``."""
    body, circumstance = text(facts), text(circumstances)
    digest = _digest_after(last, body)
    return Entry(
        seq=last.seq + 1 if last else 1,
        series=facts["series"],
        kind=facts["kind"],
        body=body,
        digest=digest,
        circumstance=circumstance,
        witness=_witness_after(last, digest, circumstance),
    )


def _digest_after(last: Entry | None, body: str) -> str:
    return sha256(f"{last.digest if last else GENESIS}{body}".encode())


def _witness_after(last: Entry | None, digest: str, circumstance: str) -> str:
    return sha256(f"{last.witness if last else GENESIS}{digest}{circumstance}".encode())


def broken_links(entries: Iterable[Entry]) -> list[str]:
    """Return what is wrong with a chain, link by link. Checks every column of every entry."""
    faults: list[str] = []
    last: Entry | None = None
    for place, entry in enumerate(entries, start=1):
        wrong = _wrong_columns(last, place, entry)
        if wrong:
            faults.append(f"entries: the chain is broken at entry {place}: {', '.join(wrong)} changed")
        last = entry
    return faults


def _wrong_columns(last: Entry | None, place: int, entry: Entry) -> list[str]:
    try:
        facts, circumstances = entry.facts, entry.circumstances
        spelt = text(facts) == entry.body and text(circumstances) == entry.circumstance
        linked = _digest_after(last, entry.body) == entry.digest
        witnessed = _witness_after(last, entry.digest, entry.circumstance) == entry.witness
        columns = {
            "seq": entry.seq == place,
            "series": facts.get("series") == entry.series,
            "kind": facts.get("kind") == entry.kind,
            "body or digest": spelt and linked,
            "circumstance or witness": witnessed,
        }
    except (ValueError, TypeError, AttributeError):
        return ["body, circumstance or a digest"]
    return [name for name, right in columns.items() if not right]
