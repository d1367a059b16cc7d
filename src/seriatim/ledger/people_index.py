"""Who is in which series, by numbers alone: one file per series, so that a publication need not read all others.

The file holds the newest entry of its series that moved it, and a sorted number for every person; it names nobody and
is signed with the series' secret. A series without one, or with one of an earlier state, is read from its files of
newcomers: whatever takes people out of a series removes the file.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from contextlib import suppress

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlalchemy.engine import Connection

from seriatim.ledger import catalogue, pseudonyms
from seriatim.ledger.shelf import slug
from seriatim.ledger.stored_history import everyone_in
from seriatim.model.text_hash import WordArray, hashes_of
from seriatim.ports import Shelf

_FILE = "/people.index"
_KEY = 0x5E21A71
"""The same for all series: their people are compared."""
_SIGNED, _HEAD = 32, 64
"""Bytes of the signature, and of the digest of an entry."""


def hashed(respondents: pa.Array | pa.ChunkedArray) -> WordArray:
    """Return a number for each person, sorted."""
    return np.unique(hashes_of(respondents.drop_null(), _KEY))


def write(place: Shelf, series: str, secret: bytes, head: str, people: WordArray) -> None:
    """Write the index of a series that stands at ``head``; the caller is the only writer."""
    body = head.encode() + people.tobytes()
    place.replace(_name(series), _signature(secret, body) + body)


def remove(place: Shelf, series: str) -> None:
    place.remove(_name(series))


def in_other_series(
    connection: Connection, place: Shelf, series: str, respondents: pa.Array | pa.ChunkedArray
) -> dict[str, int]:
    """Return how many of these rows are of people in another series, for each in which there are any."""
    marks, rows = np.unique(hashes_of(pseudonyms.pseudonym_text(respondents).drop_null(), _KEY), return_counts=True)
    found = {}
    for name, secret, head in connection.execute(catalogue.HEADS):
        if name != series:
            people = _indexed(place, name, bytes(secret), head)
            if people is None:
                past = catalogue.past(connection, name)
                people = hashed(everyone_in(place, name, past).known.column(pseudonyms.RESPONDENT))
            found[name] = int(rows[_in_both(marks, people)].sum())
    return {name: n for name, n in sorted(found.items()) if n}


def wrong_files(place: Shelf, secrets: Mapping[str, bytes]) -> list[str]:
    """Return the indexes that were changed since they were written."""
    named = {_name(series): secret for series, secret in secrets.items()}
    return [
        place.where(name)
        for name, secret in named.items()
        if _is_there(place, name) and _signed(place, name, secret) is None
    ]


def _is_there(place: Shelf, name: str) -> bool:
    try:
        place.read(name)
    except FileNotFoundError:
        return False
    return True


def _in_both(marks: WordArray, people: WordArray) -> npt.NDArray[np.int64]:
    """Return where in ``marks`` people are; both are sorted, and the shorter one is looked up in the longer."""
    if not len(marks) or not len(people):
        return np.empty(0, dtype=np.int64)
    if len(people) < len(marks):
        at = np.minimum(np.searchsorted(marks, people), len(marks) - 1)
        hit: npt.NDArray[np.int64] = at[marks[at] == people]
        return hit
    at = np.minimum(np.searchsorted(people, marks), len(people) - 1)
    found: npt.NDArray[np.int64] = np.flatnonzero(people[at] == marks)
    return found


def _indexed(place: Shelf, series: str, secret: bytes, head: str) -> WordArray | None:
    body = _signed(place, _name(series), secret)
    if body is None or body[:_HEAD] != head.encode():
        return None
    return np.frombuffer(body, dtype=np.uint64, offset=_HEAD)


def _signed(place: Shelf, name: str, secret: bytes) -> bytes | None:
    """Return what an index says; None if there is none, or not as it was written."""
    with suppress(OSError):
        data = place.read(name)
        if hmac.compare_digest(data[:_SIGNED], _signature(secret, data[_SIGNED:])):
            return data[_SIGNED:]
    return None


def _signature(secret: bytes, body: bytes) -> bytes:
    return hashlib.blake2b(body, key=secret[:64], digest_size=_SIGNED).digest()


def _name(series: str) -> str:
    return f"{slug(series)}{_FILE}"
