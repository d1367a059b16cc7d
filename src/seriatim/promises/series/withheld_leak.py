"""Being withheld must not give a value away.

Anyone who knows that somebody is in the view and not in the release guesses what the method withholds. The share of a
value among the people withheld so far may be ``withheld_leak`` times what the value is allowed: 1/m or its share of the
view, whichever is more, or with ``[promise] odds`` = c the share c q / (1 + (c - 1) q) that groups may have of it.
Few people prove nothing, so the lower end of an exact interval is judged: it must not exceed that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model import Finding, Policy
from seriatim.model.history import History, JudgedHistory
from seriatim.model.methods import quoted_names

RULE = "withheld_leak"
_TAIL = 0.025
Floats = npt.NDArray[np.float64]


def withheld_leak(policy: Policy) -> list[WithheldLeak]:
    """Return the promise for every sensitive column: each tells something about who is withheld."""
    terms = policy.terms.series
    if terms.withheld_leak is None or policy.respondent is None:
        return []
    return [WithheldLeak(terms.withheld_leak, column.name, terms.m, terms.odds) for column in policy.sensitive]


@dataclass(frozen=True, slots=True)
class WithheldLeak:
    """No value is much more frequent among the people withheld, over all releases, than it may be in a group."""

    allowed: float
    column: str
    m: int | None = None
    odds: float | None = None
    rule: str = RULE
    judges: ClassVar[Literal["series"]] = "series"

    def check(self, judged: JudgedHistory) -> Finding:
        held, expected = self._counted(judged.history)
        n = int(held.sum())
        if not n:
            return Finding(self.rule, True, 0.0, self.allowed, column=self.column, detail="nobody is withheld")
        least = _least_shares(held, n)
        ratio = np.divide(least * n, expected, out=np.zeros(len(held)), where=expected > 0)
        worst = float(ratio.max())
        kept = worst <= self.allowed
        detail = (
            f"{n} people were ever withheld; the best guess about them is right for {held.max() / n:.1%}; "
            "judged: the lower end of the interval, against what a group may have"
        )
        rooms = quoted_names(lambda row: row.reads_odds)
        remedy = "" if kept else f"withhold nobody: a smaller m, or [promise] odds = 2 with method = {rooms}"
        return Finding(
            self.rule,
            kept,
            worst,
            self.allowed,
            column=self.column,
            n_classes=0,
            n_people=0 if kept else n,
            detail=detail,
            remedy=remedy,
        )

    def _counted(self, history: History) -> tuple[npt.NDArray[np.int64], Floats]:
        """Return how many withheld people hold each value, and how many may; a person counts when first withheld."""
        texts = [history.values, *(past.withheld.value for past in history if past.withheld is not None)]
        domain = pc.unique(pa.chunked_array([one.cast(pa.string()) for one in texts], pa.string()))
        held, expected = np.zeros(len(domain), dtype=np.int64), np.zeros(len(domain))
        met = np.zeros(len(history.respondents), dtype=np.bool_)
        place = _places(history.values, domain)
        for past in history:
            if past.withheld is None or not len(past.withheld.person):
                continue
            out = _places(past.withheld.value, domain)
            shown = place[past.value[past.person >= 0]]
            view = np.bincount(np.concatenate((shown, out)), minlength=len(domain))
            new = ~met[past.withheld.person]
            met[past.withheld.person] = True
            held += np.bincount(out[new], minlength=len(domain))
            expected += self._caps(view / view.sum()) * int(new.sum())
        return held, expected

    def _caps(self, share: Floats) -> Floats:
        c = 1.0 if self.odds is None else self.odds
        raised: Floats = c * share / (1 + (c - 1) * share)
        return raised if self.m is None else np.maximum(raised, 1 / self.m)


def _places(values: pa.Array, domain: pa.Array) -> npt.NDArray[np.int64]:
    found = pc.index_in(values.cast(pa.string()), value_set=domain).to_numpy(zero_copy_only=False)
    return np.asarray(found, dtype=np.int64)


def _least_shares(held: npt.NDArray[np.int64], n: int) -> Floats:
    """Return the lower end of every value's exact interval, with room for looking at all of them at once."""
    from scipy.special import betaincinv

    tail = _TAIL / max(int((held > 0).sum()), 1)
    return np.asarray(np.where(held > 0, betaincinv(np.maximum(held, 1), n - held + 1, tail), 0.0))
