"""What SPSS, Stata, SAS and spreadsheets write is published and comes back, with labels, missing kinds and dates."""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from support.command_line import seriatim

import seriatim as sr
from seriatim.reading import open_release
from seriatim.tables.formats import FORMATS, WRITTEN
from seriatim.tables.reader import read_table

pyreadstat = pytest.importorskip("pyreadstat", reason="the extra files is not here")
TITLES = {"sex": "Sex of respondent", "answer": "Would you do it again?"}
SEXES, ANSWERS = {1: "male", 2: "female"}, {1: "yes", 2: "no", 9: "refused"}
DAYS = [datetime.date(1950 + n % 40, 1 + n % 12, 1 + n % 28) for n in range(60)]
FRAME = pl.DataFrame(
    {
        "id": list(range(60)),
        "sex": [1 + n % 2 for n in range(60)],
        "age": [float(20 + n % 30) for n in range(60)],
        "born": DAYS,
        "place": [None if n == 3 else f"Ort {n % 3} ü" for n in range(60)],
        "answer": [[1, 2, 9, None][n % 4] for n in range(60)],
    }
)
POLICY = """
[series]
name = "survey"
respondent = "id"
[columns.sex]
role = "quasi"
kind = "category"
[columns.age]
role = "quasi"
[columns.born]
role = "plain"
[columns.place]
role = "plain"
[columns.answer]
role = "sensitive"
missing = "value"
[promise]
k = 4
[defence]
method = "median"
"""


def write(folder: Path, ending: str) -> Path:
    path = folder / f"survey{ending}"
    labels = {"sex": SEXES, "answer": ANSWERS}
    if ending == ".sav":
        pyreadstat.write_sav(
            FRAME, path, column_labels=TITLES, variable_value_labels=labels, missing_ranges={"answer": [9]}
        )
    elif ending == ".dta":
        told = [{1: 1.0, 2: 2.0, 9: "a", None: None}[cell] for cell in FRAME["answer"]]
        pyreadstat.write_dta(
            FRAME.with_columns(pl.Series("answer", told, dtype=pl.Object)),
            path,
            column_labels=TITLES,
            variable_value_labels={"sex": SEXES, "answer": {1: "yes", 2: "no", "a": "refused"}},
            missing_user_values={"answer": ["a"]},
        )
    elif ending == ".xpt":
        pyreadstat.write_xport(FRAME, path, column_labels=TITLES)
    else:
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        book.active.append(FRAME.columns)
        for row in FRAME.iter_rows():
            book.active.append(row)
        book.create_sheet("empty")
        book.save(path)
    return path


def publish(folder: Path, ending: str, *more: str) -> Path:
    write(folder, ending)
    (folder / "policy.toml").write_text(POLICY)
    ran = seriatim(folder, "publish", f"survey{ending}", "-p", "policy.toml", *more)
    assert ran.code == 0, ran.err
    return folder / "releases" / "survey-0001" / "public"


def test_every_ending_is_in_one_table() -> None:
    endings = [ending for one in FORMATS for ending in one.endings]
    assert len(endings) == len(set(endings))
    assert {*WRITTEN} == {"csv", "parquet", "sav", "dta", "xpt", "xlsx"}


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xpt", ".xlsx"])
def test_a_table_comes_in_as_it_is(tmp_path: Path, ending: str) -> None:
    read = read_table(write(tmp_path, ending))
    types = {field.name: str(field.type) for field in read.data.schema}
    assert (types["id"], types["age"], types["place"]) == ("int64", "int64", "string")
    assert read.data["born"].cast(pa.date32()).to_pylist() == DAYS
    assert read.data["place"].to_pylist() == FRAME["place"].to_list()
    lettered = ending == ".dta"
    told: list[Any] = [{1: "1", 2: "2", 9: ".a", None: None}[one] for one in FRAME["answer"]]
    assert read.data["answer"].to_pylist() == (told if lettered else FRAME["answer"].to_list())
    if ending in (".sav", ".dta"):
        assert read.labels["sex"].values == {"1": "male", "2": "female"}
        assert read.labels["answer"].title == TITLES["answer"]
        assert read.labels["answer"].values[".a" if lettered else "9"] == "refused"


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xpt", ".xlsx"])
def test_a_release_comes_out_with_labels_missing_kinds_and_dates(tmp_path: Path, ending: str) -> None:
    public = publish(tmp_path, ending)
    made, plain = read_table(public / f"table{ending}"), read_table(public / "table.csv")
    assert made.data.num_rows == 60
    assert sorted(map(str, made.data["place"].to_pylist())) == sorted(map(str, FRAME["place"].to_list()))
    assert sorted(made.data["born"].cast(pa.date32()).to_pylist()) == sorted(DAYS)
    answers = read_table(tmp_path / f"survey{ending}").data["answer"].to_pylist()
    assert sorted(map(str, made.data["answer"].to_pylist())) == sorted(map(str, answers))
    assert [str(cell) for cell in made.data["age"].to_pylist()] == [str(cell) for cell in plain.data["age"].to_pylist()]
    if ending in (".sav", ".dta"):
        assert made.labels["answer"] == read_table(tmp_path / f"survey{ending}").labels["answer"]
        assert made.labels["sex"].title == TITLES["sex"]
    if ending == ".sav":
        assert made.labels["sex"].values == {"1": "male", "2": "female"}  # a column made coarser is text, and labelled
        assert made.labels["answer"].missing == ((9.0, 9.0),)
    assert open_release(public).n_people == 60  # a reader without the extra has the same table as CSV
    assert "sound" in seriatim(tmp_path, "ledger", "verify", "--published", "releases").out
    assert seriatim(tmp_path, "audit", str(public / f"table{ending}"), "-p", "policy.toml").code == 0


def test_the_codebook_keeps_the_labels(tmp_path: Path) -> None:
    told = json.loads((publish(tmp_path, ".sav") / "codebook.json").read_text())["columns"]
    answer = next(one for one in told if one["name"] == "answer")
    assert answer["title"] == TITLES["answer"]
    assert answer["values"] == {"1": "yes", "2": "no", "9": "refused"}
    assert answer["missing"] == [[9.0, 9.0]]


@pytest.mark.parametrize("written", ["sav", "dta", "xpt", "xlsx"])
def test_the_clock_is_not_in_the_bytes(tmp_path: Path, written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    source, files = read_table(write(tmp_path, ".sav")), []
    for at in range(2):
        path = tmp_path / f"{at}.{written}"
        WRITTEN[written].write(source.data, path, source)
        files.append(path.read_bytes())
        time.sleep(1.1 if at == 0 else 0)  # headers have seconds
    assert files[0] == files[1]
    assert read_table(tmp_path / f"1.{written}").data.num_rows == 60


def test_another_format_may_be_asked_for(tmp_path: Path) -> None:
    public = publish(tmp_path, ".xlsx", "--format", "dta")
    assert {path.name for path in public.iterdir()} >= {"table.csv", "table.dta"}
    assert not (public / "table.xlsx").exists()


@pytest.mark.parametrize("asked", ["sas7bdat", "ods", "pdf"])
def test_what_cannot_be_written_is_said_before_any_work(tmp_path: Path, asked: str) -> None:
    write(tmp_path, ".sav")
    (tmp_path / "policy.toml").write_text(POLICY)
    ran = seriatim(tmp_path, "publish", "survey.sav", "-p", "policy.toml", "--format", asked)
    assert ran.code == 2, ran.err
    assert "csv, parquet, sav, dta, xpt, xlsx" in ran.err
    assert not (tmp_path / "releases").exists()


def test_names_that_a_format_cannot_hold_are_said_before_any_work(tmp_path: Path) -> None:
    source = pa.table({"net income": [1, 2], "x": ["a", "b"]})
    shape = {"series": {"name": "s"}, "columns": {"net income": {"role": "quasi"}, "x": {"role": "sensitive"}}}
    policy = sr.Policy.from_dict({**shape, "promise": {"k": 2}, "defence": {"method": "median"}})
    with pytest.raises(sr.SeriatimError, match="Stata cannot hold: net income"):
        sr.publish(source, policy, sr.Ledger.open(tmp_path / "l.db"), out=tmp_path / "out", written="dta")
    assert sr.Ledger.open(tmp_path / "l.db").records("s") == []


def test_formulas_stay_texts_in_a_workbook(tmp_path: Path) -> None:
    table = pa.table({"x": ["=1+1", "+cmd", "plain"]})
    WRITTEN["xlsx"].write(table, tmp_path / "t.xlsx", read_table(table))
    assert read_table(tmp_path / "t.xlsx").data["x"].to_pylist() == ["=1+1", "+cmd", "plain"]


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xpt", ".sas7bdat", ".xlsx", ".ods"])
def test_a_broken_file_is_a_fault_without_its_cells(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"canary{ending}").write_bytes(b"canary-cell" * 50)
    with pytest.raises(sr.TableError, match="cannot be read") as caught:
        read_table(tmp_path / f"canary{ending}")
    assert "canary-cell" not in str(caught.value)


def test_without_the_extra_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, ".sav")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    monkeypatch.delitem(sys.modules, "seriatim.tables.statistics_files", raising=False)
    with pytest.raises(sr.SeriatimError, match=r"seriatim\[files\]"):
        read_table(path)


def test_a_workbook_of_two_tables_is_refused(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["a"])
    book.create_sheet("more").append(["b"])
    book.save(tmp_path / "two.xlsx")
    with pytest.raises(sr.TableError, match="2 sheets with cells"):
        read_table(tmp_path / "two.xlsx")


def test_a_folder_of_releases_may_hold_them(tmp_path: Path) -> None:
    (tmp_path / "past").mkdir()
    for number in (1, 2):
        pyreadstat.write_dta(FRAME.drop("answer", "born"), tmp_path / "past" / f"release-{number}.dta")
    ran = seriatim(tmp_path, "attack", "--history", "past", "--quasi", "sex", "--quasi", "age", "--json")
    assert ran.code in (0, 2), ran.err
    assert "holds no table" not in ran.err


def test_a_first_policy_reads_the_files_of_a_panel_with_their_labels(tmp_path: Path) -> None:
    for year in (2024, 2025):
        write(tmp_path, ".sav").rename(tmp_path / f"survey-{year}.sav")
    ran = seriatim(tmp_path, "init", "survey-2024.sav", "survey-2025.sav")
    assert ran.code == 0, ran.err
    text = (tmp_path / "policy.toml").read_text()
    assert 'name = "survey"' in text
    assert "# 2 files; 60 people are in several." in text
    assert 'kind = "category"   # guess: its values have labels' in text
    assert seriatim(tmp_path, "publish", "survey-2025.sav", "-p", "policy.toml", "--dry-run").code in (0, 3)
