"""How coarse lineages are about where values lie: bands of values counted in ranges, by the size of lineages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.lineage_case import KD, LINEAGE, WORKERS, M
from benchmarks.timing import keep, row
from seriatim.defences.series.contract import SerialDraw, SerialGrouping, SerialRules, SerialView
from seriatim.kernels.series.ranges import range_boxes
from seriatim.reading import Boxes, count_in_ranges
from seriatim_papers.cor_split import CorSplitMethod, cor_split_scales
from seriatim_papers.queries import draw_queries, study_query_answers
from seriatim_papers.worlds.census import DOMAINS, N_INCOMES, CensusPeople, census

BANDS = ((0, 2), (2, 6), (6, 12), (12, 20), (20, 32), (32, 50))
"""Values from and to; each band holds about a sixth of the people."""
SELECTIVITY, N_QUERIES, FEWEST = 0.05, 400, 10
SIZES = (180, 360, 720, 1_440, 10**9)


def run(options: list[str]) -> None:
    rows: list[dict[str, Any]] = []
    for n in (2_000, 20_000) if "--quick" in options else (2_000, 20_000, 60_000):
        for leaning, people in (("little", census(n, 301)), ("closely", followed(census(n, 301)))):
            name = f"{n:,} people, values lean {leaning} on the rest: error at 5%"
            rows.append(row(f"{name}, m-invariance", 100 * error(people, KD, SIZES[0]), None, "%"))
            for size in SIZES:
                lineages = f"lineages of {size:,}" if size < n else "one lineage"
                rows.append(row(f"{name}, {lineages}", 100 * error(people, LINEAGE, size), None, "%"))
    keep("values", rows)


def followed(people: CensusPeople) -> CensusPeople:
    """The same people with incomes that follow from age, education and gender almost entirely."""
    age, _, education, gender = people.quasi.T
    means = 0.14 * education - (age / 40.0 - 0.4) ** 2 + 0.25 * gender
    order = np.argsort(means + np.random.default_rng(1).normal(0, 0.15, len(people)), kind="stable")
    income = np.empty_like(people.income)
    income[order] = np.sort(people.income)
    return replace(people, income=income)


def error(people: CensusPeople, method: CorSplitMethod, size: int) -> float:
    """Median relative error in the first release of counts of 10 people or more."""
    view = SerialView(
        quasi=people.quasi,
        scales=cor_split_scales(),
        sensitive=people.income,
        n_values=N_INCOMES,
        person=np.arange(len(people)),
    )
    made = method.group(
        view, SerialRules(M, cell=size), method.recall([], view.person), SerialDraw(b"case", 1), WORKERS
    )
    shares, group_of_box = shares_of(view, made), np.zeros(int(made.box.max()) + 1, dtype=np.int64)
    shown = made.box >= 0
    group_of_box[made.box[shown]] = made.group[shown]
    low, high, counts = range_boxes(view.quasi, made.box, len(group_of_box))
    errors = []
    for seed, (first, end) in enumerate(BANDS):
        queries = draw_queries(view.quasi, DOMAINS, SELECTIVITY, N_QUERIES, seed)
        truth = study_query_answers(view.quasi[(view.sensitive >= first) & (view.sensitive < end)], queries)
        share = shares[:, first:end].sum(axis=1)[group_of_box]
        found = count_in_ranges(Boxes(low, high, counts * share), queries)
        errors.append((np.abs(found - truth) / np.maximum(truth, 1))[truth >= FEWEST])
    return float(np.median(np.concatenate(errors)))


def shares_of(view: SerialView, made: SerialGrouping) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The share of each value in each group, counterfeits included, as published."""
    shown = made.group >= 0
    counts = np.zeros((made.n_groups, N_INCOMES))
    np.add.at(counts, (made.group[shown], view.sensitive[shown]), 1)
    np.add.at(counts, (made.counterfeit_group, made.counterfeit_value), 1)
    return counts / counts.sum(axis=1, keepdims=True)
