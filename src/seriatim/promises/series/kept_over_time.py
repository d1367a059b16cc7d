"""The promises ``m``, ``n``, ``lifespan`` and ``group_cap`` of a series, in the form that its method can keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from seriatim.errors import Fault, PolicyError
from seriatim.knowledge.breach import breach_degree_chosen
from seriatim.model import Adversary, Finding, Policy
from seriatim.model.judged import JudgedHistory
from seriatim.model.methods import JUDGED_ANYHOW, Method, MethodDegree, method_named
from seriatim.promises.series.capped_lineages import CapsAsked, capped_lineages, fair_waiting
from seriatim.promises.series.fair_cells import CellsAsked, fair_cells
from seriatim.promises.series.historical import hc_safety, no_subtraction
from seriatim.promises.series.invariance import m_invariance, m_uniqueness, weak_m_invariance, weak_m_uniqueness
from seriatim.promises.series.limits import group_limit, lifespan_limit
from seriatim.promises.series.lineages import closed_lineages, fair_lineages
from seriatim.promises.series.slots import SlotsAsked, lasting_places, lasting_slots
from seriatim.promises.series.unions import union_safety


@dataclass(frozen=True, slots=True)
class KeptOverTime:
    """A promise about the whole history, for one sensitive column (the one it follows, if None)."""

    rule: str
    find: Callable[[JudgedHistory], Finding]
    column: str | None = None
    judges: ClassVar[Literal["series"]] = "series"

    def check(self, judged: JudgedHistory) -> Finding:
        own = judged.once(_by_this_method) if judged.since else judged
        return replace(self.find(own), column=self.column or judged.column)


def _by_this_method(judged: JudgedHistory) -> JudgedHistory:
    """Return the releases since the method took over the series: nothing else can keep its promises."""
    releases = tuple(past for past in judged.history if past.number >= judged.since)
    return replace(judged, history=replace(judged.history, releases=releases))


def kept_over_time_by_m(policy: Policy) -> list[KeptOverTime]:
    """Return what ``m`` stands for, as the method's row says; a method for single releases gets the weak form."""
    m, row = policy.terms.series.m, _row(policy)
    if m is None:
        return []
    names = row.judged_by if row is not None and row.serial else JUDGED_ANYHOW
    common = policy.terms.series.common
    if common is not None and row is not None and row.judged_with_common:
        return [_of_common(name, CapsAsked(m, common), policy) for name in row.judged_with_common]
    return [_of_m(name, m, policy) for name in names]


def _of_m(name: str, m: int, policy: Policy) -> KeptOverTime:
    if name == "fair_cells":
        asked = CellsAsked(m, policy.terms.series.common, policy.adversary.share_known)
        return _promise(policy, name, lambda judged: fair_cells(judged, asked))
    return _promise(policy, name, lambda judged: _OF_M[name](judged, m, True))


def _of_common(name: str, asked: CapsAsked, policy: Policy) -> KeptOverTime:
    if name == "fair_lineages":
        return _promise(policy, name, lambda judged: capped_lineages(judged, asked, newest=True))
    if name == "fair_waiting":
        return _promise(policy, name, lambda judged: fair_waiting(judged, asked))
    if name == "lasting_places":
        return _promise(policy, name, lambda judged: _lasting_by_caps(judged, asked))
    return _of_m(name, asked.m, policy)


def _lasting_by_caps(judged: JudgedHistory, asked: CapsAsked) -> Finding:
    caps = asked.caps(judged)[0]
    return lasting_slots(judged, SlotsAsked(asked.m, caps, asked.drop_strangers), newest=True)


def kept_over_time_by_n(policy: Policy) -> list[KeptOverTime]:
    """Return what ``n`` stands for, if the method has a degree; one that seeks it is judged at 1 without ``n``."""
    m, row = policy.terms.series.m, _row(policy)
    n = None if m is None else _degree(m, policy.terms.series.n, policy.adversary)
    if n is None and m is not None and row is not None and row.degree is MethodDegree.SOUGHT:
        n = 1
    if n is None or (row is not None and row.degree is MethodDegree.MEANINGLESS):
        return []
    return [
        _promise(policy, "hc_safety", lambda judged: hc_safety(judged, n, newest=True)),
        _promise(policy, "union_safety", lambda judged: union_safety(judged, n, newest=True)),
        _promise(policy, "subtraction", lambda judged: no_subtraction(judged, newest=True)),
    ]


def kept_over_time_by_lifespan(policy: Policy) -> list[KeptOverTime]:
    """Return the limit on how often a person is published, together with ``m``."""
    most = policy.adversary.lifespan
    if most is None or policy.terms.series.m is None:
        return []
    return [_promise(policy, "lifespan", lambda judged: lifespan_limit(judged, most))]


def kept_over_time_by_group_cap(policy: Policy) -> list[KeptOverTime]:
    """Return the limit on the different groups a person may ever be in, together with ``m``."""
    most = policy.defence.options.group_cap if policy.defence else None
    if most is None or policy.terms.series.m is None:
        return []
    return [_promise(policy, "group_cap", lambda judged: group_limit(judged, most))]


def _promise(policy: Policy, rule: str, find: Callable[[JudgedHistory], Finding]) -> KeptOverTime:
    return KeptOverTime(rule, find, policy.sensitive[0].name if policy.sensitive else None)


def _row(policy: Policy) -> Method | None:
    return method_named(policy.defence.method) if policy.defence else None


def _degree(m: int, n: int | str | None, adversary: Adversary) -> int | None:
    """Return the degree; ``"choose"`` means the smallest that keeps ``[adversary] breach``."""
    if n is None:
        return None
    if n == "choose":
        return breach_degree_chosen(m, adversary)
    if not isinstance(n, int) or not 1 <= n <= m:
        raise PolicyError(Fault("[promise] n", "not a degree", f"a whole number from 1 to m = {m}"))
    return n


_OF_M: dict[str, Callable[[JudgedHistory, int, bool], Finding]] = {
    "closed_lineages": lambda judged, _, newest: closed_lineages(judged, newest),
    "fair_lineages": fair_lineages,
    "lasting_places": lasting_places,
    "m_uniqueness": m_uniqueness,
    "m_invariance": m_invariance,
    "weak_m_uniqueness": weak_m_uniqueness,
    "weak_m_invariance": weak_m_invariance,
}
