"""The promises that ``[promise] m, n`` make about a series, in the form that its method can keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from seriatim.errors import Fault, PolicyError
from seriatim.knowledge.breach import chosen_degree
from seriatim.model import Adversary, Finding, Terms
from seriatim.model.judged import Judged
from seriatim.model.methods import JUDGED_ANYHOW, Degree, method_named
from seriatim.promises.series.historical import hc_safety, no_subtraction
from seriatim.promises.series.invariance import m_invariance, m_uniqueness, weak_m_invariance, weak_m_uniqueness
from seriatim.promises.series.limits import group_limit, lifespan_limit
from seriatim.promises.series.lineages import closed_lineages, fair_lineages
from seriatim.promises.series.slots import lasting_places
from seriatim.promises.series.unions import union_safety


@dataclass(frozen=True, slots=True)
class KeptOverTime:
    """A promise about the whole history, for one sensitive column (the one it follows, if None)."""

    rule: str
    find: Callable[[Judged], Finding]
    column: str | None = None
    judges: ClassVar[Literal["series"]] = "series"

    def check(self, judged: Judged) -> Finding:
        return replace(self.find(judged), column=self.column or judged.column)


def serial_promises(
    terms: Terms, adversary: Adversary, method: str | None = None, column: str | None = None
) -> list[KeptOverTime]:
    """What ``[promise] m, n`` and ``[adversary] lifespan`` ask of a series, in the form its method can keep.

    The method's row says which promises ``m`` stands for; a method that looks at one release alone gets the weak ones.
    """
    m, most = terms.series.m, adversary.lifespan
    found: list[KeptOverTime] = []
    if m is not None:
        row = method_named(method) if method else None
        names = row.judged_by if row and row.serial else JUDGED_ANYHOW
        found += [_of_m(name, m) for name in names]
        n = _degree(m, terms.series.n, adversary)
        if n is not None and (row is None or row.degree is not Degree.MEANINGLESS):
            found += _of_degree(n)
    if most is not None:
        found.append(KeptOverTime("lifespan", lambda judged: lifespan_limit(judged, most)))
    return [replace(promise, column=column) for promise in found]


def capped_groups(most: int) -> KeptOverTime:
    """A cap on the different groups a person may ever be in."""
    return KeptOverTime("group_cap", lambda judged: group_limit(judged, most))


def _degree(m: int, n: int | str | None, adversary: Adversary) -> int | None:
    """The degree asked for; ``"choose"`` takes the smallest that keeps the adversary's ``breach``."""
    if n is None:
        return None
    if n == "choose":
        return chosen_degree(m, adversary)
    if not isinstance(n, int) or not 1 <= n <= m:
        raise PolicyError(Fault("policy: promise.n", "not a degree", f"a whole number from 1 to m = {m}"))
    return n


_OF_M: dict[str, Callable[[Judged, int, bool], Finding]] = {
    "closed_lineages": lambda judged, _, newest: closed_lineages(judged, newest),
    "fair_lineages": fair_lineages,
    "lasting_places": lasting_places,
    "m_uniqueness": m_uniqueness,
    "m_invariance": m_invariance,
    "weak_m_uniqueness": weak_m_uniqueness,
    "weak_m_invariance": weak_m_invariance,
}


def _of_m(name: str, m: int) -> KeptOverTime:
    return KeptOverTime(name, lambda judged: _OF_M[name](judged, m, True))


def _of_degree(n: int) -> list[KeptOverTime]:
    return [
        KeptOverTime("hc_safety", lambda judged: hc_safety(judged, n, newest=True)),
        KeptOverTime("union_safety", lambda judged: union_safety(judged, n, newest=True)),
        KeptOverTime("subtraction", lambda judged: no_subtraction(judged, newest=True)),
    ]
