"""The laws about a series as promises: each judges a draft as the newest release of its history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from seriatim.errors import Fault, PolicyError
from seriatim.model import Draft, Finding, History, Terms
from seriatim.ports import Promise
from seriatim.promises.historical import hc_safety, no_subtraction
from seriatim.promises.invariance import m_invariance, m_uniqueness, weak_m_invariance, weak_m_uniqueness
from seriatim.promises.limits import group_limit, lifespan_limit
from seriatim.promises.lineages import closed_lineages, fair_lineages
from seriatim.promises.newest import with_draft
from seriatim.promises.unions import union_safety

Law = Callable[[History], Finding]


@dataclass(frozen=True, slots=True)
class SeriesLaw:
    """A law of the whole history, asked of a draft on top of it, for one sensitive column (the first, if None)."""

    rule: str
    law: Law
    column: str | None = None

    def check(self, draft: Draft, history: History) -> Finding:
        column = self.column or next(iter(draft.sensitive))
        return replace(self.law(with_draft(history, draft, column)), column=column)


def serial_promises(
    terms: Terms, adversary: Mapping[str, Any] | None, method: str | None = None, column: str | None = None
) -> list[Promise]:
    """What ``[promise] m, n`` and ``[adversary] lifespan`` ask of a series, in the form its method can keep.

    ``invariant`` keeps the strict laws, ``lineage`` its own, everything else the weak ones with n.
    """
    m, n = terms.further.get("m"), terms.further.get("n")
    found: list[SeriesLaw] = []
    if m is not None:
        found += _of_method(int(m), n, method)
    known = adversary or {}
    if known.get("lifespan") is not None:
        most = int(known["lifespan"])
        found.append(SeriesLaw("lifespan", lambda history: lifespan_limit(history, most)))
    return [replace(law, column=column) for law in found]


def capped_groups(most: int) -> SeriesLaw:
    """A cap on the different groups a person may ever be in."""
    return SeriesLaw("group_cap", lambda history: group_limit(history, most))


def _of_method(m: int, n: Any, method: str | None) -> list[SeriesLaw]:
    if method == "lineage":
        return [
            SeriesLaw("closed_lineages", lambda history: closed_lineages(history, newest=True)),
            SeriesLaw("fair_lineages", lambda history: fair_lineages(history, m, newest=True)),
        ]
    if method == "invariant":
        found = [
            SeriesLaw("m_uniqueness", lambda history: m_uniqueness(history, m, newest=True)),
            SeriesLaw("m_invariance", lambda history: m_invariance(history, m, newest=True)),
        ]
    else:
        found = [
            SeriesLaw("weak_m_uniqueness", lambda history: weak_m_uniqueness(history, m, newest=True)),
            SeriesLaw("weak_m_invariance", lambda history: weak_m_invariance(history, m, newest=True)),
        ]
    return found + (_of_degree(m, n) if n is not None else [])


def _of_degree(m: int, n: Any) -> list[SeriesLaw]:
    if not isinstance(n, int) or not 1 <= n <= m:
        raise PolicyError(Fault("policy: promise.n", "not a degree", f"a whole number from 1 to m = {m}"))
    return [
        SeriesLaw("hc_safety", lambda history: hc_safety(history, n, newest=True)),
        SeriesLaw("union_safety", lambda history: union_safety(history, n, newest=True)),
        SeriesLaw("subtraction", lambda history: no_subtraction(history, newest=True)),
    ]
