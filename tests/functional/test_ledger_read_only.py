"""Verify and show need no right to write; what cannot be written says so; an erasure cut short is no damage."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.fork import forked
from support.ledgers import publish

from seriatim.errors import SeriatimError
from seriatim.ledger.sql_ledger import SqlLedger, open_ledger

NOBODY = 65534


@pytest.fixture
def home() -> Iterator[Path]:
    """A ledger with two releases in a folder that a plain user can reach."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    ledger = open_ledger(folder / "ledger.db")
    publish(ledger, ["ann", "bob"])
    publish(ledger, ["bob", "cid"])
    yield folder
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o700)
    shutil.rmtree(folder)


def as_plain_user(folder: Path, work: Callable[[], None]) -> None:
    """Do the work as the owner of the folder, who is not root: root may write anywhere."""
    if os.getuid() == 0:
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, NOBODY, NOBODY)

    def apart() -> None:
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        work()

    assert os.waitpid(forked(apart), 0)[1] == 0


def close(*paths: Path) -> None:
    for path in paths:
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222)


def _the_file(home: Path) -> None:
    close(home / "ledger.db")


def _its_folder(home: Path) -> None:
    close(home / "ledger.db", home)


def _the_shelf(home: Path) -> None:
    shelf = home / "ledger.db.shelf"
    close(shelf, *shelf.rglob("*"))


def _everything(home: Path) -> None:
    close(*home.rglob("*"), home)


@pytest.mark.parametrize("closed", [_the_file, _its_folder, _the_shelf, _everything])
def test_a_closed_ledger_is_shown_and_verified(home: Path, closed: Callable[[Path], None]) -> None:
    closed(home)

    def look() -> None:
        ledger = open_ledger(home / "ledger.db", create=False)
        assert [record.number for record in ledger.records()] == [1, 2]
        check = ledger.verify()
        assert check.sound, check.faults
        assert len(ledger.history("ward")) == 2

    as_plain_user(home, look)


def test_a_log_that_waits_is_read_too(home: Path) -> None:
    """A writer that was killed leaves its last entries in the log beside the file."""
    kept = home / "kept"
    kept.mkdir()
    ledger = open_ledger(home / "ledger.db")
    with ledger.database.engine.connect() as connection:  # holds the log open
        connection.exec_driver_sql("SELECT 1 FROM entries").all()
        publish(ledger, ["dan", "eve"])
        for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
            shutil.copy(home / name, kept / name)
        assert (kept / "ledger.db-wal").stat().st_size
    shutil.copytree(home / "ledger.db.shelf", kept / "ledger.db.shelf")
    close(kept / "ledger.db", kept / "ledger.db-wal", kept / "ledger.db-shm", kept)

    def look() -> None:
        found = open_ledger(kept / "ledger.db", create=False)
        assert [record.number for record in found.records()] == [1, 2, 3]
        assert found.verify().sound

    as_plain_user(home, look)


def test_writing_to_it_says_so_in_one_line(home: Path) -> None:
    _everything(home)

    def write() -> None:
        ledger = open_ledger(home / "ledger.db", create=False)
        with pytest.raises(SeriatimError) as raised:
            ledger.deliver("ward", 1, ["lab"])
        assert "\n" not in str(raised.value)
        assert "cannot be opened for writing" in str(raised.value)

    as_plain_user(home, write)


class TestAnErasureCutShort:
    @pytest.fixture
    def ledger(self, ledger_url: str, tmp_path: Path) -> SqlLedger:
        """The chain knows of the erasure, and its file still waits beside the old one."""
        ledger = open_ledger(ledger_url, shelf=tmp_path / "shelf")
        publish(ledger, ["ann", "bob"])
        people = ledger.shelf.release("ward", 1) / "people.parquet"
        old = people.read_bytes()
        ledger.erase("ward", "bob")
        people.rename(people.with_name("people.parquet.next"))
        people.write_bytes(old)
        people.chmod(0o600)
        return ledger

    def test_is_a_note_that_resume_ends(self, ledger: SqlLedger) -> None:
        check = ledger.verify()
        assert check.sound, check.faults
        assert any("erasure is not finished" in note and "resume" in note for note in check.notes)
        ledger.resume()
        check = ledger.verify()
        assert (check.sound, check.notes) == (True, ())

    def test_another_file_in_its_place_is_damage(self, ledger: SqlLedger) -> None:
        (ledger.shelf.release("ward", 1) / "people.parquet.next").write_bytes(b"other")
        assert not ledger.verify().sound
