"""Observers of a series: what somebody believes of everyone before each view, and learns from its groups.

The defender of Algorithm 1 is one, and so is every attacker. Knowledge may grow from view to view: then each step uses
what the earlier views alone show.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from seriatim.kernels.arrays import Floats, Longs
from seriatim.knowledge._posterior import Rule, beliefs_after_groups
from seriatim.knowledge.sequence_model import SequenceModel
from seriatim_papers.js_reduce import (
    Grouper,
    JsReduceGains,
    JsReduceRun,
    box_loss,
    class_numbers,
    groups_of_rows,
    places_of,
)
from seriatim_papers.worlds.patients import PatientWeek

Knowledge = SequenceModel | Sequence[SequenceModel]
"""What is known before every view, or before each of them."""
ATTACKS: Mapping[str, tuple[Rule, Literal["filter", "product"]]] = {
    "omega, product": ("omega", "product"),
    "sum, product": ("sum", "product"),
    "omega, filter": ("omega", "filter"),
    "Bayes, filter": ("bayes", "filter"),
}
AS_PRINTED, AS_OURS, AS_RUN = "omega, product", "Bayes, filter", "omega, filter"


class Observer:
    """Someone who believes something of everyone before each view, and learns from its groups."""

    def __init__(self, known: Knowledge, attack: str, n_people: int) -> None:
        self.models = [known] if isinstance(known, SequenceModel) else list(known)
        self.rule, self.revising = ATTACKS[attack]
        self.at, self.model = 0, self.models[0]
        self.beliefs, self.met = np.zeros((n_people, len(self.model.values))), np.zeros(n_people, dtype=np.bool_)
        self.state = np.zeros((n_people, self.model.n_states))

    def before(self, week: PatientWeek) -> Floats:
        """Return what is believed about everyone of a view: what followed from the last one, or the prior.

        Rows sum to less than 1 where knowledge does: of somebody who might have left, but is here.
        """
        found: Floats = np.where(
            self.met[week.person, None], self.beliefs[week.person], self.model.prior[class_numbers(week, self.model)]
        )
        return found

    def learn(self, week: PatientWeek, group: Longs) -> tuple[Floats, Floats]:
        """Learn from the groups of a view; return gain over counting in the group and belief in the truth, by row."""
        kept = np.flatnonzero(group >= 0)
        order = kept[np.argsort(group[kept], kind="stable")]
        who, value = week.person[order], week.value[order]
        groups, share = groups_of_rows(group[order], value)
        after = beliefs_after_groups(np.ascontiguousarray(self.before(week)[order]), groups, self.rule).beliefs
        after = np.where(after.sum(axis=1, keepdims=True) > 0, after, 1.0 / after.shape[1])
        self._know_more()
        cls = class_numbers(week, self.model)[order]
        for old in (True, False):
            rows = np.flatnonzero(self.met[who] == old)
            if len(rows):
                state = self.state[who[rows]] if old else None
                revised = self.model.revise(state, after[rows], 1, cls[rows], self.revising)
                self.state[who[rows]], self.beliefs[who[rows]] = revised.state, revised.beliefs
        self.met[who] = True
        in_truth: Floats = after[np.arange(len(order)), value]
        gains: Floats = np.divide(in_truth - share, 1 - share, out=np.zeros_like(share), where=share < 1)
        return gains, in_truth

    def _know_more(self) -> None:
        """Turn to what is known before the next view; states are runs of values, which the new model also has."""
        self.at += 1
        newer = self.models[min(self.at, len(self.models) - 1)]
        if newer is self.model:
            return
        place = {run: at for at, run in enumerate(newer.runs)}
        state = np.zeros((len(self.state), newer.n_states))
        state[:, [place[run] for run in self.model.runs]] = self.state
        self.state, self.model = state, newer


@dataclass(frozen=True, slots=True)
class TimedRun:
    """A run, and the processor time that each view's groups took."""

    run: JsReduceRun
    seconds: tuple[float, ...]


def published(weeks: list[PatientWeek], grouper: Grouper, defender: Observer) -> JsReduceRun:
    """Run Algorithm 1: beliefs before a view, its groups, what follows for the next."""
    return published_with_times(weeks, grouper, defender).run


def published_with_times(weeks: list[PatientWeek], grouper: Grouper, defender: Observer) -> TimedRun:
    """Run Algorithm 1, and take the processor time of every view: beliefs, groups, and what follows."""
    groups, losses, seconds = [], [], []
    for week in weeks:
        place, began = places_of(week), time.process_time()
        beliefs = defender.before(week)
        group = grouper(week, beliefs / np.maximum(beliefs.sum(axis=1, keepdims=True), 1e-300), place)
        defender.learn(week, group)
        seconds.append(time.process_time() - began)
        groups.append(group)
        losses.append(box_loss(place, group))
    return TimedRun(JsReduceRun(weeks, (), tuple(groups), tuple(losses), ()), tuple(seconds))


def attacked(run: JsReduceRun, known: Knowledge, attack: str) -> JsReduceGains:
    """Return the mean gain and belief in the truth, at each release, of someone with this knowledge."""
    seen = Observer(known, attack, people_of(run.weeks))
    found = [seen.learn(week, group) for week, group in zip(run.weeks, run.groups, strict=True)]
    mean = [tuple(float(one.mean()) if len(one) else 0.0 for one in figures) for figures in found]
    return JsReduceGains(tuple(gain for gain, _ in mean), tuple(belief for _, belief in mean))


def people_of(weeks: list[PatientWeek]) -> int:
    """Return how many numbers the people of these views have."""
    return max(int(week.person.max()) for week in weeks) + 1
