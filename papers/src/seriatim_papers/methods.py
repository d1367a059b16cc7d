"""The rows of three methods of papers, which policies name as ours: m-invariance, Cor-Split and m-Distinct."""

from __future__ import annotations

from seriatim.model.methods import FALLBACK, Method, MethodFamily
from seriatim.model.policy_keys import Form, Setting

_DEGREE = "seriatim_papers.historical.promises"
INVARIANT = Method(
    name="invariant",
    home="seriatim_papers.invariant:invariant",
    family=MethodFamily.SERIES,
    summary="keeps everyone among the same values; groups overlap, so most people are certain after six releases",
    options=(FALLBACK,),
    halvings="seriatim_papers.halved_buckets:halved_buckets",
    degree=_DEGREE,
    judged_by=("m_uniqueness", "m_invariance"),
    past_keeps="m_uniqueness",
    needs_eligible=True,
    looks="each value is cut at its own median, as printed",
)
HISTORICAL = Method(
    name="historical",
    home="seriatim_papers.historical.safe_groups:historical",
    family=MethodFamily.SERIES,
    summary="groups people so that groups of different releases have little in common",
    options=(
        Setting(key="mode", words=("repair", "greedy", "printed"), summary="how the method looks for groups"),
        Setting(key="sticky", form=Form.FLAG, summary="groups whose members all remain stay as they are"),
        FALLBACK,
    ),
    degree=_DEGREE,
    seeks_n=True,
    judged_by=("weak_m_uniqueness", "weak_m_invariance"),
    past_keeps="weak_m_uniqueness",
    needs_eligible=True,
    looks="each value is cut at its own median; values are exchanged until groups are safe",
)
DISTINCT = Method(
    name="distinct",
    home="seriatim_papers.distinct:distinct",
    family=MethodFamily.SERIES,
    summary="keeps m values possible for everyone though values change, by what may follow what (m-Distinct)",
    options=(FALLBACK,),
    halvings="seriatim_papers.halved_buckets:halved_buckets",
    judged_by=("m_uniqueness",),
    past_keeps="m_uniqueness",
    needs_eligible=True,
    looks="each value is cut at its own median; people are grouped by what followed the values of their last group",
)
