"""The seams: what the core needs from its edges, and what other packages may register."""

from seriatim.ports.ledger import (
    PRIVATE,
    PUBLIC,
    DraftPeople,
    DraftRecord,
    Ledger,
    LedgerCheck,
    ReleaseRecord,
    Reservation,
    Shelf,
)
from seriatim.ports.parts import Defence, Progress, Workers, Writer, no_progress
from seriatim.ports.promise import Promise, SeriesPromise, TablePromise

__all__ = [
    "PRIVATE",
    "PUBLIC",
    "Defence",
    "DraftPeople",
    "DraftRecord",
    "Ledger",
    "LedgerCheck",
    "Progress",
    "Promise",
    "ReleaseRecord",
    "Reservation",
    "SeriesPromise",
    "Shelf",
    "TablePromise",
    "Workers",
    "Writer",
    "no_progress",
]
