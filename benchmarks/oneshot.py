"""One release: median cuts against polars' sort of the same rows, against anonypy, memory and start-up."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import seriatim as sr
from benchmarks.anjana_case import anjana_rows
from benchmarks.audit_case import audit_rows
from benchmarks.curve_case import curve_rows
from benchmarks.lattice_case import growth_rows, lattice_rows
from benchmarks.peers import peer_python
from benchmarks.timing import in_turns, keep, row
from seriatim.defences.single.median import cut_pieces, median
from seriatim.defences.single.trim import class_tests
from seriatim.engines.threads import Threads
from seriatim.kernels.single.median import CutRules
from seriatim.model import Policy, SeriesState, View
from seriatim.tables.reader import read_table
from seriatim.tables.views import view_of
from seriatim_papers.worlds.adultlike import adultlike

MILLION, THIRTY_THOUSAND = 1_000_000, 30_000
SORT_BY = ["postcode", "birth-date", "age"]
SENSITIVE = ("disease",)
DROPPED = ("salary-class",)


def policy_for(promise: dict[str, Any]) -> Policy:
    """Ten quasi-identifiers, two of them with tens of thousands of values, and one sensitive column."""
    names = adultlike(10, 1).column_names
    columns = {
        name: {"role": "sensitive" if name in SENSITIVE else "drop" if name in DROPPED else "quasi"} for name in names
    }
    columns["postcode"] |= {"kind": "category", "hierarchy": {"prefix": [4, 3, 2, 0]}}
    return sr.Policy.from_dict(
        {
            "series": {"name": "bench"},
            "columns": columns,
            "promise": promise,
            "defence": {"method": "median", "suppress": 0.05},
        }
    )


def run(options: list[str]) -> None:
    quick = "--quick" in options
    rows = [*_against_sort(), _against_anonypy(), *curve_rows(), *lattice_rows(), *audit_rows(quick), _start_up()]
    if not quick:
        rows += [*growth_rows(), *anjana_rows(), _memory()]
    keep("oneshot", rows)


def _against_sort() -> list[dict[str, Any]]:
    table = adultlike(MILLION, 1)
    frame = pl.DataFrame(table)
    plain, strict = policy_for({"k": 5}), policy_for({"k": 5, "l": 3, "t": 0.4})
    view = view_of(read_table(table), plain)
    state = SeriesState("bench", secret=bytes(32))
    workers = Threads()
    seconds = in_turns(
        {
            "sort": lambda: frame.sort(SORT_BY),
            "cuts": lambda: _cuts(view, plain, workers),
            "cuts with l and t": lambda: _cuts(view, strict, workers),
            "draft": lambda: median(view, plain, state, workers),
        }
    )
    sort = seconds["sort"]
    return [
        row("median, k = 5, 1 M rows x 10 quasi, to polars' sort by 3", seconds["cuts"] / sort, 1),
        row("median, k = 5, l = 3, t = .4, to the same sort", seconds["cuts with l and t"] / sort, 4),
        row("whole draft (labels, shuffle, table), k = 5, to the same sort", seconds["draft"] / sort, 8),
    ]


def _cuts(view: View, policy: Policy, workers: Threads) -> None:
    """From coded columns to groups: what a sort is compared with."""
    import numpy as np

    tests = class_tests(view.sensitive, policy.terms.per_column)
    rows = np.arange(len(view), dtype=np.int32)
    cut_pieces(view.quasi, view.sensitive, rows, CutRules(policy.terms.k or 1, False, 0), tests, workers)


def _against_anonypy() -> dict[str, Any]:
    """From the prepared table (codes here, categories there) to the anonymised rows: the defence against its call."""
    table = adultlike(THIRTY_THOUSAND, 2)
    policy = policy_for({"k": 5})
    state, workers = SeriesState("bench", secret=bytes(32)), Threads()
    view = view_of(read_table(table), policy)
    ours = in_turns({"ours": lambda: median(view, policy, state, workers)})["ours"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        pq.write_table(table, path)
        script = Path(__file__).with_name("anonypy_peer.py")
        done = subprocess.run(
            [peer_python("anonypy"), script, path], check=True, capture_output=True, text=True, timeout=3600
        )
    return row(
        "anonypy's seconds to ours, k = 5, 30 k rows", json.loads(done.stdout)["seconds"] / ours, 1000, "x", True
    )


def _start_up() -> dict[str, Any]:
    """seriatim --help to python -c pass, in turns."""
    command = Path(sys.executable).with_name("seriatim")
    ours, bare = [], []
    for _ in range(15):
        for argv, into in (([str(command), "--help"], ours), ([sys.executable, "-c", "pass"], bare)):
            begin = time.perf_counter()
            subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
            into.append(time.perf_counter() - begin)
    return row("seriatim --help to python -c pass", statistics.median(ours) / statistics.median(bare), 8)


def _memory() -> dict[str, Any]:
    """Peak of a process that publishes 10 M rows from Parquet, above the same process idle, to the Arrow size."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        size = _write_ten_million(path)
        script = Path(__file__).with_name("memory_case.py")
        done = subprocess.run([sys.executable, script, path, folder], check=True, capture_output=True, text=True)
    facts = json.loads(done.stdout)
    return row("peak memory of publishing 10 M rows to their Arrow size", (facts["peak"] - facts["idle"]) / size, 4)


def _write_ten_million(path: Path) -> int:
    table: pa.Table = adultlike(10 * MILLION, 3)
    pq.write_table(table, path, compression="zstd")
    return int(table.nbytes)
