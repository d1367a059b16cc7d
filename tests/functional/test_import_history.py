"""Releases made before the ledger come in as attack reads them: a folder and a list, or a long table with any names."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from support.command_line import Ran, seriatim

import seriatim as sr
from seriatim import api

POLICY = """
[series]
name = "ward"
respondent = "who"
[columns]
age = { role = "quasi" }
ill = { role = "sensitive" }
[promise]
k = 2
[adversary]
breach_share = 0.5
[defence]
method = "median"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three months, named so that only numbers by size sort them; rows counted from 1."""
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "monthly").mkdir()
    (tmp_path / "monthly" / "m-9.csv").write_text("age,ill\n20-30,flu\n20-30,gout\n40-50,flu\n40-50,cold\n")
    (tmp_path / "monthly" / "m-10.csv").write_text("age,ill\n20-30,gout\n20-40,flu\n20-40,flu\n20-30,cold\n")
    listed = [("m-9", 1, "ann"), ("m-9", 2, "bob"), ("m-9", 3, "cid"), ("m-9", 4, "dan")]
    listed += [("m-10", 1, "bob"), ("m-10", 2, "ann"), ("m-10", 3, "cid")]
    rows = "".join(f"{release},{row},{who}\n" for release, row, who in listed)
    (tmp_path / "who.csv").write_text("release,row,respondent\n" + rows)
    return tmp_path


def imported(folder: Path, *arguments: str) -> Ran:
    return seriatim(folder, "ledger", "import", *arguments, "--policy", "policy.toml")


FOLDER = ("monthly", "--respondents", "who.csv")


def test_a_folder_becomes_the_history_that_attack_reads(folder: Path) -> None:
    ran = imported(folder, *FOLDER)
    assert ran.code == 0, ran.err
    assert "rows counted from 1" in ran.out
    ledger = api.open_ledger(folder / "ledger.db")
    labels = [entry.facts["label"] for entry in ledger.entries() if entry.kind == "imported"]
    assert labels == ["m-9", "m-10"]
    found, read = (
        ledger.history("ward"),
        api.attack_history_of_folder(folder / "monthly", folder / "who.csv", "ill", ["age"]),
    )
    assert len(found) == 2
    for one, other in zip(found, read.history, strict=True):
        who = [None if at < 0 else found.respondents[at].as_py() for at in one.person]
        assert who == [None if at < 0 else read.history.respondents[at].as_py() for at in other.person]
        values = [found.values[at].as_py() for at in one.value]
        assert values == [read.history.values[at].as_py() for at in other.value]
        pairs = set(zip(one.group.tolist(), other.group.tolist(), strict=True))
        assert len(pairs) == one.n_groups == other.n_groups
    assert found.releases[1].person.tolist().count(-1) == 1
    assert ledger.verify().sound


def test_the_next_release_is_judged_against_them(folder: Path) -> None:
    assert imported(folder, *FOLDER).code == 0
    (folder / "m-11.csv").write_text("who,age,ill\nann,20,flu\nbob,21,gout\ncid,40,flu\ndan,44,cold\n")
    ran = seriatim(folder, "publish", "m-11.csv", "-p", "policy.toml", "--json", "--dry-run")
    assert ran.code in (0, 3), ran.err
    (finding,) = [one for one in json.loads(ran.out)["findings"] if one["rule"] == "breach_share"]
    assert finding["worst"] > 0


def test_a_folder_that_is_there_already_is_not_imported_twice(folder: Path) -> None:
    assert imported(folder, *FOLDER).code == 0
    again = imported(folder, *FOLDER)
    assert again.code == 2
    assert "2 of 2 releases are in the ledger already" in again.err
    assert imported(folder, *FOLDER, "--allow", "again").code == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Missing argument 'table'"),
        (("monthly",), "a folder of tables with --respondents"),
        (("--respondents", "who.csv"), "Missing argument 'table'"),
        (("x.csv", *FOLDER), "unexpected extra argument"),
        (("x.csv", *FOLDER[1:]), "a long table alone"),
    ],
)
def test_exactly_one_history_is_wanted(folder: Path, arguments: tuple[str, ...], told: str) -> None:
    ran = imported(folder, *arguments)
    assert ran.code == 2
    assert told in ran.err
    assert not (folder / "ledger.db").exists()


def test_a_long_table_may_name_its_releases(folder: Path) -> None:
    rows = [("march 2024", "ann"), ("march 2024", "bob"), ("april 2024", "ann"), ("april 2024", "bob")]
    lines = "".join(f"{release},{who},g,{ill}\n" for (release, who), ill in zip(rows, ["flu", "gout"] * 2, strict=True))
    (folder / "past.csv").write_text("release,respondent,group,ill\n" + lines)
    assert imported(folder, "past.csv").code == 0
    labels = [one.facts.get("label") for one in api.open_ledger(folder / "ledger.db").entries()]
    assert [label for label in labels if label] == [
        "april 2024",
        "march 2024",
    ]  # texts sort as texts: name them by date


@pytest.mark.parametrize("cells", [["2024-1", None], ["2024-1", ""], [1.5, 2.5]])
def test_a_release_without_a_name_is_a_fault(folder: Path, cells: list[str | float | None]) -> None:
    columns = {"release": cells, "respondent": ["ann", "bob"], "group": [1, 1], "ill": ["flu", "gout"]}
    with pytest.raises(sr.InputError, match="column release"):
        api.open_ledger(folder / "ledger.db").import_history(api.load_policy(folder / "policy.toml"), pa.table(columns))


def test_a_header_alone_is_told(folder: Path) -> None:
    (folder / "past.csv").write_text("release,respondent,group,ill\n")
    ran = imported(folder, "past.csv")
    assert (ran.code, "no rows" in ran.err) == (2, True), ran
