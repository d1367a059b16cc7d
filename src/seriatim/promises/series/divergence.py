"""Beliefs about the people of a group differ by little before the release (JS-reduce's j).

Divergences are in nats, which the paper's figures fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import pyarrow.compute as pc

from seriatim.knowledge._posterior import divergence_of_groups
from seriatim.knowledge.knowledge_files import declared_adversary
from seriatim.knowledge.sequential_adversary import SequentialAdversary
from seriatim.knowledge.smoothing import revised_beliefs
from seriatim.model import Finding, Policy
from seriatim.model.history import History, JudgedHistory
from seriatim.model.methods import Method, quoted_names

_SLACK = 1e-5
"""Defences compare single-precision sums."""


def beliefs_alike(policy: Policy) -> list[Divergence]:
    """Return the promise ``j`` about the first sensitive column."""
    j = policy.terms.series.j
    if j is None:
        return []
    return [Divergence(j, declared_adversary(policy.adversary))]


@dataclass(frozen=True, slots=True)
class Divergence:
    """No group's beliefs diverge by more than ``j``."""

    j: float
    known: SequentialAdversary
    rule: str = "j"
    column: None = None
    judges: ClassVar[Literal["series"]] = "series"

    def check(self, judged: JudgedHistory) -> Finding:
        whole = judged.history
        if not whole.releases:
            return Finding(self.rule, True, 0.0, self.j, detail="no release")
        past, draft = History(whole.respondents, whole.values, whole.releases[:-1]), whole.releases[-1]
        real = draft.person >= 0
        if not real.any():
            return Finding(self.rule, True, 0.0, self.j, detail="nobody is published")
        people = whole.respondents.take(draft.person[real])
        shown = pc.unique(whole.values.take(draft.value))
        found = revised_beliefs(past, people, shown, self.known)
        apart = divergence_of_groups(found.beliefs, draft.group[real], draft.n_groups)
        worst, wrong = float(apart.max(initial=0.0)), apart > self.j + _SLACK
        n_people = int(wrong[draft.group[real]].sum())
        return Finding(
            self.rule,
            not wrong.any(),
            worst,
            self.j,
            n_classes=int(wrong.sum()),
            n_people=n_people,
            detail="Jensen-Shannon divergence of beliefs before the release, in nats",
            remedy=f"j = {worst:.4g} would pass; or method = {quoted_names(_seeks_j)}" if wrong.any() else "",
        )


def _seeks_j(row: Method) -> bool:
    return row.seeks_j
