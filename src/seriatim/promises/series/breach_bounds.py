"""Few people are breached by an adversary with all releases and some compromised people.

``breach_share`` bounds a simulation of one who builds on each finding until nothing new follows, completed by a solver
for a sample of the people whom rules leave undecided; anyone it cannot decide counts as breached, and so does anyone
whose being withheld gives their value away. The use case runs the attack; the promise only judges what it found.

Where values change, ``sure_share`` counts PEOPLE, over all releases, about whom an attacker who knows how values
usually change is certain and right about some value (the sequence attack, looking back), where the releases raised the
odds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from seriatim.model import Estimate, Finding, Policy
from seriatim.model.history import JudgedHistory
from seriatim.model.methods import quoted_names
from seriatim.ports.promise import Need

EXACT = 50
"""A column with more different numbers says little about any exact one, however narrow the range of a belief."""


def breach_share(policy: Policy) -> list[SimulatedShare]:
    """Return the bound ``breach_share`` for every sensitive column: each is attacked, and each must keep it."""
    allowed = policy.adversary.breach_share
    if allowed is None or policy.respondent is None:
        return []
    beside = policy.adversary.sure_share is not None
    return [SimulatedShare(allowed, column.name, changes_followed=beside) for column in policy.sensitive]


@dataclass(frozen=True, slots=True)
class SimulatedShare:
    """The upper end of the simulated share of people breached is at most ``allowed``.

    The attack follows values that stay. It says nothing about people whose value changed; where that is everyone who
    was published twice, there is no figure at all.
    """

    allowed: float
    column: str
    rule: str = "breach_share"
    changes_followed: bool = False
    """Whether another promise, ``sure_share``, judges people whose values change."""
    judges: ClassVar[Literal["series"]] = "series"
    needs: ClassVar[Need] = "attack"

    def check(self, judged: JudgedHistory) -> Finding:
        estimate = judged.estimate
        if estimate is None:
            raise ValueError("breach_share judges an estimate, but no attack was run")
        kept = estimate.high <= self.allowed
        whom = estimate.detail.get("recipient")
        changes = judged.once(_changes)
        nobody = kept and 0 < changes.n_changed == changes.n_returned
        return Finding(
            self.rule,
            kept,
            float("nan") if nobody else estimate.high,
            self.allowed,
            column=estimate.detail.get("column"),
            n_people=0 if kept else round(estimate.share * estimate.n_people),
            detail=f"upper end of the simulated share of people breached, {estimate.share:.2%}"
            + (f" ({estimate.low:.2%} to {estimate.high:.2%})" if estimate.low < estimate.high else "")
            + (f", by {whom}" if whom else "")
            + _words_of_others(estimate)
            + _withheld_words(estimate)
            + _solver_words(estimate)
            + self._words_of(changes),
            remedy="" if kept else _way_out(judged, estimate, self.allowed),
            n_unjudged=(changes.n_changed if nobody or not self.changes_followed else 0)
            + estimate.detail.get("apart_elsewhere", 0),
        )

    def _words_of(self, changes: _Changes) -> str:
        """Say whose value changed, and who judges them."""
        if not changes.n_changed:
            return ""
        who = f"{changes.n_changed:,} of {changes.n_returned:,} people published more than once"
        else_ = "sure_share judges them" if self.changes_followed else "they were not judged"
        return f"; the value of {who} changed: {else_}"


def _words_of_others(estimate: Estimate) -> str:
    """Name the other series of the same people that were judged too, and what this one breaches without them."""
    names = ", ".join(map(repr, estimate.detail.get("beside", ())))
    apart = estimate.detail.get("apart_elsewhere", 0)
    others = f"; {apart:,} people hold another value, or several, in other series: not judged" if apart else ""
    return (f", together with series {names} (alone {estimate.detail['alone']:.2%})" if names else "") + others


def _way_out(judged: JudgedHistory, estimate: Estimate, allowed: float) -> str:
    beside = estimate.detail.get("beside", ())
    undecided, out = (estimate.detail.get(key, 0) for key in ("undecided", "withheld_breached"))
    if beside and estimate.detail["alone"] <= allowed:
        one = f"publish these people in one series with {', '.join(map(repr, beside))}"
        held = "; if no recipient has both, [adversary] collusion = 1 judges what each one holds"
        if undecided and estimate.share <= allowed:  # cohorts leave most undecided once many series are joined
            return f"{one}: {undecided:,} people checked stay undecided and count as breached{held}"
        return f'{one}, or both with method = "cohort"{held}'
    if out and estimate.high - out / max(estimate.n_people, 1) <= allowed:
        rooms = quoted_names(lambda row: row.reads_odds)
        return f"withhold nobody: a smaller m, or method = {rooms} with [promise] odds = 2"
    if undecided and estimate.share <= allowed:
        counted = f"{undecided:,} of {estimate.detail['asked']:,} people checked stay undecided and count as breached"
        return f"publish less often; {counted}, and so do people like them who were not checked"
    if judged.once(_changes).n_changed:
        return (
            "publish less often, or in larger groups (k); values change in this series, so no serial method can take "
            "it over: [adversary] sure_share judges what is believed about them"
        )
    if judged.history.releases and "slot" in judged.history.releases[-1].marks:
        return "publish less often, or with a larger m or larger groups ([defence] cohort_size)"
    if judged.draft is not None and len(judged.draft.sensitive) > 1:
        return "a larger k ([promise] k), or publish less often"
    return 'a larger k ([promise] k), publish less often, or let method = "cohort" take over the series'


@dataclass(frozen=True, slots=True)
class _Changes:
    """People published more than once, and those of them with one value first and later another."""

    n_returned: int
    n_changed: int


def _changes(judged: JudgedHistory) -> _Changes:
    history = judged.history
    last = np.full(len(history.respondents), -1, dtype=np.int64)
    changed, returned = (np.zeros(len(history.respondents), dtype=np.bool_) for _ in range(2))
    for past in history:
        real = past.person >= 0
        person, value = past.person[real], past.value[real]
        returned[person] |= last[person] >= 0
        changed[person] |= (last[person] >= 0) & (last[person] != value)
        last[person] = value
    return _Changes(int(returned.sum()), int(changed.sum()))


def _withheld_words(estimate: Estimate) -> str:
    """Say how many withheld people are among the breached."""
    n = estimate.detail.get("withheld_breached", 0)
    return f"; {n:,} people who were withheld are among them: nearly all withheld with them hold one value" if n else ""


def _solver_words(estimate: Estimate) -> str:
    """Say what the solver added to the rules, if it was asked."""
    asked, certain, undecided = (estimate.detail.get(key, 0) for key in ("asked", "certain_by_solver", "undecided"))
    if not asked:
        return ""
    whom = f"{asked} of the people whom the rules did not decide"
    return f"; a solver checked {whom}: {certain} certain, {undecided} undecided"


def sure_share(policy: Policy) -> list[SureShare]:
    """Return the bound ``sure_share`` for every sensitive column: each is attacked, and each must keep it."""
    allowed = policy.adversary.sure_share
    if allowed is None or policy.respondent is None:
        return []
    window = policy.adversary.window
    return [SureShare(allowed, column.name, window) for column in policy.sensitive]


@dataclass(frozen=True, slots=True)
class SureShare:
    """The share of people ever inferred with certainty is at most ``allowed``.

    Nobody is ever certain of an exact number among many, though the attack may leave a narrow range. Without a window
    that makes no difference to the figure, so such a column is not judged.
    """

    allowed: float
    column: str
    window: int | None = None
    rule: str = "sure_share"
    judges: ClassVar[Literal["series"]] = "series"
    needs: ClassVar[Need] = "belief"

    def check(self, judged: JudgedHistory) -> Finding:
        estimate = judged.believed
        if estimate is None:
            raise ValueError("sure_share judges an estimate, but no attack was run")
        kept = estimate.share <= self.allowed
        sure, hit = estimate.detail["sure"], estimate.detail["hit_rate"]
        rate = f", hit rate of such beliefs {hit:.0%}" if hit == hit else ""
        seen = estimate.detail.get("releases")
        window = "" if seen is None else f", looking back over the newest {seen}"
        by = estimate.detail.get("by_knowledge", {})
        unjudged = estimate.detail.get("unjudged", 0)
        open_ = f"; {unjudged:,} people not judged: what is believed of them depends on where sampling starts"
        numbers = self._free_numbers(judged)
        if numbers:
            unjudged = estimate.n_people
            open_ = (
                f"; only exact values were judged, of {numbers:,} different numbers: set [adversary] window, "
                "or publish the column in bands"
            )
        worst = "; worst of " + ", ".join(f"{name} {share:.1%}" for name, share in by.items()) if by else ""
        return Finding(
            self.rule,
            kept,
            float("nan") if kept and unjudged and unjudged == estimate.n_people else estimate.share,
            self.allowed,
            column=estimate.detail.get("column"),
            n_people=0 if kept else round(estimate.share * estimate.n_people),
            detail=f"share of people inferred with a certainty above {sure:g} after all releases{window}{rate}{worst}"
            + (open_ if unjudged else ""),
            remedy="" if kept else "a larger k, or values published in wider bands; forecast says which k holds",
            n_unjudged=unjudged,
        )

    def _free_numbers(self, judged: JudgedHistory) -> int:
        """Return how many numbers the view holds, if they are too many for a belief in any, and no window widens it."""
        if judged.view is None or self.window:
            return 0
        scale = next(one.scale for one in judged.view.sensitive if one.name == self.column)
        return len(scale) if scale.form == "interval" and len(scale) > EXACT else 0
