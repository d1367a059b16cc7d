"""Full-domain generalisation against anjana: the same table, hierarchies, k and suppression.

anjana stops at the first node it comes to that is good enough; ours is the proved optimum.
"""

from __future__ import annotations

import csv
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import seriatim as sr
from benchmarks.peers import peer_python
from benchmarks.timing import in_turns, row
from seriatim.defences.single.lattice.generalisation import lattice
from seriatim.engines.threads import Threads
from seriatim.model import SeriesState
from seriatim.tables.reader import read_table
from seriatim.tables.views import view_of
from seriatim_papers.worlds.adultlike import adultlike

ROWS, K, SHARE = 10_000, 5, 0.05
QUASI = ("age", "sex", "race", "marital-status", "education", "workclass", "postcode")


def anjana_rows() -> list[dict[str, Any]]:
    table = adultlike(ROWS, 7)
    table = pa.table({name: table[name].cast(pa.string()) for name in (*QUASI, "disease")})
    paths = {name: [_path(name, value) for value in sorted(set(table[name].to_pylist()))] for name in QUASI}
    with tempfile.TemporaryDirectory() as folder:
        ours = _ours(table, paths, Path(folder))
        theirs = _theirs(table, paths, Path(folder))
    return [row(f"anjana's seconds to ours, lattice, k = {K}, {ROWS:,} rows x {len(QUASI)}", theirs / ours, None)]


def _path(name: str, value: str) -> list[str]:
    """A value and its ancestors."""
    if name == "postcode":
        return [value, *(value[:length] + "*" * (len(value) - length) for length in (4, 3, 2, 1)), "*"]
    if name == "age":
        return [
            value,
            *(f"[{int(value) // step * step},{int(value) // step * step + step - 1}]" for step in (5, 10, 20)),
            "*",
        ]
    return [value, "*"]


def _ours(table: pa.Table, paths: dict[str, list[list[str]]], folder: Path) -> float:
    columns: dict[str, Any] = {"disease": {"role": "sensitive"}}
    for name, column in paths.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file, delimiter=";").writerows(column)
        columns[name] = {"role": "quasi", "kind": "category", "hierarchy": str(folder / f"{name}.csv")}
    asked = {"promise": {"k": K}, "defence": {"method": "lattice", "suppress": SHARE}}
    policy = sr.Policy.from_dict({"series": {"name": "bench"}, "columns": columns, **asked})
    view, state, workers = view_of(read_table(table), policy), SeriesState("bench", secret=bytes(32)), Threads()
    return in_turns({"ours": lambda: lattice(view, policy, state, workers)}, 3)["ours"]


def _theirs(table: pa.Table, paths: dict[str, list[list[str]]], folder: Path) -> float:
    pq.write_table(table, folder / "table.parquet")
    (folder / "paths.json").write_text(json.dumps(paths))
    script = Path(__file__).with_name("anjana_peer.py")
    arguments = [
        peer_python("anjana"),
        script,
        folder / "table.parquet",
        str(K),
        str(100 * SHARE),
        folder / "paths.json",
    ]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True, timeout=3600)
    facts = json.loads(done.stdout.splitlines()[-1])
    assert facts["rows"] == 0 or facts["smallest"] >= K
    return float(facts["seconds"])
