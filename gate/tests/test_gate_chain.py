"""A gate's journal that somebody changed, or that is an old backup, is found out: when it is read, and by verify."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from support.command_line import seriatim
from support.gate_services import serving, start_service, until
from support.gates import AT, GATE, ask, drawn, made_journal, rules

from seriatim import api
from seriatim.errors import InputError, LedgerBehind, LedgerDamaged, LedgerError
from seriatim_gate.journal import writer as journal_writer
from seriatim_gate.journal.schema import baselines, entries, gates, records, segments, tokens
from seriatim_gate.journal.sql_journal import SqlJournal, open_journal
from seriatim_gate.ports import JournalRecord
from seriatim_gate.usecases.request_book import RequestBook

N = 130


def filled(url: str | Path, n: int = N) -> tuple[SqlJournal, RequestBook]:
    """A journal with requests in two packed runs and after them, two tokens, two baselines and held records."""
    journal = made_journal(url, versions=2)
    journal.token_book.make_token(GATE, "requester", "clinic", frozenset({"p1", "p2"}), 10)
    journal.token_book.make_token(GATE, "officer")
    journal.hold_records(GATE, [(f"p{i}", JournalRecord(i % 10, i % 5, f'{{"i":{i}}}')) for i in range(20)])
    writer, book, (xs, ys) = journal.writer(GATE), RequestBook(rules), drawn(n)
    for i in range(0, n, 10):
        writer.append(book.ask([ask(j, xs[j], ys[j]) for j in range(i, min(i + 10, n))], AT + i)[1])
    writer.close()
    return journal, book


@pytest.fixture(autouse=True)
def short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_writer, "SEGMENT", 50)


def read_all(journal: SqlJournal) -> None:
    """Do what a service does with a journal: start, read tokens, show what left, look records up."""
    book = RequestBook(rules)
    writer = journal.writer(GATE)
    try:
        book.load(writer.past())
        journal.tokens(GATE)
        journal.baselines(GATE)
        journal.bodies(GATE, range(N))
        writer.held_records([f"p{i}" for i in range(20)])
    finally:
        writer.close()


def opened(journal: SqlJournal, head: Path | None = None) -> None:
    """Start as a service does, and end."""
    writer = journal.writer(GATE, head=head)
    try:
        writer.past()
    finally:
        writer.close()


def swapped(column: sa.Column[Any], key: sa.Column[Any], one: Any, other: Any) -> sa.Executable:
    """A statement that swaps a column between two rows."""
    table = column.table
    inner = table.alias()
    first, second = (
        sa.select(inner.c[column.name]).where(inner.c[key.name] == k).scalar_subquery() for k in (one, other)
    )
    return sa.update(table).where(key.in_([one, other])).values({column: sa.case((key == one, second), else_=first)})


CHANGES: dict[str, tuple[sa.Executable, ...]] = {
    "two bodies swapped": (swapped(entries.c.body, entries.c.seq, 3, 120),),
    "two packed bodies swapped": (swapped(entries.c.body, entries.c.seq, 3, 9),),
    "a respondent": (entries.update().where(entries.c.seq == 125).values(respondent="person 999"),),
    "a time": (entries.update().where(entries.c.seq == 125).values(at=AT),),
    "a cell of a packed entry": (entries.update().where(entries.c.seq == 12).values(x=0),),
    "the last entry deleted": (
        entries.delete().where(entries.c.seq == N - 1),
        gates.update().values(last=N - 1),
    ),
    "packed runs swapped": (swapped(segments.c.packed, segments.c.first, 0, 50),),
    "a packed run deleted with its entries": (
        segments.delete().where(segments.c.first == 50),
        entries.delete().where(entries.c.seq >= 50),
        gates.update().values(last=50),
    ),
    "a role": (tokens.update().where(tokens.c.number == 1).values(role="officer"),),
    "a quota": (tokens.update().where(tokens.c.number == 1).values(quota=1_000),),
    "a token deleted": (tokens.delete().where(tokens.c.number == 2),),
    "the rules": (baselines.update().where(baselines.c.number == 1).values(rules="{}"),),
    "a version deleted": (baselines.delete().where(baselines.c.number == 2),),
    "a held record": (records.update().where(records.c.respondent == "p3").values(body='{"i":4}'),),
    "two held records swapped": (swapped(records.c.body, records.c.respondent, "p3", "p4"),),
    "the secret": (gates.update().values(secret=b"x" * 32),),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_somebody_changed_is_found_when_it_is_read_and_by_verify(ledger_url: str, change: str) -> None:
    journal, _ = filled(ledger_url)
    read_all(journal)
    assert api.gate_verify(ledger_url, GATE).sound
    with journal.database.writing() as connection:
        for statement in CHANGES[change]:
            connection.execute(statement)
    with pytest.raises(LedgerError):
        read_all(journal)
    found = api.gate_verify(ledger_url, GATE)
    assert not found.sound
    assert not any(word in " ".join(found.faults) for word in ("person", "p3", "clinic"))


def test_a_record_that_is_missing_is_found_by_verify(tmp_path: Path) -> None:
    journal, _ = filled(tmp_path / "journal.db")
    with journal.database.writing() as connection:
        connection.execute(records.delete().where(records.c.respondent == "p3"))
    assert api.gate_verify(tmp_path / "journal.db", GATE).faults == (
        "the held records have changed: 0 of 19, or some are missing",
    )


def test_no_change_of_tokens_or_baselines_covers_an_earlier_one(tmp_path: Path) -> None:
    journal, _ = filled(tmp_path / "journal.db")
    with journal.database.writing() as connection:
        connection.execute(tokens.update().where(tokens.c.number == 1).values(role="officer"))
        connection.execute(baselines.update().where(baselines.c.number == 1).values(report="[]"))
    for change in (
        lambda: journal.token_book.make_token(GATE, "auditor"),
        lambda: journal.token_book.revoke_token(GATE, 2),
        lambda: journal.add_baseline(GATE, "a", "{}", "{}", "{}"),
    ):
        with pytest.raises(LedgerDamaged):
            change()


def test_every_flipped_bit_that_changes_what_is_read_is_found(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    journal, _ = filled(path)

    def content() -> Any:
        """Everything in the journal that anybody reads; ``epoch`` only counts services."""
        with sqlite3.connect(path) as connection:
            names = ("gates", "baselines", "tokens", "records", "entries", "segments")
            rows = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}
        connection.close()
        return {name: [row[:2] + row[3:] if name == "gates" else row for row in rows[name]] for name in names}

    def reading() -> Any:
        try:
            return content()
        except (sqlite3.Error, UnicodeDecodeError):
            return None

    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    whole, before, chance, changed = path.read_bytes(), content(), random.Random(5), 0
    for _ in range(300):
        place = chance.randrange(len(whole))
        flipped = bytearray(whole)
        flipped[place] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        if reading() == before:
            continue
        changed += 1
        try:
            sound = open_journal(path).verify(GATE).sound
        except (LedgerError, InputError):
            sound = False
        assert not sound, place
    assert changed > 50
    path.write_bytes(whole)
    assert journal.verify(GATE).sound


def test_a_restored_backup_does_not_go_on(tmp_path: Path) -> None:
    path, backup = tmp_path / "journal.db", tmp_path / "backup.db"
    journal, book = filled(path, 60)
    journal.database.engine.dispose()
    shutil.copy(path, backup)
    writer, (xs, ys) = journal.writer(GATE), drawn(90)
    writer.append(book.ask([ask(j, xs[j], ys[j]) for j in range(60, 90)], AT)[1])
    head = journal.head(GATE, book.seen_at)
    assert book.seen_at > 60
    writer.close()
    page = tmp_path / "page.json"
    page.write_text(json.dumps({"items": [], "next": "", "head": head}))
    assert api.gate_verify(path, GATE, [page]).sound
    shutil.copy(backup, path)
    with pytest.raises(LedgerBehind, match="restore a newer backup"):
        opened(journal)
    told = seriatim(tmp_path, "gate", "verify", "--journal", f"sqlite:///{path}", "--gate", GATE)
    assert told.code == 4
    assert "restored backup" in told.out
    noted = next(tmp_path.glob("journal.db-head-*"))
    noted.unlink()
    assert api.gate_verify(path, GATE).sound, "nothing else knows of it"
    assert not api.gate_verify(path, GATE, [page]).sound
    opened(journal)
    noted.write_text("no")
    with pytest.raises(LedgerDamaged, match="not the noted head"):
        opened(journal)


def test_a_head_is_read_from_no_pipe_or_device(tmp_path: Path) -> None:
    journal, _ = filled(tmp_path / "journal.db", 3)
    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        writer = journal.writer(GATE, head=name)
        with pytest.raises(LedgerDamaged, match="not the noted head"):
            writer.past()
        writer.close()


def test_a_head_is_noted_where_one_wishes(ledger_url: str, tmp_path: Path) -> None:
    journal, book = filled(ledger_url, 20)
    noted = tmp_path / "elsewhere" / "head"
    noted.parent.mkdir()
    writer, (xs, ys) = journal.writer(GATE, head=noted), drawn(30)
    writer.past()
    assert json.loads(noted.read_text())["entries"] == 20
    writer.append(book.ask([ask(j, xs[j], ys[j]) for j in range(20, 30)], AT)[1])
    told = json.loads(noted.read_text())
    assert (told["entries"], told["head"]) == (30, journal.head(GATE, 29))
    assert noted.stat().st_mode & 0o77 == 0
    writer.close()
    assert api.gate_verify(ledger_url, GATE, head=noted).sound
    noted.write_text(json.dumps(told | {"entries": 31, "head": "ab" * 32}))
    with pytest.raises(LedgerBehind):
        opened(journal, noted)
    assert not api.gate_verify(ledger_url, GATE, head=noted).sound


def test_a_journal_of_before_the_first_release_is_refused(ledger_url: str) -> None:
    journal, _ = filled(ledger_url)
    with journal.database.writing() as connection:
        connection.exec_driver_sql("UPDATE journal_version SET version_num = '0001'")
    with pytest.raises(LedgerError, match=r"before the first release of Seriatim; start a new journal"):
        open_journal(ledger_url)


def test_a_service_gives_the_head_of_what_left_and_trusts_no_changed_token(ledger_url: str, tmp_path: Path) -> None:
    journal = made_journal(ledger_url)
    with journal.database.writing() as connection:
        told = json.dumps({"schema": "seriatim.gate.replay/1", "baseline": journal.baselines(GATE)[0].version})
    journal.add_baseline(GATE, journal.baselines(GATE)[0].version, *_rest(journal), told)
    with serving(ledger_url, tmp_path) as running:
        assert running.send("GET", "/v1/released", "requester")[1]["head"] == ""
        for i in range(20):
            body = {"respondent": f"p{i}", "x": ["30-34"], "y": "L2"}
            assert running.send("POST", "/v1/requests", "requester", body, f"k{i}")[0] == 202
        page = running.send("GET", "/v1/released?limit=3", "requester")[1]
        assert page == running.send("GET", "/v1/released?limit=3", "requester")[1]
        (tmp_path / "page.json").write_text(json.dumps(page))
        assert api.gate_verify(ledger_url, GATE, [tmp_path / "page.json"]).sound
        bound = journal.token_book.make_token(GATE, "requester", respondents=frozenset({"p1"}))[1]
        until(lambda: running.send("GET", "/v1/released", bound)[0] == 200)
        assert running.send("GET", "/v1/released", bound)[1]["head"] == "", "it would tell when others' records left"
        with journal.database.writing() as connection:
            connection.execute(tokens.update().where(tokens.c.number == 1).values(role="officer"))
        until(lambda: running.send("GET", "/v1/released", "auditor")[0] == 401)
        assert running.send("GET", "/v1/officer/queue", "requester")[0] == 401
    refused = start_service(ledger_url, tmp_path, wait=False)
    assert refused.process.wait(60) == 4
    assert "tokens have changed" in refused.log.read_text()


def _rest(journal: SqlJournal) -> tuple[str, str]:
    one = journal.baselines(GATE)[0]
    return one.content, one.rules


def test_verify_refuses_a_page_without_a_head(tmp_path: Path) -> None:
    filled(tmp_path / "journal.db", 10)
    page: Callable[[str], Path] = lambda text: tmp_path / f"{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"  # noqa: E731
    for text in ("", "[]", '{"head": ""}', '{"head": 3}', "[" * 50_000):
        page(text).write_text(text)
        with pytest.raises(InputError, match="no answer of /v1/released"):
            api.gate_verify(tmp_path / "journal.db", GATE, [page(text)])
