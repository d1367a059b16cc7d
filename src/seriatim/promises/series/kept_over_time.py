"""The promises ``m``, ``n`` and ``lifespan`` of a series, in the form that its method can keep.

``m`` can stand for several rules: the row of a method says which of them judge it, and its past. ``lifespan`` says how
often a person may be published.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model import Finding, Policy
from seriatim.model.history import JudgedHistory
from seriatim.model.methods import JUDGED_ANYHOW, Method, method_named
from seriatim.ports import Promise
from seriatim.promises.series.fair_cells import FairnessTerms, fair_cells
from seriatim.promises.series.invariance import m_invariance, m_uniqueness, weak_m_invariance, weak_m_uniqueness


@dataclass(frozen=True, slots=True)
class TermsOfM:
    """What a rule of m is judged with."""

    m: int
    odds: float | None = None
    known: float = 0.0
    """The share of people about whom the attacker knows the value."""
    by_name: frozenset[str] = frozenset()
    """People whose value the attacker knows beside that share."""


RuleOfM = Callable[[JudgedHistory, TermsOfM, bool], Finding]
"""Judges a whole history, or its newest release alone if the last argument is true."""


def rule_of_m(name: str) -> RuleOfM:
    """Return the rule that a method's row names; an unknown one is an error, for nothing would be judged by it."""
    if name not in _RULES:
        raise LookupError(f"no rule of m is called {name!r}; a method's row may name {', '.join(sorted(_RULES))}")
    return _RULES[name]


_RULES: dict[str, RuleOfM] = {
    "fair_cells": lambda judged, terms, _: fair_cells(
        judged, FairnessTerms(terms.m, terms.odds, terms.known, terms.by_name)
    ),
    "m_uniqueness": lambda judged, terms, newest: m_uniqueness(judged, terms.m, newest),
    "m_invariance": lambda judged, terms, newest: m_invariance(judged, terms.m, newest),
    "weak_m_uniqueness": lambda judged, terms, newest: weak_m_uniqueness(judged, terms.m, newest),
    "weak_m_invariance": lambda judged, terms, newest: weak_m_invariance(judged, terms.m, newest),
}


def lifespan_limit(judged: JudgedHistory, most: int) -> Finding:
    """Check that nobody is published more than L times in all."""
    count = np.zeros(len(judged.history.respondents), dtype=np.int64)
    for past in judged.history.releases:
        np.add.at(count, past.person[past.person >= 0], 1)
    return _finding("lifespan", count, most, "publications of one person")


def _finding(rule: str, count: np.ndarray, most: int, detail: str) -> Finding:
    over = int((count > most).sum())
    worst = float(count.max(initial=0))
    remedy = f"withhold those {over} people, or allow {int(worst)}" if over else ""
    return Finding(rule, over == 0, worst, float(most), n_classes=0, n_people=over, detail=detail, remedy=remedy)


@dataclass(frozen=True, slots=True)
class KeptOverTime:
    """A promise about the whole history, for one sensitive column (the one it follows, if None)."""

    rule: str
    find: Callable[[JudgedHistory], Finding]
    column: str | None = None
    known: frozenset[str] = frozenset()
    """People known by name: groups of nobody else need no cover."""
    judges: ClassVar[Literal["series"]] = "series"

    def check(self, judged: JudgedHistory) -> Finding:
        own = judged.once(_by_this_method) if judged.since else judged
        own = without_known(own, self.known) if self.known else own
        return replace(self.find(own), column=self.column or judged.column)


def _by_this_method(judged: JudgedHistory) -> JudgedHistory:
    """Return the releases since the method took over the series: nothing else can keep its promises."""
    releases = tuple(past for past in judged.history if past.number >= judged.since)
    return replace(judged, history=replace(judged.history, releases=releases))


def without_known(judged: JudgedHistory, known: frozenset[str]) -> JudgedHistory:
    """Return the history without the groups in which there are only people known by name."""
    respondents = pc.cast(judged.history.respondents, pa.string())
    told = pc.is_in(respondents, value_set=pa.array(sorted(known), pa.string())).to_numpy(zero_copy_only=False)
    told = np.append(told, False)  # the last entry is for counterfeits
    releases = []
    for past in judged.history:
        # a group needs cover while anyone in it does
        covered = np.bincount(past.group, weights=~told[past.person], minlength=past.n_groups) > 0
        rows = covered[past.group]
        if not rows.all():
            past = replace(
                past,
                person=past.person[rows],
                group=np.unique(past.group[rows], return_inverse=True)[1].astype(np.int32),
                value=past.value[rows],
                marks={name: mark[rows] for name, mark in past.marks.items()},
            )
        releases.append(past)
    return replace(judged, history=replace(judged.history, releases=tuple(releases)))


def rules_for_m(policy: Policy) -> list[KeptOverTime]:
    """Return what ``m`` stands for, as the method's row says; a method for single releases gets the weak form."""
    m, row = policy.terms.series.m, _row(policy)
    if m is None:
        return []
    names = row.judged_by if row is not None and row.judged_by else JUDGED_ANYHOW
    odds = policy.terms.series.odds if row is not None and row.reads_odds else None
    terms = TermsOfM(m, odds, policy.adversary.share_known, _known_by_name(policy))
    return [_of_m(name, terms, policy) for name in names]


def _of_m(name: str, terms: TermsOfM, policy: Policy) -> KeptOverTime:
    rule = rule_of_m(name)
    return kept_over_time(policy, name, lambda judged: rule(judged, terms, True))


def rules_for_n(policy: Policy) -> list[Promise]:
    """Return what ``n`` stands for, as the method says; nothing where it compares no groups of two releases."""
    return _of_degree(policy, "rules_for_n")


def closed_form(policy: Policy) -> list[Promise]:
    """Return the bound ``breach``; its formula needs a degree, which few methods have."""
    return _of_degree(policy, "closed_form")


def _of_degree(policy: Policy, name: str) -> list[Promise]:
    row = _row(policy)
    found: list[Promise] = getattr(import_module(row.degree), name)(policy) if row is not None and row.degree else []
    return found


def lifespan_bound(policy: Policy) -> list[KeptOverTime]:
    """Return the limit on how often a person is published, together with ``m``."""
    most = policy.adversary.lifespan
    if most is None or policy.terms.series.m is None:
        return []
    return [kept_over_time(policy, "lifespan", lambda judged: lifespan_limit(judged, most))]


def kept_over_time(policy: Policy, rule: str, find: Callable[[JudgedHistory], Finding]) -> KeptOverTime:
    """Return the promise of a rule about the series, for the column that it follows."""
    return KeptOverTime(rule, find, policy.sensitive[0].name if policy.sensitive else None, _known_by_name(policy))


def _known_by_name(policy: Policy) -> frozenset[str]:
    return policy.adversary.priors.known if policy.adversary.priors else frozenset()


def _row(policy: Policy) -> Method | None:
    return method_named(policy.defence.method) if policy.defence else None
