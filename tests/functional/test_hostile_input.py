"""Input that nobody means well: one clear line and exit code 2, or 5 for what lies outside the data; never a bug."""

from __future__ import annotations

import gzip
import json
import os
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
from support.command_line import Ran, seriatim, write_policy, write_view

from seriatim.tables.reader import read_table

HALF = "a\udc80"
NESTED = [pa.list_(pa.int64()), pa.struct([("x", pa.int64())]), pa.map_(pa.string(), pa.int8())]


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    write_view(tmp_path)
    write_policy(tmp_path)
    return tmp_path


def assert_refused(ran: Ran, code: int = 2) -> str:
    assert ran.code == code, ran
    assert ran.err.startswith("error: "), ran
    assert "unexpected" not in ran.err
    return ran.err


def test_thirty_thousand_columns_take_time_in_proportion(tmp_path: Path) -> None:
    def seconds(n: int) -> float:
        path = tmp_path / "wide.csv"
        path.write_text(",".join(f"c{i}" for i in range(n)) + "\n" + ",".join("1" * n) + "\n")
        begin = time.perf_counter()
        assert read_table(path).data.num_columns == n
        return time.perf_counter() - begin

    seconds(300)
    few, many = seconds(3_000), seconds(30_000)
    assert many < 60 * few + 5


def test_one_cell_of_a_megabyte_in_the_header_is_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a" * 1_000_000 + ",b\n1,2\n")
    assert read_table(tmp_path / "t.csv").data.num_columns == 2


@pytest.mark.parametrize("where", ["header", "row"])
def test_an_open_quote_is_found_in_one_pass(desk: Path, where: str) -> None:
    head, *rows = (desk / "view.csv").read_text().splitlines()
    rows = rows * 8_000
    if where == "header":
        head = head.replace("name", '"name')
    else:
        rows[1] = rows[1].replace(",", ',"', 1)
    (desk / "view.csv").write_text("\n".join([head, *rows]) + "\n")
    begin = time.perf_counter()
    said = assert_refused(seriatim(desk, "publish", "view.csv", "-p", "policy.toml"))
    assert time.perf_counter() - begin < 30
    assert f"line {1 if where == 'header' else 3} opens a quote that is not closed" in said


def test_old_mac_line_ends_are_line_ends(desk: Path) -> None:
    whole = read_table(desk / "view.csv").data
    text = (desk / "view.csv").read_text()
    (desk / "mac.csv").write_bytes(text.replace("\n", "\r").encode())
    assert read_table(desk / "mac.csv").data.equals(whole)


@pytest.mark.parametrize("key", ["k", "l", "m"])
@pytest.mark.parametrize("number", [2**63, 10**30, 10**400])
def test_thresholds_beyond_every_machine_word(desk: Path, key: str, number: int) -> None:
    policy = (desk / "policy.toml").read_text()
    old, new = {"k": ("k = 3", "k = {}"), "l": ("l = 2", "l = {}"), "m": ("k = 3", "k = 3\nm = {}")}[key]
    (desk / "policy.toml").write_text(policy.replace(old, new.format(number)))
    ran = seriatim(desk, "publish", "view.csv", "-p", "policy.toml", "--dry-run")
    assert ran.code in (2, 3), ran
    assert "unexpected" not in ran.err
    if key == "k":
        assert "from 1 to 2^53" in assert_refused(ran)


def broken_text() -> pa.Array:
    offsets = pa.array([0, 2, 3, 4], pa.int32()).buffers()[1]
    return pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b"\xff\xfeab")])


@pytest.mark.parametrize("command", [("publish", "-p"), ("audit", "-p"), ("compare", "-p"), ("init", "-o")])
def test_texts_of_a_parquet_file_that_are_not_utf8(desk: Path, command: tuple[str, str]) -> None:
    table = pa.table({"who": ["a", "b", "c"], "age": [1, 2, 3], "zip": broken_text(), "ill": ["x", "y", "x"]})
    pq.write_table(table.append_column("note", pa.nulls(3)).append_column("name", pa.nulls(3)), desk / "u.parquet")
    name = "policy.toml" if command[1] == "-p" else "new.toml"
    assert "texts that are not UTF-8" in assert_refused(seriatim(desk, command[0], "u.parquet", command[1], name))


@pytest.mark.parametrize("command", ["publish", "audit"])
def test_a_column_name_of_a_parquet_file_that_is_not_utf8(desk: Path, command: str) -> None:
    path, name = desk / "names.parquet", write_policy(desk).name
    pq.write_table(pa.table({"qqqq": ["a", "b"], "who": ["x", "y"]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"qqqq", b"qq\xa3q"))
    assert "a name of a column is not UTF-8" in assert_refused(seriatim(desk, command, path.name, "-p", name))


@pytest.mark.parametrize("column", ["age", "ill"])
@pytest.mark.parametrize(
    "kind", [pa.list_(pa.int64()), pa.struct([("x", pa.int64())]), pa.map_(pa.string(), pa.int8())]
)
def test_nested_cells_are_refused_by_audit_and_attack(desk: Path, column: str, kind: pa.DataType) -> None:
    table = read_table(desk / "view.csv").data
    place = table.column_names.index(column)
    table = table.set_column(place, column, pa.nulls(table.num_rows, kind))
    (desk / "months").mkdir()
    pq.write_table(table, desk / "months" / "m1.parquet")
    (desk / "who.csv").write_text("release,row,respondent\n" + "".join(f"m1,{i},p{i}\n" for i in range(24)))
    for command in (
        ("audit", "months/m1.parquet", "-p", "policy.toml"),
        ("publish", "months/m1.parquet", "-p", "policy.toml"),
        ("attack", "--history", "months", "--respondents", "who.csv", "--sensitive", "ill"),
    ):
        assert "holds" in assert_refused(seriatim(desk, *command))


@pytest.mark.parametrize("unit", ["s", "ms"])
def test_times_of_day_in_short_words(desk: Path, unit: str) -> None:
    table = read_table(desk / "view.csv").data
    clock = table.column("age").cast(pa.int32()).cast(pa.time32(unit))
    pq.write_table(table.set_column(table.column_names.index("age"), "age", clock), desk / "t.parquet")
    policy = (desk / "policy.toml").read_text().replace(', kind = "number"', "")
    (desk / "policy.toml").write_text(policy)
    assert seriatim(desk, "publish", "t.parquet", "-p", "policy.toml", "--dry-run").code == 0
    assert seriatim(desk, "audit", "t.parquet", "-p", "policy.toml").code in (0, 3)


@pytest.mark.parametrize(
    "arguments",
    [
        ("publish", HALF, "-p", "policy.toml"),
        ("publish", "view.csv", "-p", HALF),
        ("publish", "view.csv", "-p", "policy.toml", "--ledger", f"sqlite:///{HALF}"),
        ("publish", "view.csv", "-p", "policy.toml", "--to", HALF),
        ("publish", "view.csv", "-p", "policy.toml", "--approved-by", HALF),
        ("publish", "view.csv", "-p", "policy.toml", "--out", HALF),
        ("audit", "view.csv", "-p", "policy.toml", "--prior", HALF),
        ("attack", "--series", HALF),
        ("forecast", HALF),
        ("init", "view.csv", "-o", "new.toml", "--series", HALF),
        ("ledger", "erase", HALF, HALF),
    ],
)
def test_half_a_character_in_an_option(desk: Path, arguments: tuple[str, ...]) -> None:
    assert "half a character" in assert_refused(seriatim(desk, *arguments))


@pytest.mark.parametrize(
    "address",
    ["postgresql://h:port/db", "postgresql://[::1", "sqlite://", "mysql://x", "://", "http://", "postgresql://a:b:c/d"],
)
def test_addresses_that_cannot_be_read(desk: Path, address: str) -> None:
    for command in (("ledger", "show"), ("publish", "view.csv", "-p", "policy.toml")):
        assert_refused(seriatim(desk, *command, "--ledger", f"{address}?shelf=shelf"))


def test_what_lies_outside_the_data_ends_with_five(desk: Path) -> None:
    pytest.importorskip("psycopg")
    address = "postgresql://nobody@127.0.0.1:1/x"
    ran = seriatim(desk, "ledger", "show", "--ledger", f"{address}?shelf=shelf", "--json")
    assert "cannot reach the database" in assert_refused(ran, 5)
    assert json.loads(ran.out)["error"]["exit_code"] == 5
    ran = seriatim(desk, "publish", "view.csv", "-p", "policy.toml", "--ledger", "sqlite:///no/such/folder/l.db")
    assert_refused(ran, 5)


def test_a_file_in_no_folder_is_refused_before_any_work(desk: Path) -> None:
    for command in (("audit", "no.csv", "-p", "policy.toml", "-o"), ("init", "no.csv", "-o")):
        assert "--out: not a file in a folder" in assert_refused(seriatim(desk, *command, "no/such/folder/page.html"))


@pytest.mark.timeout(60)
def test_pipes_and_devices_are_not_read(desk: Path) -> None:
    os.mkfifo(desk / "pipe.toml")
    policy = (desk / "policy.toml").read_text()
    for name in ("pipe.toml", "/dev/zero"):
        assert "is a pipe or a device" in assert_refused(seriatim(desk, "publish", "view.csv", "-p", name))
        assert "is a pipe or a device" in assert_refused(seriatim(desk, "publish", name, "-p", "policy.toml"))
        (desk / "h.toml").write_text(policy.replace("{ prefix = [3, 2, 0] }", f'"{name}"'))
        assert "is a pipe or a device" in assert_refused(seriatim(desk, "publish", "view.csv", "-p", "h.toml"))


def test_other_kinds_of_files_are_named(desk: Path) -> None:
    with gzip.open(desk / "view.csv.gz", "wb") as file:
        file.write((desk / "view.csv").read_bytes())
    pf.write_feather(read_table(desk / "view.csv").data, desk / "view.feather")
    pq.write_table(read_table(desk / "view.csv").data, desk / "view.dat")
    (desk / "sheet.csv").write_bytes(b"PK\x03\x04 and more")
    for name, said in (
        ("view.csv.gz", "gzip"),
        ("view.feather", "Feather"),
        ("view.dat", "Parquet"),
        ("sheet.csv", "spreadsheet"),
    ):
        for command in ("publish", "audit"):
            assert said in assert_refused(seriatim(desk, command, name, "-p", "policy.toml"))


def test_an_audit_takes_separator_and_encoding(desk: Path) -> None:
    text = (desk / "view.csv").read_text().replace(",", "^").replace("gout", "göut")
    (desk / "view.csv").write_bytes(text.encode("cp850"))
    assert_refused(seriatim(desk, "audit", "view.csv", "-p", "policy.toml"))
    ran = seriatim(desk, "audit", "view.csv", "-p", "policy.toml", "--csv", "^ cp850", "--json")
    assert ran.code in (0, 3), ran


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (("publish", "no.csv", "-p", "policy.toml"), "TableError"),
        (("publish", "view.csv", "-p", "no.toml"), "PolicyError"),
        (("publish", "view.csv"), "UsageError"),
        (("forecast", "x", "--releases", "many"), "UsageError"),
        (("ledger", "show"), "LedgerMissing"),
    ],
)
def test_bad_input_is_json_where_json_was_asked_for(desk: Path, arguments: tuple[str, ...], kind: str) -> None:
    ran = seriatim(desk, *arguments, "--json")
    assert ran.code == 2, ran
    error = json.loads(ran.out)["error"]
    assert (error["kind"], error["exit_code"]) == (kind, 2)
    assert error["lines"]
    assert ran.err


def test_an_original_with_one_value_in_a_hierarchy_of_several_levels(desk: Path) -> None:
    head, *rows = (desk / "view.csv").read_text().splitlines()
    same = [",".join([*row.split(",")[:2], "10100", *row.split(",")[3:]]) for row in rows]
    (desk / "view.csv").write_text("\n".join([head, *same]) + "\n")
    ran = seriatim(desk, "audit", "view.csv", "-p", "policy.toml", "--original", "view.csv", "--aligned")
    assert ran.code in (0, 3), ran
