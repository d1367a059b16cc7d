"""Publishing a CSV file as a CSV file, from reading to the sealed release, against polars' read, sort and write.

Both take the same file of a million people; rounds take turns, and the medians are compared.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import seriatim as sr
from benchmarks.timing import in_turns, keep, row

SIZE, FEW = 1_000_000, 100_000
METHODS: dict[str, tuple[dict[str, float], float]] = {
    "median": ({"k": 6, "l": 6}, 5.0),
    "cohort": ({"m": 6}, 8.0),
}
"""By method: its promise, and how many times polars' seconds it may take."""
QUASI = ("age", "sex", "zip", "edu")


def _frame(n: int) -> pl.DataFrame:
    chance = np.random.default_rng(1)
    weights = np.arange(1, 51) ** -0.7
    disease = chance.choice(50, n, p=weights / weights.sum())
    return pl.DataFrame(
        {
            "who": chance.permutation(n),
            "age": chance.integers(18, 90, n),
            "sex": chance.choice(["f", "m"], n),
            "zip": np.array([f"{code:05}" for code in range(10_000, 12_000)])[chance.integers(0, 2_000, n)],
            "edu": chance.integers(0, 17, n),
            "disease": np.array([f"d{i}" for i in range(50)])[disease],
        }
    )


def _policy(method: str, promise: dict[str, float]) -> Any:
    kinds = {"age": "number", "sex": "category", "zip": "category", "edu": "number"}
    return sr.Policy.from_dict(
        {
            "series": {"name": "bench", "respondent": "who"},
            "columns": {
                "who": {"role": "drop"},
                **{name: {"role": "quasi", "kind": kinds[name]} for name in QUASI},
                "disease": {"role": "sensitive"},
            },
            "promise": promise,
            "defence": {"method": method},
        }
    )


def run(options: list[str]) -> None:
    """Compare the whole of publish with polars' read, sort and write of the same file."""
    n = FEW if "--quick" in options else SIZE
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "table.csv"
        _frame(n).write_csv(source)

        def sorted_copy() -> None:
            pl.read_csv(source).sort(QUASI[:3]).write_csv(folder / "sorted.csv")

        def published(method: str) -> None:
            own = folder / f"{method}-{time.perf_counter_ns()}"
            own.mkdir()
            made = sr.publish(
                source, _policy(method, METHODS[method][0]), sr.Ledger.open(own / "ledger.db"), out=own / "out"
            )
            assert made.verdict.released, made.verdict.reasons

        cases = {"polars": sorted_copy} | {method: lambda method=method: published(method) for method in METHODS}
        seconds = in_turns(cases, rounds=3)
    what = f"publish, CSV to CSV, {n:,} rows, to polars' read, sort and write"
    judged = n >= SIZE
    keep(
        "csv",
        [
            row(f"{what}: {method}", seconds[method] / seconds["polars"], target if judged else None)
            for method, (_, target) in METHODS.items()
        ],
    )
