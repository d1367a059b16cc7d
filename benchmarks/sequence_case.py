"""Sequence knowledge: a view of 5,000, of a million (``--large``: four), smoothing, and late releases of long series.

./dev bench sequence --large
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import seriatim as sr
from benchmarks.timing import in_turns, keep, row
from seriatim.defences.series.sequence.grouping import SKIP_COST, best_cut
from seriatim.defences.single.curve.order import hilbert_rows
from seriatim.engines.threads import Threads
from seriatim.kernels.arrays import Singles
from seriatim.kernels.series.belief_segments import SegmentRows, SegmentRules, cut_greedily, cut_optimally
from seriatim.knowledge._posterior import BITS, beliefs_after_groups, entropies_for_divergence
from seriatim.knowledge.sequence_model import SequenceModel
from seriatim.model.history import History, PastRelease
from seriatim_papers import js_reduce
from seriatim_papers.worlds.patients import VALUES, PatientWeek, patients_knowledge_of_one_step, patients_weeks

N_VALUES = len(VALUES)
CHUNK = 250_000
TARGETS = {"greedy": 8, "optimal": 20, "posterior, bayes": 80}
LONG_SERIES = {
    "sequence": {
        "promise": {"k": 10, "j": 1.5},
        "defence": {"method": "sequence", "suppress": 1.0},
        "adversary": {"sure_share": 1.0},
    },
    "median": {"promise": {"k": 5}, "defence": {"method": "median"}},
    "cohort": {"promise": {"m": 3}, "defence": {"method": "cohort"}},
}
"""Methods that remember what they need of older releases, look at none, and read all of them."""
TURNS = 9
_WINDOW = 8
"""``j`` looks back on so many releases: earlier ones have fewer to look at, so late ones cannot cost what they do."""
TIMES = "x records x values x 4 bytes"


def _view(n: int, model: SequenceModel) -> tuple[PatientWeek, Singles]:
    """Return people with beliefs as they are after a release in groups of about 20, and values drawn from them."""
    rng = np.random.default_rng(3)
    age, gender, weight = (rng.integers(*ends, n).astype(np.int32) for ends in ((45, 75), (1, 3), (60, 90)))
    person = np.arange(n, dtype=np.int32)
    cls = PatientWeek(person, age, gender, weight, person).cls
    beliefs, value = np.empty((n, N_VALUES), dtype=np.float32), np.empty(n, dtype=np.int32)
    for first in range(0, n, CHUNK):
        part = slice(first, min(first + CHUNK, n))
        noise = rng.standard_normal((part.stop - first, N_VALUES), dtype=np.float32)
        seen = model.prior[cls[part]] * np.exp(np.float32(0.8) * noise)
        seen /= seen.sum(axis=1, keepdims=True)
        found = model.revise(None, seen, classes=cls[part]).beliefs
        beliefs[part] = found / found.sum(axis=1, keepdims=True)
        beyond = rng.random(len(found), dtype=np.float32)[:, None] >= beliefs[part].cumsum(axis=1)
        value[part] = np.minimum(beyond.sum(axis=1), N_VALUES - 1)
    return PatientWeek(person, age, gender, weight, value), beliefs


def sequence_works(n: int, model: SequenceModel) -> tuple[dict[str, Callable[[], Any]], float]:
    """Return the parts to time on one view of n records, and the share of people judged by belief propagation."""
    week, beliefs = _view(n, model)
    frame = pl.DataFrame({"age": week.age, "gender": week.gender, "weight": week.weight, "value": week.value})
    columns, place = js_reduce._coded(week), js_reduce._places(week).astype(np.float32)
    entropy = entropies_for_divergence(beliefs).astype(np.float32)
    whole = np.bincount(week.value, minlength=N_VALUES).astype(np.int64)
    rules = SegmentRules(20, 1, 0.5, 0, 0.6, whole, 60, 1.0)

    def laid_out() -> SegmentRows:
        order, _ = hilbert_rows(columns, np.random.default_rng(7), Threads())
        return SegmentRows(week.value[order], beliefs.take(order, axis=0), entropy[order], place.take(order, axis=0))

    bits = rules._replace(j=0.6 * BITS, skip=SKIP_COST)
    rows = laid_out()
    end = cut_optimally(rows, bits)
    kept = np.flatnonzero(end >= 0)
    groups, _ = js_reduce._laid(end[kept], rows.value[kept])
    ordered = np.ascontiguousarray(rows.beliefs[kept])
    order, _ = hilbert_rows(columns, np.random.default_rng(7), Threads())
    cls = week.cls[order][kept]
    after = beliefs_after_groups(ordered, groups, "omega").beliefs
    propagated = beliefs_after_groups(ordered, groups, "bayes").n_propagated / max(len(kept), 1)
    works: dict[str, Callable[[], Any]] = {
        "sort": lambda: frame.sort("age", "gender", "weight"),
        "greedy": lambda: cut_greedily(laid_out(), rules),
        "optimal": lambda: best_cut(laid_out(), bits),
        "posterior, omega": lambda: beliefs_after_groups(ordered, groups, "omega"),
        "posterior, bayes": lambda: beliefs_after_groups(ordered, groups, "bayes"),
        "revision": lambda: model.revise(None, after, classes=cls),
    }
    return works, propagated


def _cpu_seconds(work: Callable[[], Any]) -> float:
    """Return the processor's seconds, which other work on the machine moves less than the clock's."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _both_times(works: dict[str, Callable[[], Any]], rounds: int) -> tuple[dict[str, float], dict[str, float]]:
    """Return the clock's and the processor's seconds of each work, the least of a few rounds in which they take turns.

    What others do to caches and memory only adds to them. Nothing is warmed up: smaller views were there before.
    """
    clock, cpu = dict.fromkeys(works, np.inf), dict.fromkeys(works, np.inf)
    for _ in range(rounds):
        for name, work in works.items():
            begin = time.perf_counter()
            cpu[name] = min(cpu[name], _cpu_seconds(work))
            clock[name] = min(clock[name], time.perf_counter() - begin)
    return clock, cpu


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
    from seriatim.knowledge.smoothing import SweepPace, look_back, look_forward, no_evidence

    weeks, exact = patients_weeks("A", 15, 1_890, seed=4)
    model = patients_knowledge_of_one_step(exact)
    grouper = js_reduce.js_reduce_by_segments(5, 1.0, 1e12, True)
    pasts, n_people = [], max(int(week.person.max()) for week in weeks) + 1
    for number, week in enumerate(weeks, 1):
        flat = np.full((len(week.person), N_VALUES), 1.0 / N_VALUES)
        group = grouper(week, flat, js_reduce._places(week))
        kept = np.flatnonzero(group >= 0)
        within = np.unique(group[kept], return_inverse=True)[1].astype(np.int32)
        pasts.append(PastRelease(number, person=week.person[kept], group=within, value=week.value[kept]))
    import pyarrow as pa

    history = History(pa.array([str(i) for i in range(n_people)]), pa.array(VALUES), tuple(pasts))
    rows = appearances_of(history)
    evidence = no_evidence(rows)
    forward = look_forward(rows, model, "bayes", evidence)
    look_back(rows, model, evidence, forward, SweepPace(1))
    work = {"six sweeps": lambda: look_back(rows, model, evidence, forward, SweepPace(6))}
    return in_turns(work, 3)["six sweeps"], len(rows.person)


def late_releases(method: str, asked: tuple[int, ...] = (3, 4, 10, 100), n_people: int = 1_000) -> dict[int, float]:
    """Return the processor's seconds of some releases of a series, one in twenty people new in each.

    The ledger is copied before each of them, and the copies are published to in turns: the least of a few rounds.
    """
    shape = {
        "series": {"name": "long", "respondent": "id"},
        "columns": {
            "age": {"role": "quasi", "kind": "number"},
            "weight": {"role": "quasi", "kind": "number"},
            "stage": {"role": "sensitive"},
        },
    }
    policy = sr.Policy.from_dict({**shape, **LONG_SERIES[method]})
    with tempfile.TemporaryDirectory() as folder:
        kept = dict(_series_before(Path(folder), policy, asked, n_people))
        took = dict.fromkeys(asked, np.inf)
        for _ in range(TURNS):
            for number, view in kept.items():
                copy = shutil.copytree(Path(folder) / str(number), Path(folder) / "copy")
                ledger = sr.Ledger.open(copy / "ledger.db")
                work = lambda ledger=ledger, view=view: sr.publish(view, policy, ledger)  # noqa: E731
                took[number] = min(took[number], _cpu_seconds(work))
                shutil.rmtree(copy)
    return took


def _series_before(
    folder: Path, policy: sr.Policy, asked: tuple[int, ...], n_people: int
) -> Iterator[tuple[int, pl.DataFrame]]:
    """Publish a series; yield the asked releases with their views, and keep the ledger before each in a folder."""
    rng = np.random.default_rng(8)
    changing = policy.defence is not None and policy.defence.method == "sequence"
    who, columns = np.arange(n_people), [rng.integers(0, high, n_people) for high in (10, 60, 50)]
    ledger = sr.Ledger.open(folder / "ledger.db")
    for number in range(1, max(asked) + 1):
        if changing:
            columns[0] = np.where(rng.random(n_people) > 0.8, rng.integers(0, 10, n_people), columns[0])
        named = dict(zip(("stage", "age", "weight"), columns, strict=True))
        view = pl.DataFrame({"id": [f"p{i}" for i in who], **named})
        if number in asked:
            (folder / str(number)).mkdir()
            for path in folder.glob("ledger.db*"):
                (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / str(number) / path.name)
            yield number, view
        assert sr.publish(view, policy, ledger).verdict.released
        gone = rng.random(n_people) < 0.05
        who = np.where(gone, who + n_people * number, who)
        columns = [np.where(gone, rng.permutation(column), column) for column in columns]


def _large_rows(sizes: tuple[int, ...], model: SequenceModel) -> list[dict[str, Any]]:
    """Return memory and ratios to a sort for views of each size, and how the processor's time grows with it."""
    rows: list[dict[str, Any]] = []
    first: dict[str, float] = {}
    for n in sizes:
        works, propagated = sequence_works(n, model)
        clock, cpu = _both_times(works, 3)
        sort = clock.pop("sort")
        if not first:
            whole = n * N_VALUES * 4
            rows += [row(f"{name}: memory at most", peak_memory(works[name]) / whole, 1.25, TIMES) for name in clock]
        case = f"{n:,} records: {{}}"
        rows += [row(case.format(name), took / sort, TARGETS.get(name), "x a sort") for name, took in clock.items()]
        rows.append(row(case.format("judged by belief propagation"), 100 * propagated, None, "%"))
        rows.append(row(case.format("the sort"), sort, None, "s"))
        if first:
            case = f"{{}}: {n // sizes[0]} times the records, processor"
            rows += [row(case.format(name), cpu[name] / first[name], 1.25 * n / sizes[0]) for name in clock]
        first = first or cpu
    return rows


def _late_rows() -> list[dict[str, Any]]:
    rows = []
    for method in LONG_SERIES:
        took = late_releases(method)
        for number in (3, 4, 10):
            steady = method != "cohort" and (method == "median" or number > _WINDOW)
            target = 1.1 if steady else None
            rows.append(row(f"{method}: release 100 against {number}, processor", took[100] / took[number], target))
    return rows


def run(options: list[str]) -> None:
    """Time a view of 5,000 and of a million records (``--large``: four million as well), and the smoothing."""
    _, exact = patients_weeks("A", 1, 100)
    model = patients_knowledge_of_one_step(exact)
    works, _ = sequence_works(5_000, model)
    small = in_turns(works, 25)
    view = small["optimal"] + small["posterior, omega"] + small["revision"]
    rows = [row("a view of 5,000: optimal groups, omega, revision", 1e3 * view, 50, "ms")]
    rows += _large_rows((1_000_000, 4_000_000) if "--large" in options else (1_000_000,), model)
    seconds, n_rows = smoothing_time()
    rows.append(row(f"six smoothing sweeps over {n_rows:,} appearances", seconds, 5, "s"))
    rows += _late_rows()
    keep("sequence", rows)
