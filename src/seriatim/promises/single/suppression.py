"""At most a share of the records is withheld: a promise to users of the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from seriatim.model import Finding, Policy
from seriatim.model.class_counts import ClassCounts

_TIE = 1e-12


def suppression(policy: Policy) -> list[Suppression]:
    """Return the bound on withheld records: ``suppress``, else the default of the method."""
    return [Suppression(policy.defence.allowed if policy.defence else 0.0)]


@dataclass(frozen=True, slots=True)
class Suppression:
    """At most ``allowed`` of the view's records are withheld; only the publisher can check it."""

    allowed: float
    rule: str = "suppress"
    column: None = None
    judges: ClassVar[Literal["table"]] = "table"

    def check(self, counts: ClassCounts) -> Finding:
        share = counts.withheld / counts.offered if counts.offered else 0.0
        kept = share <= self.allowed + _TIE
        return Finding(
            self.rule,
            kept,
            share,
            self.allowed,
            n_people=0 if kept else counts.withheld,
            detail="share of people withheld from this release" if counts.serial else "share of records not published",
            remedy="" if kept else f"suppress = {share:.4g} would pass, or a weaker promise",
        )
