"""Folders of buckets, two tables a release, are attacked like the series they were published from."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from support.command_line import Ran, seriatim

import seriatim as sr
from seriatim import api

PEOPLE = "group,age\n1,20\n1,21\n1,22\n2,30\n2,31\n2,32\n"
VALUES = "group,job\n1,cook\n1,cook\n1,nurse\n2,cook\n2,nurse\n2,judge\n"
HELD = ("cook", "nurse", "cook", "judge", "nurse", "cook")
WHO = "release,row,respondent,job\n" + "".join(f"m{m},{i},p{i},{HELD[i]}\n" for m in (1, 2) for i in range(6))


def folder(tmp_path: Path, files: dict[str, str]) -> Path:
    (tmp_path / "monthly").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def two_months() -> dict[str, str]:
    tables = {f"monthly/m{m}.csv": PEOPLE for m in (1, 2)}
    return tables | {f"monthly/m{m}-values.csv": VALUES for m in (1, 2)} | {"who.csv": WHO}


def attacked(tmp_path: Path, files: dict[str, str]) -> Ran:
    return seriatim(folder(tmp_path, files), "attack", "--history", "monthly", "--respondents", "who.csv", "--json")


def test_two_tables_a_release_are_joined_by_group(tmp_path: Path) -> None:
    ran = attacked(tmp_path, two_months())
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert [(one["n_people"], one["below"], one["single"]) for one in found["releases"]] == [(6, 3, 0), (6, 3, 0)]
    assert found["wrong"] == 0


def test_values_may_be_counted_and_rows_replaced_by_groups(tmp_path: Path) -> None:
    plain = attacked(tmp_path, two_months())
    counted = "group,job,count\n1,cook,2\n1,nurse,1\n2,cook,1\n2,nurse,1\n2,judge,1\n"
    who = "release,group,respondent,job\n" + "".join(
        f"m{m},{i // 3 + 1},p{i},{HELD[i]}\n" for m in (1, 2) for i in range(6)
    )
    other = tmp_path / "other"
    other.mkdir()
    files = two_months() | {f"monthly/m{m}-values.csv": counted for m in (1, 2)} | {"who.csv": who}
    ran = attacked(other, files)
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["releases"] == json.loads(plain.out)["releases"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("who.csv", WHO.replace(",job", ",other"), "buckets do not say who holds which value"),
        ("who.csv", WHO.replace("p0,cook", "p0,judge"), "1 respondents of m1 with a value that their group does not"),
        ("monthly/m2-values.csv", VALUES + "2,cook\n", "1 groups with another number of values than of people"),
        ("monthly/m2-values.csv", VALUES.replace("job", "work"), "m2-values: no column job"),
        ("monthly/m2.csv", PEOPLE.replace("group", "cell"), "m2: no column group"),
    ],
)
def test_buckets_that_do_not_fit_are_bad_input(tmp_path: Path, name: str, text: str, said: str) -> None:
    ran = attacked(tmp_path, two_months() | {name: text})
    assert ran.code == 2
    assert said in " ".join(ran.err.split())
    assert "p0" not in ran.err


def test_a_release_without_its_values_is_bad_input(tmp_path: Path) -> None:
    files = two_months()
    files.pop("monthly/m1-values.csv")
    ran = attacked(tmp_path, files)
    assert ran.code == 2
    assert "m1: no table of values" in " ".join(ran.err.split())


def test_the_folder_of_a_series_is_attacked_as_the_series(tmp_path: Path) -> None:
    """``publish --out`` leaves a folder a release; ``release.groups`` is the list of respondents."""
    rows = 60
    ages = {"id": [f"p{i}" for i in range(rows)], "age": list(range(20, 20 + rows))}
    policy = sr.Policy.from_dict(
        {
            "series": {"name": "s", "respondent": "id"},
            "columns": {"age": {"role": "quasi", "kind": "number"}, "job": {"role": "sensitive"}},
            "promise": {"k": 4, "l": 2},
            "defence": {"method": "sequence", "form": "buckets", "suppress": 0.5},
        }
    )
    ledger, lists = sr.Ledger.open(tmp_path / "l.db"), []
    for month in range(3):
        view = pa.table({**ages, "job": [f"v{(i * 7 + month * (i % 3)) % 5}" for i in range(rows)]})
        made = sr.publish(view, policy, ledger, out=tmp_path / "out")
        groups = made.groups.filter(made.groups["group"].is_valid()).select(["respondent", "group", "job"])
        lists.append(groups.append_column("release", pa.array([f"s-{made.number:04}"] * len(groups))))
    who = tmp_path / "who.csv"
    pacsv.write_csv(pa.concat_tables(lists), who)
    found = [api.attack(api.attack_history_of_folder(tmp_path / "out", who).history), sr.attack(ledger, series="s")]
    told = [one.sequence for one in found if one.sequence is not None]
    assert len(told) == 2
    assert told[0].n_people == told[1].n_people == rows
    figures = [(one.before, one.one, one.series, one.back, one.gain) for one in told]
    assert figures[0] == pytest.approx(figures[1], abs=1e-9)
