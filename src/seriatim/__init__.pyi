from seriatim import attacks, gate, knowledge, measures, queries, reading
from seriatim.api.attacks import attack
from seriatim.api.audits import audit
from seriatim.api.comparisons import compare
from seriatim.api.forecasts import forecast
from seriatim.api.public_types import History, Policy
from seriatim.api.publications import publish
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
from seriatim.ledger.public import Ledger
from seriatim.model.verdict import Approval

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
    "attacks",
    "audit",
    "compare",
    "forecast",
    "gate",
    "knowledge",
    "measures",
    "publish",
    "queries",
    "reading",
]
__version__: str
