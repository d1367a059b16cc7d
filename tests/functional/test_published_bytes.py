"""Same views, policy and secret: the same published bytes, for every method, release after release.

The digests in ``tests/kept/published-bytes.json`` were written before the house was rebuilt. They change only when what
is published is meant to change; then ``SERIATIM_KEEP_BYTES=1 ./dev test tests/functional/test_published_bytes.py``
writes them anew, and the commit says why.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pytest

import seriatim as sr
from seriatim.testing.hospital import hospital_months
from seriatim_papers.worlds.adultlike import adultlike

KEPT = Path(__file__).parent.parent / "kept" / "published-bytes.json"
COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "kind": "number", "unit": "years"},
    "sex": {"role": "quasi"},
    "postcode": {"role": "quasi", "kind": "category", "hierarchy": {"prefix": [4, 3, 2, 0]}},
    "ward": {"role": "plain"},
    "disease": {"role": "sensitive"},
}
ALONE = {**COLUMNS, "ward": {"role": "drop"}}
"""Without plain columns, which stand in a table of their own beside the boxes of cohorts."""
INTERVALS = {**COLUMNS, "age": {**COLUMNS["age"], "hierarchy": {"interval": [5, 10, 20, 40]}}}
ADULT: dict[str, Any] = {
    "person": {"role": "drop"},
    "occupation": {"role": "sensitive"},
    "salary-class": {"role": "sensitive"},
    "postcode": {"role": "quasi", "kind": "category", "hierarchy": {"prefix": [3, 2, 1, 0]}},
    "birth-date": {"role": "quasi", "kind": "date", "hierarchy": {"date": ["month", "year", "decade"]}},
}
SINGLE = {"k": 5, "l": 3, "t": 0.5}
CASES: dict[str, dict[str, Any]] = {
    "median": {"promise": SINGLE, "defence": {"method": "median", "suppress": 0.05}},
    "median relaxed": {"promise": {"k": 7}, "defence": {"method": "median", "mode": "relaxed", "suppress": 0.05}},
    "median followed": {
        "promise": SINGLE,
        "defence": {"method": "median", "suppress": 0.05},
        "adversary": {"breach_share": 0.9, "compromised": 0.05},
    },
    "curve": {"promise": SINGLE, "defence": {"method": "curve", "suppress": 0.05}},
    "curve k": {"promise": {"k": 5}, "defence": {"method": "curve"}},
    "lattice": {"promise": {**SINGLE, "l": 2}, "defence": {"method": "lattice", "suppress": 0.1}, "columns": INTERVALS},
    "lattice entropy": {
        "promise": {"k": 3},
        "defence": {"method": "lattice", "loss": "entropy", "suppress": 0.1},
        "columns": INTERVALS,
    },
    "invariant": {"promise": {"m": 3}, "defence": {"method": "invariant"}},
    "historical": {"promise": {"m": 4, "n": 2}, "defence": {"method": "historical"}},
    "historical chosen": {
        "promise": {"m": 6, "n": "choose"},
        "defence": {"method": "historical", "sticky": False},
        "adversary": {"compromised": 0.04, "lifespan": 12, "breach": 0.1},
    },
    "historical greedy": {"promise": {"m": 3, "n": 1}, "defence": {"method": "historical", "mode": "greedy"}},
    "cohort alone": {"promise": {"m": 3, "odds": 1.5}, "defence": {"method": "cohort"}, "columns": ALONE},
    "cohort with priors": {
        "promise": {"m": 2},
        "defence": {"method": "cohort"},
        "adversary": {"impossible": {"sex": {"male": ["migraine"]}}},
    },
}


def of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:20]


def as_csv(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pacsv.write_csv(table, sink)
    return sink.getvalue().to_pybytes()


def one_release(made: Any, folder: Path) -> dict[str, Any]:
    """Digests of what left the house and of who was in which group; the promises with what was found."""
    files = {path.stem: of(path.read_bytes()) for path in sorted(folder.rglob("*.csv"))} if made.number else {}
    findings = [
        [one.rule, one.column, one.kept, f"{one.worst:.12g}", f"{one.threshold:.12g}", one.n_people]
        for one in made.verdict.findings
    ]
    return {"number": made.number, **files, "groups": of(as_csv(made.groups)), "findings": findings}


def published(case: dict[str, Any], views: list[pa.Table], folder: Path) -> dict[str, Any]:
    respondent = "person" if "person" in views[0].column_names else "patient"
    columns = case.get("columns", COLUMNS)
    policy = sr.Policy.from_dict({**case, "series": {"name": "kept", "respondent": respondent}, "columns": columns})
    ledger = sr.Ledger.open(folder / "ledger.db")
    releases = []
    for view in views:
        made = sr.publish(view, policy, ledger, out=folder / "out")
        releases.append(one_release(made, folder / "out" / f"kept-{made.number or 0:04d}"))
    return {"policy": policy.digest, "releases": releases}


def assert_held_to(name: str, found: dict[str, Any]) -> None:
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if os.environ.get("SERIATIM_KEEP_BYTES"):
        KEPT.write_text(json.dumps({**kept, name: found}, indent=1, sort_keys=True) + "\n")
        pytest.skip("digests written anew")
    assert json.loads(json.dumps(found)) == kept[name]


@pytest.fixture(autouse=True)
def fixed_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "token_bytes", lambda n=32: bytes(range(n)))


@pytest.fixture(scope="module")
def views() -> list[pa.Table]:
    return hospital_months(900, 4, churn=0.15)


@pytest.mark.parametrize("name", CASES)
def test_every_method_publishes_the_bytes_it_published(name: str, views: list[pa.Table], tmp_path: Path) -> None:
    if "impossible" in CASES[name].get("adversary", {}):
        views = [view.filter((pc.field("sex") != "male") | (pc.field("disease") != "migraine")) for view in views]
    assert_held_to(name, published(CASES[name], views, tmp_path))


def test_many_columns_two_of_them_sensitive(tmp_path: Path) -> None:
    table = adultlike(1500, 3)
    rest = {name: {"role": "quasi"} for name in table.column_names if name not in ADULT}
    given = {name: rule for name, rule in ADULT.items() if name in table.column_names}
    case = {"columns": {**rest, **given}, "promise": {"k": 4, "l": 2}, "defence": {"method": "median"}}
    table = table.append_column("person", pa.array([f"p{row}" for row in range(table.num_rows)]))
    assert_held_to("many columns", published(case, [table], tmp_path))
