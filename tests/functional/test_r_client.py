"""The R package reads what recipients get, and says what the Python reader says."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

import seriatim as sr
from seriatim.reading import PublishedRelease, Relation, open_release

PACKAGE = Path(__file__).parents[2] / "clients" / "r"
LANDS = {"fr": "Europe", "de": "Europe", "jp": "Asia", "cn": "Asia"}
COMMON = {
    "series": {"name": "asked", "respondent": "who"},
    "columns": {
        "age": {"role": "quasi", "kind": "number"},
        "land": {"role": "quasi", "hierarchy": "land.csv"},
        "born": {"role": "quasi", "kind": "date"},
        "job": {"role": "quasi", "kind": "category", "missing": "value"},
        "ward": {"role": "plain"},
        "stands_for": {"role": "weight"},
    },
}
ILL = {"role": "sensitive"}
SCRIPT = """
library(seriatim, lib.loc = "{library}")
asked <- open_release("{folder}", {sensitive}, earlier = {earlier})
value <- {value}
told <- list(
  people = count(asked), part = count(asked, list(age = c(30, 50), land = "fr")),
  ward = tryCatch(count(asked, list(age = c(30, 50)), list(ward = "w1")), error = function(e) -1),
  counts = counts(asked), age = two_way(asked, "age"), land = two_way(asked, "land"), job = two_way(asked, "job"),
  born = two_way(asked, "born"), mean = unname(means(asked, list(job = "nurse"), value)),
  regression = regression(asked, c("age", "job"), value),
  again = regression(asked, "land", value, list(land = c(fr = 1, de = 2, jp = 3, cn = 5))),
  quality = quality(asked)
)
if (is.null(value)) told$quantile <- unname(quantiles(asked, 0.25, list(age = c(40, 60))))
cat(jsonlite::toJSON(told, digits = NA, auto_unbox = TRUE, na = "null"))
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a library with the package, as R installs it."""
    script = shutil.which("Rscript")
    if script is None:
        pytest.skip("no Rscript: ./dev system installs it")
    if subprocess.run([script, "-e", "library(jsonlite)"], capture_output=True, check=False).returncode:
        pytest.skip("R has no jsonlite: ./dev system installs it")
    library = tmp_path_factory.mktemp("library")
    made = subprocess.run(
        [str(shutil.which("R")), "CMD", "INSTALL", "--no-docs", "--no-test-load", f"--library={library}", str(PACKAGE)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return library


def people(first: int, n: int = 600) -> pa.Table:
    """Return people from ``first`` on, who are the same in every release."""
    return population().slice(first, n)


def population(n: int = 700) -> pa.Table:
    chance = np.random.default_rng(7)
    age, job = chance.integers(18, 80, n), chance.choice(["nurse", "cook, chef", "clerk"], n)
    ill = np.where(chance.random(n) < age / 100, "asthma", chance.choice(["flu", "cold"], n))
    born = np.datetime64("1950-01-01") + chance.integers(0, 400, n)
    return pa.table(
        {
            "who": [f"p{number}" for number in range(n)],
            "age": age,
            "land": chance.choice([*LANDS], n),
            "born": pa.array(born.astype("datetime64[D]")),
            "job": pa.array(job, mask=chance.random(n) < 0.05),
            "ward": chance.choice(["w1", "w2"], n),
            "stands_for": chance.integers(1, 9, n) * 100,
            "ill": ill,
            "cost": (age * 10 + 100 * (job == "nurse") + chance.integers(0, 300, n)).round(-1),
        }
    )


def publish(folder: Path, method: str, promise: dict[str, Any], sensitive: tuple[str, ...], mark: str) -> None:
    (folder / "land.csv").write_text("".join(f"{land};{part};*\n" for land, part in LANDS.items()))
    shape = json.loads(json.dumps(COMMON))
    shape["columns"]["land"]["hierarchy"] = str(folder / "land.csv")
    shape["columns"] |= {name: ILL if name in sensitive else {"role": "drop"} for name in ("ill", "cost")}
    shape |= {"promise": promise, "defence": {"method": method, "suppress": 0.2}}
    if "cost" in sensitive:
        shape["columns"]["cost"] = {**ILL, "kind": "number"}
    policy, ledger = sr.Policy.from_dict(shape), sr.Ledger.open(f"sqlite:///{folder / 'ledger.db'}")
    for first in (0, 100):
        pacsv.write_csv(people(first), folder / "view.csv", pacsv.WriteOptions(delimiter=mark))
        made = sr.publish(folder / "view.csv", policy, ledger, out=folder / "out")
        assert made.verdict.released, made.verdict.reasons


def python_says(release: PublishedRelease, asked: Relation, value: str | None) -> dict[str, Any]:
    part = {"age": (30, 50)}
    try:
        ward = release.count(part, {"ward": "w1"})
    except sr.SeriatimError:
        ward = -1.0
    numbers = {"fr": 1.0, "de": 2.0, "jp": 3.0, "cn": 5.0}
    mean = asked.mean({"job": "nurse"}) if value is None else asked.share(value, {"job": "nurse"})
    told = {
        "people": release.count({}),
        "part": release.count({**part, "land": "fr"}),
        "ward": ward,
        "counts": [{asked.sensitive: k, "people": v} for k, v in release.count_values(asked.sensitive).items()],
        **{name: asked.two_way(name).to_pylist() for name in ("age", "land", "job", "born")},
        "mean": list(mean),
        "regression": asked.regression(["age", "job"], value).to_pylist(),
        "again": asked.regression(["land"], value, {"land": numbers}).to_pylist(),
    }
    return told if value is not None else {**told, "quantile": list(asked.quantile(0.25, {"age": (40, 60)}))}


def assert_same(told: Any, found: Any, where: str) -> None:
    if isinstance(told, dict):
        for name, value in told.items():
            assert_same(value, found.get(name), f"{where}.{name}")  # R leaves a missing value out
    elif isinstance(told, list):
        assert len(told) == len(found), where
        for at, one in enumerate(told):
            assert_same(one, found[at], f"{where}[{at}]")
    elif isinstance(told, float):
        rounded = 0.01 if where.endswith("error") else 1e-6  # the root of what rounding leaves of a variance of 0
        assert found == pytest.approx(told, rel=1e-6, abs=rounded), where
    else:
        assert told is None or str(told) == str(found), where


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "promise", "sensitive", "value", "mark"),
    [
        ("median", {"k": 6}, ("ill",), "asthma", ","),
        ("median", {"k": 4}, ("cost",), None, ";"),
        ("cohort", {"m": 3, "odds": 2}, ("ill",), "asthma", ","),
        ("cohort", {"m": 3, "odds": 2}, ("ill", "job"), "asthma", ";"),
        ("lattice", {"k": 3}, ("ill",), "asthma", "\t"),
    ],
)
def test_r_says_what_python_says(
    tmp_path: Path,
    library: Path,
    method: str,
    promise: dict[str, Any],
    sensitive: tuple[str, ...],
    value: str | None,
    mark: str,
) -> None:
    publish(tmp_path, method, promise, sensitive, mark)
    folders = [tmp_path / "out" / f"asked-{number:04d}" for number in (1, 2)]
    first, newest = (open_release(one, sensitive=sensitive[0]) for one in folders)
    told = python_says(newest, newest.relation(sensitive[0], earlier=[first]), value)
    script = SCRIPT.format(
        library=library,
        folder=folders[1],
        earlier=f'"{folders[0]}"',
        sensitive=f'"{sensitive[0]}"' if len(sensitive) > 1 else "NULL",
        value="NULL" if value is None else f'"{value}"',
    )
    (tmp_path / "ask.R").write_text(script)
    ran = subprocess.run(["Rscript", str(tmp_path / "ask.R")], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    alone = json.loads((folders[1] / "public" / "codebook.json").read_text())["quality"][sensitive[0]]
    assert {row["column"]: row["error"] for row in found["quality"]} == pytest.approx(alone["errors"])
    assert_same(told, found, "")
    assert any(row["error"] > 0.1 for name in ("age", "land", "job", "born") for row in told[name])


def test_r_says_what_is_wrong_without_values(tmp_path: Path, library: Path) -> None:
    publish(tmp_path, "median", {"k": 6}, ("ill",), ",")
    script = f"""
    library(seriatim, lib.loc = "{library}")
    asked <- open_release("{tmp_path / "out" / "asked-0001"}")
    for (wrong in expression(two_way(asked, "height"), means(asked), means(asked, list(age = "young"), "flu"),
                             open_release("{tmp_path}"))) {{
      cat(tryCatch(eval(wrong), error = conditionMessage), "\\n")
    }}
    """
    (tmp_path / "ask.R").write_text(script)
    ran = subprocess.run(["Rscript", str(tmp_path / "ask.R")], capture_output=True, text=True, check=False)
    assert ran.stdout.splitlines() == [
        "column 'height': not one of age, land, born, job ",
        "3 values are no numbers: ask for a value ",
        "column 'age': a range that is not on its axis ",
        "no codebook.json: name the folder of a release ",
    ], ran.stderr
