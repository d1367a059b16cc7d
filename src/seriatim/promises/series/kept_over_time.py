"""The laws about a series as promises: each judges a draft as the newest release of its history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from seriatim.errors import Fault, PolicyError
from seriatim.knowledge.breach import choose_n
from seriatim.model import Draft, Finding, History, Terms
from seriatim.ports import Promise
from seriatim.promises.series.historical import hc_safety, no_subtraction
from seriatim.promises.series.invariance import m_invariance, m_uniqueness, weak_m_invariance, weak_m_uniqueness
from seriatim.promises.series.limits import group_limit, lifespan_limit
from seriatim.promises.series.lineages import closed_lineages, fair_lineages
from seriatim.promises.series.newest import with_draft
from seriatim.promises.series.slots import lasting_places
from seriatim.promises.series.unions import union_safety

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
    known = adversary or {}
    m = terms.further.get("m")
    found: list[SeriesLaw] = []
    if m is not None:
        found += _of_method(int(m), _degree(int(m), terms.further.get("n"), known), method)
    if known.get("lifespan") is not None:
        most = int(known["lifespan"])
        found.append(SeriesLaw("lifespan", lambda history: lifespan_limit(history, most)))
    return [replace(law, column=column) for law in found]


def capped_groups(most: int) -> SeriesLaw:
    """A cap on the different groups a person may ever be in."""
    return SeriesLaw("group_cap", lambda history: group_limit(history, most))


def _degree(m: int, n: Any, known: Mapping[str, Any]) -> int | None:
    """The degree asked for; ``"choose"`` takes the smallest that keeps the adversary's ``breach``."""
    if n is None:
        return None
    if n == "choose":
        missing = [name for name in ("compromised", "lifespan", "breach") if known.get(name) is None]
        if missing:
            raise PolicyError(
                [Fault(f"policy: adversary.{name}", "missing", 'needed for n = "choose"') for name in missing]
            )
        n = choose_n(known["compromised"], known["lifespan"], m, known["breach"])
        if n is None:
            raise PolicyError(
                Fault(
                    "policy: promise.n",
                    "no degree keeps the breach probability",
                    f"1 to m = {m}",
                    "shorten adversary.lifespan, raise promise.m or relax adversary.breach",
                )
            )
    if not isinstance(n, int) or not 1 <= n <= m:
        raise PolicyError(Fault("policy: promise.n", "not a degree", f"a whole number from 1 to m = {m}"))
    return n


def _of_method(m: int, n: int | None, method: str | None) -> list[SeriesLaw]:
    if method == "lineage":
        return [
            SeriesLaw("closed_lineages", lambda history: closed_lineages(history, newest=True)),
            SeriesLaw("fair_lineages", lambda history: fair_lineages(history, m, newest=True)),
            SeriesLaw("lasting_places", lambda history: lasting_places(history, m, newest=True)),
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
    return found + (_of_degree(n) if n is not None else [])


def _of_degree(n: int) -> list[SeriesLaw]:
    return [
        SeriesLaw("hc_safety", lambda history: hc_safety(history, n, newest=True)),
        SeriesLaw("union_safety", lambda history: union_safety(history, n, newest=True)),
        SeriesLaw("subtraction", lambda history: no_subtraction(history, newest=True)),
    ]
