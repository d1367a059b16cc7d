"""The optimal node of Adult's lattice: nine quasi-identifiers, 12,960 nodes, k = 5, 5 % suppression, loss by NCP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from benchmarks.timing import in_turns, row
from seriatim.defences.lattice import task_of
from seriatim.defences.nodesearch import Found, Search, minimal_nodes, optimal_node
from seriatim.engines.local import LocalEngine
from seriatim.model import Policy, View
from seriatim.policies import policy_from_dict
from seriatim.tables.reading import read_table
from seriatim.tables.viewing import view_of

SECONDS = 0.5


def adult_folder() -> Path | None:
    """Where Adult and its hierarchies are: the folder of SERIATIM_ADULT, or shared/data beside the repository."""
    named = os.environ.get("SERIATIM_ADULT")
    folder = Path(named).parent if named else Path(__file__).parents[2] / "shared" / "data"
    return folder if (folder / "adult.csv").exists() else None


def lattice_rows() -> list[dict[str, Any]]:
    """Seconds, warm, from coded columns to the proved optimum; nothing when Adult is not there."""
    folder = adult_folder()
    if folder is None:
        print("lattice: skipped, no adult.csv (set SERIATIM_ADULT)")
        return []
    view, policy, engine = *adult_view(folder), LocalEngine()
    seconds = in_turns(
        {"optimum": lambda: best_node(view, policy, engine), "minimal": lambda: _all(view, policy, engine)}
    )
    return [
        row("lattice, Adult, 12,960 nodes, k = 5, 5 % suppression: optimum by NCP", seconds["optimum"], SECONDS, "s"),
        row("lattice, the same: all minimal nodes", seconds["minimal"], 4 * SECONDS, "s"),
    ]


def best_node(view: View, policy: Policy, engine: LocalEngine) -> Found | None:
    task = task_of(view, policy, ~view.suppressed)
    return optimal_node(Search(task.lattice, task.finest, task.demand, engine))


def _all(view: View, policy: Policy, engine: LocalEngine) -> int:
    task = task_of(view, policy, ~view.suppressed)
    return len(minimal_nodes(Search(task.lattice, task.finest, task.demand, engine)))


def adult_view(folder: Path) -> tuple[View, Policy]:
    table: pa.Table = pc.read_csv(folder / "adult.csv", parse_options=pc.ParseOptions(delimiter=";"))
    columns = {
        name: {"role": "quasi", "hierarchy": str(folder / f"adult_hierarchy_{name}.csv")} for name in table.column_names
    }
    promise, defence = {"k": 5}, {"method": "lattice", "suppress": 0.05}
    policy = policy_from_dict({"series": {"name": "bench"}, "columns": columns, "promise": promise, "defence": defence})
    view = view_of(read_table(table), policy)
    assert int(np.prod([column.scale.top + 1 for column in view.quasi])) == 12_960
    return view, policy
