"""Nobody stands in a smaller crowd than the policy demands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seriatim.model import Draft, Finding, History
from seriatim.model.published import draft_classes
from seriatim.promises.naming import worst_classes


@dataclass(frozen=True, slots=True)
class Crowd:
    """k-anonymity (Samarati, Sweeney 1998): every class of equal published quasi values has at least k records."""

    k: int
    rule: str = "k"

    def check(self, draft: Draft, history: History) -> Finding:  # noqa: ARG002 - a law of one release
        sizes = draft_classes(draft).sizes
        short = sizes < self.k
        worst = float(sizes.min(initial=draft.table.num_rows)) if len(sizes) else float("inf")
        return Finding(
            self.rule,
            not short.any(),
            worst,
            float(self.k),
            n_classes=int(short.sum()),
            n_people=int(sizes[short].sum()),
            detail="records in the smallest class",
            remedy=f"k = {int(worst)} would pass" if short.any() else "",
            classes=worst_classes(short, -sizes.astype(np.float64)),
        )
