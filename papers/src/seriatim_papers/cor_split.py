"""Cor-Split's experiments (Riboni and Bettini, section 5) on a made-up census, with the methods that came later.

Each release has its hc-unsafe groups, counterfeits, people withheld, median error of range counts, global certainty
penalty and time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Literal

import numpy as np
import pyarrow as pa

from seriatim.defences.series.cohort.grouping import update_groups
from seriatim.defences.series.cohort.memory import SlotHistory
from seriatim.defences.series.contract import LongArray, SerialDraw, SerialGrouping, SerialRules, SerialView
from seriatim.defences.series.memory import RememberedRows, kept_rows
from seriatim.kernels.arrays import rows_by_key
from seriatim.kernels.check.box_counts import range_boxes
from seriatim.model import Scale, scale_of
from seriatim.model.history import History, PastRelease
from seriatim.ports import Workers
from seriatim_papers.historical.safe_groups import historical_groups
from seriatim_papers.invariant import invariant_groups
from seriatim_papers.kernels.correlations import CorrelationMemory, unsafe_correlations
from seriatim_papers.memory import GroupMemory
from seriatim_papers.queries import QueryWorkload
from seriatim_papers.worlds.census import DOMAINS, N_INCOMES, CensusChurn, CensusPeople, census, census_releases

SELECTIVITIES = (0.01, 0.02, 0.05, 0.10)

Order = Literal["shuffled", "by id", "as they came"]
"""The order of a view's records.

If quasi-identifiers tie, groups follow it, so it decides who meets again: nobody in particular, the same neighbours, or
those who came together.
"""


@dataclass(frozen=True, slots=True)
class CorSplitMethod:
    """A defence under study: what it recalls of a series for the people of a view, and how it groups the view."""

    name: str
    recall: Callable[[Sequence[RememberedRows], LongArray], GroupMemory | SlotHistory]
    group: Callable[..., SerialGrouping]
    sticky: bool = False


def _cohorts(
    view: SerialView, rules: SerialRules, memory: SlotHistory, draw: SerialDraw, _workers: Workers
) -> SerialGrouping:
    return update_groups(view, rules, memory, draw)


METHODS = (
    CorSplitMethod("invariant", GroupMemory.of, invariant_groups),
    CorSplitMethod("cor-split", GroupMemory.of, partial(historical_groups, greedy=True)),
    CorSplitMethod("repaired", GroupMemory.of, historical_groups),
    CorSplitMethod("repaired, sticky", GroupMemory.of, historical_groups, sticky=True),
    CorSplitMethod("cohort", lambda pasts, _: SlotHistory.of(pasts), _cohorts),
)


@dataclass(frozen=True, slots=True)
class CorSplitSetting:
    """One experiment: who joins and leaves, what is promised, and how many queries run."""

    churn: CensusChurn
    _: KW_ONLY
    m: int = 6
    n: int = 3
    seed: int = 1
    n_queries: int = 10_000
    query_every: int = 1
    """Measure errors in the first, every n-th and the last release."""
    order: Order = "shuffled"
    selectivities: tuple[float, ...] = SELECTIVITIES
    own: CensusPeople | None = field(default=None, repr=False)
    """The people, if they are not made up."""

    def people(self) -> CensusPeople:
        """Return everyone who may appear."""
        return self.own if self.own is not None else census(self.churn.n_people, self.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseFigures:
    """The figures of one release under one method."""

    release: int
    seconds: float
    groups: int
    unsafe: int | None
    """hc-unsafe groups; None for cohorts, which are safe in another way."""
    counterfeits: int
    withheld: int
    present: int = 0
    """The people published."""
    gcp: float = 0.0
    """Global certainty penalty: how wide the boxes are, 0 for points, 1 for the whole domain."""
    errors: Mapping[float, float] = field(default_factory=dict)
    """Median relative error of range counts, by selectivity."""


@dataclass(frozen=True, slots=True, eq=False)
class PlayedSeries:
    """A whole series under one method, with the truth for attacks."""

    method: str
    figures: tuple[ReleaseFigures, ...]
    published: tuple[RememberedRows, ...]
    n_people: int
    n_values: int = N_INCOMES

    def history(self) -> History:
        """Return the history for attacks; respondents and values are numbers."""
        pasts = tuple(
            PastRelease(number, person=rows.person.astype(np.int32), group=rows.group, value=rows.value)
            for number, rows in enumerate(self.published, start=1)
        )
        return History(pa.array(np.arange(self.n_people)), pa.array(np.arange(self.n_values)), pasts)

    def history_with_leavers(self) -> History:
        """Return cohorts for an adversary who knows that a counterfeit IS the person who left the slot."""
        last = np.full(
            max((int(r.slot.max(initial=-1)) for r in self.published if r.slot is not None), default=-1) + 1, -1
        )
        pasts = []
        for number, rows in enumerate(self.published, start=1):
            assert rows.slot is not None
            real = rows.person >= 0
            last[rows.slot[real]] = rows.person[real]
            pasts.append(
                PastRelease(number, person=last[rows.slot].astype(np.int32), group=rows.group, value=rows.value)
            )
        return History(pa.array(np.arange(self.n_people)), pa.array(np.arange(self.n_values)), tuple(pasts))

    def present(self, release: int) -> int:
        """Count the people in a release."""
        return self.figures[release - 1].present

    def share(self, what: str) -> float:
        """Return counterfeits or withheld people as a share of all person-releases."""
        rows = sum(figures.present + figures.withheld for figures in self.figures)
        return float(sum(getattr(figures, what) for figures in self.figures) / max(rows, 1))


def play_cor_split(
    method: CorSplitMethod, setting: CorSplitSetting, workers: Workers, workload: QueryWorkload | None = None
) -> PlayedSeries:
    """Publish the whole series under one method; a workload keeps the true counts for the next method."""
    people = setting.people()
    asked = workload or QueryWorkload(people.domains, setting.n_queries, setting.seed)
    rules = SerialRules(setting.m, setting.n, sticky=method.sticky)
    views = cor_split_numbers(people, setting.churn, setting.seed, setting.order)
    figures: list[ReleaseFigures] = []
    published: list[RememberedRows] = []
    for release, (who, number) in enumerate(views, start=1):
        view = SerialView(
            quasi=people.quasi[who],
            scales=cor_split_scales(people.domains),
            sensitive=people.income[who],
            n_values=people.n_values,
            person=number,
        )
        memory = method.recall(published, number)
        began = time.perf_counter()
        made = method.group(view, rules, memory, SerialDraw(b"study", release), workers)
        seconds = time.perf_counter() - began
        rows = kept_rows(view, made)
        unsafe = _unsafe(memory, made, setting.n) if isinstance(memory, GroupMemory) else None
        errors = asked.errors(release, view.quasi, made.box, setting.selectivities) if _asked(release, setting) else {}
        figures.append(
            ReleaseFigures(
                release=release,
                seconds=seconds,
                groups=made.n_groups,
                unsafe=unsafe,
                counterfeits=made.n_counterfeits,
                withheld=made.n_withheld(),
                present=int((rows.person >= 0).sum()),
                gcp=cor_split_penalty(view, made),
                errors=errors,
            )
        )
        published.append(rows)
    return PlayedSeries(method.name, tuple(figures), tuple(published), len(people), people.n_values)


def cor_split_numbers(
    people: CensusPeople, churn: CensusChurn, seed: int, order: Order = "shuffled"
) -> list[tuple[LongArray, LongArray]]:
    """Return who is present, and their numbers by first appearance, as a ledger numbers them."""
    number = np.full(len(people), -1, dtype=np.int64)
    known = 0
    out = []
    for who in census_releases(people, churn, seed):
        fresh = who[number[who] < 0]
        number[fresh] = known + np.arange(len(fresh))
        known += len(fresh)
        if order != "shuffled":
            who = np.sort(who) if order == "by id" else who[np.argsort(number[who])]
        out.append((who, number[who]))
    return out


def cor_split_penalty(view: SerialView, made: SerialGrouping) -> float:
    """Return the mean width of the boxes of published records, each quasi-identifier as a share of its domain."""
    inside = made.box >= 0
    low, high, _ = range_boxes(view.quasi, made.box, int(made.box.max(initial=-1)) + 1)
    sizes = np.array([len(scale) for scale in view.scales])
    width = (high - low) / np.maximum(sizes - 1, 1)
    return float(width[made.box[inside]].mean()) if inside.any() else 0.0


def _unsafe(memory: GroupMemory, made: SerialGrouping, n: int) -> int:
    earlier = CorrelationMemory(memory.past_groups, memory.n_past_groups, memory.group_real, memory.group_size, n)
    inside = np.flatnonzero(made.group >= 0)
    group = np.concatenate((made.group[inside], made.counterfeit_group)).astype(np.int32)
    record = np.concatenate((inside, np.full(made.n_counterfeits, -1)))
    return int(unsafe_correlations(*rows_by_key(group, made.n_groups), record, earlier))


def _asked(release: int, setting: CorSplitSetting) -> bool:
    return release in (1, setting.churn.releases) or release % setting.query_every == 0


def cor_split_scales(domains: tuple[int, ...] = DOMAINS) -> tuple[Scale, ...]:
    return tuple(
        scale_of("interval", pa.array([str(i) for i in range(size)]), np.arange(size, dtype=np.float64))
        for size in domains
    )
