"""The private list of an attack names who is breached and by which groups, for its owner's eyes only."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
from support.command_line import seriatim
from support.histories import history_of

from seriatim import api


def breached_history():
    """a is alone with value 1 in what groups of two releases have in common."""
    return history_of(
        [("a", 0, "1"), ("b", 0, "2"), ("c", 1, "1"), ("d", 1, "3")],
        [("a", 0, "1"), ("c", 0, "1"), ("b", 1, "2"), ("d", 1, "3")],
    )


def test_it_names_who_and_by_which_groups() -> None:
    history = breached_history()
    found = {row["respondent"]: row for row in api.attack_exposed_people(history).to_pylist()}
    assert set(found) == {"a", "b", "c", "d"}
    assert found["a"]["since"] == 2
    assert "release 1 group 0" in found["a"]["chain"]
    assert "release 2 group 0" in found["a"]["chain"]


def test_on_the_command_line_only_its_owner_may_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "monthly"
    folder.mkdir()
    for number, ages in enumerate(
        (("[20,29]", "[20,29]", "[30,39]", "[30,39]"), ("[20,24]", "[30,39]", "[20,24]", "[30,39]"))
    ):
        pacsv.write_csv(pa.table({"age": ages, "disease": ["x", "y", "x", "z"]}), folder / f"{number}.csv")
    rows = {
        "release": ["0"] * 4 + ["1"] * 4,
        "row": [1, 2, 3, 4] * 2,
        "respondent": ["anna", "boris", "carla", "dora"] * 2,
    }
    pacsv.write_csv(pa.table(rows), tmp_path / "who.csv")
    early = seriatim(tmp_path, "attack", "--history", "none", "--respondents", "who.csv", "--private", "none/list.csv")
    assert (early.code, early.err.startswith("error: --private: not a file in a folder that exists")) == (2, True)
    ran = seriatim(tmp_path, "attack", "--history", "monthly", "--respondents", "who.csv", "--private", "exposed.csv")
    assert ran.code == 0, ran.err
    private = tmp_path / "exposed.csv"
    assert private.stat().st_mode & 0o777 == 0o600
    listed = list(csv.DictReader(private.read_text().splitlines()))
    assert {row["respondent"] for row in listed} == {"anna", "boris", "carla", "dora"}
    assert not any(row["respondent"] in ran.out for row in listed)


def test_a_list_that_could_not_be_written_is_refused_before_a_ledger_is_made(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('[series]\nname = "s"\n[columns.a]\nrole = "quasi"\n[promise]\nk = 1\n')
    refused = seriatim(tmp_path, "publish", "none.csv", "-p", "policy.toml", "--private", "none/list.csv")
    assert (refused.code, "--private" in refused.err) == (2, True)
    assert not (tmp_path / "ledger.db").exists()
