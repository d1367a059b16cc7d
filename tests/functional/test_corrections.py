"""A corrected value is no changed value: the person counts as a newcomer, and no promise or attack joins the two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.command_line import seriatim

import seriatim as sr
from seriatim.errors import TableError
from seriatim.tables.writer import write_csv
from seriatim.testing.hospital import hospital_months

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi"},
    "sex": {"role": "quasi"},
    "postcode": {"role": "quasi", "kind": "category"},
    "ward": {"role": "plain"},
    "disease": {"role": "sensitive"},
}
SERIAL = {"cohort": {"m": 3}, "invariant": {"m": 3}, "historical": {"m": 3, "n": 1}}


def policy_of(method: str) -> Any:
    return sr.Policy.from_dict(
        {
            "series": {"name": "ward", "respondent": "patient"},
            "columns": COLUMNS,
            "promise": SERIAL[method],
            "defence": {"method": method, "suppress": 0.2},
        }
    )


def corrected(first: pa.Table, second: pa.Table, n: int = 3) -> tuple[pa.Table, pa.Table]:
    """The second month with other values for a few people of the first, and the table that says so."""
    before = dict(zip(first["patient"].to_pylist(), first["disease"].to_pylist(), strict=True))
    ids, values = second["patient"].to_pylist(), second["disease"].to_pylist()
    chosen = [who for who in ids if who in before][:n]
    kinds = sorted(set(values))
    new = {who: kinds[(kinds.index(before[who]) + 1) % len(kinds)] for who in chosen}
    told = [new.get(who, value) for who, value in zip(ids, values, strict=True)]
    rows = [{"respondent": who, "column": "disease", "old": before[who], "new": new[who]} for who in chosen]
    at = second.column_names.index("disease")
    return second.set_column(at, "disease", pa.array(told)), pa.Table.from_pylist(rows)


@pytest.fixture(scope="module")
def months() -> list[pa.Table]:
    return hospital_months(500, 3, churn=0.05)


@pytest.mark.parametrize("method", SERIAL)
def test_a_series_goes_on_with_corrected_values(tmp_path: Path, months: list[pa.Table], method: str) -> None:
    policy, ledger = policy_of(method), sr.Ledger.open(tmp_path / "ledger.db")
    assert sr.publish(months[0], policy, ledger).number == 1
    view, told = corrected(months[0], months[1])
    with pytest.raises(TableError, match="has changed"):
        sr.publish(view, policy, ledger)
    made = sr.publish(view, policy, ledger, corrections=told)
    assert made.number == 2, made.verdict.reasons
    assert any("3 people were corrected" in note for note in made.verdict.notes)
    history = ledger.history("ward")
    people = told["respondent"].to_pylist()
    for person in people:
        places = [at for at, who in enumerate(history.respondents.to_pylist()) if who == person]
        assert len(places) == 1
        assert [past.number for past in history if places[0] in past.person.tolist()] in ([2], [])
    later, _ = corrected(months[0], months[2], 0)
    ids, values = later["patient"].to_pylist(), later["disease"].to_pylist()
    now = dict(zip(told["respondent"].to_pylist(), told["new"].to_pylist(), strict=True))
    at = later.column_names.index("disease")
    later = later.set_column(at, "disease", pa.array([now.get(w, v) for w, v in zip(ids, values, strict=True)]))
    assert sr.publish(later, policy, ledger).number == 3  # the new values are theirs from now on
    assert sr.attack(ledger, series="ward").wrong == 0
    check = ledger.verify()
    assert (check.faults, check.notes) == ((), ())


def test_an_erased_person_is_erased_under_both_numbers(tmp_path: Path, months: list[pa.Table]) -> None:
    policy, ledger = policy_of("invariant"), sr.Ledger.open(tmp_path / "ledger.db")
    sr.publish(months[0], policy, ledger)
    view, told = corrected(months[0], months[1], 1)
    sr.publish(view, policy, ledger, corrections=told)
    assert ledger.erase("ward", told["respondent"][0].as_py()) == 2
    assert ledger.verify().sound


def test_a_recalled_correction_never_was(tmp_path: Path, months: list[pa.Table]) -> None:
    policy, ledger = policy_of("invariant"), sr.Ledger.open(tmp_path / "ledger.db")
    sr.publish(months[0], policy, ledger)
    before = ledger.history("ward").respondents.to_pylist()
    view, told = corrected(months[0], months[1])
    sr.publish(view, policy, ledger, corrections=told)
    ledger.recall("ward", 2, "the correction was wrong")
    assert ledger.history("ward").respondents.to_pylist()[: len(before)] == before
    assert sr.publish(months[1], policy, ledger).number == 3


def change(table: pa.Table, name: str, cell: Any) -> pa.Table:
    cells = table[name].to_pylist()
    return table.set_column(table.column_names.index(name), name, pa.array([cell, *cells[1:]]))


@pytest.mark.parametrize(
    ("name", "cell", "found"),
    [
        ("old", "canary", "1 old values are not what was published last"),
        ("new", "canary", "1 new values are not in the view"),
        ("respondent", "canary", "1 people were never published"),
        ("column", "age", "1 rows name another column"),
        ("respondent", None, "1 empty cells in respondent"),
    ],
)
def test_a_wrong_file_is_told_in_counts(
    tmp_path: Path, months: list[pa.Table], name: str, cell: Any, found: str
) -> None:
    policy, ledger = policy_of("invariant"), sr.Ledger.open(tmp_path / "ledger.db")
    sr.publish(months[0], policy, ledger)
    view, told = corrected(months[0], months[1])
    with pytest.raises(TableError, match=found) as raised:
        sr.publish(view, policy, ledger, corrections=change(told, name, cell))
    assert "canary" not in str(raised.value)
    with pytest.raises(TableError, match="name a value once more"):
        sr.publish(view, policy, ledger, corrections=pa.concat_tables([told, told.slice(0, 1)]))
    with pytest.raises(TableError, match="no column old"):
        sr.publish(view, policy, ledger, corrections=told.drop(["old"]))
    assert len(ledger.records()) == 1


POLICY = """
[series]
name = "ward"
respondent = "patient"
[columns]
age = { role = "quasi" }
sex = { role = "quasi" }
postcode = { role = "quasi", kind = "category" }
ward = { role = "plain" }
disease = { role = "sensitive" }
[promise]
m = 3
[defence]
method = "cohort"
suppress = 0.2
"""


def test_corrections_from_the_command_line(tmp_path: Path, months: list[pa.Table]) -> None:
    (tmp_path / "policy.toml").write_text(POLICY)
    view, told = corrected(months[0], months[1])
    for name, table in (("one", months[0]), ("two", view), ("told", told)):
        write_csv(table, tmp_path / f"{name}.csv")
    assert seriatim(tmp_path, "publish", "one.csv", "-p", "policy.toml").code == 0
    assert seriatim(tmp_path, "publish", "two.csv", "-p", "policy.toml").code == 2
    ran = seriatim(tmp_path, "publish", "two.csv", "-p", "policy.toml", "--corrections", "told.csv")
    assert ran.code == 0, ran.err + ran.out
    assert "3 people were corrected" in ran.out
