"""The rows of a query as a view: DuckDB and PostgreSQL, for publish, audit, init and attack."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command_line import seriatim

import seriatim as sr
from seriatim.tables.reader import read_table

duckdb = pytest.importorskip("duckdb", reason="the extra files is not here")
POLICY = """
[series]
name = "visits"
respondent = "who"
[columns.age]
role = "quasi"
[columns.ill]
role = "sensitive"
[promise]
k = 3
[defence]
method = "median"
"""


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "clinic.db")) as connection:
        connection.execute("create table visits (who integer, age integer, ill varchar, month integer)")
        rows = [(n, 20 + n, "canary-flu" if n % 2 else "canary-cold", n // 2 % 2) for n in range(40)]
        connection.executemany("insert into visits values (?, ?, ?, ?)", rows)
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "visits.sql").write_text("-- duckdb:///clinic.db\nselect who, age, ill from visits\nwhere month = 1\n")
    return tmp_path


def test_a_query_is_published_audited_and_attacked(desk: Path) -> None:
    ran = seriatim(desk, "publish", "visits.sql", "-p", "policy.toml")
    assert ran.code == 0, ran.err
    assert (desk / "releases" / "visits-0001" / "public" / "table.csv").exists()
    assert seriatim(desk, "audit", "visits.sql", "-p", "policy.toml").code in (0, 3)
    attacked = seriatim(desk, "attack", "--series", "visits", "--view", "visits.sql", "--policy", "policy.toml")
    assert attacked.code == 0, attacked.err
    guessed = seriatim(desk, "init", "visits.sql", "--out", "first.toml")
    assert guessed.code == 0, guessed.err


def test_an_address_may_hold_the_query(desk: Path) -> None:
    address = f"duckdb:///{desk / 'clinic.db'}?query=select who, age // 1 as age, ill from visits"
    assert read_table(address).data.num_rows == 40
    ran = seriatim(desk, "publish", address, "-p", "policy.toml")
    assert ran.code == 0, ran.err
    assert read_table(address.replace(" ", "+")).data.num_rows == 40


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("select 1", "names no database"),
        ("-- duckdb:///clinic.db\nselect canary_cell from visits", "failed"),
        ("-- duckdb:///clinic.db\nselect ill::integer as ill from visits", "failed"),
        ("-- duckdb:///clinic.db\ndelete from visits", "failed"),
        ("-- duckdb:///missing.db\nselect 1", "failed"),
    ],
)
def test_a_query_that_fails_shows_no_cell(desk: Path, text: str, told: str) -> None:
    (desk / "wrong.sql").write_text(text)
    ran = seriatim(desk, "publish", "wrong.sql", "-p", "policy.toml")
    assert ran.code == 2, ran
    assert told in ran.err
    assert "canary" not in ran.err
    with duckdb.connect(str(desk / "clinic.db"), read_only=True) as connection:
        assert connection.execute("select count(*) from visits").fetchone() == (40,)


def test_an_address_without_query_is_a_fault(desk: Path) -> None:
    with pytest.raises(sr.TableError, match="no query in the address"):
        read_table(f"duckdb:///{desk / 'clinic.db'}")


@pytest.mark.postgres
def test_a_query_of_postgresql(desk: Path, request: pytest.FixtureRequest) -> None:
    psycopg = pytest.importorskip("psycopg")
    address = request.getfixturevalue("postgres").fresh_url().replace("+psycopg", "")
    with psycopg.connect(address) as connection:
        connection.execute("create table visits (who integer, age numeric, ill text, since date)")
        rows = [(n, 20 + n, "canary-flu" if n % 2 else "canary-cold", f"2026-01-{1 + n % 28:02d}") for n in range(40)]
        with connection.cursor() as cursor:
            cursor.executemany("insert into visits values (%s, %s, %s, %s)", rows)
    (desk / "pg.sql").write_text(f"-- {address}\nselect who, age, ill from visits where ill like 'canary%'")
    ran = seriatim(desk, "publish", "pg.sql", "-p", "policy.toml")
    assert ran.code == 0, ran.err
    mark = "&" if "?" in address else "?"
    assert read_table(f"{address}{mark}query=select since from visits").data.num_rows == 40
    for wrong in ("select ill::integer from visits", "delete from visits", "select nothing from visits"):
        with pytest.raises(sr.TableError, match=r"failed \(") as caught:
            read_table(f"{address}{mark}query={wrong}")
        assert "canary" not in str(caught.value)
    with psycopg.connect(address) as connection:
        assert connection.execute("select count(*) from visits").fetchone() == (40,)
