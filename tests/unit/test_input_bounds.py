"""Bounds are looked at before the work that they spare."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.command_line import seriatim, write_policy, write_view

import seriatim as sr
from seriatim.api import gate_suggest
from seriatim.model.table_faults import (
    DEEPEST,
    LARGEST_DOCUMENT,
    LARGEST_HIERARCHY,
    LARGEST_RECORD,
    MOST_COLUMNS,
    MOST_PAIRED,
    MOST_ROWS,
    is_too_deep,
)
from seriatim.tables.reader import read_table


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    write_view(tmp_path)
    write_policy(tmp_path)
    return tmp_path


FILES = {
    "policy": (LARGEST_DOCUMENT, ("publish", "view.csv", "-p", "large", "--dry-run")),
    "baseline": (LARGEST_RECORD, ("gate", "replay", "view.csv", "--baseline", "large")),
    "knowledge": (LARGEST_DOCUMENT, ("knowledge", "show", "large")),
    "hierarchy": (LARGEST_HIERARCHY, ("publish", "view.csv", "-p", "policy.toml", "--dry-run")),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_is_too_large_is_not_read(desk: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    largest, command = FILES[kind]
    with (desk / "large").open("wb") as file:
        file.truncate(largest + 1)
    policy = (desk / "policy.toml").read_text().replace("{ prefix = [3, 2, 0] }", '"large"')
    (desk / "policy.toml").write_text(policy)
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail("read") if path.name == "large" else read(path))
    ran = seriatim(desk, *command)
    assert ran.code == 2, ran
    assert f"is larger than a {kind} file may be: {largest >> 20} MB" in ran.err


def test_a_parquet_file_that_unpacks_to_too_many_rows(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table({"age": pa.nulls(MOST_ROWS + 1, pa.int8())}), desk / "small.parquet")
    assert (desk / "small.parquet").stat().st_size < 1 << 20
    monkeypatch.setattr(pq, "read_table", lambda *_, **__: pytest.fail("read"))
    for command in ("publish", "audit"):
        ran = seriatim(desk, command, "small.parquet", "-p", "policy.toml")
        assert ran.code == 2, ran
        assert f"{MOST_ROWS + 1:,} rows of 1 columns" in ran.err


def test_a_row_of_parquet_that_is_longer_than_any_of_csv(desk: Path) -> None:
    pq.write_table(pa.table({"note": ["a" * (1 << 25)]}), desk / "t.parquet")
    with pytest.raises(sr.TableError, match="a row is too long"):
        read_table(desk / "t.parquet")


def test_a_row_and_a_quote_without_end(desk: Path) -> None:
    head = (desk / "view.csv").read_text()
    for row in ("p,20,10100,flu,n," + "a" * (1 << 25), 'p,20,10100,flu,n,"' + "a\n" * (1 << 24)):
        (desk / "view.csv").write_text(head + row)
        with pytest.raises(sr.TableError, match=r"too long|opens a quote"):
            read_table(desk / "view.csv")


def test_more_columns_than_a_table_may_have(desk: Path) -> None:
    names = [f"c{i}" for i in range(MOST_COLUMNS + 1)]
    (desk / "wide.csv").write_text(",".join(names) + "\n" + ",".join("1" * len(names)) + "\n")
    for source in (desk / "wide.csv", pa.table([[1]] * len(names), names=names)):
        with pytest.raises(sr.TableError, match="32,769 columns; allowed: at most 32,768"):
            read_table(source)


def test_more_columns_than_can_be_paired() -> None:
    table = pa.table({f"c{i}": [i % 3, 1, 2, 5] for i in range(MOST_PAIRED + 1)})
    with pytest.raises(sr.InputError, match="201 columns to pair; allowed: at most 200"):
        gate_suggest(table)
    assert gate_suggest(table.select(["c0", "c1", "c2"])).found


@pytest.mark.parametrize("key", ["a", '"a b"', "'c'"])
def test_dotted_keys_that_are_too_deep(key: str) -> None:
    assert not is_too_deep(".".join([key] * DEEPEST) + " = 1")
    assert is_too_deep(" . ".join([key] * (DEEPEST + 1)) + " = 1")
    assert is_too_deep(f"x = 1\n[{'.'.join([key] * (DEEPEST + 1))}]\n")


def test_too_little_memory_is_told_in_a_line(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def grow(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("seriatim.tables.files._read_csv", grow)
    ran = seriatim(desk, "publish", "view.csv", "-p", "policy.toml")
    assert (ran.code, ran.err.count("\n")) == (5, 1)
    assert ran.err.startswith("error: there is not enough memory for this input")
