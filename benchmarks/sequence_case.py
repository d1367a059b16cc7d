"""Sequence knowledge: a view of 5,000, of a million, and smoothing; ratios to a polars sort in the same run.

./dev bench sequence
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from seriatim.defences.single.curve.order import along_curve
from seriatim.engines.threads import Threads
from seriatim.kernels.arrays import Floats
from seriatim.kernels.series.belief_segments import SegmentRows, SegmentRules, cut_greedily, cut_optimally
from seriatim.knowledge._posterior import posterior_of_groups
from seriatim.knowledge.divergence import BITS, entropies_for_divergence
from seriatim.knowledge.sequence_model import SequenceModel
from seriatim.model.history import History, Past
from seriatim.studies import js_reduce
from seriatim.studies.worlds.patients import VALUES, Week, patients_knowledge_of_one_step, patients_weeks

N_VALUES = len(VALUES)


def _timed(work: Callable[[], Any], repeat: int = 3) -> tuple[float, Any]:
    """Return the best time and the last result."""
    best, found = float("inf"), None
    for _ in range(repeat):
        start = time.perf_counter()
        found = work()
        best = min(best, time.perf_counter() - start)
    return best, found


def _view(n: int, model: SequenceModel) -> tuple[Week, Floats]:
    """Return people with beliefs as they are after a release in groups of about 20, and values drawn from them."""
    rng = np.random.default_rng(3)
    age, gender, weight = (rng.integers(*ends, n).astype(np.int32) for ends in ((45, 75), (1, 3), (60, 90)))
    person = np.arange(n, dtype=np.int32)
    cls = Week(person, age, gender, weight, person).cls
    seen = model.prior[cls] * np.exp(0.8 * rng.standard_normal((n, N_VALUES)))
    seen /= seen.sum(axis=1, keepdims=True)
    beliefs = model.revise(None, seen, classes=cls).beliefs
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    total = beliefs.cumsum(axis=1)
    value = np.minimum((rng.random(n)[:, None] >= total).sum(axis=1), N_VALUES - 1).astype(np.int32)
    return Week(person, age, gender, weight, value), beliefs


def sequence_times(n: int, model: SequenceModel) -> dict[str, float]:
    """Return seconds of each part on one view of n records."""
    week, beliefs = _view(n, model)
    frame = pl.DataFrame({"age": week.age, "gender": week.gender, "weight": week.weight, "value": week.value})
    found = {"polars sort": _timed(lambda: frame.sort("age", "gender", "weight"))[0]}
    columns, place = js_reduce._coded(week), js_reduce._places(week).astype(np.float32)
    found["hilbert"], (order, _) = _timed(lambda: along_curve(columns, np.random.default_rng(7), Threads()))
    single = beliefs.astype(np.float32)
    entropy = entropies_for_divergence(beliefs).astype(np.float32)
    found["lay out"], rows = _timed(
        lambda: SegmentRows(week.value[order], single[order], entropy[order], place[order]), 2
    )
    whole = np.bincount(week.value, minlength=N_VALUES).astype(np.int64)
    rules = SegmentRules(20, 1, 0.5, 0, 0.6, whole, 60, 1.0)
    found["greedy"], _ = _timed(lambda: cut_greedily(rows, rules))
    rules = rules._replace(j=0.6 * BITS)
    found["optimal"], end = _timed(lambda: cut_optimally(rows, rules), 2)
    kept = np.flatnonzero(end >= 0)
    groups, _ = js_reduce._laid(end[kept], rows.value[kept])
    ordered = np.ascontiguousarray(rows.beliefs[kept])
    found["posterior omega"], after = _timed(lambda: posterior_of_groups(ordered, groups, "omega"))
    found["posterior bayes"], exact = _timed(lambda: posterior_of_groups(ordered, groups, "bayes"), 1)
    found["share propagated"] = exact.n_propagated / max(len(kept), 1)
    cls = week.cls[order][kept]
    found["revision"], _ = _timed(lambda: model.revise(None, after.beliefs, classes=cls), 2)
    return found


def smoothing_time() -> tuple[float, int]:
    """Return seconds of six sweeps over about 28,000 appearances, and how many they are."""
    from seriatim.knowledge.appearances import appearances_of
    from seriatim.knowledge.smoothing import everything_possible, smoothed_back, smoothed_forward

    weeks, exact = patients_weeks("A", 15, 1_890, seed=4)
    model = patients_knowledge_of_one_step(exact)
    grouper = js_reduce.js_reduce_by_segments(5, 1.0, 1e12, True)
    pasts, n_people = [], max(int(week.person.max()) for week in weeks) + 1
    for number, week in enumerate(weeks, 1):
        flat = np.full((len(week.person), N_VALUES), 1.0 / N_VALUES)
        group = grouper(week, flat, js_reduce._places(week))
        kept = np.flatnonzero(group >= 0)
        within = np.unique(group[kept], return_inverse=True)[1].astype(np.int32)
        pasts.append(Past(number, week.person[kept], within, week.value[kept]))
    import pyarrow as pa

    history = History(pa.array([str(i) for i in range(n_people)]), pa.array(VALUES), tuple(pasts))
    rows = appearances_of(history)
    evidence = everything_possible(rows)
    forward = smoothed_forward(rows, model, "bayes", evidence)
    smoothed_back(rows, model, evidence, forward, 1)
    seconds, _ = _timed(lambda: smoothed_back(rows, model, evidence, forward, 6), 2)
    return seconds, len(rows.person)


def run(options: list[str]) -> None:
    """Time a view of 5,000 and of a million records (``--large``: four million as well), and the smoothing."""
    sizes = (5_000, 1_000_000, 4_000_000) if "--large" in options else (5_000, 1_000_000)
    _, exact = patients_weeks("A", 1, 100)
    model = patients_knowledge_of_one_step(exact)
    sequence_times(2_000, model)  # compile
    for n in sizes:
        times = sequence_times(n, model)
        propagated, sort = times.pop("share propagated"), times["polars sort"]
        print(f"{n:,} records; {propagated:.0%} of people judged by belief propagation")
        for name, seconds in times.items():
            print(f"  {name:18} {seconds * 1e3:10.1f} ms  {seconds / sort:7.1f} x sort")
    seconds, n_rows = smoothing_time()
    print(f"six sweeps over {n_rows:,} appearances: {seconds:.2f} s")
