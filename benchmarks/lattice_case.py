"""The optimal node of Adult's lattice: nine quasi-identifiers, 12,960 nodes, k = 5, 5 % suppression, loss by NCP.

And how it grows with the rows when a postcode and a date of birth are among the columns, on made-up people.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from benchmarks.timing import in_turns, row
from seriatim.defences.single.lattice.generalisation import search_task
from seriatim.defences.single.lattice.optimum import AllowedNode, NodeSearch, find_best
from seriatim.engines.threads import Threads
from seriatim.model import Policy, View
from seriatim.policies import policy_from_dict
from seriatim.tables.reader import read_table
from seriatim.tables.views import view_of
from seriatim_papers.worlds.adultlike import adultlike

SECONDS = 0.5
SECONDS_OF_A_MILLION = 20
SIX = ("age", "sex", "race", "education", "postcode", "birth-date")
TEN = (*SIX, "marital-status", "native-country", "workclass", "occupation")


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
    view, policy, workers = *adult_view(folder), Threads()
    seconds = in_turns({"optimum": lambda: best_node(view, policy, workers)})
    return [
        row("lattice, Adult, 12,960 nodes, k = 5, 5 % suppression: optimum by NCP", seconds["optimum"], SECONDS, "s"),
    ]


def growth_rows() -> list[dict[str, Any]]:
    """Seconds, warm, with a postcode and a date of birth: six columns at three sizes, ten at the largest."""
    rows = []
    for n in (30_000, 300_000, 1_000_000):
        view, policy = wide_view(n, SIX)
        rows += _growth(f"lattice, {n:,} rows x 6 quasi, postcode and birth date among them", view, policy, 3)
    rows[-1] |= row(rows[-1]["case"], rows[-1]["value"], SECONDS_OF_A_MILLION, "s")
    view, policy = wide_view(n, TEN)
    return rows + _growth(f"lattice, {n:,} rows x 10 quasi", view, policy, 1)


def _growth(case: str, view: View, policy: Policy, rounds: int) -> list[dict[str, Any]]:
    workers = Threads()
    works = {"optimum": lambda: best_node(view, policy, workers)}
    return [row(f"{case}: {name}", seconds, None, "s") for name, seconds in in_turns(works, rounds).items()]


def wide_view(n: int, quasi: tuple[str, ...]) -> tuple[View, Policy]:
    """Made-up people, and hierarchies for the columns with many values."""
    table = adultlike(n, 1)
    columns: dict[str, Any] = {name: {"role": "quasi" if name in quasi else "drop"} for name in table.column_names}
    columns["age"] |= {"hierarchy": {"interval": [5, 10, 20]}}
    columns["postcode"] |= {"kind": "category", "hierarchy": {"prefix": [4, 3, 2, 0]}}
    columns["birth-date"] |= {"kind": "date", "hierarchy": {"date": ["month", "quarter", "year", "decade"]}}
    return _view(table, columns)


def best_node(view: View, policy: Policy, workers: Threads) -> AllowedNode | None:
    task = search_task(view, policy, ~view.suppressed)
    return find_best(NodeSearch(task.lattice, task.finest, task.demand, workers))


def adult_view(folder: Path) -> tuple[View, Policy]:
    table: pa.Table = pc.read_csv(folder / "adult.csv", parse_options=pc.ParseOptions(delimiter=";"))
    columns = {
        name: {"role": "quasi", "hierarchy": str(folder / f"adult_hierarchy_{name}.csv")} for name in table.column_names
    }
    view, policy = _view(table, columns)
    assert int(np.prod([column.scale.top + 1 for column in view.quasi])) == 12_960
    return view, policy


def _view(table: pa.Table, columns: dict[str, Any]) -> tuple[View, Policy]:
    promise, defence = {"k": 5}, {"method": "lattice", "suppress": 0.05}
    policy = policy_from_dict({"series": {"name": "bench"}, "columns": columns, "promise": promise, "defence": defence})
    return view_of(read_table(table), policy), policy
