"""The rules that ``[promise] m`` can stand for: the row of a method says which of them judge it, and its past."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from seriatim.model import Finding
from seriatim.model.history import JudgedHistory
from seriatim.promises.series.fair_cells import CellsAsked, fair_cells
from seriatim.promises.series.invariance import m_invariance, m_uniqueness, weak_m_invariance, weak_m_uniqueness


@dataclass(frozen=True, slots=True)
class TermsOfM:
    """What a rule of m is judged with."""

    m: int
    odds: float | None = None
    known: float = 0.0
    """The share of people about whom the attacker knows the value."""


RuleOfM = Callable[[JudgedHistory, TermsOfM, bool], Finding]
"""Judges a whole history, or its newest release alone if the last argument is true."""


def rule_of_m(name: str) -> RuleOfM:
    """Return the rule that a method's row names; an unknown one is an error, for nothing would be judged by it."""
    if name not in _RULES:
        raise LookupError(f"no rule of m is called {name!r}; a method's row may name {', '.join(sorted(_RULES))}")
    return _RULES[name]


_RULES: dict[str, RuleOfM] = {
    "fair_cells": lambda judged, terms, _: fair_cells(judged, CellsAsked(terms.m, terms.odds, terms.known)),
    "m_uniqueness": lambda judged, terms, newest: m_uniqueness(judged, terms.m, newest),
    "m_invariance": lambda judged, terms, newest: m_invariance(judged, terms.m, newest),
    "weak_m_uniqueness": lambda judged, terms, newest: weak_m_uniqueness(judged, terms.m, newest),
    "weak_m_invariance": lambda judged, terms, newest: weak_m_invariance(judged, terms.m, newest),
}
