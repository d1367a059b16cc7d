"""Everything Seriatim raises on purpose.

    SeriatimError              5  something failed outside the data: a database out of reach, a full disk,
    │                             a missing folder or extra
    ├── InputError             2  what was handed in is not usable; carries every fault found
    │   ├── TableError            a table
    │   ├── PolicyError           a policy, a hierarchy, or a policy that changed inside an epoch
    │   ├── AdversaryError        an adversary
    │   └── LedgerMissing         there is no ledger where one was looked for
    └── LedgerError            4  the ledger cannot be used as it is
        ├── LedgerMoved           somebody released meanwhile; judge again
        ├── LedgerDamaged         a stored byte is not what it was
        └── LedgerBehind          a restored backup: something was published that it does not know

The number is the exit code. A refused draft is not here: refusing is a result (exit code 3). Exit code 1 is left to
bugs of ours.
Messages name files, columns and counts, never a cell value: the reader of a log may not read the data.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with an input: where, what was found, what is allowed, what to do."""

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
    """The root of the tree; catching it catches all of ours."""

    exit_code = 5


class InputError(SeriatimError):
    """Bad input, with every fault that was found, one line each."""

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


class LedgerError(SeriatimError):
    """The ledger cannot be used as it is."""

    exit_code = 4


class LedgerMoved(LedgerError):  # noqa: N818 - it is an event, not a mistake
    """The series has moved since the draft was judged."""


class LedgerDamaged(LedgerError):  # noqa: N818
    """A stored byte is not what it was."""


class LedgerBehind(LedgerError):  # noqa: N818
    """Something was published that this ledger does not know: an old backup was restored."""
