"""The private list of an attack names who is breached and by which groups, for its owner's eyes only."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
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


CHANGES = """
[series]
name = "s"
respondent = "who"
[columns]
age = {{ role = "quasi", kind = "number" }}
ill = {{ role = "sensitive" }}
[promise]
{promise}
[defence]
method = "{method}"
"""


@pytest.mark.parametrize(("promise", "method"), [("k = 2", "median"), ("m = 2\nodds = 2", "cohort")])
def test_a_changed_value_names_corrections_and_the_list_says_whose(tmp_path: Path, promise: str, method: str) -> None:
    (tmp_path / "policy.toml").write_text(CHANGES.format(promise=promise, method=method))
    who, ill = [f"p{n}" for n in range(400)], [("flu", "cold")[n % 2] for n in range(400)]
    for name, values in (("a.csv", ill), ("b.csv", ["cold", *ill[1:]])):
        pacsv.write_csv(
            pa.table({"who": who, "age": [20 + n % 50 for n in range(400)], "ill": values}), tmp_path / name
        )
    assert seriatim(tmp_path, "publish", "a.csv", "-p", "policy.toml").code == 0
    ran = seriatim(tmp_path, "publish", "b.csv", "-p", "policy.toml", "--private", "list.csv")
    assert ran.code == (2 if method == "cohort" else 0), ran.err
    assert "--corrections" in ran.out + ran.err
    assert "p0" not in ran.out + ran.err
    rows = list(csv.DictReader((tmp_path / "list.csv").read_text().splitlines()))
    listed = [(row["respondent"], row["since"]) for row in rows if row["promise"] == "changed"]
    assert listed == [("p0", "1")]
