"""A flipped byte in any stored row of any table is found, on both databases."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from support.kept_drafts import keep
from support.ledgers import PASTS, SECRET, made_policy, publish, reserve

from seriatim.errors import LedgerDamaged, LedgerError
from seriatim.ledger import chain
from seriatim.ledger.chain_replay import read_everything, wrong_rows
from seriatim.ledger.sql_ledger import SqlLedger, open_ledger
from seriatim.storage.schema import metadata


@pytest.fixture
def ledger(ledger_url: str, tmp_path: Path) -> SqlLedger:
    """Every kind of entry, and both empty and full columns."""
    made = open_ledger(ledger_url, shelf=tmp_path / "shelf")
    made.import_history(made_policy("old"), PASTS, SECRET)
    publish(made, ["ann", "bob"], destination=tmp_path / "out")
    publish(made, ["bob", "cid"], policy=made_policy(epoch=2, k=3))
    made.deliver("ward", 1, ["lab"])
    made.erase("ward", "bob")
    publish(made, ["eve"], policy=made_policy(epoch=2, k=3), recipients=())
    made.recall("ward", 3, "wrong")
    keep(made, ["fay"], policy=made_policy(epoch=2, k=3), author="A. Ortiz")
    made.decline("ward", "wrong", "B. Li")
    keep(made, policy=made_policy("drafted", k=4))
    made.approve("drafted", "B. Li")
    made.answer_book("ward").append({"query": "mean", "answer": 3})
    reserve(made, policy=made_policy("moved"), destination=tmp_path / "gone")
    made.resume(out=tmp_path / "there")
    reserve(made, policy=made_policy("third"))
    kinds = {entry.kind for entry in made.entries()}
    assert kinds == {value for name, value in vars(chain).items() if name.isupper() and isinstance(value, str)} - {
        chain.GENESIS
    }
    assert made.verify().sound
    return made


def flipped(value: Any) -> list[Any]:
    """Values one flip away, and the ones that a careless comparison would take for the same."""
    if value is None:
        return ["", "x"]
    if isinstance(value, int):
        return [value ^ 1, value + (1 << 20)]
    if isinstance(value, bytes):
        return [bytes([value[0] ^ 1]) + value[1:], value[:-1] + bytes([value[-1] ^ 128]), value + b"\0"]
    if not value:
        return ["x", " "]
    at = len(value) // 2
    return [value[:at] + chr(ord(value[at]) ^ 1) + value[at + 1 :], value + " ", value.swapcase()]


def test_every_column_of_every_row(ledger: SqlLedger) -> None:
    """Each flip is made in a transaction, looked for there, and rolled back."""
    n_flips = 0
    with ledger.database.writing() as connection:
        for table in metadata.sorted_tables:
            rows = [row._asdict() for row in connection.execute(sa.select(table))]
            assert rows
            for row in rows:
                for column in table.columns:
                    for value in flipped(row[column.name]):
                        if value != row[column.name]:
                            n_flips += _flip_is_seen(connection, table, row, column.name, value)
    assert n_flips > 300
    assert ledger.verify().sound


def _flip_is_seen(connection: sa.Connection, table: sa.Table, row: dict[str, Any], column: str, value: Any) -> bool:
    which = sa.and_(*(key == row[key.name] for key in table.primary_key))
    savepoint = connection.begin_nested()
    try:
        assert connection.execute(table.update().where(which).values({column: value})).rowcount == 1
        faults, _ = wrong_rows(read_everything(connection))
        assert faults, f"{table.name}.{column} was changed unseen"
    except sa.exc.IntegrityError:  # the database itself refuses: a key is taken
        return False
    finally:
        savepoint.rollback()
    return True


def test_a_changed_row_makes_the_ledger_unsound(ledger: SqlLedger) -> None:
    for table, column in (("entries", "circumstance"), ("releases", "override"), ("series", "created")):
        with ledger.database.writing() as connection:
            connection.execute(sa.text(f"UPDATE {table} SET {column} = {column} || ' '"))
        assert not ledger.verify().sound
        with ledger.database.writing() as connection:
            connection.execute(sa.text(f"UPDATE {table} SET {column} = rtrim({column})"))
    assert ledger.verify().sound


@pytest.mark.parametrize(
    ("table", "column"),
    [("entries", "body"), ("entries", "circumstance"), ("releases", "manifest"), ("releases", "recipients")],
)
def test_who_reads_a_row_that_is_no_json_any_more_is_told(ledger: SqlLedger, table: str, column: str) -> None:
    with ledger.database.writing() as connection:
        connection.execute(sa.text(f"UPDATE {table} SET {column} = '{{\"' || {column}"))
    with pytest.raises(LedgerDamaged, match="run seriatim ledger verify"):
        _ = [[(entry.facts, entry.circumstances) for entry in ledger.entries()], ledger.records()]
    assert not ledger.verify().sound


def test_a_missing_or_an_added_row(ledger: SqlLedger) -> None:
    for table in metadata.sorted_tables:
        with ledger.database.reading() as connection:
            rows = [row._asdict() for row in connection.execute(sa.select(table))]
        keys = [column.name for column in table.primary_key]
        for row in rows if table.name != "entries" else rows[:-1]:
            which = sa.and_(*(table.c[key] == row[key] for key in keys))
            with ledger.database.writing() as connection:
                connection.execute(table.delete().where(which))
            assert not ledger.verify().sound, f"a row of {table.name} went unseen"
            with ledger.database.writing() as connection:
                connection.execute(table.insert().values(row))
        added = {name: f"{value}x" if isinstance(value, str) else value for name, value in rows[-1].items()}
        added |= {name: 999 for name in ("seq", "number") if name in added}
        with ledger.database.writing() as connection:
            connection.execute(table.insert().values(added))
        assert not ledger.verify().sound, f"a row was put into {table.name} unseen"
        which = sa.and_(*(table.c[key] == added[key] for key in keys))
        with ledger.database.writing() as connection:
            connection.execute(table.delete().where(which))
    assert ledger.verify().sound


def test_the_last_entry_taken_off_is_found_through_the_rows(ledger: SqlLedger) -> None:
    """Cutting the tail leaves a whole chain; the row, the folder or a manifest gives it away."""
    with ledger.database.writing() as connection:
        connection.execute(sa.text("DELETE FROM entries WHERE seq = (SELECT max(seq) FROM entries)"))
    assert not ledger.verify().sound


def test_a_restored_backup_is_behind(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    ledger = open_ledger(path)
    publish(ledger, destination=tmp_path / "out")
    backup = path.read_bytes()
    publish(ledger, destination=tmp_path / "out")
    path.write_bytes(backup)
    assert any("behind" in fault for fault in ledger.verify().faults)
    with pytest.raises(LedgerError, match="old backup"):
        ledger.state("ward")


def test_a_flipped_byte_in_the_database_file(tmp_path: Path) -> None:
    """At random places of the file: either no row reads differently, or it is found."""
    path = tmp_path / "ledger.db"
    ledger = open_ledger(path)
    publish(ledger, ["ann", "bob"])
    publish(ledger, ["bob", "cid"])
    sound, rows = path.read_bytes(), _dump(path)
    chance, n_different = random.Random(5), 0
    filled = [at for at in range(100, len(sound)) if sound[at]]
    for at in chance.sample(filled, 100):
        path.write_bytes(sound[:at] + bytes([sound[at] ^ (1 << chance.randrange(8))]) + sound[at + 1 :])
        if _dump(path) != rows:
            n_different += 1
            try:
                found = not open_ledger(path).verify().sound
            except LedgerError:
                found = True
            assert found, f"a flip at byte {at} went unseen"
    assert n_different > 20


def _dump(path: Path) -> Any:
    connection = sqlite3.connect(path)
    try:
        return [
            connection.execute(f"SELECT * FROM {table.name} ORDER BY 1, 2").fetchall()
            for table in metadata.sorted_tables
        ]
    except (sqlite3.Error, UnicodeDecodeError):
        return None
    finally:
        connection.close()
