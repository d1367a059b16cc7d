"""The journal: what a gate's service needs from the keeper of its decisions.

A decision is an entry on disk before anyone is told. From the entries, and the baselines they name, everything about
the gate's state follows: reading them again reproduces it bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

REQUEST, WITHDRAW, EXPIRE, FREEZE, THAW, PUBLISH, BASELINE, TAKE_BACK = range(8)
"""Kinds of entries. WITHDRAW and EXPIRE take a record out of the queue, TAKE_BACK only one request for it."""
ROLES = ("requester", "officer", "auditor")

PACKED = np.dtype(
    [
        ("kind", "<i2"), ("token", "<i4"), ("x", "<i4"), ("y", "<i4"), ("at", "<i8"), ("about", "<i8"),
        ("mark", "<i8"), ("n_out", "<i8"), ("request", "V16"),
    ]
)  # fmt: skip
"""An entry as the gate's state needs it, without the person it is about."""
Past = npt.NDArray[Any]
"""Entries of type ``PACKED``, without a gap."""


class JournalEntry(NamedTuple):
    """One thing that happened. ``about`` is the number of a request (withdrawn, expired; of a new request the first for
    the same record) or of a baseline."""

    kind: int
    at: int
    """Milliseconds since 1970."""
    request: str | None = None
    """The id of a new request: 32 hexadecimal digits."""
    x: int = -1
    y: int = -1
    about: int = -1
    token: int = 0
    mark: int = 0
    """A digest of what was asked for, to tell a repeated request from an id that is used twice."""
    n_out: int = 0
    """How many records had left after it."""
    respondent: str | None = None
    body: str | None = None
    """What leaves, as JSON."""


@dataclass(frozen=True, slots=True)
class JournalRecord:
    """A record that may be asked for: its cell, and what leaves, as JSON."""

    x: int
    y: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalToken:
    """Who may do what. ``respondents`` are the only people a requester may ask for; None allows all."""

    number: int
    role: str
    label: str
    respondents: frozenset[str] | None
    quota: int | None
    """How many requests in all."""
    made_at: int
    revoked_at: int | None = None


@dataclass(frozen=True, slots=True)
class StoredBaseline:
    """A version of a gate's baseline, the rules that judge by it, and the replay that was made beforehand."""

    number: int
    version: str
    content: str
    rules: str
    report: str


class JournalWriter(Protocol):
    """The only writer of one gate's journal."""

    def past(self) -> Sequence[Past]:
        """Return everything that happened so far, in parts that follow each other."""

    def append(self, entries: Sequence[JournalEntry]) -> None:
        """Put entries on the disk, all or none. Raise JournalHeld if another writer has taken over."""

    def held_records(self, respondents: Sequence[str]) -> Mapping[str, JournalRecord]:
        """Return the records of those people that are held."""

    def close(self) -> None: ...


class Journal(Protocol):
    """The journals of several gates, their baselines, tokens and records."""

    def baselines(self, gate: str) -> Sequence[StoredBaseline]:
        """Return every version, oldest first."""

    def secret(self, gate: str) -> bytes: ...

    def tokens(self, gate: str) -> Mapping[str, JournalToken]:
        """Return tokens by the SHA-256 of each, revoked ones too."""

    def bodies(self, gate: str, places: Sequence[int]) -> Mapping[int, tuple[str, str]]:
        """Return respondent and body of entries by their place in the journal, from 0."""

    def head(self, gate: str, place: int) -> str:
        """Return the digest of the entry at a place; that of none is empty."""

    def counts_records(self, gate: str) -> int: ...

    def writer(self, gate: str, patience: float = 0.0, head: Path | None = None) -> JournalWriter:
        """Become the only writer, and note each newest entry in the file ``head``.

        Raise JournalHeld if there is another, LedgerBehind if the file knows more than the journal.
        """
