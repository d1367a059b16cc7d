"""Ledgers as users know them."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from seriatim.ledger.sql_ledger import SqlLedger, open_ledger
from seriatim.model.doors import PublicType


class Ledger(SqlLedger, metaclass=PublicType):
    """A ledger, and how one is opened."""

    __slots__ = ()

    @staticmethod
    def open(url: str | Path, shelf: str | Path | None = None, *, create: bool = True) -> Ledger:
        """Open a ledger, or make one: ``sqlite:///ledger.db``, a path, or ``postgresql://...`` with a shelf."""
        return cast(Ledger, open_ledger(url, shelf, create=create))
