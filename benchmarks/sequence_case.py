"""Sequence knowledge: a view of 5,000, of a million, and smoothing; ratios to a polars sort in the same run.

./dev bench sequence
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import seriatim as sr
from benchmarks.timing import in_turns, keep, row
from seriatim.defences.series.sequence.grouping import SKIP_COST, best_sequence_cut
from seriatim.defences.single.curve.order import curve_order
from seriatim.engines.threads import Threads
from seriatim.kernels.arrays import Floats
from seriatim.kernels.series.belief_segments import (
    SegmentRows,
    SegmentRules,
    belief_segments_greedily,
    belief_segments_optimally,
)
from seriatim.knowledge._posterior import posterior_of_groups
from seriatim.knowledge.divergence import BITS, entropies_for_divergence
from seriatim.knowledge.sequence_model import SequenceModel
from seriatim.model.history import History, Past
from seriatim.studies import js_reduce
from seriatim.studies.worlds.patients import VALUES, Week, patients_knowledge_of_one_step, patients_weeks

N_VALUES = len(VALUES)
LINEAR = ("greedy", "optimal", "posterior, omega", "posterior, bayes", "revision")
LONG_SERIES = sr.Policy.from_dict(
    {
        "series": {"name": "long", "respondent": "id"},
        "columns": {
            "age": {"role": "quasi", "kind": "number"},
            "weight": {"role": "quasi", "kind": "number"},
            "stage": {"role": "sensitive"},
        },
        "promise": {"k": 10, "j": 1.5},
        "defence": {"method": "sequence", "suppress": 1.0},
        "adversary": {"sure_share": 1.0},
    }
)
TIMES = "x records x values x 4 bytes"


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


def sequence_works(n: int, model: SequenceModel) -> tuple[dict[str, Callable[[], Any]], float]:
    """Return the parts to time on one view of n records, and the share of people judged by belief propagation."""
    week, beliefs = _view(n, model)
    frame = pl.DataFrame({"age": week.age, "gender": week.gender, "weight": week.weight, "value": week.value})
    columns, place = js_reduce._coded(week), js_reduce._places(week).astype(np.float32)
    single, entropy = beliefs.astype(np.float32), entropies_for_divergence(beliefs).astype(np.float32)
    whole = np.bincount(week.value, minlength=N_VALUES).astype(np.int64)
    rules = SegmentRules(20, 1, 0.5, 0, 0.6, whole, 60, 1.0)

    def laid_out() -> SegmentRows:
        order, _ = curve_order(columns, np.random.default_rng(7), Threads())
        return SegmentRows(week.value[order], single[order], entropy[order], place[order])

    bits = rules._replace(j=0.6 * BITS, skip=SKIP_COST)
    rows = laid_out()
    end = belief_segments_optimally(rows, bits)
    kept = np.flatnonzero(end >= 0)
    groups, _ = js_reduce._laid(end[kept], rows.value[kept])
    ordered = np.ascontiguousarray(rows.beliefs[kept])
    order, _ = curve_order(columns, np.random.default_rng(7), Threads())
    cls = week.cls[order][kept]
    after = posterior_of_groups(ordered, groups, "omega").beliefs
    propagated = posterior_of_groups(ordered, groups, "bayes").n_propagated / max(len(kept), 1)
    works: dict[str, Callable[[], Any]] = {
        "sort": lambda: frame.sort("age", "gender", "weight"),
        "greedy": lambda: belief_segments_greedily(laid_out(), rules),
        "optimal": lambda: best_sequence_cut(laid_out(), bits),
        "posterior, omega": lambda: posterior_of_groups(ordered, groups, "omega"),
        "posterior, bayes": lambda: posterior_of_groups(ordered, groups, "bayes"),
        "revision": lambda: model.revise(None, after, classes=cls),
    }
    return works, propagated


def _cpu_seconds(work: Callable[[], Any]) -> float:
    """Return the processor's seconds, which other work on the machine moves less than the clock's."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _least_cpu_seconds(work: Callable[[], Any], times: int = 3) -> float:
    """Return the least of a few measurements: what others do to caches and memory only adds to it."""
    return min(_cpu_seconds(work) for _ in range(times))


def peak_memory(work: Callable[[], Any]) -> float:
    """Return by how many bytes the process grows at most while it works; not a number where the system cannot tell."""
    refs, status = Path("/proc/self/clear_refs"), Path("/proc/self/status")
    if not refs.exists():
        return float("nan")
    refs.write_text("5")  # the high-water mark starts again here
    before = _status_bytes(status, "VmRSS")
    work()
    return _status_bytes(status, "VmHWM") - before


def _status_bytes(status: Path, name: str) -> float:
    line = next(line for line in status.read_text().splitlines() if line.startswith(name))
    return 1024.0 * int(line.split()[1])


def smoothing_time() -> tuple[float, int]:
    """Return seconds of six sweeps over about 28,000 appearances, and how many they are."""
    from seriatim.knowledge.appearances import appearances_of
    from seriatim.knowledge.smoothing import Pace, smoothing_back, smoothing_forward, smoothing_start

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
    evidence = smoothing_start(rows)
    forward = smoothing_forward(rows, model, "bayes", evidence)
    smoothing_back(rows, model, evidence, forward, Pace(1))
    work = {"six sweeps": lambda: smoothing_back(rows, model, evidence, forward, Pace(6))}
    return in_turns(work, 3)["six sweeps"], len(rows.person)


def late_releases(n_people: int = 1_000, n_releases: int = 100) -> list[float]:
    """Return the processor's seconds of each release of a series with j and sure_share, one in twenty people new."""
    rng = np.random.default_rng(8)
    who, columns = np.arange(n_people), [rng.integers(0, high, n_people) for high in (10, 60, 50)]
    took: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        ledger = sr.Ledger.open(Path(folder) / "ledger.db")
        for number in range(n_releases):
            columns[0] = np.where(rng.random(n_people) > 0.8, rng.integers(0, 10, n_people), columns[0])
            named = dict(zip(("stage", "age", "weight"), columns, strict=True))
            view = pl.DataFrame({"id": [f"p{i}" for i in who], **named})
            took.append(_cpu_seconds(lambda view=view: sr.publish(view, LONG_SERIES, ledger)))
            gone = rng.random(n_people) < 0.05
            who = np.where(gone, who + n_people * (number + 1), who)
            columns = [np.where(gone, rng.permutation(column), column) for column in columns]
    return took


def run(options: list[str]) -> None:
    """Time a view of 5,000 and of a million records (``--large``: four million as well), and the smoothing."""
    _, exact = patients_weeks("A", 1, 100)
    model = patients_knowledge_of_one_step(exact)
    works, _ = sequence_works(5_000, model)
    small = in_turns(works, 25)
    view = small["optimal"] + small["posterior, omega"] + small["revision"]
    rows = [row("a view of 5,000: optimal groups, omega, revision", 1e3 * view, 50, "ms")]
    targets = {"greedy": 8, "optimal": 20, "posterior, bayes": 80}
    first: dict[str, float] = {}
    for n in (1_000_000, 4_000_000) if "--large" in options else (1_000_000,):
        works, propagated = sequence_works(n, model)
        found = in_turns(works, 1 if first else 3)
        cpu = {name: _least_cpu_seconds(works[name]) for name in LINEAR}
        if first:
            rows += [row(f"{name}: four times the records, processor", cpu[name] / first[name], 5) for name in LINEAR]
        else:
            whole = n * N_VALUES * 4
            rows += [row(f"{name}: memory at most", peak_memory(works[name]) / whole, None, TIMES) for name in LINEAR]
        first = cpu
        sort = found.pop("sort")
        rows += [
            row(f"{n:,} records: {name}", took / sort, targets.get(name), "x a sort") for name, took in found.items()
        ]
        rows.append(row(f"{n:,} records: judged by belief propagation", 100 * propagated, None, "%"))
        rows.append(row(f"{n:,} records: the sort", sort, None, "s"))
    seconds, n_rows = smoothing_time()
    rows.append(row(f"six smoothing sweeps over {n_rows:,} appearances", seconds, 5, "s"))
    took = late_releases()
    late = float(np.median(took[-5:]))
    for first, last, target in ((8, 12, 1.5), (2, 4, 2)):
        early = float(np.median(took[first - 1 : last]))
        rows.append(row(f"releases 96 to 100 of a series against {first} to {last}, processor", late / early, target))
    keep("sequence", rows)
