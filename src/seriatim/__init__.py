"""Publish data about people again and again, and keep the releases safe together.

import seriatim as sr
policy = sr.Policy.load("policy.toml")
ledger = sr.Ledger.open("sqlite:///ledger.db")
release = sr.publish(view, policy, ledger)
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as typing has it, which takes longer to load than the help page takes to show
if TYPE_CHECKING:
    from typing import Any

    from seriatim.api import HistoryFace as History
    from seriatim.api import PolicyFace as Policy
    from seriatim.api import attack, audit, compare, forecast, publish
    from seriatim.errors import (
        AdversaryError,
        DeliveryRefused,
        InputError,
        JournalHeld,
        LedgerBehind,
        LedgerDamaged,
        LedgerError,
        LedgerMissing,
        LedgerMoved,
        PolicyError,
        SeriatimError,
        TableError,
    )
    from seriatim.knowledge.breach import breach_probability, choose_n
    from seriatim.ledger.face import LedgerFace as Ledger
    from seriatim.model.verdict import Approval

# loaded at first use: a command that only prints its help must not wait for compilers and databases
_HOMES = {
    "AdversaryError": "errors",
    "Approval": "model.verdict",
    "DeliveryRefused": "errors",
    "History": "api:HistoryFace",
    "InputError": "errors",
    "JournalHeld": "errors",
    "Ledger": "ledger.face:LedgerFace",
    "LedgerBehind": "errors",
    "LedgerDamaged": "errors",
    "LedgerError": "errors",
    "LedgerMissing": "errors",
    "LedgerMoved": "errors",
    "Policy": "api:PolicyFace",
    "PolicyError": "errors",
    "SeriatimError": "errors",
    "TableError": "errors",
    "attack": "api",
    "audit": "api",
    "breach_probability": "knowledge.breach",
    "choose_n": "knowledge.breach",
    "compare": "api",
    "forecast": "api",
    "publish": "api",
}
_ROOMS = frozenset({"attacks", "gate", "knowledge", "measures", "queries", "reading"})

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"seriatim.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'seriatim' has no attribute {name!r}")
    home, _, inner = _HOMES[name].partition(":")
    value = getattr(import_module(f"seriatim.{home}"), inner or name)
    if home not in ("api", "errors"):  # the names of api have their doors, and errors need none
        value = import_module("seriatim.model.doors").at_door(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])


__all__ = [
    "AdversaryError",
    "Approval",
    "DeliveryRefused",
    "History",
    "InputError",
    "JournalHeld",
    "Ledger",
    "LedgerBehind",
    "LedgerDamaged",
    "LedgerError",
    "LedgerMissing",
    "LedgerMoved",
    "Policy",
    "PolicyError",
    "SeriatimError",
    "TableError",
    "attack",
    "audit",
    "breach_probability",
    "choose_n",
    "compare",
    "forecast",
    "publish",
]
