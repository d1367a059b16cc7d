"""The seams: what the core needs from its edges, and what other packages may register."""

from seriatim.ports.defence import Defence
from seriatim.ports.ledger import PRIVATE, PUBLIC, DraftRecord, Ledger, LedgerCheck, ReleaseRecord, Reservation
from seriatim.ports.promise import Promise, SeriesPromise, TablePromise
from seriatim.ports.workers import Progress, Workers, no_progress
from seriatim.ports.writer import Writer

__all__ = [
    "PRIVATE",
    "PUBLIC",
    "Defence",
    "DraftRecord",
    "Ledger",
    "LedgerCheck",
    "Progress",
    "Promise",
    "ReleaseRecord",
    "Reservation",
    "SeriesPromise",
    "TablePromise",
    "Workers",
    "Writer",
    "no_progress",
]
