"""Cohorts in 500 random series: beliefs by exact counting, and the complete solver at 10 % known.

Skew, bursts, families, drift, 200 to 2,000 people, m from 2 to 6; every other series has people who return.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from benchmarks.timing import keep, row
from seriatim.attacks import belief, complete_share, prepare, reveal_leavers
from seriatim.attacks.complete_search import BUDGET, complete_sample
from seriatim.defences.series.cohort.grouping import update_groups
from seriatim.defences.series.cohort.memory import SlotHistory
from seriatim.defences.series.contract import SerialDraw, SerialGrouping, SerialRules, SerialView
from seriatim.defences.series.memory import RememberedRows
from seriatim.model.history import History, JudgedHistory, PastRelease
from seriatim.model.scale import scale_of
from seriatim.promises.series.fair_cells import FairnessTerms, fair_cells

SERIES = 500
KNOWN = 0.1
SEEDS = (1, 2, 3)
SCALES = tuple(scale_of("interval", pa.array([str(i) for i in range(k)]), np.arange(k, dtype=float)) for k in (40, 12))


@dataclass(frozen=True, slots=True)
class World:
    """A series of people who come and go, drawn from its number."""

    number: int

    @property
    def returns(self) -> bool:
        return self.number % 2 == 1

    def drawn(self) -> tuple[int, Iterator[SerialView]]:
        """Return m and the views."""
        chance = np.random.default_rng(self.number)
        m = int(chance.integers(2, 7))
        return m, self._views(m, chance)

    def _views(self, m: int, chance: np.random.Generator) -> Iterator[SerialView]:
        people = int(chance.choice([200, 400, 900, 2000]))
        n_values = int(chance.integers(m + 1, m + 21))
        weights = np.arange(1, n_values + 1) ** -float(chance.choice([0.0, 0.7, 1.5]))
        churn, drift = float(chance.choice([0.02, 0.1, 0.35])), float(chance.choice([0.0, 0.3]))
        family, burst = int(chance.choice([1, 4])), bool(chance.random() < 0.5)
        back_share = float(chance.choice([0.1, 0.5])) if self.returns else 0.0
        values, places = np.empty(0, dtype=np.int32), np.empty((0, 2), dtype=np.int32)
        here, away = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        for release in range(int(chance.integers(2, 8))):
            share = np.roll(weights, release) * drift + weights * (1 - drift)
            leaves = np.repeat(chance.random(len(here) // family + 1) < churn, family)[: len(here)]
            missing = (people - len(here) + int(leaves.sum())) * (3 if burst and release == 2 else 1)
            back = chance.permutation(away)[: int(back_share * missing)]
            came = np.arange(len(values), len(values) + missing - len(back))
            values = np.concatenate(
                (values, chance.choice(n_values, len(came), p=share / share.sum()).astype(np.int32))
            )
            spots = [chance.integers(0, len(scale), len(came)) for scale in SCALES]
            places = np.concatenate((places, np.column_stack(spots).astype(np.int32)))
            away = np.setdiff1d(np.union1d(away, here[leaves]), back)
            here = np.concatenate((here[~leaves], back, came)).astype(np.int64)
            who = chance.permutation(here)
            yield SerialView(quasi=places[who], scales=SCALES, sensitive=values[who], n_values=n_values, person=who)


def _played(world: World) -> tuple[int, History]:
    m, views = world.drawn()
    memory, rules = SlotHistory(), SerialRules(m, odds=1.5)
    pasts, n_people, n_values = [], 0, 0
    for release, view in enumerate(views):
        made = update_groups(view, rules, memory, SerialDraw(b"series", release))
        past = _published(view, made)
        memory.remember(past)
        assert past.lineage is not None
        assert past.slot is not None
        marks = {"lineage": past.lineage, "slot": past.slot}
        marks |= {} if past.baseline is None else {"baseline": past.baseline}
        pasts.append(
            PastRelease(
                release + 1, person=past.person.astype(np.int32), group=past.group, value=past.value, marks=marks
            )
        )
        n_people, n_values = max(n_people, int(view.person.max()) + 1), view.n_values
    people, values = (pa.array([str(i) for i in range(n)]) for n in (n_people, n_values))
    return m, History(people, values, tuple(pasts))


def _published(view: SerialView, made: SerialGrouping) -> RememberedRows:
    real = np.flatnonzero(made.group >= 0)
    group = np.concatenate((made.group[real], made.counterfeit_group)).astype(np.int32)
    value = np.concatenate((view.sensitive[real], made.counterfeit_value)).astype(np.int32)
    assert made.slots is not None
    slot = np.concatenate((made.slots.slot_of_record[real], made.slots.slot_of_counterfeit))
    baseline = None if made.slots.baseline is None else made.slots.baseline[value]
    person = np.concatenate((view.person[real], np.full(made.n_counterfeits, -1, dtype=np.int64)))
    return RememberedRows(
        person, group=group, value=value, lineage=made.slots.cohort_of_group[group], slot=slot, baseline=baseline
    )


def _judged(world: World, counts: Counter[str]) -> None:
    m, history = _played(world)
    label = f"cohort, {'with' if world.returns else 'without'} returns"
    counts[f"{label}: series"] += 1
    told = reveal_leavers(history)
    if not world.returns:
        found = fair_cells(JudgedHistory(history), FairnessTerms(m, 1.5))
        bounds = re.findall(r"about anyone at most ([\d.]+)%", found.detail)
        beliefs = belief(told)
        counts[f"{label}: people judged by exact counting"] += int(beliefs.exact[beliefs.cell].sum())
        counts[f"{label}: people not judged exactly"] += int((~beliefs.exact[beliefs.cell]).sum()) + beliefs.n_unjudged
        over = beliefs.largest > float(bounds[0]) / 100 + 5.1e-4 if bounds else beliefs.largest > 0
        counts[f"{label}: beliefs above the stated bound"] += int(over.sum())
        counts[f"{label}: promise fair_cells broken"] += not found.kept
    ground = prepare(told)
    run = ground.compromise(ground.draw(KNOWN, 1), keep_log=False)
    made = complete_sample(run, None, 1, BUDGET)
    certain = run.n_breached + len(made.certain)
    counts[f"{label}: people attacked, 10% known"] += run.n_people
    counts[f"{label}: certain, 10% known"] += certain
    not_asked = made.left - made.opened - len(made.asked)
    counts[f"{label}: undecided or not asked"] += len(made.undecided) + not_asked
    if certain:
        gate = complete_share(ground, KNOWN, SEEDS, 0.0, BUDGET)
        counts[f"{label}: series with somebody certain"] += 1
        counts[f"{label}: of these stopped by breach_share = 0"] += gate.high > 0


def run(options: list[str]) -> None:
    """Play the series, as many as asked or as fit the time, and keep the counts."""
    wanted = 40 if "--quick" in options else SERIES
    most = next((float(word.partition("=")[2]) for word in options if word.startswith("--seconds=")), float("inf"))
    begin, counts = time.monotonic(), Counter[str]()
    for number in range(wanted):
        if time.monotonic() - begin > most:
            break
        _judged(World(number), counts)
    zero = ("beliefs above the stated bound", "promise fair_cells broken", "without returns: certain, 10% known")
    rows = [row(name, n, 0.0 if name.endswith(zero) else None, "") for name, n in sorted(counts.items())]
    keep("cohorts", rows)
