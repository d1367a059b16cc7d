"""A method in the middle of a series, and the sort that its cost is measured against."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from seriatim.defences.series.cohort.memory import SlotHistory
from seriatim.defences.series.contract import SerialDraw, SerialRules, SerialView
from seriatim.defences.series.memory import RememberedRows, kept_rows
from seriatim.engines.threads import Threads
from seriatim_papers.cor_split import CorSplitMethod, cor_split_numbers, cor_split_scales
from seriatim_papers.memory import GroupMemory
from seriatim_papers.worlds.census import N_INCOMES, QUASI, CensusChurn, CensusPeople

WORKERS = Threads(2)
M, N = 6, 3


@dataclass(frozen=True)
class Moment:
    """What a method remembers and the view it has to group next."""

    method: CorSplitMethod
    memory: GroupMemory | SlotHistory
    view: SerialView
    release: int

    def group(self) -> Any:
        rules = SerialRules(M, N, sticky=self.method.sticky)
        return self.method.group(self.view, rules, self.memory, SerialDraw(b"bench", self.release), WORKERS)


def moment(method: CorSplitMethod, people: CensusPeople, churn: CensusChurn) -> Moment:
    """The last release of a series, all earlier ones published."""
    published: list[RememberedRows] = []
    for release, (who, number) in enumerate(cor_split_numbers(people, churn, 1), start=1):
        view = SerialView(
            quasi=people.quasi[who],
            scales=cor_split_scales(),
            sensitive=people.income[who],
            n_values=N_INCOMES,
            person=number,
        )
        now = Moment(method, method.recall(published, number), view, release)
        if release < churn.releases:
            published.append(kept_rows(view, now.group()))
    return now


def sorting(view: SerialView) -> Callable[[], Any]:
    """polars' sort of a view by its four quasi-identifiers, int32 codes, with as many threads as there are cores."""
    frame = pl.DataFrame({name: view.quasi[:, d].copy() for d, name in enumerate(QUASI)} | {"income": view.sensitive})
    return lambda: frame.sort(QUASI)
