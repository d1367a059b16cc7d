"""Everything Seriatim raises on purpose.

    SeriatimError              5  something failed outside the data: a database out of reach, a full disk,
    │                             a missing folder or extra
    ├── InputError             2  the input cannot be used; has every fault found
    │   ├── TableError            a table
    │   ├── PolicyError           a policy, a hierarchy, or a policy that changed inside an epoch
    │   ├── AdversaryError        an adversary
    │   └── LedgerMissing         there is no ledger at this address
    ├── DeliveryRefused        3  a recipient would hold more than the policy allows
    └── LedgerError            4  the ledger cannot be used as it is
        ├── LedgerMoved           someone published meanwhile; judge again
        ├── LedgerDamaged         a stored byte has changed
        ├── LedgerBehind          a restored backup that does not know everything published
        └── JournalHeld           another service writes to this gate's journal

The number is the exit code. A refused draft is no error: refusing is a result (exit code 3). Exit code 1 is left to
bugs of ours. Messages name files, columns and counts, never a cell value: people who read a log may not be allowed to
see the data.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with an input: where it is, what was found, what is allowed and what to do."""

    where: str
    found: str
    allowed: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        parts = [f"{self.where}: {self.found}"]
        if self.allowed:
            parts.append(f"allowed: {self.allowed}")
        if self.remedy:
            parts.append(self.remedy)
        return "; ".join(parts).replace("\n", " ")


class SeriatimError(Exception):
    """The base of all errors that Seriatim raises on purpose."""

    exit_code = 5


class InputError(SeriatimError):
    """Bad input, with every fault found, a line each."""

    exit_code = 2

    def __init__(self, faults: Fault | Iterable[Fault]) -> None:
        self.faults = (faults,) if isinstance(faults, Fault) else tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class TableError(InputError):
    """A table that cannot be used."""


class PolicyError(InputError):
    """A policy that cannot be used."""


class AdversaryError(InputError):
    """An adversary that cannot be used."""


class LedgerMissing(InputError):  # noqa: N818
    """There is no ledger at this address."""


class DeliveryRefused(SeriatimError):  # noqa: N818 - it is a result, as a refused draft is
    """A recipient would hold more releases together than the policy's bound on attacks allows."""

    exit_code = 3


class LedgerError(SeriatimError):
    """The ledger cannot be used as it is."""

    exit_code = 4


class LedgerMoved(LedgerError):  # noqa: N818 - it is an event, not a mistake
    """Someone published meanwhile, so the draft must be judged again."""


class LedgerDamaged(LedgerError):  # noqa: N818
    """A stored byte has changed."""


class LedgerBehind(LedgerError):  # noqa: N818
    """Something was published that this ledger does not know: it is a restored old backup."""


class JournalHeld(LedgerError):  # noqa: N818
    """Another service writes to the journal of this gate."""
