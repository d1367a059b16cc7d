"""Boxes along a hierarchy: certainty lost and error of people counts, against median's and the kd cut's."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import polars as pl

import seriatim as sr
from benchmarks.csv_case import _frame as even_people
from benchmarks.timing import keep, row
from seriatim_papers.worlds.adultlike import adultlike

PEOPLE, FEW, SIZE = 100_000, 20_000, 6
TABLES = {"evenly spread": ("age", "sex", "zip", "edu"), "as in Adult": ("age", "sex", "postcode", "education")}
METHODS: dict[str, dict[str, float]] = {
    "median": {"k": SIZE},
    "cohort": {"m": SIZE, "odds": 1.5},
    "invariant": {"m": SIZE},
}


def run(options: list[str]) -> None:
    """Publish 100,000 people under each method, with a hierarchy of prefixes on the postcode and without."""
    n = FEW if "--quick" in options else PEOPLE
    keep("boxes", [one for name in TABLES for tree in (True, False) for one in _rows(name, tree, n)])


def _rows(name: str, tree: bool, n: int) -> list[dict[str, Any]]:
    found = {method: _figures(name, tree, method, n) for method in METHODS if not (tree and method == "invariant")}
    known = {method: one for method, one in found.items() if one is not None}
    lost, error = ({method: one[at] for method, one in known.items()} for at in (0, 1))
    label = f"{n:,} people {name}, postcodes {'by prefix' if tree else 'without a hierarchy'}"
    rows = [row(f"{label}: certainty lost by median, k = {SIZE}", 100 * lost["median"], None, "%")]
    target = 1.5 if tree else None
    rows.append(row(f"{label}: certainty lost by cohort over median's", lost["cohort"] / lost["median"], target))
    rows.append(row(f"{label}: error of people counts at 5 %, cohort", 100 * error["cohort"], None, "%"))
    if not tree and "invariant" in error:  # along a hierarchy kd's people stand in the same boxes
        rows.append(row(f"{label}: this error of cohort over kd's", error["cohort"] / error["invariant"], 0.6))
    return rows


def _figures(name: str, tree: bool, method: str, n: int) -> tuple[float, float] | None:
    """Return certainty lost and error of people counts; None where the method cannot publish the table."""
    age, sex, postcode, school = TABLES[name]
    columns: dict[str, Any] = {
        age: {"role": "quasi", "kind": "number"},
        sex: {"role": "quasi"},
        postcode: {"role": "quasi", "kind": "category"},
        school: {"role": "quasi"},
        "disease": {"role": "sensitive"},
    }
    if tree:
        columns[postcode]["hierarchy"] = {"prefix": [4, 3, 2, 1]}
    policy = sr.Policy.from_dict(
        {
            "series": {"name": "boxes", "respondent": "who"},
            "columns": columns,
            "promise": METHODS[method],
            "defence": {"method": method},
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        made = sr.publish(_people(name, n), policy, sr.Ledger.open(Path(folder) / "ledger.db"), dry_run=True)
    if not made.verdict.released:
        return None
    return made.verdict.measure("gcp").value, made.verdict.measure("query_error_5%").value


def _people(name: str, n: int) -> pl.DataFrame:
    if name == "evenly spread":
        return even_people(n)
    frame: pl.DataFrame = pl.DataFrame(adultlike(n, 1))
    return frame.select([*TABLES[name], "disease"]).with_columns(who=pl.int_range(n))
