"""Publishing a whole series: everything but the simulated attack, against a sort of the same rows."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import seriatim as sr
from benchmarks.moments import M, N
from benchmarks.timing import row
from seriatim_papers.worlds.census import QUASI, CensusChurn, census, census_releases

DEFENCES = {"invariant": {"m": M}, "historical": {"m": M, "n": N}, "cohort": {"m": M}}
JUDGED = 200_000
"""Below this many people what does not grow with them weighs more than the sort: figures are shown, not judged."""
FEW = 3
"""A release can be published once: the median of so many neighbours stands for early and for late."""


def publish_rows(size: int, last: int) -> list[dict[str, Any]]:
    """Time Parquet, defence, promises, measures, report, ledger and files: early and late releases of each method."""
    rows, target = [], 40 if size >= JUDGED else None
    for method, promise in DEFENCES.items():
        ours, sorts = _series(method, promise, CensusChurn(size, 0.10, last))
        sort, early = statistics.median(sorts), statistics.median(ours[1 : 1 + FEW])
        what = f"publish, {method}, {size:,} people, release {{}}, to the same sort"
        rows.append(row(what.format(f"2 to {1 + FEW}"), early / sort, target))
        if last > 1 + FEW:
            late = statistics.median(ours[-FEW:])
            rows.append(row(what.format(f"{last - FEW + 1} to {last}"), late / sort, target))
            rows.append(
                row(f"publish, {method}: releases {last - FEW + 1} to {last} over 2 to {1 + FEW}", late / early, 2)
            )
    return rows


def _series(method: str, promise: dict[str, int], churn: CensusChurn) -> tuple[list[float], list[float]]:
    """Seconds of every publish, and of a sort of the same table right before it."""
    ours, sorts = [], []
    with tempfile.TemporaryDirectory() as folder:
        ledger = sr.Ledger.open(Path(folder) / "ledger.db")
        policy = _policy(method, promise)
        for path, frame in _views(churn, Path(folder)):
            begin = time.perf_counter()
            frame.sort(QUASI)
            between = time.perf_counter()
            made = sr.publish(path, policy, ledger, out=Path(folder) / "out")
            ours.append(time.perf_counter() - between)
            sorts.append(between - begin)
            assert made.verdict.released, made.verdict.reasons
    return ours, sorts


def _views(churn: CensusChurn, folder: Path) -> Iterator[tuple[Path, pl.DataFrame]]:
    people = census(churn.n_people, 1)
    for number, who in enumerate(census_releases(people, churn, 1), start=1):
        columns = {name: pa.array(people.quasi[who, d].copy()) for d, name in enumerate(QUASI)}
        table = pa.table({"person": who.astype("int32"), **columns, "income": people.income[who]})
        path = folder / f"{number}.parquet"
        pq.write_table(table, path)
        yield path, pl.DataFrame(table)


def _policy(method: str, promise: dict[str, int]) -> Any:
    quasi = {name: {"role": "quasi", "kind": "number"} for name in QUASI}
    return sr.Policy.from_dict(
        {
            "series": {"name": "bench", "respondent": "person"},
            "columns": {"person": {"role": "drop"}, **quasi, "income": {"role": "sensitive"}},
            "promise": promise,
            "defence": {"method": method},
        }
    )
