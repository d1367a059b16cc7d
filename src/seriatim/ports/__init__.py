"""The seams: what the core needs from its edges, and what other packages may register."""

from typing import TYPE_CHECKING

from seriatim.lazy_names import lazy_names_by_home

if TYPE_CHECKING:
    from seriatim.ports.defence import Defence
    from seriatim.ports.ledger import PRIVATE, PUBLIC, Ledger, LedgerCheck, ReleaseRecord, Reservation
    from seriatim.ports.promise import Promise, SeriesPromise, TablePromise
    from seriatim.ports.workers import Progress, Workers, no_progress
    from seriatim.ports.writer import Writer

_HOMES = {
    "seriatim.ports.defence": ("Defence",),
    "seriatim.ports.ledger": ("PRIVATE", "PUBLIC", "LedgerCheck", "Ledger", "ReleaseRecord", "Reservation"),
    "seriatim.ports.promise": ("Promise", "SeriesPromise", "TablePromise"),
    "seriatim.ports.workers": ("Progress", "Workers", "no_progress"),
    "seriatim.ports.writer": ("Writer",),
}
__getattr__ = lazy_names_by_home(__name__, _HOMES)

__all__ = [
    "PRIVATE",
    "PUBLIC",
    "Defence",
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
