"""The same view under several methods: one table, nothing recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.command_line import seriatim, write_policy, write_view

import seriatim as sr
from seriatim.studies.worlds.hospital import POLICY, SERIES, months


@pytest.fixture(scope="module")
def view() -> pa.Table:
    return months(300, 1)[0]


def policy_of(folder: Path, text: str) -> Any:
    (folder / "policy.toml").write_text(text)
    return sr.Policy.load(folder / "policy.toml")


def test_every_method_of_the_policys_kind(tmp_path: Path, view: pa.Table) -> None:
    found = sr.compare(view, policy_of(tmp_path, POLICY))
    by_name = {one.method: one for one in found.methods}
    assert set(by_name) == {"median", "lattice", "curve"}
    for one in by_name.values():
        assert one.released == (one.kept == one.asked), one
        assert one.asked == 4
        assert one.gcp is not None
        assert 0 < one.gcp <= 1
        assert (one.class_size or 0) >= 5
        assert one.query_error is not None
        assert one.seconds > 0
    again = {one.method: one.gcp for one in sr.compare(view, policy_of(tmp_path, POLICY)).methods}
    assert again == {one.method: one.gcp for one in found.methods}
    # the figures are those of publishing itself
    made = sr.publish(view, policy_of(tmp_path, POLICY), sr.Ledger.open(tmp_path / "ledger.db"), dry_run=True)
    assert made.verdict.measure("gcp").value == by_name["median"].gcp
    assert "would be released" in found.to_html()


def test_a_serial_policy_tries_the_serial_methods(tmp_path: Path, view: pa.Table) -> None:
    found = sr.compare(view, policy_of(tmp_path, SERIES))
    assert {one.method for one in found.methods} == {"invariant", "historical", "lineage"}
    assert all(one.released for one in found.methods), [one.why for one in found.methods]


def test_a_method_that_cannot_is_a_line_and_not_an_end(tmp_path: Path, view: pa.Table) -> None:
    twice = pa.concat_tables([view, view.slice(0, 3)])
    found = sr.compare(twice, policy_of(tmp_path, POLICY), ["median", "lineage", "median"])
    median, lineage = found.methods
    assert median.gcp is not None
    assert (lineage.gcp, lineage.released) == (None, False)
    assert "missing" in lineage.why
    with pytest.raises(sr.PolicyError, match=r"unknown: medium; allowed: median"):
        sr.compare(view, policy_of(tmp_path, POLICY), ["medium"])


def test_the_command_prints_writes_and_records_nothing(tmp_path: Path) -> None:
    write_view(tmp_path)
    write_policy(tmp_path)
    ran = seriatim(tmp_path, "compare", "view.csv", "-p", "policy.toml", "--out", "compared.html")
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[0] for line in ran.out.splitlines()[:4]] == ["method", "median", "lattice", "curve"]
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"view.csv", "policy.toml", "compared.html", "compared.json"}
    ran = seriatim(tmp_path, "compare", "view.csv", "-p", "policy.toml", "--method", "median", "--json")
    (median,) = json.loads(ran.out)["methods"]
    assert median["released"] is True
    assert seriatim(tmp_path, "compare", "view.csv", "-p", "policy.toml", "-m", "madian").code == 2
