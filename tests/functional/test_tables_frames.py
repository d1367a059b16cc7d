"""pandas, polars and Arrow: the same kind out, names, order and types kept, the same groups for the same data."""

from __future__ import annotations

import datetime as dt
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.publication import PLAIN, QUASI, SENSITIVE, publish, published_file

import seriatim as sr

AGES = [30, 30, 31, 31, 40, 40, 41, 41]
DAYS = [dt.date(2020, 1, 1 + day) for day in range(8)]
HUGE = [10**30 + i for i in range(8)]

PANDAS: dict[str, Any] = {
    "mixed": pd.Series([1, "a", 2.5, None, pd.NA, float("nan"), True, "z"], dtype=object),
    "category": pd.Categorical(["a", "b", "a", None, "c", "a", "b", "c"], categories=["c", "b", "a"], ordered=True),
    "Int64": pd.array([1, None, 3, 4, 5, 6, 7, 8], dtype="Int64"),
    "str": pd.Series(list("abcdefgh"), dtype="str"),
    "object text": pd.Series(list("abcdefgh"), dtype=object),
    "datetime": pd.to_datetime(pd.Series(DAYS)),
    "zoned": pd.date_range("2020-01-01", periods=8, tz="Europe/Berlin"),
    "bool": pd.Series([True, False] * 4),
    "boolean": pd.array([True, None] * 4, dtype="boolean"),
    "nan": pd.Series([1.5, np.nan] * 4),
    "float32": pd.Series(np.arange(8, dtype="float32")),
    "int8": pd.Series(np.arange(-4, 4, dtype="int8")),
    "uint64": pd.Series(np.arange(8, dtype="uint64") + np.uint64(2**63)),
    "period": pd.period_range("2020-01", periods=8, freq="M"),
    "timedelta": pd.to_timedelta(np.arange(8), unit="h"),
    "dates": pd.Series(DAYS, dtype=object),
    "huge": pd.Series(HUGE, dtype=object),
    "decimal": pd.Series([Decimal("1.50"), Decimal("-2.25")] * 4, dtype=object),
    "constant": pd.Series(["same"] * 8),
    "empty": pd.Series([None] * 8, dtype=object),
}
POLARS: dict[str, pl.Series] = {
    "Categorical": pl.Series(["a", "b", "a", None, "c", "a", "b", "c"], dtype=pl.Categorical),
    "Enum": pl.Series(["a", "b"] * 4, dtype=pl.Enum(["b", "a", "unused"])),
    "Date": pl.Series(DAYS),
    "nulls": pl.Series([1, None] * 4),
    "all null": pl.Series([None] * 8),
    "Int128": pl.Series(HUGE, dtype=pl.Int128),
    "Decimal": pl.Series([Decimal("1.50")] * 8),
    "Time": pl.Series([dt.time(hour) for hour in range(8)]),
    "Datetime": pl.Series([dt.datetime(2020, 1, 1, hour) for hour in range(8)]).dt.replace_time_zone("Asia/Tokyo"),
    "NaN": pl.Series([float("nan"), 1.5] * 4),
    "Boolean": pl.Series([True, None] * 4),
    "String": pl.Series(["ä", "日本", "", None] * 2),
}
ARROW: dict[str, pa.Array] = {
    "dictionary": pa.array(["a", "b"] * 4).dictionary_encode(),
    "dictionary of numbers": pa.array([1, None] * 4).dictionary_encode(),
    "large_string": pa.array(list("abcdefgh"), pa.large_string()),
    "string_view": pa.array(list("abcdefgh"), pa.string_view()),
    "decimal128": pa.array([Decimal("1.50")] * 8, pa.decimal128(10, 2)),
    "decimal256": pa.array([Decimal("1.50")] * 8, pa.decimal256(50, 2)),
    "timestamp": pa.array([dt.datetime(2020, 1, 1 + i) for i in range(8)], pa.timestamp("ns", "UTC")),
    "float16": pa.array(np.arange(8, dtype="float16")),
    "null": pa.nulls(8),
    "largest integers": pa.array([2**64 - 1 - i for i in range(8)], pa.uint64()),
    "time32": pa.array([dt.time(hour) for hour in range(8)], pa.time32("s")),
    "widest floats": pa.array([1.7e308, -1.7e308, 0.0, 1.0] * 2),
    "smallest floats": pa.array([5e-324, 0.0] * 4),
}
ROLES = [PLAIN, {**SENSITIVE, "missing": "value"}]


def role_name(role: dict[str, str]) -> str:
    return role["role"]


@pytest.mark.parametrize("role", ROLES, ids=role_name)
@pytest.mark.parametrize("name", PANDAS)
def test_pandas_keeps_kept_columns(tmp_path: Path, name: str, role: dict[str, str]) -> None:
    frame = pd.DataFrame({"x": PANDAS[name], "age": AGES, "key": range(8)})
    out = publish(frame, {"x": role, "age": QUASI, "key": PLAIN}, tmp_path).table
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == ["x", "age", "key"]
    assert out["x"].dtype == frame["x"].dtype
    truth = frame.set_index("key")["x"]
    for key, cell in zip(out["key"], out["x"], strict=True):
        assert (pd.isna(cell) and pd.isna(truth[key])) or cell == truth[key]
        assert pd.isna(cell) or frame["x"].dtype != object or type(cell) is type(truth[key])


@pytest.mark.parametrize("role", ROLES, ids=role_name)
@pytest.mark.parametrize("name", POLARS)
def test_polars_keeps_kept_columns(tmp_path: Path, name: str, role: dict[str, str]) -> None:
    frame = pl.DataFrame({"x": POLARS[name], "age": AGES, "key": range(8)})
    out = publish(frame, {"x": role, "age": QUASI, "key": PLAIN}, tmp_path).table
    assert isinstance(out, pl.DataFrame)
    assert out.columns == ["x", "age", "key"]
    assert out.schema == {**frame.schema, "age": pl.String}
    assert out.sort("key")["x"].equals(frame["x"], null_equal=True, check_dtypes=True)


@pytest.mark.parametrize("role", ROLES, ids=role_name)
@pytest.mark.parametrize("name", ARROW)
def test_arrow_keeps_kept_columns(tmp_path: Path, name: str, role: dict[str, str]) -> None:
    table = pa.table({"x": ARROW[name], "age": AGES, "key": range(8)})
    out = publish(table, {"x": role, "age": QUASI, "key": PLAIN}, tmp_path).table
    assert isinstance(out, pa.Table)
    assert out.schema == table.schema.set(1, pa.field("age", pa.string()))
    truth = table.column("x").to_pylist()
    assert [truth[key] for key in out.column("key").to_pylist()] == out.column("x").to_pylist()


@pytest.mark.parametrize("source", [*PANDAS, *POLARS, *ARROW])
def test_any_column_can_be_generalised_and_becomes_text(tmp_path: Path, source: str) -> None:
    column = PANDAS.get(source, POLARS.get(source, ARROW.get(source)))
    make = pd.DataFrame if source in PANDAS else pl.DataFrame if source in POLARS else pa.table
    release = publish(make({"x": column}), {"x": {**QUASI, "missing": "value"}}, tmp_path)
    assert release.verdict.released
    gcp = release.verdict.measure("gcp").value
    assert 0 <= gcp <= 1
    labels = list(release.table["x"].to_pylist() if source in ARROW else release.table["x"])
    assert len(labels) == 8
    assert all(isinstance(label, str) or pd.isna(label) for label in labels)


def test_the_three_libraries_form_the_same_groups(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "seed.db")
    columns: dict[str, Any] = {
        "age": [i * 7 % 50 for i in range(60)],
        "zip": [f"0{i % 9}" for i in range(60)],
        "day": [dt.date(2020, 1, 1) + dt.timedelta(i % 20) for i in range(60)],
        "flag": [None if i % 7 == 0 else i % 2 == 0 for i in range(60)],
        "ill": ["flu", "gout", "cold"] * 20,
        "score": [i / 4 for i in range(60)],
    }
    roles = {name: {**QUASI, "missing": "value"} for name in ("age", "zip", "day", "flag")}
    policy = sr.Policy.from_dict(
        {
            "series": {"name": "alike", "respondent": "who"},
            "columns": {**roles, "ill": SENSITIVE, "score": PLAIN},
            "promise": {"k": 3, "ill": {"l": 2}},
            "defence": {"method": "median", "suppress": 0.2},
        }
    )
    arrow = pa.table({"who": [f"p{i}" for i in range(60)], **columns})
    sr.publish(arrow, policy, ledger)  # the series and its secret are made; every copy below shares them
    frames = {
        "arrow": arrow,
        "pandas": pd.DataFrame(arrow.to_pydict()),
        "pandas, days as datetimes": pd.DataFrame(arrow.to_pydict()).astype({"day": "datetime64[us]"}),
        "pandas, Arrow types": arrow.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": pl.DataFrame(arrow),
        "polars, categories": pl.DataFrame(arrow).with_columns(pl.col("zip").cast(pl.Categorical)),
        "arrow, chunks and dictionaries": pa.concat_tables([arrow[:13], arrow[13:]]).set_column(
            2, "zip", arrow.column("zip").dictionary_encode()
        ),
    }
    seen = {}
    for name, frame in frames.items():
        home = tmp_path / name
        home.mkdir()
        shutil.copy(tmp_path / "seed.db", home / "seed.db")
        shutil.copytree(next(tmp_path.glob("seed*shelf*")), home / next(tmp_path.glob("seed*shelf*")).name)
        release = sr.publish(frame, policy, sr.Ledger.open(home / "seed.db"), again=True)
        rows = [tuple(str(cell) for cell in row.values()) for row in _rows(release.table)]
        groups = [(row["respondent"], row["group"]) for row in _rows(release.groups)]
        seen[name] = ([row[:3] + row[4:] for row in rows], groups)
    for name in frames:
        assert seen[name] == seen["arrow"], name


def _rows(frame: Any) -> list[dict[str, Any]]:
    if isinstance(frame, pd.DataFrame):
        return pa.Table.from_pandas(frame, preserve_index=False).to_pylist()
    return frame.to_pylist() if isinstance(frame, pa.Table) else frame.to_dicts()


def test_unused_categories_of_withheld_people_stay_inside(tmp_path: Path) -> None:
    notes = pd.Categorical(["seen", "seen", "canary"])
    frame = pd.DataFrame({"q": [1, 1, None], "note": notes})
    out = publish(frame, {"q": {**QUASI, "missing": "suppress"}, "note": PLAIN}, tmp_path).table
    assert list(out["note"].cat.categories) == ["seen"]
    table = pa.table({"q": [1, 1, None], "note": pa.array(["seen", "seen", "canary"]).dictionary_encode()})
    other = tmp_path / "other"
    other.mkdir()
    arrow = publish(table, {"q": {**QUASI, "missing": "suppress"}, "note": PLAIN}, other).table
    assert arrow.column("note").chunk(0).dictionary.to_pylist() == ["seen"]


@pytest.mark.parametrize(
    "cells", [pa.array([[1]] * 4), pa.array([b"\xff"] * 4), pa.array([{"a": 1}] * 4)], ids=["list", "bytes", "struct"]
)
@pytest.mark.parametrize("role", [PLAIN, SENSITIVE, QUASI], ids=role_name)
def test_cells_that_cannot_be_written_or_compared_are_turned_away(
    tmp_path: Path, cells: pa.Array, role: dict[str, str]
) -> None:
    with pytest.raises(sr.TableError, match="column 'x': the column holds"):
        publish(pa.table({"x": cells, "age": [1, 1, 1, 1]}), {"x": role, "age": QUASI}, tmp_path)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([1.0, float("inf"), 2.0, 3.0], "1 infinite cells"),
        ([None, 1.0, None, 2.0], "2 missing cells"),
        ([float("nan"), 1.0, 2.0, 3.0], "1 missing cells"),
        (["1", "x", "y", "2"], "2 cells cannot be read as numbers"),
        (["1,5", "2", "3", "4"], "1 cells cannot be read as numbers"),
        ([True, False, True, False], "the column holds bool"),
    ],
)
def test_cells_that_are_no_numbers_are_counted_not_shown(tmp_path: Path, cells: list[Any], message: str) -> None:
    with pytest.raises(sr.TableError, match=message):
        publish(pa.table({"x": cells}), {"x": {**QUASI, "kind": "number"}}, tmp_path)


def test_numbers_written_as_text(tmp_path: Path) -> None:
    cells = ["1.50", "1.5", " 2", "3", "1e3", "+7", "-0.25", str(10**40)]
    release = publish(pa.table({"x": cells}), {"x": {**QUASI, "kind": "number"}}, tmp_path, k=1)
    assert set(release.table.column("x").to_pylist()) == {"1.5", "2", "3", "1000", "7", "-0.25", "1e+40"}


def test_huge_integers_keep_their_digits(tmp_path: Path) -> None:
    cells = [str(10**30 + i) for i in range(4)]
    release = publish(pa.table({"x": cells}), {"x": {**QUASI, "kind": "number"}}, tmp_path, k=2)
    assert set(release.table.column("x").to_pylist()) == {f"[{10**30},{10**30 + 1}]", f"[{10**30 + 2},{10**30 + 3}]"}


def test_midnights_are_dates_and_other_times_keep_what_they_need(tmp_path: Path) -> None:
    for name, moments, expected in (
        ("days", [dt.datetime(2020, 1, 1)] * 2, "2020-01-01"),
        ("minutes", [dt.datetime(2020, 1, 1, 0, 5)] * 2, "2020-01-01 00:05:00"),
        ("fractions", [dt.datetime(2020, 1, 1, 0, 5, 0, 5000)] * 2, "2020-01-01 00:05:00.005000"),
    ):
        (tmp_path / name).mkdir()
        release = publish(pa.table({"x": pa.array(moments, pa.timestamp("us"))}), {"x": QUASI}, tmp_path / name)
        assert release.table.column("x").to_pylist() == [expected] * 2


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_no_row_and_one_row(tmp_path: Path, make: Any) -> None:
    columns = {"q": QUASI, "s": SENSITIVE}
    promise = {"s": {"l": 1, "t": 0.5}}
    with pytest.raises(sr.SeriatimError, match="no records; allowed: at least one"):
        publish(make({"q": [], "s": []}), columns, tmp_path, promise=promise)
    empty = publish(make({"q": [], "s": []}), columns, tmp_path, promise=promise, empty=True)
    assert empty.verdict.released
    assert len(empty.table) == 0
    assert list(getattr(empty.table, "column_names", empty.table.columns)) == ["q", "s"]
    other = tmp_path / "one"
    other.mkdir()
    assert publish(make({"q": [1], "s": ["a"]}), columns, other, promise=promise).table is None
    assert len(publish(make({"q": [1], "s": ["a"]}), columns, other, k=1, promise=promise).table) == 1


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame([[1, 2]], columns=["q", "q"]), "columns 1 and 2 have the same name"),
        (pd.DataFrame([[1, 2]]), "2 column names are not text"),
        (pl.DataFrame({"q": [1]}).lazy(), "a LazyFrame"),
        ({"q": [1]}, "a dict"),
        (None, "a NoneType"),
        (np.zeros(3), "a ndarray"),
        (pa.table({}), "no columns"),
        (pd.DataFrame({"": [1]}), "a column without a name"),
    ],
)
def test_what_is_no_usable_table_is_named(tmp_path: Path, frame: Any, message: str) -> None:
    with pytest.raises(sr.TableError, match=message):
        publish(frame, {"q": QUASI}, tmp_path)


@pytest.mark.parametrize("cells", [["a", None, "b", "c"], [1.0, float("nan"), 2.0, 3.0]])
def test_every_record_needs_a_respondent(tmp_path: Path, cells: list[Any]) -> None:
    table = pa.table({"who": cells, "q": [1, 1, 1, 1]})
    with pytest.raises(sr.TableError, match="1 records without a respondent"):
        publish(table, {"q": QUASI}, tmp_path, series={"respondent": "who"})


@pytest.mark.parametrize("method", ["median", "curve", "lattice"])
def test_k_counts_people_not_records(tmp_path: Path, method: str) -> None:
    table = pa.table({"who": ["a", "a", "a", "b", "c", "d"], "q": [1, 1, 1, 2, 2, 2]})
    asked = {"series": {"respondent": "who"}, "defence": {"method": method}}
    crowded = publish(table, {"q": QUASI}, tmp_path, k=3, **asked)
    finding = crowded.verdict.findings[0]
    assert "different people" in finding.detail
    if method == "lattice":  # it counts records: the verdict does not
        assert not crowded.verdict.released
        assert (finding.rule, finding.worst, finding.n_classes, finding.n_people) == ("k", 1.0, 1, 1)
        assert 'one record per person, or method = "median" or "curve"' in finding.remedy
        first_seen = list(dict.fromkeys(crowded.release.draft.table.column("q").to_pylist()))
        assert [first_seen[number] for number in finding.classes] == ["1"]
    else:
        assert crowded.verdict.released
        assert (finding.rule, finding.worst) == ("k", 4.0)
    # nobody can make four people of three
    few = publish(table.slice(0, 5), {"q": QUASI}, tmp_path, k=4, series={"respondent": "who", "name": "few"})
    finding = few.verdict.findings[0]
    assert not few.verdict.released
    assert (finding.worst, finding.n_people) == (3.0, 3)
    by_record = publish(table.drop(["who"]), {"q": QUASI}, tmp_path, k=3, series={"name": "y"})
    assert by_record.verdict.released
    enough = pa.table({"who": ["a", "a", "b", "b", "c", "d"], "q": [1, 1, 1, 2, 2, 2]})
    assert publish(enough, {"q": QUASI}, tmp_path, k=2, series={"respondent": "who", "name": "x"}).verdict.released


def test_a_rehearsal_gives_no_table(tmp_path: Path) -> None:
    policy = sr.Policy.from_dict(
        {
            "series": {"name": "s"},
            "columns": {"q": QUASI},
            "promise": {"k": 1},
            "defence": {"method": "median"},
        }
    )
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    release = sr.publish(pa.table({"q": [1]}), policy, ledger, dry_run=True)
    assert release.verdict.released
    assert release.table is None
    assert not ledger.records()


def test_times_of_day_and_lengths_of_time_are_written_as_such(tmp_path: Path) -> None:
    at = [dt.time(8, 30), dt.time(8, 45), dt.time(12, 0), dt.time(13, 15)]
    long = [
        dt.timedelta(hours=26),
        dt.timedelta(hours=27, seconds=5),
        dt.timedelta(minutes=5),
        dt.timedelta(minutes=-6),
    ]
    frame = pa.table({"at": pa.array(at), "long": pa.array(long), "stay": pa.array(long), "ill": list("xyxy")})
    columns = {"at": QUASI, "long": QUASI, "stay": PLAIN, "ill": SENSITIVE}
    release = publish(frame, columns, tmp_path)
    assert set(release.table.column("at").to_pylist()) == {"[08:30,08:45]", "[12:00,13:15]"}
    assert set(release.table.column("long").to_pylist()) == {"[26:00:00,27:00:05]", "[-0:06:00,0:05:00]"}
    assert release.table.schema.field("stay").type == frame.schema.field("stay").type
    written = published_file(tmp_path).read_text()
    assert "27:00:05" in written
    assert "97205" not in written


def test_the_groups_name_people_exactly_beside_counterfeits(tmp_path: Path) -> None:
    """Beside the empty cell of a counterfeit, pandas would round numbers above 2 to the 53rd."""
    ids = [2**60 + i for i in range(9)]
    frame = pd.DataFrame({"id": ids, "q": range(9), "s": list("aaaaaabbc")})
    sections = {
        "series": {"respondent": "id"},
        "promise": {"m": 2},
        "defence": {"method": "invariant", "leftovers": "counterfeit"},
    }
    release = publish(frame, {"q": QUASI, "s": SENSITIVE}, tmp_path, k=1, **sections)
    assert release.groups["counterfeit"].any()
    assert set(release.groups["respondent"].dropna()) == set(ids)
