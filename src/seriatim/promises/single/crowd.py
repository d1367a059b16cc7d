"""The promises about a table as a whole: how small a class may be, and how many people may be withheld."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from seriatim.model import Finding, Policy
from seriatim.model.class_counts import BoolArray, ClassCounts
from seriatim.model.methods import quoted_names
from seriatim.promises.single.class_bound import remedy_withheld_alone, worst_classes


def crowd(policy: Policy) -> list[Crowd]:
    """Return the promise ``k``, if the policy has it."""
    return [] if policy.terms.k is None else [Crowd(policy.terms.k)]


@dataclass(frozen=True, slots=True)
class Crowd:
    """k-anonymity (Samarati, Sweeney 1998): every class of equal published quasi values has at least k people.

    Without a respondent column every record counts as a person. With one, several records of one person count once: a
    class of k records of one patient has one person.
    """

    k: int
    rule: str = "k"
    column: None = None
    judges: ClassVar[Literal["table"]] = "table"

    def check(self, counts: ClassCounts) -> Finding:
        found, detail = (counts.sizes, "records") if counts.people is None else (counts.people, "different people")
        short = found < self.k
        worst = float(found.min()) if len(found) else float("inf")
        return Finding(
            self.rule,
            not short.any(),
            worst,
            float(self.k),
            n_classes=int(short.sum()),
            n_people=int(found[short].sum()),
            detail=f"{detail} in the smallest class",
            remedy=self._remedy(counts, short, worst) if short.any() else "",
            # a serial release's groups have random numbers, which say nothing about the table's order
            classes=() if counts.serial else worst_classes(short, -found.astype(np.float64)),
        )

    def _remedy(self, counts: ClassCounts, short: BoolArray, worst: float) -> str:
        """Say what would pass. A group of a series cannot be withheld alone: its people are also in other releases."""
        ways = [f"k = {int(worst)} would pass"] if worst >= 1 else []
        ways += [] if counts.serial else [remedy_withheld_alone(counts.sizes, short)]
        if (counts.sizes[short] >= self.k).any():
            counting = quoted_names(lambda row: row.counts_people)
            ways.append(f"one record per person, or method = {counting}, which count people")
        return "; ".join(ways)


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
