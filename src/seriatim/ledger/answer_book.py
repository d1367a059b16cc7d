"""Queries and their answers on the chain: a service that is restarted knows all that it ever told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seriatim.errors import LedgerMoved
from seriatim.ledger import catalogue, chain
from seriatim.model.doors import at_door
from seriatim.queries.answer_service import terms_in_words
from seriatim.storage.database import Database


@at_door
class AnswerBook:
    """The answers of one series, in order. Two services cannot both add the next one."""

    def __init__(self, database: Database, series: str) -> None:
        self._database, self._series = database, series
        self._known = len(self.entries())

    def entries(self) -> Sequence[Mapping[str, Any]]:
        """Return what was asked, and what was answered (None: refused)."""
        with self._database.reading() as connection:
            found = catalogue.entries(connection, self._series)
        return [entry.facts for entry in found if entry.kind == chain.ANSWERED]

    def append(self, entry: Mapping[str, Any]) -> None:
        """Add an entry. Raise LedgerMoved if somebody else has added one meanwhile."""
        with self._database.writing() as connection:
            known = catalogue.entries(connection, self._series)
            number = sum(one.kind == chain.ANSWERED for one in known)
            if number != self._known:
                raise LedgerMoved(f"series {self._series!r}: another service answered meanwhile; open it again")
            facts = {"kind": chain.ANSWERED, "series": self._series, "number": number + 1, **entry}
            catalogue.append(connection, facts, catalogue.circumstances())
        self._known = number + 1


def books_in_words(entries: Sequence[chain.Entry]) -> list[str]:
    """Return a line for each series with queries: how many, how many answered, the rule, and who changed it."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for entry in entries:
        if entry.kind == chain.ANSWERED:
            found.setdefault(entry.series, []).append(entry.facts)
    return [f"{series}: {_in_words(book)}" for series, book in found.items()]


def _in_words(book: list[Mapping[str, Any]]) -> str:
    asked = [entry for entry in book if "query" in entry]
    answered = sum(entry["answer"] is not None for entry in asked)
    rules = [entry["rule"] for entry in book if "rule" in entry]
    rule = f"; {terms_in_words(rules[-1])}" if rules else ""
    changed = [f"; changed by {entry['approved_by']}" for entry in book if "approved_by" in entry]
    return f"{len(asked)} queries, {answered} answered{rule}{''.join(changed)}"
