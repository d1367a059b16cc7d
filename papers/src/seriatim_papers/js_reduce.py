"""Riboni, Pareschi and Bettini, "JS-Reduce", run again: what sequence knowledge gains against each method.

The cycle of the paper's Algorithm 1 over the worlds of :mod:`patients`: beliefs before a view, groups, posterior,
beliefs before the next. The paper's adversary (the omega estimate, forward) is beside ours (exact or propagated,
looking back).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from seriatim.attacks.belief_figures import count_sure_people, gains_over_groups
from seriatim.attacks.sequence_knowledge import KnownHistory, Look, SequenceBeliefs, beliefs_of_case
from seriatim.defences.series.sequence.grouping import SKIP_COST, best_cut
from seriatim.defences.single.curve.order import hilbert_rows
from seriatim.defences.single.median import cut_pieces
from seriatim.defences.single.trim import class_tests
from seriatim.kernels.arrays import Floats, Ints, Longs
from seriatim.kernels.belief.chains import filter_states
from seriatim.kernels.series.belief_segments import SegmentRows, SegmentRules, cut_greedily
from seriatim.kernels.single.median import CutRules
from seriatim.knowledge._posterior import (
    BITS,
    MessageGroups,
    Rule,
    beliefs_after_groups,
    divergence_of_groups,
    entropies_for_divergence,
)
from seriatim.knowledge.appearances import appearances_of
from seriatim.knowledge.sequence_model import SequenceModel
from seriatim.knowledge.sequential_adversary import SequentialAdversary
from seriatim.knowledge.smoothing import predicted_states
from seriatim.model import CodedColumn
from seriatim.model.history import History, PastRelease
from seriatim.model.policy import Thresholds
from seriatim.model.scale import Scale, scale_of
from seriatim.wiring import wired_workers
from seriatim_papers.worlds.patients import (
    VALUES,
    PatientWeek,
    World,
    patients_knowledge_of_one_step,
    patients_weeks,
)

Grouper = Callable[[PatientWeek, Floats, Floats], Longs]
"""From a view, beliefs before it and places in the box of all quasi-identifiers, to groups; -1 for dropped people."""
_RANGES = ((45, 30), (1, 2), (60, 30))


@dataclass(frozen=True, slots=True)
class WorldSize:
    """A made-up world: its kind, views, records in each, and seed."""

    world: World
    n_weeks: int
    n_rows: int
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class JsReduceRun:
    """A world published under one method."""

    weeks: list[PatientWeek]
    pasts: tuple[PastRelease, ...]
    groups: tuple[Longs, ...]
    """The group of each record of each week; -1 for dropped people."""
    losses: tuple[float, ...]
    """Mean normalised width of boxes (GCP) of each week, without the people dropped."""
    divergence: tuple[float, ...]
    """Of the beliefs about all people of each view, in nats."""

    @property
    def dropped(self) -> tuple[int, ...]:
        return tuple(int((group < 0).sum()) for group in self.groups)


@dataclass(frozen=True, slots=True)
class JsReduceGains:
    """What an adversary gained, release by release."""

    gain: tuple[float, ...]
    confidence: tuple[float, ...]
    """Mean belief in the truth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsReduceOutcome:
    """What one method gave away and lost in one world."""

    world: str
    method: str
    omega: JsReduceGains
    """The paper's adversary."""
    forward: JsReduceGains
    back: JsReduceGains
    sure_people: float
    hit_rate: float
    loss: float
    suppressed: tuple[int, ...]
    divergence: tuple[float, ...]


def js_reduce_by_segments(k: int, t: float, j: float, optimal: bool) -> Grouper:
    """Return JS-reduce with j in nats: as printed, or with the best cut of the same order."""

    def group(week: PatientWeek, beliefs: Floats, place: Floats) -> Longs:
        columns = _coded(week)
        order, _ = hilbert_rows(columns, np.random.default_rng(7), wired_workers())
        rows = SegmentRows(
            week.value[order],
            beliefs[order].astype(np.float32),
            entropies_for_divergence(beliefs)[order].astype(np.float32),
            place[order].astype(np.float32),
        )
        whole = np.bincount(week.value, minlength=len(VALUES)).astype(np.int64)
        rules = SegmentRules(k, 1, t, 0, j, whole, max(3 * k, 60), SKIP_COST)
        end = best_cut(rows, rules) if optimal else cut_greedily(rows, rules)
        return _numbered(order, end)

    return group


def js_reduce_by_mondrian(k: int, thresholds: Thresholds) -> Grouper:
    """Return Mondrian with distinct l-diversity or t-closeness, as the paper compares with."""

    def group(week: PatientWeek, beliefs: Floats, place: Floats) -> Longs:  # noqa: ARG001 - it looks at one view alone
        columns = _coded(week)
        values = CodedColumn(
            "result", week.value, scale_of("set", pa.array(VALUES), np.arange(len(VALUES), dtype=float))
        )
        keep = np.ones(len(week.value), dtype=np.bool_)
        tests = class_tests((values,), {"result": thresholds}, keep)
        rows = np.arange(len(week.value), dtype=np.int32)
        pieces = cut_pieces(columns, (values,), rows, CutRules(k, False, 0), tests, wired_workers())
        found = np.empty(len(week.value), dtype=np.int64)
        found[pieces.order] = np.repeat(np.arange(pieces.n_groups), np.diff(pieces.bounds))
        return found

    return group


JS_REDUCE_METHODS: dict[str, Grouper] = {
    "Mondrian l = 2": js_reduce_by_mondrian(2, Thresholds(l=2)),
    "Mondrian t = 0.8": js_reduce_by_mondrian(2, Thresholds(t=0.8)),
    "greedy k 20, t 0.5, j 0.6 nats": js_reduce_by_segments(20, 0.5, 0.6, False),
    "optimal k 20, t 0.5, j 0.6 bits": js_reduce_by_segments(20, 0.5, 0.6 * BITS, True),
    "optimal k 30, t 0.5, j 0.6 bits": js_reduce_by_segments(30, 0.5, 0.6 * BITS, True),
    "Hilbert k 20 alone": js_reduce_by_segments(20, 1.0, 1e12, True),
}


def js_reduce_run(grouper: Grouper, weeks: list[PatientWeek], model: SequenceModel) -> JsReduceRun:
    """Run the cycle of Algorithm 1 with the defender's knowledge: beliefs, groups, posterior, revision."""
    n_people = max(int(week.person.max()) for week in weeks) + 1
    state, met, last = np.zeros((n_people, model.n_states)), np.zeros(n_people, np.bool_), np.zeros(n_people, np.int32)
    losses, apart, pasts, groupings = [], [], [], []
    for number, week in enumerate(weeks, 1):
        who, cls = week.person, class_numbers(week, model)
        ahead = predicted_states(model, state[who], met[who], (number - last[who]).astype(np.int32), cls)
        beliefs = model.beliefs_of(ahead)
        scaled = beliefs / np.maximum(beliefs.sum(axis=1, keepdims=True), 1e-300)
        apart.append(float(divergence_of_groups(scaled, np.zeros(len(who), dtype=np.int64), 1)[0]))
        place = places_of(week)
        group = grouper(week, scaled, place)
        groupings.append(group)
        losses.append(box_loss(place, group))
        kept = np.flatnonzero(group >= 0)
        order = kept[np.argsort(group[kept], kind="stable")]
        groups, _ = groups_of_rows(group[order], week.value[order])
        omega = beliefs_after_groups(np.ascontiguousarray(beliefs[order]), groups, "omega").beliefs
        after = np.empty((len(order), model.n_states))
        filter_states(model.chain, np.ascontiguousarray(ahead[order]), omega, after)
        state[who[order]], met[who[order]], last[who[order]] = after, True, number
        within = np.unique(group[order], return_inverse=True)[1].astype(np.int32)
        pasts.append(PastRelease(number, person=who[order], group=within, value=week.value[order]))
    return JsReduceRun(weeks, tuple(pasts), tuple(groupings), tuple(losses), tuple(apart))


def js_reduce_attacked(world: str, method: str, run: JsReduceRun, model: SequenceModel) -> JsReduceOutcome:
    """Attack a run: the paper's adversary, ours forward, and ours looking back."""
    omega = js_reduce_gains(run, model, "omega")
    found = js_reduce_beliefs(run, model, "bayes", "back")
    sure = count_sure_people(found, found.beliefs)
    return JsReduceOutcome(
        world=world,
        method=method,
        omega=omega,
        forward=_by_release(found, found.forward.beliefs),
        back=_by_release(found, found.beliefs),
        sure_people=sure.share,
        hit_rate=sure.hit_rate,
        loss=mean_width(run.losses),
        suppressed=run.dropped,
        divergence=run.divergence,
    )


def js_reduce_world(size: WorldSize, methods: Mapping[str, Grouper]) -> tuple[JsReduceOutcome, ...]:
    """Publish one world by every method, and attack each as the paper does, and looking back."""
    weeks, exact = patients_weeks(size.world, size.n_weeks, size.n_rows, size.seed)
    model = patients_knowledge_of_one_step(exact)
    return tuple(
        js_reduce_attacked(size.world, method, js_reduce_run(grouper, weeks, model), model)
        for method, grouper in methods.items()
    )


def js_reduce_gains(run: JsReduceRun, model: SequenceModel, rule: Rule = "omega") -> JsReduceGains:
    """Return what an adversary with this knowledge gains from a run, forward."""
    found = js_reduce_beliefs(run, model, rule, "forward")
    return _by_release(found, found.beliefs)


def js_reduce_beliefs(run: JsReduceRun, model: SequenceModel, rule: Rule, look: Look) -> SequenceBeliefs:
    """Return what an adversary with this knowledge believes about a run."""
    n_people = max(int(week.person.max()) for week in run.weeks) + 1
    cls = np.zeros(n_people, dtype=np.int32)
    for week in run.weeks:
        cls[week.person] = class_numbers(week, model)
    ids = pa.array([f"p{i}" for i in range(n_people)])
    history = History(ids, pa.array(VALUES), run.pasts)
    known = SequentialAdversary(model=model, rule=rule)
    return beliefs_of_case(
        KnownHistory(history=history, rows=appearances_of(history, None, cls), model=model, adversary=known, look=look)
    )


def _by_release(found: SequenceBeliefs, beliefs: Floats) -> JsReduceGains:
    at, gains, truth = found.rows.release[found.judged], gains_over_groups(found, beliefs), found.in_truth(beliefs)
    releases = range(len(found.rows.group_of_release) - 1)
    mean = [(float(gains[at == number].mean()), float(truth[at == number].mean())) for number in releases]
    return JsReduceGains(tuple(gain for gain, _ in mean), tuple(belief for _, belief in mean))


def class_numbers(week: PatientWeek, model: SequenceModel) -> Ints:
    """Return everyone's class as the model numbers them; a model without classes has one."""
    if len(model.classes) == 1:
        return np.zeros(len(week.person), dtype=np.int32)
    number = {name: at for at, name in enumerate(model.classes)}
    return np.array([number.get(str(cls), 0) for cls in range(18)], dtype=np.int32)[week.cls]


def _coded(week: PatientWeek) -> list[CodedColumn]:
    parts = zip(("age", "gender", "weight"), (week.age, week.gender, week.weight), _RANGES, strict=True)
    return [CodedColumn(name, (codes - low).astype(np.int32), _scale(low, n)) for name, codes, (low, n) in parts]


def _scale(low: int, n: int) -> Scale:
    return scale_of("interval", pa.array([str(low + i) for i in range(n)]), np.arange(n, dtype=np.float64))


def places_of(week: PatientWeek) -> Floats:
    parts = zip((week.age, week.gender, week.weight), _RANGES, strict=True)
    return np.stack([(codes - low) / (n - 1) for codes, (low, n) in parts], axis=1)


def _numbered(order: Ints, end: Longs) -> Longs:
    found = np.full(len(order), -1, dtype=np.int64)
    kept = end >= 0
    found[order[kept]] = np.unique(end[kept], return_inverse=True)[1]
    return found


def mean_width(losses: Sequence[float]) -> float:
    """Return the mean over the views that published anybody; nan if none did."""
    found = [loss for loss in losses if np.isfinite(loss)]
    return float(np.mean(found)) if found else float("nan")


def groups_of_rows(group: Longs, value: Ints) -> tuple[MessageGroups, Floats]:
    """Return sorted rows as groups, and the share of each row's value in its group."""
    _, number = np.unique(group, return_inverse=True)
    n_groups, n_values = int(number.max(initial=-1)) + 1, len(VALUES)
    keys, which, counts = np.unique(number * n_values + value, return_inverse=True, return_counts=True)
    ptr = np.searchsorted(number, np.arange(n_groups + 1)).astype(np.int64)
    val_ptr = np.searchsorted(keys // n_values, np.arange(n_groups + 1)).astype(np.int64)
    groups = MessageGroups(ptr, val_ptr, (keys % n_values).astype(np.int32), counts.astype(np.int32))
    return groups, counts[which] / np.diff(ptr)[number]


def box_loss(place: Floats, group: Longs) -> float:
    """Return the mean normalised width of the boxes of all who are published; nan if nobody is."""
    kept = group >= 0
    if not kept.any():
        return float("nan")
    _, number = np.unique(group[kept], return_inverse=True)
    n = int(number.max()) + 1
    low, high = np.full((n, place.shape[1]), np.inf), np.full((n, place.shape[1]), -np.inf)
    np.minimum.at(low, number, place[kept])
    np.maximum.at(high, number, place[kept])
    widths = (high - low).mean(axis=1)[number]
    return float(widths.mean())
