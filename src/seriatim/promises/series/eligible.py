"""An eligible table: no value is more frequent than one m-th, as methods of equal value sets presuppose.

m-invariance (Xiao and Tao 2007), Cor-Split, and cohorts without ``odds`` group tables in which at most one
m-th of the people share a value. If one is more frequent, they could only withhold its surplus: everyone withheld would
then hold that one value, and anyone who knows that somebody is in the view and not in the release would know it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import pyarrow.compute as pc

from seriatim.model import Finding, Policy
from seriatim.model.history import JudgedHistory, judged_draft_and_view
from seriatim.model.methods import method_named, quoted_names
from seriatim.model.promises import ELIGIBLE

SLACK = 100
"""From the second release on, one of this many people may be beyond: a running series is not ended by a hair.

They wait for the next release, as newcomers do whose value is too frequent among them. Cohorts have that
room from the first release: they group the others, and ``breach_share`` counts those who wait.
"""


def eligible_table(policy: Policy) -> list[FrequentValues]:
    """Return the promise for a method that needs eligible tables, unless counterfeits make up for the surplus."""
    row = method_named(policy.defence.method) if policy.defence else None
    terms = policy.terms.series
    if policy.defence is None or row is None or terms.m is None:
        return []
    without_room = row.reads_odds and terms.odds is None
    if not (row.needs_eligible or without_room) or policy.defence.leftovers == "counterfeit":
        return []
    return [FrequentValues(terms.m, room_at_once=without_room)]


@dataclass(frozen=True, slots=True)
class FrequentValues:
    """Counts the people of the view, withheld ones included: at most one m-th of them share a value."""

    m: int
    room_at_once: bool = False
    """Whether the slack holds for the first release too."""
    rule: str = ELIGIBLE
    column: None = None
    judges: ClassVar[Literal["series"]] = "series"

    def check(self, judged: JudgedHistory) -> Finding:
        draft, view = judged_draft_and_view(judged)
        name = view.sensitive[0].name
        people = draft.groups.filter(pc.invert(draft.groups.column("counterfeit"))).column(name).drop_null()
        counts = pc.value_counts(people).field("counts").to_numpy(zero_copy_only=False)
        most, total = int(counts.max(initial=0)), int(counts.sum())
        slack = 0 if len(judged.history) == 1 and not self.room_at_once else total // SLACK
        kept = self.m * (most - slack) <= total
        share = most / total if total else 0.0
        detail = f"the most frequent value has {share:.1%}, m = {self.m} allows {1 / self.m:.1%}"
        return Finding(
            self.rule,
            kept,
            share,
            1.0 / self.m,
            column=name,
            n_people=0 if kept else most,
            detail=detail,
            remedy="" if kept else self._remedy(share),
        )

    def _remedy(self, share: float) -> str:
        smaller = f"m = {int(1 / share)} would pass; " if share <= 1 / 2 else ""
        if self.room_at_once:
            return f"{smaller}[promise] odds = 2 would pass"
        rooms = quoted_names(lambda row: row.reads_odds)
        return f"{smaller}a new series with method = {rooms} and [promise] odds = 2 would pass"
