"""``seriatim check`` in pipelines: its files, its exit codes, the action and the snippets of the page."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest
import yaml
from support.command_line import seriatim

import seriatim as sr
from seriatim.testing.hospital import POLICY, hospital_months

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/use-in-a-pipeline.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "strict.toml").write_text(POLICY.replace("k = 5 ", "k = 70 "))
    pl.from_arrow(hospital_months(60, 1)[0]).write_csv(tmp_path / "visits.csv")  # type: ignore[union-attr]
    return tmp_path


def checked(folder: Path, policy: str) -> tuple[int, Any, Any]:
    ran = seriatim(folder, "check", policy, "visits.csv", "--junit", "v.xml", "--sarif", "v.sarif")
    return ran.code, ElementTree.parse(folder / "v.xml").getroot(), json.loads((folder / "v.sarif").read_text())


def test_a_table_that_would_be_released(folder: Path) -> None:
    code, tests, scan = checked(folder, "policy.toml")
    assert code == 0
    assert int(tests.get("tests")) >= 1
    assert tests.get("failures") == "0"
    assert scan["runs"][0]["results"] == []
    assert not (folder / "ledger.db").exists()  # nothing is recorded
    assert not (folder / "releases").exists()


def test_a_table_that_would_be_refused_and_again_into_the_same_files(folder: Path) -> None:
    checked(folder, "policy.toml")
    code, tests, scan = checked(folder, "strict.toml")
    assert code == 3
    failed = [case.get("name") for case in tests.iter("testcase") if case.find("failure") is not None]
    results = scan["runs"][0]["results"]
    assert failed == ["k"]
    assert [(one["ruleId"], one["level"]) for one in results] == [("k", "error")]
    assert results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "strict.toml"


def test_a_view_that_comes_again_is_refused_although_every_promise_is_kept(folder: Path) -> None:
    assert seriatim(folder, "publish", "visits.csv", "--policy", "policy.toml").code == 0
    code, tests, scan = checked(folder, "policy.toml")
    assert code == 3
    assert tests.get("failures") == "1"
    assert [one["ruleId"] for one in scan["runs"][0]["results"]] == ["release"]


def test_bad_input_and_foreign_files(folder: Path) -> None:
    (folder / "mine.xml").write_text("<notes/>")
    assert seriatim(folder, "check", "policy.toml", "visits.csv", "--junit", "mine.xml").code == 2
    assert (folder / "mine.xml").read_text() == "<notes/>"
    assert seriatim(folder, "check", "policy.toml", "missing.csv").code == 2


def test_the_action_runs(folder: Path) -> None:
    action = yaml.safe_load((ROOT / ".github/actions/check/action.yml").read_text())
    step = action["runs"]["steps"][-1]
    given = {"policy": "strict.toml", "table": "visits.csv", "ledger": action["inputs"]["ledger"]["default"]}
    named = {key: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: given[m[1]], one) for key, one in step["env"].items()}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-e", "-c", step["run"]], cwd=folder, env={**os.environ, **named, "PATH": path}, capture_output=True
    )
    assert ran.returncode == 3, ran.stderr.decode()
    assert (folder / "seriatim.xml").exists()
    assert (folder / "seriatim.sarif").exists()


def snippet(heading: str, kind: str) -> str:
    part = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.search(rf"```{kind}\n(.*?)```", part, re.DOTALL)[1]  # type: ignore[index]


def test_the_shell_lines_of_the_page_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """dbt itself is played by a script that prints what ``dbt show`` prints."""
    rows = hospital_months(60, 1)[0].to_pylist()
    (folder / "rows.json").write_text(json.dumps({"node": "visits", "show": rows}, default=str))
    (folder / "dbt").write_text('#!/bin/sh\nif [ "$1" = show ]; then cat rows.json; fi\n')
    (folder / "dbt").chmod(0o755)
    path = f"{folder}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-e", "-c", snippet("dbt", "sh")], cwd=folder, env={**os.environ, "PATH": path}, capture_output=True
    )
    assert ran.returncode == 0, ran.stderr.decode()
    assert (folder / "seriatim.xml").exists()


def test_the_check_of_dagster_passes_and_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dagster: Any = ModuleType("dagster")
    dagster.asset_check = lambda asset: lambda check: check
    dagster.AssetCheckResult = lambda passed, metadata: SimpleNamespace(passed=passed, metadata=metadata)
    monkeypatch.setitem(sys.modules, "dagster", dagster)
    monkeypatch.chdir(folder)
    found: dict[str, Any] = {}
    exec(snippet("Dagster", "python"), found)
    view = hospital_months(60, 1)[0]
    assert found["safe_together"](view).passed
    refused = found["safe_together"](view.slice(0, 3))
    assert not refused.passed
    assert refused.metadata["reasons"]
    assert not sr.Ledger.open("sqlite:///ledger.db").records()


def test_the_command_of_airflow_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("airflow.providers.standard.operators.bash")
    module.BashOperator = lambda **given: SimpleNamespace(**given)
    for name in ("airflow", "airflow.providers", "airflow.providers.standard", "airflow.providers.standard.operators"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    found: dict[str, Any] = {}
    exec(snippet("Airflow", "python"), found)
    words = found["check"].bash_command.split()
    assert words[0] == "seriatim"
    assert seriatim(folder, *words[1:]).code == 0
