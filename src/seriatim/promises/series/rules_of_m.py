"""The rules that ``[promise] m`` can stand for: the row of a method says which of them judge it, and its past."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from seriatim.model import Finding
from seriatim.model.judged import JudgedHistory
from seriatim.promises.series.capped_lineages import CapsAsked, capped_lineages, fair_waiting
from seriatim.promises.series.fair_cells import CellsAsked, fair_cells
from seriatim.promises.series.invariance import m_invariance, m_uniqueness, weak_m_invariance, weak_m_uniqueness
from seriatim.promises.series.lineages import closed_lineages, fair_lineages
from seriatim.promises.series.slots import SlotsAsked, lasting_places, lasting_slots


@dataclass(frozen=True, slots=True)
class TermsOfM:
    """What a rule of m is judged with."""

    m: int
    odds: float | None = None
    known: float = 0.0
    """The share of people about whom the attacker knows the value."""

    @property
    def caps(self) -> CapsAsked:
        """Return what is required where values have caps of their own: without ``odds`` no odds may grow."""
        return CapsAsked(self.m, 1.0 if self.odds is None else self.odds)


RuleOfM = Callable[[JudgedHistory, TermsOfM, bool], Finding]
"""Judges a whole history, or its newest release alone if the last argument is true."""


def rule_of_m(name: str) -> RuleOfM:
    """Return the rule that a method's row names; an unknown one is an error, for nothing would be judged by it."""
    if name not in _RULES:
        raise LookupError(f"no rule of m is called {name!r}; a method's row may name {', '.join(sorted(_RULES))}")
    return _RULES[name]


def _fair_lineages(judged: JudgedHistory, terms: TermsOfM, newest: bool) -> Finding:
    if terms.odds is None:
        return fair_lineages(judged, terms.m, newest)
    return capped_lineages(judged, terms.caps, newest)


def _lasting_places(judged: JudgedHistory, terms: TermsOfM, newest: bool) -> Finding:
    if terms.odds is None:
        return lasting_places(judged, terms.m, newest)
    caps = terms.caps.caps(judged)[0]
    return lasting_slots(judged, SlotsAsked(terms.m, caps, terms.caps.drop_strangers), newest)


_RULES: dict[str, RuleOfM] = {
    "closed_lineages": lambda judged, _, newest: closed_lineages(judged, newest),
    "fair_lineages": _fair_lineages,
    "lasting_places": _lasting_places,
    "fair_waiting": lambda judged, terms, _: fair_waiting(judged, terms.caps),
    "fair_cells": lambda judged, terms, _: fair_cells(judged, CellsAsked(terms.m, terms.odds, terms.known)),
    "m_uniqueness": lambda judged, terms, newest: m_uniqueness(judged, terms.m, newest),
    "m_invariance": lambda judged, terms, newest: m_invariance(judged, terms.m, newest),
    "weak_m_uniqueness": lambda judged, terms, newest: weak_m_uniqueness(judged, terms.m, newest),
    "weak_m_invariance": lambda judged, terms, newest: weak_m_invariance(judged, terms.m, newest),
}
