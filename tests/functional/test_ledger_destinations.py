"""A bad folder for releases is found before anything is recorded; an old backup, wherever the ledger published."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from support.command_line import seriatim, write_policy, write_view
from support.ledgers import SECRET, made_groups, made_policy, publish, reserve

from seriatim.errors import InputError, LedgerBehind, SeriatimError
from seriatim.ledger import seals
from seriatim.ledger.sql_ledger import SqlLedger, open_ledger
from seriatim.ports import Reservation

PUBLISH = ("publish", "view.csv", "-p", "policy.toml", "--out", "elsewhere")
REPLAY = ("gate", "replay", "view.csv", "--x", "age", "--y", "ill", "--gate", "g")


@pytest.fixture
def ledger(ledger_url: str, tmp_path: Path) -> SqlLedger:
    return open_ledger(ledger_url, shelf=tmp_path / "shelf")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def test_what_is_no_manifest_of_ours_is_passed_over(ledger: SqlLedger, out: Path) -> None:
    """A pipe would be waited on for ever; a folder and a text without a chain say nothing about this series."""
    publish(ledger, destination=out)
    folder = out / "ward-0002"
    for name, make in (("manifest.json", Path.mkdir), ("private", Path.mkdir), ("public", Path.mkdir)):
        make(folder / name, parents=True)
    os.mkfifo(folder / "private" / "manifest.json")
    (folder / "public" / "manifest.json").write_text('{"chain":"someone else\'s"}')
    assert ledger.state("ward", out).n_releases == 1


@pytest.mark.parametrize("inside", ["shelf", "shelf/ward", "shelf/new/deeper", "link/ward"])
def test_the_ledgers_own_folder_is_no_destination(ledger: SqlLedger, tmp_path: Path, inside: str) -> None:
    """What lay there would be taken for a release that the ledger does not know: damaged for good."""
    publish(ledger)
    (tmp_path / "link").symlink_to("shelf")
    there = tmp_path / inside
    with pytest.raises(InputError, match="inside the ledger's own folder"):
        publish(ledger, destination=there)
    with pytest.raises(InputError, match="inside the ledger's own folder"):
        ledger.deliver("ward", 1, ["lab"], there)
    reserve(ledger)
    with pytest.raises(InputError, match="inside the ledger's own folder"):
        ledger.resume(out=there)
    ledger.resume()
    assert ledger.verify().sound
    assert [(one.state, one.recipients) for one in ledger.records()] == [("sealed", ("office",))] * 2


@pytest.mark.parametrize(
    "command",
    [
        (*PUBLISH, "--ledger", "sqlite:///ledger.db.shelf/s/000001/other.db"),
        (*PUBLISH, "--ledger", "sqlite:///other.db?shelf=ledger.db.shelf/s"),
        (*PUBLISH, "--ledger", "sqlite:///releases/s-0001/public/other.db"),
        (*REPLAY, "--journal", "sqlite:///ledger.db.shelf/s/journal.db"),
        (*REPLAY, "--journal", "sqlite:///releases/s-0001/journal.db"),
        ("demo", "--out", "ledger.db.shelf/demo"),
    ],
)
def test_no_other_database_begins_in_a_ledgers_own_folder(tmp_path: Path, command: tuple[str, ...]) -> None:
    write_view(tmp_path, rows=400)
    write_policy(tmp_path, series="s")
    assert seriatim(tmp_path, "publish", "view.csv", "-p", "policy.toml").code == 0
    before = {path for path in tmp_path.rglob("*") if path.parent != tmp_path}
    ran = seriatim(tmp_path, *command)
    assert (ran.code, {path for path in tmp_path.rglob("*") if path.parent != tmp_path}) == (2, before), ran
    assert "inside a ledger's own folder" in ran.err or "inside a release" in ran.err


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without a name are Linux's")
def test_a_kill_while_a_destination_is_tried_leaves_nothing(
    ledger: SqlLedger, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that was tried with a folder kept it, and resume knew nothing of it: no release was reserved."""
    monkeypatch.setattr(Path, "rmdir", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    with suppress(KeyboardInterrupt):
        reserve(ledger, ["ann", "bob"], out)
    assert not list(out.glob(".*"))


@pytest.mark.parametrize("inside", ["", "public", "private", "public/deeper"])
def test_a_release_is_no_destination(tmp_path: Path, inside: str) -> None:
    """A release with its private part would lie among files that recipients get."""
    write_view(tmp_path)
    write_policy(tmp_path, series="s")
    asked = ("publish", "view.csv", "-p", "policy.toml", "--allow", "again", "-o")
    assert seriatim(tmp_path, *asked, "out").code == 0
    before = sorted(tmp_path.rglob("*"))
    for words in (
        (*asked, f"out/s-0001/{inside}"),
        ("ledger", "deliver", "s", "1", "--to", "lab", "-o", f"out/s-0001/{inside}"),
    ):
        refused = seriatim(tmp_path, *words)
        assert (refused.code, "inside a release" in refused.err) == (2, True), refused
    assert sorted(tmp_path.rglob("*")) == before
    assert len(open_ledger(tmp_path / "ledger.db").records()) == 1


class TestADeliveryThatCannotBeMade:
    @pytest.fixture
    def made(self, ledger: SqlLedger, out: Path) -> SqlLedger:
        with ledger.stage() as folder:
            (folder / "public").mkdir()
            (folder / "public" / "table.csv").write_text("age\n30\n")
            asked = Reservation(
                state=ledger.state("ward"),
                secret=SECRET,
                policy=made_policy(),
                staged=folder,
                groups=made_groups(["ann", "bob"]),
                n_published=2,
                destination=out,
            )
            ledger.reserve(asked)
        ledger.seal("ward", 1)
        return ledger

    @pytest.mark.parametrize("where", ["out", "/proc", "file/below"])
    def test_is_not_recorded(self, made: SqlLedger, tmp_path: Path, where: str) -> None:
        """The publisher's own copy was to be moved away for it, and resume failed until it was."""
        (tmp_path / "file").touch()
        with pytest.raises(InputError, match="out"):
            made.deliver("ward", 1, ["lab"], tmp_path / where)
        assert made.records()[0].recipients == ()
        assert made.verify().notes == ()
        assert made.resume() == []

    def test_one_copy_may_be_for_several(self, made: SqlLedger, tmp_path: Path) -> None:
        for name in ("lab", "office"):
            made.deliver("ward", 1, [name], tmp_path / "given")
        assert made.records()[0].recipients == ("lab", "office")
        assert made.verify([tmp_path / "given"]).sound

    def test_is_finished_elsewhere_once_its_folder_is_gone(
        self, made: SqlLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(seals, "hand_out_sealed", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                made.deliver("ward", 1, ["lab"], tmp_path / "given")
        shutil.rmtree(tmp_path / "given", ignore_errors=True)
        (tmp_path / "given").write_text("in the way")
        (tmp_path / "shelf" / "..delivering-0123.partial").write_text("half a note")
        with pytest.raises(InputError, match="--out"):
            made.resume()
        made.resume(out=tmp_path / "stick")
        assert (tmp_path / "stick" / "ward-0001" / "table.csv").is_file()
        assert not list((tmp_path / "shelf").glob(".*delivering*"))
        assert made.verify([tmp_path / "stick"]).notes == ()

    def test_a_full_disk_is_told_as_the_folder_of_the_copy(
        self, made: SqlLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "full")

        monkeypatch.setattr(seals, "_copy", full)
        with pytest.raises(SeriatimError, match=r"given.*No space left on device.*resume"):
            made.deliver("ward", 1, ["lab"], tmp_path / "given")
        assert any("not finished" in note for note in made.verify().notes)
        monkeypatch.undo()
        made.resume()
        assert (tmp_path / "given" / "ward-0001" / "table.csv").is_file()


class TestARestoredBackup:
    """Releases 1 and 2 went to ``out``; the backup of the ledger and its shelf is from between them."""

    @pytest.fixture
    def behind(self, tmp_path: Path, out: Path) -> SqlLedger:
        ledger = open_ledger(tmp_path / "ledger.db", shelf=tmp_path / "shelf")
        publish(ledger, destination=out)
        shutil.copy(tmp_path / "ledger.db", tmp_path / "backup.db")
        shutil.copytree(tmp_path / "shelf", tmp_path / "backup-shelf")
        publish(ledger, ["bob", "cid"], destination=out)
        return open_ledger(tmp_path / "backup.db", shelf=tmp_path / "backup-shelf")

    def test_is_found_when_the_next_release_goes_elsewhere(self, behind: SqlLedger, tmp_path: Path) -> None:
        for elsewhere in (tmp_path / "elsewhere", None):
            with pytest.raises(LedgerBehind, match="release 2"):
                behind.state("ward", elsewhere)

    def test_is_found_when_an_old_release_is_delivered(self, behind: SqlLedger) -> None:
        with pytest.raises(LedgerBehind, match="release 2"):
            behind.deliver("ward", 1, ["lab"])
        assert behind.records()[0].recipients == ("office",)

    def test_is_found_by_the_command(self, tmp_path: Path) -> None:
        view, policy = write_view(tmp_path), write_policy(tmp_path)
        assert seriatim(tmp_path, "publish", str(view), "-p", str(policy), "-o", "a").code == 0
        shutil.copytree(tmp_path / "ledger.db.shelf", tmp_path / "kept.shelf")
        shutil.copy(tmp_path / "ledger.db", tmp_path / "kept.db")
        later = write_view(tmp_path, 27, "later.csv")
        assert seriatim(tmp_path, "publish", str(later), "-p", str(policy), "-o", "a").code == 0
        shutil.copy(tmp_path / "kept.db", tmp_path / "ledger.db")
        shutil.rmtree(tmp_path / "ledger.db.shelf")
        shutil.copytree(tmp_path / "kept.shelf", tmp_path / "ledger.db.shelf")
        again = seriatim(tmp_path, "publish", str(later), "-p", str(policy), "-o", "b")
        assert again.code == 4, again.err
        assert "restore the newest" in again.err
        assert not (tmp_path / "b").exists()


def _a_file(out: Path) -> None:
    out.write_text("mine")


def _a_dangling_link(out: Path) -> None:
    out.symlink_to(out.parent / "nowhere")


def _below_a_file(out: Path) -> None:
    out.parent.joinpath("file").write_text("mine")
    out.symlink_to(out.parent / "file")


def _somebody_elses_release(out: Path) -> None:
    (out / "ward-0001").mkdir(parents=True)
    (out / "ward-0001" / "table.csv").write_text("mine")


def _a_link_to_where_nothing_can_be_made(out: Path) -> None:
    out.symlink_to("/proc/self")


class TestABadDestination:
    @pytest.mark.parametrize(
        "make",
        [_a_file, _a_dangling_link, _below_a_file, _somebody_elses_release, _a_link_to_where_nothing_can_be_made],
    )
    def test_records_nothing(self, ledger: SqlLedger, out: Path, make: object) -> None:
        make(out)  # type: ignore[operator]
        state = ledger.state("ward")
        with pytest.raises(InputError, match="out"):
            reserve(ledger, destination=out, state=state)
        assert ledger.entries() == []
        check = ledger.verify()
        assert (check.sound, check.notes) == (True, ())

    @pytest.mark.parametrize("kind", ["file", "folder", "link"])
    def test_a_left_over_partial_is_no_hindrance(self, ledger: SqlLedger, out: Path, kind: str) -> None:
        out.mkdir()
        partial = out / ".ward-0001.partial"
        if kind == "file":
            partial.write_text("half")
        elif kind == "folder":
            (partial / "deep").mkdir(parents=True)
            (partial / "deep" / "x").write_text("half")
        else:
            partial.symlink_to(out.parent / "nowhere")
        assert publish(ledger, destination=out).state == "sealed"
        assert [path.name for path in out.iterdir()] == ["ward-0001"]

    def test_the_command_says_so_in_one_line_and_burns_no_number(self, tmp_path: Path) -> None:
        view, policy = write_view(tmp_path), write_policy(tmp_path)
        (tmp_path / "taken").write_text("mine")
        for out in ("taken", "taken/below"):
            refused = seriatim(tmp_path, "publish", str(view), "-p", str(policy), "-o", out)
            assert refused.code == 2, refused.err
            assert len(refused.err.splitlines()) == 1
            assert "taken" in refused.err
        made = seriatim(tmp_path, "publish", str(view), "-p", str(policy), "-o", "good")
        assert "release 1" in made.out


class TestResumeElsewhere:
    def test_finishes_what_the_destination_no_longer_takes(self, ledger: SqlLedger, out: Path, tmp_path: Path) -> None:
        reserve(ledger, destination=out)
        shutil.rmtree(out, ignore_errors=True)
        out.write_text("in the way")
        with pytest.raises(InputError, match="--out"):
            ledger.resume()
        there = tmp_path / "there"
        (done,) = ledger.resume(out=there)
        assert (done.state, done.destination) == ("sealed", str(there))
        assert (there / "ward-0001" / "table.csv").is_file()
        check = ledger.verify([there])
        assert (check.sound, check.notes) == (True, ())
        assert ledger.records()[0].destination == str(there)

    def test_a_sealed_release_is_not_moved(self, ledger: SqlLedger, out: Path, tmp_path: Path) -> None:
        publish(ledger, destination=out)
        entries = ledger.entries()
        assert ledger.resume(out=tmp_path / "there") == []
        assert ledger.entries() == entries

    def test_by_the_command(self, tmp_path: Path) -> None:
        ledger = open_ledger(tmp_path / "ledger.db")
        reserve(ledger, destination=tmp_path / "out")
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        done = seriatim(tmp_path, "ledger", "resume", "--out", "there")
        assert done.code == 0, done.err
        assert (tmp_path / "there" / "ward-0001" / "table.csv").is_file()
