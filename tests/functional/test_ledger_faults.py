"""Kills, rivals, full disks, closed doors and files that are something else."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier

import psycopg
import pytest
import sqlalchemy as sa
from support.ledgers import SECRET, made_groups, made_policy, publish, reserve

from seriatim.errors import InputError, LedgerDamaged, LedgerError, LedgerMissing, LedgerMoved, SeriatimError
from seriatim.ledger import catalogue, seals, shelf
from seriatim.ledger.sql_ledger import SqlLedger, open_ledger
from seriatim.ports import Reservation
from seriatim.storage import database as databases

TESTS = Path(__file__).parents[1]


def test_killed_at_any_moment_the_ledger_stands(ledger_url: str, tmp_path: Path) -> None:
    script = [sys.executable, "-m", "support.killed_writers"]
    command = [*script, ledger_url, str(tmp_path / "shelf"), str(tmp_path / "out"), "3", "7"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False, cwd=TESTS)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 3


def test_of_writers_at_once_exactly_one_wins(ledger_url: str, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    state = open_ledger(ledger_url, shelf=shelf).state("ward")
    start = Barrier(4)

    def rival(number: int) -> str:
        ledger = open_ledger(ledger_url, shelf=shelf)
        start.wait(timeout=60)
        try:
            reserve(ledger, [f"p{number}", "ann"], state=state)
        except LedgerMoved:
            return "moved"
        return "won"

    with ThreadPoolExecutor(4) as pool:
        outcomes = sorted(pool.map(rival, range(4)))
    assert outcomes == ["moved", "moved", "moved", "won"]
    ledger = open_ledger(ledger_url, shelf=shelf)
    assert len(ledger.records()) == 1
    ledger.resume()
    check = ledger.verify()
    assert check.sound
    assert check.notes == ()


@pytest.mark.parametrize("ledger_url", [pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True)
def test_machines_whose_shelf_has_no_locks_leave_each_other_alone(
    ledger_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database's locks stand for those of a shared folder that has none."""
    monkeypatch.setattr(shelf.fcntl, "flock", lambda *_: None)
    here, there = (open_ledger(ledger_url, shelf=tmp_path / "shelf") for _ in range(2))
    with here.stage() as folder:
        (folder / "table.csv").write_text("half")
        there.resume()
        publish(there, ["bob"])
        assert (folder / "table.csv").exists()
        assert not [note for note in there.verify().notes if "staging" in note]
    with here.shelf.sealing(), pytest.raises(LedgerError, match="another process is sealing"), there.shelf.sealing(0.1):
        pass
    dead = tmp_path / "shelf" / ".staging-dead"
    dead.mkdir()
    there.resume()
    assert not dead.exists()


def test_two_that_open_a_new_ledger_at_once(ledger_url: str, tmp_path: Path) -> None:
    start = Barrier(3)

    def opener(_: int) -> int:
        start.wait(timeout=60)
        return len(open_ledger(ledger_url, shelf=tmp_path / "shelf").entries())

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(opener, range(3))) == [0, 0, 0]


def test_a_writer_that_does_not_let_go(ledger_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "PATIENCE", 0.3)
    ledger = open_ledger(ledger_url, shelf=tmp_path / "shelf")
    state = ledger.state("ward")
    with ledger.database.writing():
        assert ledger.records() == []  # readers are not kept out
        with pytest.raises(LedgerError, match="another writer"):
            reserve(ledger, state=state)
    assert reserve(ledger).number == 1
    assert ledger.verify().notes[0].endswith("resume")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "small"
    place.mkdir()
    if os.getuid() != 0:
        pytest.skip("only root may mount a small disk")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", place], check=False).returncode:
        pytest.skip("this machine mounts no tmpfs")
    yield place
    subprocess.run(["umount", place], check=True, timeout=30)


def test_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    """Publish until the disk is full: a clear error, no half of anything, and on it goes when there is room."""
    ballast = small_disk / "ballast"
    ledger = open_ledger(small_disk / "ledger.db")
    ballast.write_bytes(b"x" * 100_000)
    messages = []
    for size in (60_000, 20_000, 5_000, 1_000, 100):
        while True:
            before = len(ledger.records())
            try:
                _publish_bytes(ledger, size, tmp_path / "out")
            except SeriatimError as error:
                messages.append(str(error))
                check = ledger.verify()
                assert check.sound, check.faults
                assert len(ledger.records()) in (before, before + 1)
                break
    assert all("\n" not in message and "space" in message.lower() for message in messages), messages
    ballast.unlink()
    ledger.resume()
    publish(ledger, destination=tmp_path / "out")
    check = ledger.verify([tmp_path / "out"])
    assert check.sound
    assert check.notes == ()


def _publish_bytes(ledger: SqlLedger, size: int, destination: Path) -> None:
    with ledger.stage() as folder:
        (folder / "table.csv").write_bytes(b"x" * size)
        state = ledger.state("ward")
        record = ledger.reserve(
            Reservation(
                state=state,
                secret=SECRET,
                policy=made_policy(),
                staged=folder,
                groups=made_groups(["ann"]),
                n_published=1,
                destination=destination,
            )
        )
    ledger.seal("ward", record.number)


def test_a_file_too_large_for_the_destination(tmp_path: Path) -> None:
    """The limit of a process stands for a disk that fills up while the release is copied out."""
    ledger = open_ledger(tmp_path / "ledger.db")
    with ledger.stage() as folder:
        (folder / "table.csv").write_bytes(b"x" * 300_000)
        asked = Reservation(
            state=ledger.state("ward"),
            secret=SECRET,
            policy=made_policy(),
            staged=folder,
            groups=made_groups(["ann"]),
            n_published=1,
            destination=tmp_path / "out",
        )
        ledger.reserve(asked)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        with pytest.raises(SeriatimError, match=r"too large.*resume"):
            ledger.seal("ward", 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list((tmp_path / "out").iterdir()) == []
    assert ledger.verify().sound
    assert [record.state for record in ledger.resume()] == ["sealed"]
    assert ledger.verify([tmp_path / "out"]).notes == ()


def test_a_destination_that_is_a_file(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "ledger.db")
    reserve(ledger, destination=tmp_path / "out")
    (tmp_path / "out").rmdir()
    (tmp_path / "out").write_text("a file")
    with pytest.raises(SeriatimError, match="run seriatim ledger resume") as raised:
        ledger.seal("ward", 1)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", [b"age,zip\n1,2\n" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_ledger(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ledger.db").write_bytes(content)
    with pytest.raises(LedgerDamaged):
        open_ledger(tmp_path / "ledger.db")
    assert (tmp_path / "ledger.db").read_bytes() == content


def test_a_database_of_something_else(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "ledger.db")
    connection.execute("CREATE TABLE songs (name TEXT)")
    connection.commit()
    connection.close()
    with pytest.raises(InputError, match="something else"):
        open_ledger(tmp_path / "ledger.db")


def test_a_ledger_from_a_newer_version(ledger_url: str, tmp_path: Path) -> None:
    ledger = open_ledger(ledger_url, shelf=tmp_path / "shelf")
    for revision, error in (("9999", "newer Seriatim"), ("00~1", "cannot be read")):
        with ledger.database.writing() as connection:
            connection.execute(sa.text("UPDATE ledger_version SET version_num = :to"), {"to": revision})
        with pytest.raises(LedgerError, match=error):
            open_ledger(ledger_url, shelf=tmp_path / "shelf")


def test_addresses_that_cannot_work(tmp_path: Path) -> None:
    for address, error in {
        "sqlite://": "outlive",
        "sqlite:///:memory:": "outlive",
        "mysql://host/db": "mysql",
        "postgresql://nobody@127.0.0.1:1/none": r"\(shelf; ",
        str(tmp_path / "none" / "ledger.db"): "No such file",
    }.items():
        with pytest.raises(SeriatimError, match=error):
            open_ledger(address)
    with pytest.raises(SeriatimError, match="cannot reach") as raised:
        open_ledger("postgresql://nobody:hidden@127.0.0.1:1/none", shelf=tmp_path / "shelf")
    assert "hidden" not in str(raised.value)
    with pytest.raises(LedgerMissing, match="no ledger here"):
        open_ledger(tmp_path / "typo.db", create=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("asked", "seconds"), [("", "10"), ("?connect_timeout=3", "3")])
def test_an_address_may_say_how_long_to_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, seconds: str
) -> None:
    heard: list[str] = []

    def connect(*_: object, connect_timeout: str = "", **__: object) -> None:
        heard.append(str(connect_timeout))
        raise psycopg.OperationalError("nobody is there")

    monkeypatch.setattr(psycopg, "connect", connect)
    with pytest.raises(SeriatimError, match=r"none(.connect_timeout=3)?: cannot reach"):
        open_ledger(f"postgresql://nobody@127.0.0.1:1/none{asked}", shelf=tmp_path / "shelf")
    assert heard == [seconds]


def test_opening_an_existing_ledger_does_not_import_alembic(tmp_path: Path) -> None:
    open_ledger(tmp_path / "ledger.db")
    code = (
        "import sys; from seriatim.ledger.sql_ledger import open_ledger; "
        f"open_ledger({str(tmp_path / 'ledger.db')!r}).state('ward'); sys.exit('alembic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_killed_at_any_command_nothing_is_lost_doubled_or_left_to_repair(ledger_url: str, tmp_path: Path) -> None:
    script = [sys.executable, "-m", "support.killed_stewards"]
    command = [*script, ledger_url, str(tmp_path / "shelf"), str(tmp_path / "lives"), "3", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False, cwd=TESTS)
    assert done.returncode == 0, done.stderr
    assert sum(json.loads(done.stdout).values()) >= 1


def test_what_a_crash_left_before_its_row_was_committed_is_cleared_by_resume(ledger_url: str, tmp_path: Path) -> None:
    ledger = open_ledger(ledger_url, shelf=tmp_path / "shelf")
    publish(ledger)
    left = ledger.shelf.release("gone", 1)
    left.parent.mkdir(mode=0o700)
    left.mkdir(mode=0o700)
    (left / "groups.parquet").write_bytes(b"x")
    assert any("resume clears it" in note for note in ledger.verify().notes)
    ledger.resume()
    assert not left.exists()
    assert ledger.verify().notes == ()


def test_a_file_that_a_crash_left_half_written_is_cleared_by_resume(ledger_url: str, tmp_path: Path) -> None:
    ledger = open_ledger(ledger_url, shelf=tmp_path / "shelf")
    publish(ledger)
    left = ledger.shelf.release("ward", 1) / ".people.parquet.next.partial"
    left.touch(mode=0o600)
    assert any("resume clears it" in note for note in ledger.verify().notes)
    ledger.resume()
    assert not left.exists()
    assert ledger.verify().notes == ()


def test_a_delivery_that_was_recorded_but_not_copied_is_finished_by_resume(ledger_url: str, tmp_path: Path) -> None:
    ledger = open_ledger(ledger_url, shelf=tmp_path / "shelf")
    state = ledger.state("ward")
    with ledger.stage() as folder:
        (folder / "public").mkdir()
        (folder / "public" / "table.csv").write_text("age\n30\n")
        groups = made_groups(["ann", "bob"])
        ledger.reserve(
            Reservation(
                state=state, secret=SECRET, policy=made_policy(), staged=folder, groups=groups, n_published=2
            )
        )  # fmt: skip
    ledger.seal("ward", 1)
    given = tmp_path / "given"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seals, "hand_out_sealed", _killed)
        with pytest.raises(KeyboardInterrupt):
            ledger.deliver("ward", 1, ["lab"], given)
        with pytest.raises(InputError):
            ledger.deliver("ward", 7, ["lab"], given)
    assert not any(given.iterdir())
    (note,) = ledger.verify().notes
    assert "a delivery is not finished" in note
    ledger.resume()
    assert (given / "ward-0001" / "table.csv").is_file()
    assert ledger.records()[0].recipients == ("lab",)
    assert ledger.verify().notes == ()


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


class _Clock(datetime):
    """A clock that somebody set."""

    shown = datetime(2026, 5, 1, tzinfo=UTC)

    @classmethod
    def now(cls, _: object = None) -> datetime:  # type: ignore[override]
        return cls.shown


@pytest.mark.parametrize("year", [1, 1970, 9999])
def test_a_clock_that_was_never_set_publishes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, year: int
) -> None:
    ledger = open_ledger(tmp_path / "ledger.db")
    monkeypatch.setattr(catalogue, "datetime", _Clock)
    monkeypatch.setattr(_Clock, "shown", datetime(year, 1, 1, tzinfo=UTC))
    with pytest.raises(InputError, match=f"clock of this machine: the year {year}; allowed: a year from 2025"):
        publish(ledger)
    assert ledger.entries() == []


def test_a_clock_that_went_back_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_ledger(tmp_path / "ledger.db")
    monkeypatch.setattr(catalogue, "datetime", _Clock)
    publish(ledger)
    monkeypatch.setattr(_Clock, "shown", datetime(2026, 4, 30, 1, tzinfo=UTC))
    publish(ledger)
    assert ledger.verify().notes == ()
    monkeypatch.setattr(_Clock, "shown", datetime(2025, 1, 1, tzinfo=UTC))
    publish(ledger)
    check = ledger.verify()
    assert check.sound
    assert "is dated 2025-01-01, after one of 2026-05-01: a clock was wrong" in check.notes[0]
