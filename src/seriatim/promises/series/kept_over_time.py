"""The laws about a series as promises: each judges a draft as the newest release of its history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from seriatim.errors import Fault, PolicyError
from seriatim.knowledge.breach import chosen_degree
from seriatim.model import Adversary, Draft, Finding, History, Terms
from seriatim.model.methods import JUDGED_ANYHOW, Degree, method_named
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
    terms: Terms, adversary: Adversary, method: str | None = None, column: str | None = None
) -> list[Promise]:
    """What ``[promise] m, n`` and ``[adversary] lifespan`` ask of a series, in the form its method can keep.

    The method's row says which promises ``m`` stands for; a method that looks at one release alone gets the weak ones.
    """
    m, most = terms.series.m, adversary.lifespan
    found: list[SeriesLaw] = []
    if m is not None:
        row = method_named(method) if method else None
        names = row.judged_by if row and row.serial else JUDGED_ANYHOW
        found += [_of_m(name, m) for name in names]
        n = _degree(m, terms.series.n, adversary)
        if n is not None and (row is None or row.degree is not Degree.MEANINGLESS):
            found += _of_degree(n)
    if most is not None:
        found.append(SeriesLaw("lifespan", lambda history: lifespan_limit(history, most)))
    return [replace(law, column=column) for law in found]


def capped_groups(most: int) -> SeriesLaw:
    """A cap on the different groups a person may ever be in."""
    return SeriesLaw("group_cap", lambda history: group_limit(history, most))


def _degree(m: int, n: int | str | None, adversary: Adversary) -> int | None:
    """The degree asked for; ``"choose"`` takes the smallest that keeps the adversary's ``breach``."""
    if n is None:
        return None
    if n == "choose":
        return chosen_degree(m, adversary)
    if not isinstance(n, int) or not 1 <= n <= m:
        raise PolicyError(Fault("policy: promise.n", "not a degree", f"a whole number from 1 to m = {m}"))
    return n


_OF_M: dict[str, Callable[[History, int, bool], Finding]] = {
    "closed_lineages": lambda history, _, newest: closed_lineages(history, newest),
    "fair_lineages": fair_lineages,
    "lasting_places": lasting_places,
    "m_uniqueness": m_uniqueness,
    "m_invariance": m_invariance,
    "weak_m_uniqueness": weak_m_uniqueness,
    "weak_m_invariance": weak_m_invariance,
}


def _of_m(name: str, m: int) -> SeriesLaw:
    return SeriesLaw(name, lambda history: _OF_M[name](history, m, True))


def _of_degree(n: int) -> list[SeriesLaw]:
    return [
        SeriesLaw("hc_safety", lambda history: hc_safety(history, n, newest=True)),
        SeriesLaw("union_safety", lambda history: union_safety(history, n, newest=True)),
        SeriesLaw("subtraction", lambda history: no_subtraction(history, newest=True)),
    ]
