"""What no promise looks at is said: spellings of one value, values withheld whole, plain columns, other series."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import seriatim as sr

N = 60


def policy(name: str = "notes", **columns: dict[str, object]) -> sr.Policy:
    return sr.Policy.from_dict(
        {
            "series": {"name": name, "respondent": "id"},
            "columns": {"age": {"role": "quasi", "kind": "number"}, "illness": {"role": "sensitive"}, **columns},
            "promise": {"k": 3, "l": 2},
            "defence": {"method": "median", "suppress": 0.2},
        }
    )


def table(illness: list[str], **more: list[object]) -> pa.Table:
    return pa.table(
        {"id": [f"p{i}" for i in range(N)], "age": [20 + i % 40 for i in range(N)], "illness": illness, **more}
    )


def two_values() -> list[str]:
    return [["flu", "cold"][i % 2] for i in range(N)]


def notes_of(view: pa.Table, plan: sr.Policy, folder: Path) -> str:
    found = sr.publish(view, plan, sr.Ledger.open(f"sqlite:///{folder}/ledger.db"))
    return "\n".join(found.verdict.notes)


@pytest.mark.parametrize("other", ["flu ", " flu", "flu\u00a0", "2.0"])
def test_two_spellings_of_a_value_are_bad_input(other: str, tmp_path: Path):
    first = "2" if other == "2.0" else "flu"
    view = table([[first, other][i % 2] for i in range(N)])
    rule = {"illness": {"role": "sensitive", "kind": "category"}}
    with pytest.raises(sr.SeriatimError, match="1 values differ from another one only in blanks"):
        notes_of(view, policy(**rule), tmp_path)


@pytest.mark.parametrize("pair", [("007", "7"), ("1.50", "1.5.0"), ("a b", "ab")])
def test_codes_are_no_spellings(pair: tuple[str, str], tmp_path: Path):
    view = table([pair[i % 2] for i in range(N)])
    assert "spelling" not in notes_of(view, policy(illness={"role": "sensitive", "kind": "category"}), tmp_path)


def test_capitals_are_noted(tmp_path: Path):
    view = table([["flu", "Flu", "cold"][i % 3] for i in range(N)])
    assert "column 'illness': 1 values differ from another one only in capitals" in notes_of(view, policy(), tmp_path)
    assert "capitals" not in notes_of(table(two_values()), policy("other"), tmp_path)


def test_a_value_that_is_withheld_whole_is_noted(tmp_path: Path):
    rare = [*two_values()[:-3], "rare", "rare", "rare"]
    plan = sr.Policy.from_dict(
        {
            "series": {"name": "rare", "respondent": "id"},
            "columns": {
                "age": {"role": "drop"},
                "place": {"role": "quasi", "kind": "category", "hierarchy": {"prefix": [4]}},
                "illness": {"role": "sensitive"},
            },
            "promise": {"k": 5},
            "defence": {"method": "lattice", "suppress": 0.2},
        }
    )
    said = notes_of(table(rare, place=["here"] * (N - 3) + ["far"] * 3), plan, tmp_path)
    assert "column 'illness': all 3 records of 1 values are withheld: everyone missing has one of them" in said
    assert "rare" not in said.replace("series 'rare'", "")
    said = notes_of(table(rare, place=["here"] * (N - 4) + ["far"] * 4), plan, tmp_path)
    assert "column 'illness': all 3 records of 1 values are withheld: 3 of the 4 missing" in said


def test_plain_columns_that_single_people_out_are_noted(tmp_path: Path):
    view = table(two_values(), wage=list(range(N)))
    said = notes_of(view, policy(wage={"role": "plain"}), tmp_path)
    assert f"with plain 'wage' known too, {N} of {N} rows are alone" in said
    coarse = table(two_values(), wage=[1] * N)
    assert "known too" not in notes_of(coarse, policy("coarse", wage={"role": "plain"}), tmp_path)


def test_sensitive_columns_in_a_row_that_single_people_out_are_noted(tmp_path: Path):
    """Two thirds of the rows of a panel were alone to somebody who knew the wage, and nothing said so."""
    view = table(two_values(), wage=[at // 2 if at < 20 else 99 for at in range(N)])
    rule = {"role": "sensitive", "kind": "number"}
    said = notes_of(view, policy(wage=rule), tmp_path)
    assert f"of {N} rows" in said
    assert "alone in their class with their 'wage'" in said
    assert "reads 'illness' of them" in said
    alike = table(two_values(), wage=[1] * N)
    said = notes_of(alike, policy("alike", wage=rule), tmp_path)
    assert "'wage'" not in said
    assert "in their class with" not in notes_of(table(two_values()), policy("single"), tmp_path)


def test_other_series_of_the_same_people_are_noted(tmp_path: Path):
    assert "another series" not in notes_of(table(two_values()), policy("first"), tmp_path)
    said = notes_of(table(two_values()), policy("second"), tmp_path)
    assert f"{N} of these people are also in the series 'first' of this ledger" in said


def test_one_class_is_noted(tmp_path: Path):
    shape = {
        "series": {"name": "one", "respondent": "id"},
        "columns": {"age": {"role": "quasi", "kind": "number"}, "illness": {"role": "sensitive"}},
        "promise": {"k": N},
        "defence": {"method": "median"},
    }
    assert "all records are in one class" in notes_of(table(two_values()), sr.Policy.from_dict(shape), tmp_path)


def test_a_first_table_without_records_needs_a_word(tmp_path: Path):
    nobody = table(two_values()).slice(0, 0)
    with pytest.raises(sr.SeriatimError, match="no records"):
        notes_of(nobody, policy(), tmp_path)
