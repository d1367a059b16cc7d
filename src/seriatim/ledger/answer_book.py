"""Queries and their answers on the chain: a service that is restarted knows all that it ever told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seriatim.errors import LedgerMoved
from seriatim.ledger import catalogue, chain
from seriatim.storage.database import Database


class LedgerAnswerBook:
    """The answers of one series, in order. Two services cannot both add the next one."""

    def __init__(self, database: Database, series: str) -> None:
        self._database, self._series = database, series
        self._known = len(self.entries())

    def entries(self) -> Sequence[Mapping[str, Any]]:
        """Return what was asked, and what was answered (None: refused)."""
        with self._database.reading() as connection:
            found = catalogue.catalogue_entries(connection, self._series)
        return [entry.facts for entry in found if entry.kind == chain.ANSWERED]

    def append(self, entry: Mapping[str, Any]) -> None:
        """Add an entry. Raise LedgerMoved if somebody else has added one meanwhile."""
        with self._database.writing() as connection:
            known = catalogue.catalogue_entries(connection, self._series)
            number = sum(one.kind == chain.ANSWERED for one in known)
            if number != self._known:
                raise LedgerMoved(f"series {self._series!r}: another service answered meanwhile; open it again")
            facts = {"kind": chain.ANSWERED, "series": self._series, "number": number + 1, **entry}
            catalogue.append_to_catalogue(connection, facts, catalogue.catalogue_circumstances())
        self._known = number + 1
