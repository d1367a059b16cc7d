"""JS-reduce as it is printed, attacked as it is printed, with ours beside it: Figures 4 and 8 and the text's figures.

Printed: Algorithm 4 (greedy), the omega estimate, and the product of marginals for the beliefs before the next view
(Algorithms 1 and 3). Ours: the best cut, Bayes, the exact filter. The world is M, whose people remember longer than one
step; the attackers know tables over the last one, two or three values, mined from other people's weeks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from seriatim.kernels.arrays import Floats, Longs
from seriatim.knowledge._posterior import BITS, Rule, beliefs_after_groups
from seriatim.knowledge.sequence_model import SequenceModel
from seriatim.model.policy import Thresholds
from seriatim.ports import Progress, no_progress
from seriatim_papers.claims import Claim, Spread
from seriatim_papers.js_reduce import (
    Grouper,
    JsReduceRun,
    box_loss,
    class_numbers,
    groups_of_rows,
    js_reduce_by_mondrian,
    js_reduce_by_segments,
    places_of,
)
from seriatim_papers.js_reduce_parts import js_reduce_part_corpus, js_reduce_part_query_error, js_reduce_part_snapshot
from seriatim_papers.worlds.patients import PatientWeek, patients_weeks

SEEDS = (1, 2, 3)
PRINTED, OURS, PLAIN = "JS-reduce as printed", "JS-reduce, ours", "Mondrian l = 2"
KNOWLEDGE = ("snapshot", "1 step", "2 steps", "3 steps", "exact")
ATTACKS: Mapping[str, tuple[Rule, Literal["filter", "product"]]] = {
    "omega, product": ("omega", "product"),
    "sum, product": ("sum", "product"),
    "Bayes, filter": ("bayes", "filter"),
}
AS_PRINTED, AS_OURS = "omega, product", "Bayes, filter"
ASKED = (
    *((how, kind) for how in (AS_PRINTED, AS_OURS) for kind in KNOWLEDGE),
    *(("sum, product", kind) for kind in ("1 step", "exact")),
)
"""The attacks that are run: the printed sum gains next to nothing, so two kinds of knowledge show it."""
SHARES = (0.01, 0.05, 0.1, 0.2)


class Observer:
    """Someone who believes something of everyone before each view, and learns from its groups."""

    def __init__(self, model: SequenceModel, attack: str, n_people: int) -> None:
        self.model, (self.rule, self.revising) = model, ATTACKS[attack]
        self.beliefs, self.met = np.zeros((n_people, len(model.values))), np.zeros(n_people, dtype=np.bool_)
        self.state = np.zeros((n_people, model.n_states))

    def before(self, week: PatientWeek) -> Floats:
        """Return what is believed about everyone of a view: what followed from the last one, or the prior.

        Rows sum to less than 1 where knowledge does: of somebody who might have left, but is here.
        """
        found: Floats = np.where(
            self.met[week.person, None], self.beliefs[week.person], self.model.prior[class_numbers(week, self.model)]
        )
        return found

    def learn(self, week: PatientWeek, group: Longs) -> Floats:
        """Learn from the groups of a view; return the gain over counting in the group, for everyone published."""
        kept = np.flatnonzero(group >= 0)
        order = kept[np.argsort(group[kept], kind="stable")]
        who, value, cls = week.person[order], week.value[order], class_numbers(week, self.model)[order]
        groups, share = groups_of_rows(group[order], value)
        after = beliefs_after_groups(np.ascontiguousarray(self.before(week)[order]), groups, self.rule).beliefs
        after = np.where(after.sum(axis=1, keepdims=True) > 0, after, 1.0 / after.shape[1])
        for old in (True, False):
            rows = np.flatnonzero(self.met[who] == old)
            if len(rows):
                state = self.state[who[rows]] if old else None
                revised = self.model.revise(state, after[rows], 1, cls[rows], self.revising)
                self.state[who[rows]], self.beliefs[who[rows]] = revised.state, revised.beliefs
        self.met[who] = True
        in_truth = after[np.arange(len(order)), value]
        gains: Floats = np.divide(in_truth - share, 1 - share, out=np.zeros_like(share), where=share < 1)
        return gains


@dataclass(frozen=True, slots=True, eq=False)
class PrintedRun:
    """A world under one method: the groups, what is lost, and what each attacker gained by release."""

    run: JsReduceRun
    gains: Mapping[tuple[str, str], tuple[float, ...]]
    """By attack and knowledge."""


def published(weeks: list[PatientWeek], grouper: Grouper, defender: Observer) -> JsReduceRun:
    """Run Algorithm 1: beliefs before a view, its groups, what follows for the next."""
    groups, losses = [], []
    for week in weeks:
        place = places_of(week)
        beliefs = defender.before(week)
        group = grouper(week, beliefs / np.maximum(beliefs.sum(axis=1, keepdims=True), 1e-300), place)
        defender.learn(week, group)
        kept = group >= 0
        groups.append(group)
        losses.append(box_loss(place[kept], group[kept]) if kept.any() else float("nan"))
    return JsReduceRun(weeks, (), tuple(groups), tuple(losses), ())


def attacked(run: JsReduceRun, model: SequenceModel, attack: str) -> tuple[float, ...]:
    """Return the mean gain at each release of someone with this knowledge."""
    seen = Observer(model, attack, _n_people(run.weeks))
    found = [seen.learn(week, group) for week, group in zip(run.weeks, run.groups, strict=True)]
    return tuple(float(gains.mean()) if len(gains) else 0.0 for gains in found)


def _n_people(weeks: list[PatientWeek]) -> int:
    return max(int(week.person.max()) for week in weeks) + 1


def printed_and_ours(n_weeks: int, n_rows: int, seed: int) -> dict[str, PrintedRun]:
    """Publish one world by the three methods, and attack each with every kind of knowledge in every way."""
    weeks, exact = patients_weeks("M", n_weeks, n_rows, seed)
    corpus, _ = patients_weeks("M", n_weeks, n_rows, seed, people_seed=7)
    mined = {f"{n} step{'s' * (n > 1)}": js_reduce_part_corpus(corpus, n) for n in (1, 2, 3)}
    models = {"snapshot": js_reduce_part_snapshot(mined["1 step"]), **mined, "exact": exact}
    n = _n_people(weeks)
    runs = {
        PLAIN: published(weeks, js_reduce_by_mondrian(2, Thresholds(l=2)), Observer(exact, AS_OURS, n)),
        PRINTED: published(weeks, js_reduce_by_segments(20, 0.5, 0.6, False), Observer(exact, AS_PRINTED, n)),
        OURS: published(weeks, js_reduce_by_segments(20, 0.5, 0.6 * BITS, True), Observer(exact, AS_OURS, n)),
    }
    return {
        name: PrintedRun(run, {(how, kind): attacked(run, models[kind], how) for how, kind in ASKED})
        for name, run in runs.items()
    }


@dataclass(frozen=True, slots=True, eq=False)
class PrintedFindings:
    """What three worlds showed; every figure keeps one number a seed."""

    n_weeks: int
    n_rows: int
    seeds: tuple[int, ...]
    worlds: tuple[dict[str, PrintedRun], ...]
    errors: Mapping[str, tuple[Spread, ...]]
    """By method, the median error of counts at each share (Figure 8b)."""

    def gain(self, method: str, attack: str, kind: str, release: int = -1) -> Spread:
        """Return the gain at one release."""
        return Spread(tuple(world[method].gains[attack, kind][release] for world in self.worlds))

    def curve(self, method: str, attack: str, kind: str) -> tuple[float, ...]:
        """Return the mean gain by release."""
        rows = np.array([world[method].gains[attack, kind] for world in self.worlds])
        return tuple(rows.mean(axis=0).tolist())

    def dropped(self, method: str) -> tuple[int, ...]:
        """Return the people dropped from every view of every world."""
        return tuple(n for world in self.worlds for n in world[method].run.dropped)

    def loss(self, method: str) -> Spread:
        """Return the GCP of the groups, without those dropped."""
        return Spread(tuple(float(np.nanmean(world[method].run.losses)) for world in self.worlds))

    def claims(self) -> tuple[Claim, ...]:
        """Judge the paper's sentences by what was run."""
        steps = [self.gain(PLAIN, AS_PRINTED, kind) for kind in ("1 step", "2 steps", "3 steps")]
        more = [after.less(before) for before, after in pairwise(steps)]
        curve = np.array([world[PLAIN].gains[AS_PRINTED, "1 step"] for world in self.worlds])
        fall = Spread(tuple((curve.max(axis=1) - curve[:, -1]).tolist()))
        most = Spread(
            tuple(max(max(world[PRINTED].gains[AS_PRINTED, kind]) for kind in KNOWLEDGE) for world in self.worlds)
        )
        open_ = self.gain(PLAIN, AS_PRINTED, "exact")
        out, rows = self.dropped(PRINTED), self.n_rows
        return (
            Claim("3 steps gain more than 2, 2 more than 1 (Fig. 4a)", "3 > 2 > 1",
                  f"{'; '.join(map(str, steps))}; more by {more[0]} and {more[1]}", all(one.low > 0 for one in more)),
            Claim("the curve of 1 step falls (Fig. 4a)", "falls",
                  f"by {fall} from its top to {steps[0]} at the end", fall.low > 0),
            Claim("without JS-reduce the gain is above .5", "> .5", str(open_), open_.low > 0.5),
            Claim("with JS-reduce the gain stays below .12 (Fig. 4c)", "< .12", f"at most {most}", most.high < 0.12),
            Claim("at most 12 tuples of a view are suppressed", "12",
                  f"median {int(np.median(out))}, most {max(out)} of {rows:,}", max(out) <= 12),
        )  # fmt: skip


def printed_findings(
    n_weeks: int, n_rows: int, seeds: tuple[int, ...] = SEEDS, progress: Progress = no_progress
) -> PrintedFindings:
    """Run the three worlds."""
    worlds = []
    for at, seed in enumerate(seeds):
        progress(f"as printed, seed {seed}", at / len(seeds))
        worlds.append(printed_and_ours(n_weeks, n_rows, seed))
    errors = {
        name: tuple(
            Spread(tuple(js_reduce_part_query_error(world[name].run, share) for world in worlds)) for share in SHARES
        )
        for name in worlds[0]
    }
    return PrintedFindings(n_weeks, n_rows, seeds, tuple(worlds), errors)
