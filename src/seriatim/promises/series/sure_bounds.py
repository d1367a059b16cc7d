"""Few people are inferred with certainty by an attacker who knows how values usually change.

``sure_share`` counts PEOPLE, over all releases, about whom the sequence attack, looking back, is certain and right
about some value, where the releases raised the odds. The use case runs the attack; the promise only judges what it
found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from seriatim.model import Finding, Policy
from seriatim.model.history import JudgedHistory
from seriatim.ports.promise import Need


def sure_share(policy: Policy) -> list[SureShare]:
    """Return the bound ``sure_share`` for every sensitive column: each is attacked, and each must keep it."""
    allowed = policy.adversary.sure_share
    if allowed is None or policy.respondent is None:
        return []
    return [SureShare(allowed, column.name) for column in policy.sensitive]


@dataclass(frozen=True, slots=True)
class SureShare:
    """The share of people ever inferred with certainty is at most ``allowed``."""

    allowed: float
    column: str
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
