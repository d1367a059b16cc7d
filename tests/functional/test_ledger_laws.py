"""What every ledger must keep, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pyarrow as pa
import pytest
from support.ledgers import PASTS, SECRET, made_groups, made_policy, publish, reserve

from seriatim.api.ledgers import ledger_history
from seriatim.errors import InputError, LedgerBehind, LedgerError, LedgerMoved, PolicyError, SeriatimError, TableError
from seriatim.ledger import shelf
from seriatim.ledger.sql_ledger import SqlLedger, open_ledger
from seriatim.model import SeriesState
from seriatim.ports import Reservation
from seriatim.storage.schema import VERSION_TABLE, metadata


@pytest.fixture
def ledger(ledger_url: str, tmp_path: Path) -> SqlLedger:
    return open_ledger(ledger_url, shelf=tmp_path / "shelf")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def test_a_new_series_has_an_empty_state(ledger: SqlLedger) -> None:
    assert ledger.state("ward") == SeriesState("ward")
    assert len(ledger.history("ward")) == 0
    assert ledger.records() == []
    assert ledger.verify().sound


def test_reserve_then_seal(ledger: SqlLedger, out: Path) -> None:
    reserved = reserve(ledger, ["ann", "bob"], destination=out)
    assert (reserved.number, reserved.state, reserved.sealed_at) == (1, "reserved", "")
    assert list(out.iterdir()) == []
    sealed = ledger.seal("ward", 1)
    assert sealed.state == "sealed"
    assert sealed.sealed_at
    assert sealed.approval is not None
    assert (sealed.approval.by, sealed.approval.override, sealed.recipients) == ("Dr Who", "needed", ("office",))
    target = out / "ward-0001"
    assert sorted(path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()) == [
        "deep/codebook.json",
        "manifest.json",
        "table.csv",
    ]
    manifest = json.loads((target / "manifest.json").read_text())
    assert manifest == sealed.manifest
    assert manifest["chain"] == ledger.state("ward").head
    assert manifest["rows"] == 2
    assert [path.name for path in out.iterdir()] == ["ward-0001"]
    check = ledger.verify([out])
    assert (check.sound, check.notes, check.n_releases) == (True, (), 1)


def test_sealing_twice_changes_nothing(ledger: SqlLedger, out: Path) -> None:
    sealed = publish(ledger, destination=out)
    entries = ledger.entries()
    assert ledger.seal("ward", 1) == sealed
    assert ledger.entries() == entries


def test_a_foreign_folder_at_the_destination_is_never_overwritten(ledger: SqlLedger, out: Path) -> None:
    reserve(ledger, destination=out)
    (out / "ward-0001").mkdir(parents=True)
    (out / "ward-0001" / "table.csv").write_text("mine")
    with pytest.raises(LedgerError, match="already has other content"):
        ledger.seal("ward", 1)
    assert (out / "ward-0001" / "table.csv").read_text() == "mine"
    assert ledger.records()[0].state == "reserved"
    (out / "ward-0001").rename(out / "aside")
    assert [record.state for record in ledger.resume()] == ["sealed"]


def test_a_reservation_against_an_older_version_moves_nothing(ledger: SqlLedger) -> None:
    before = ledger.state("ward")
    publish(ledger)
    with pytest.raises(LedgerMoved, match=r"from version 0 to 1.*judge again") as raised:
        reserve(ledger, ["cid", "dan"], state=before)
    assert raised.value.exit_code == 4
    assert [record.number for record in ledger.records()] == [1]
    check = ledger.verify()
    assert check.sound
    assert check.notes == ()


def test_series_do_not_move_each_other(ledger: SqlLedger) -> None:
    before = ledger.state("ward")
    publish(ledger, policy=made_policy("other"))
    assert reserve(ledger, state=before).number == 1
    assert ledger.verify().sound


def test_another_secret_is_refused(ledger: SqlLedger) -> None:
    publish(ledger)
    with pytest.raises(LedgerError, match="secret"):
        reserve(ledger, state=replace(ledger.state("ward"), secret=b"x" * 32))
    assert len(ledger.records()) == 1


def test_the_secret_is_kept_and_never_shown(ledger: SqlLedger) -> None:
    publish(ledger)
    state = ledger.state("ward")
    assert state.secret == SECRET
    for shown in (repr(state), repr(ledger.entries()), repr(ledger.records()), repr(ledger)):
        assert repr(SECRET) not in shown
        assert SECRET.hex() not in shown


def test_a_changed_policy_needs_a_new_epoch(ledger: SqlLedger) -> None:
    publish(ledger)
    with pytest.raises(PolicyError, match=r"\[promise\].*epoch = 2"):
        reserve(ledger, policy=made_policy(k=3))
    with pytest.raises(PolicyError, match="1 or 2"):
        reserve(ledger, policy=made_policy(k=3, epoch=3))
    assert reserve(ledger, policy=made_policy(k=3, epoch=2)).epoch == 2
    assert ledger.state("ward").epoch == 2
    assert len(ledger.history("ward")) == 2
    with pytest.raises(PolicyError):
        reserve(ledger, policy=made_policy())
    assert ledger.verify().sound


def test_an_epoch_may_open_with_the_same_policy_or_return_to_an_old_one(ledger: SqlLedger) -> None:
    first, other = made_policy(), made_policy(k=3, epoch=3)
    for policy in (first, replace(first, epoch=2), other, replace(first, epoch=4)):
        publish(ledger, policy=policy)
        state = ledger.state("ward")
        assert (state.epoch, state.policy_digest, state.policy) == (policy.epoch, policy.digest, policy.canonical)
    with pytest.raises(PolicyError, match="4 or 5"):
        reserve(ledger, policy=first)
    assert [record.epoch for record in ledger.records()] == [1, 2, 3, 4]
    assert ledger.verify().sound


def test_history_numbers_people_in_order_of_appearance(ledger: SqlLedger) -> None:
    publish(ledger, ["ann", "bob", None, "ann"])
    publish(ledger, ["cid", "bob"])
    history = ledger.history("ward")
    assert history.respondents.to_pylist() == ["ann", "bob", "cid"]
    assert history.values.to_pylist() == ["flu", "gout"]
    assert [past.person.tolist() for past in history] == [[0, 1, -1, 0], [2, 1]]
    assert [past.group.tolist() for past in history] == [[0, 0, 1, 1], [0, 0]]
    assert [past.value.tolist() for past in history] == [[0, 1, 0, 1], [0, 1]]
    assert all(array.dtype == np.int32 for past in history for array in (past.person, past.group, past.value))


def test_history_holds_published_rows_only(ledger: SqlLedger) -> None:
    groups = made_groups(["ann", "bob", "cid"], ["flu", None, "gout"])
    groups = groups.set_column(1, "group", pa.array([0, 0, None], pa.int32()))
    groups = groups.set_column(4, "suppressed", pa.array([False, False, True]))
    groups = groups.append_column("lineage", pa.array([7, 8, 9]))
    with ledger.stage() as folder:
        ledger.reserve(
            Reservation(
                state=ledger.state("ward"),
                secret=SECRET,
                policy=made_policy(),
                staged=folder,
                groups=groups,
                n_published=2,
            )
        )
    history = ledger.history("ward")
    (past,) = history
    assert past.person.tolist() == [0, 1]
    assert [history.values[code].as_py() for code in past.value] == ["flu", None]
    assert ledger.verify().sound


def test_history_of_each_sensitive_column_and_of_none(ledger: SqlLedger) -> None:
    def go(policy_columns: tuple[str, ...], ages: pa.Array, epoch: int) -> None:
        policy = made_policy(sensitive=policy_columns, epoch=epoch)
        groups = made_groups(["ann", "bob"])
        groups = groups.append_column("pay", ages) if "pay" in policy_columns else groups
        with ledger.stage() as folder:
            ledger.reserve(
                Reservation(
                    state=ledger.state("ward"),
                    secret=SECRET,
                    policy=policy,
                    staged=folder,
                    groups=groups,
                    n_published=2,
                )
            )

    go(("disease", "pay"), pa.array([10, 20]), 1)
    go(("disease", "pay"), pa.array(["20", "30"]), 1)
    history = ledger.history("ward", "pay")
    assert history.values.to_pylist() == ["10", "20", "30"]
    assert [past.value.tolist() for past in history] == [[0, 1], [1, 2]]
    assert len(ledger.history("ward", "height")) == 0  # a column may join a series later
    with pytest.raises(InputError, match="no release has the sensitive column height"):
        ledger_history(ledger, "ward", "height")


def test_a_series_without_sensitive_columns_has_a_history_of_people(ledger: SqlLedger) -> None:
    groups = made_groups(["ann", "bob"]).drop_columns(["disease"])
    with ledger.stage() as folder:
        ledger.reserve(
            Reservation(
                state=ledger.state("ward"),
                secret=SECRET,
                policy=made_policy(sensitive=()),
                staged=folder,
                groups=groups,
                n_published=2,
            )
        )
    (past,) = ledger.history("ward")
    assert (past.person.tolist(), past.value.tolist()) == ([0, 1], [0, 0])


def test_an_empty_release_is_a_release(ledger: SqlLedger) -> None:
    publish(ledger, [])
    publish(ledger, ["ann", "bob"])
    assert [len(past.person) for past in ledger.history("ward")] == [0, 2]
    assert ledger.verify().sound


def test_the_same_releases_make_the_same_chain(ledger: SqlLedger, out: Path, tmp_path: Path) -> None:
    twin = open_ledger(tmp_path / "twin.db")
    for one, destination in ((ledger, out), (twin, tmp_path / "twin" / "elsewhere")):
        publish(one, ["ann", "bob"], destination=destination)
        publish(one, ["bob", "cid"], destination=destination)
    assert [entry.digest for entry in ledger.entries()] == [entry.digest for entry in twin.entries()]
    for name in ("ward-0001/manifest.json", "ward-0002/manifest.json"):
        assert (out / name).read_bytes() == (tmp_path / "twin" / "elsewhere" / name).read_bytes()


def test_leaving_the_stage_without_reserving_leaves_no_trace(ledger: SqlLedger) -> None:
    with ledger.stage() as folder:
        (folder / "table.csv").write_text("never")
    assert list(ledger.shelf.root.iterdir()) == []
    with pytest.raises(KeyError), ledger.stage():
        raise KeyError("the caller's own")
    assert list(ledger.shelf.root.iterdir()) == []
    assert ledger.entries() == []


def test_names_with_path_tricks_stay_inside(ledger: SqlLedger, out: Path, tmp_path: Path) -> None:
    names = ["../../escape", "/etc/x", "a/b", "A/b", "..", ".", "", "Größe ☃", "con\n", "x" * 300, "ward", "Ward"]
    for name in names:
        publish(ledger, policy=made_policy(name), destination=out)
    assert len({shelf.slug(name) for name in names}) == len(names)
    assert len(list(out.iterdir())) == len(names)
    assert {path.name for path in tmp_path.iterdir()} <= {"shelf", "out", "ledger.db", "ledger.db-wal", "ledger.db-shm"}
    check = ledger.verify([out])
    assert check.sound
    assert check.n_releases == len(names)


@pytest.mark.parametrize("name", ["nul\0l", "half \ud800"])
def test_a_name_no_database_can_hold_is_bad_input(ledger: SqlLedger, name: str) -> None:
    with pytest.raises(PolicyError):
        reserve(ledger, policy=made_policy(name), state=SeriesState(name))
    assert ledger.entries() == []


def test_who_received_a_release_later(ledger: SqlLedger) -> None:
    publish(ledger)
    assert ledger.deliver("ward", 1, ["lab", "press"]).recipients == ("office", "lab", "press")
    assert ledger.records()[0].recipients == ("office", "lab", "press")
    assert ledger.state("ward").version == 1
    with pytest.raises(InputError, match="no release 2"):
        ledger.deliver("ward", 2, ["lab"])
    assert ledger.verify().sound


def test_resume_finishes_what_was_reserved(ledger: SqlLedger, out: Path) -> None:
    reserve(ledger, destination=out)
    check = ledger.verify()
    assert check.sound
    assert any("run seriatim ledger resume" in note for note in check.notes)
    assert [record.state for record in ledger.resume()] == ["sealed"]
    assert (out / "ward-0001" / "table.csv").is_file()
    assert ledger.resume() == []
    assert ledger.verify([out]).notes == ()


def test_a_folder_without_a_row_is_cleared_by_the_next_release(ledger: SqlLedger) -> None:
    publish(ledger)
    place = ledger.shelf.release("ward", 2)
    place.mkdir()
    (place / "groups.parquet").write_bytes(b"half")
    assert any("crash left it" in note for note in ledger.verify().notes)
    assert ledger.verify().sound
    publish(ledger)
    assert ledger.verify().notes == ()


def test_a_staging_folder_of_a_dead_writer_is_told_from_a_living_ones(ledger: SqlLedger) -> None:
    dead = ledger.shelf.root / ".staging-dead"
    dead.mkdir(mode=0o700)
    (dead / "lock").touch(mode=0o600)
    with ledger.stage() as alive:
        assert [note for note in ledger.verify().notes if str(dead) in note]
        assert not [note for note in ledger.verify().notes if str(alive.parent.parent) in note]
        publish(ledger)
        assert alive.is_dir()
    assert not dead.exists()


def test_a_staging_folder_whose_writer_died_before_it_was_locked_is_cleared(ledger: SqlLedger) -> None:
    born = ledger.shelf.root / ".staging-born"
    born.mkdir(mode=0o700)
    assert [note for note in ledger.verify().notes if str(born) in note]
    ledger.resume()
    assert not born.exists()


def test_nobody_clears_what_a_living_writer_has_just_made(ledger: SqlLedger) -> None:
    stop = Event()

    def clear() -> None:
        while not stop.is_set():
            ledger.shelf.clear_dead_stagings()

    with ThreadPoolExecutor(2) as pool:
        clearing = [pool.submit(clear) for _ in range(2)]
        try:
            for _ in range(100):
                with ledger.stage() as folder:
                    (folder / "table.csv").write_text("x")
                    assert (folder / "table.csv").is_file()
        finally:
            stop.set()
        assert [one.result() for one in clearing] == [None, None]
    ledger.shelf.clear_dead_stagings()
    assert not list(ledger.shelf.root.glob(".staging-*"))


def test_erasing_a_person_keeps_the_counts(ledger: SqlLedger) -> None:
    publish(ledger, ["ann", "bob"])
    publish(ledger, ["bob", "cid"])
    before = ledger.state("ward")
    assert ledger.erase("ward", "bob") == 1
    history = ledger.history("ward")
    assert history.respondents.to_pylist() == ["ann", None, "cid"]
    assert [past.person.tolist() for past in history] == [[0, 1], [1, 2]]
    assert ledger.verify().sound
    assert ledger.verify().notes == ()
    with pytest.raises(LedgerMoved):
        reserve(ledger, state=before)
    with pytest.raises(InputError, match="not in the ledger") as raised:
        ledger.erase("ward", "bob")
    assert "bob" not in str(raised.value)
    publish(ledger, ["bob", "ann"])
    assert ledger.history("ward").releases[-1].person.tolist() == [3, 0]
    assert b"bob" not in (ledger.shelf.release("ward", 1) / "people.parquet").read_bytes()


def test_an_erasure_cut_short_is_finished_by_resume(ledger: SqlLedger) -> None:
    publish(ledger, ["ann", "bob"])
    people = ledger.shelf.release("ward", 1) / "people.parquet"
    old = people.read_bytes()
    ledger.erase("ward", "bob")
    people.rename(people.with_name("people.parquet.next"))
    people.write_bytes(old)  # as if the power had gone between the commit and the rename
    assert ledger.history("ward").respondents.to_pylist() == ["ann", None]
    ledger.resume()
    assert people.read_bytes() != old
    assert ledger.verify().sound


class TestImport:
    def test_releases_made_before_us_are_history(self, ledger: SqlLedger) -> None:
        made = ledger.import_history(made_policy(), PASTS, SECRET)
        assert [(record.number, record.state, record.n_published) for record in made] == [
            (1, "imported", 2),
            (2, "imported", 3),
        ]
        publish(ledger, ["cid", "dan"])
        history = ledger.history("ward")
        assert [past.number for past in history] == [1, 2, 3]
        assert [past.person.tolist() for past in history] == [[0, 1], [1, -1, 2], [2, 3]]
        assert [past.group.tolist() for past in history] == [[0, 1], [0, 0, 1], [0, 0]]
        assert history.values.to_pylist() == ["flu", "gout", None]
        check = ledger.verify()
        assert check.sound
        assert check.notes == ()
        assert ledger.resume() == []

    def test_the_same_releases_are_not_counted_twice(self, ledger: SqlLedger) -> None:
        ledger.import_history(made_policy(), PASTS, SECRET)
        with pytest.raises(TableError, match="2 of 2 releases are in the ledger already, as 1, 2") as caught:
            ledger.import_history(made_policy(), PASTS)
        assert "(again)" in str(caught.value)
        assert len(ledger.records()) == 2
        assert ledger.verify().notes == ()
        assert [record.number for record in ledger.import_history(made_policy(), PASTS, again=True)] == [3, 4]
        assert ledger.verify().sound

    def test_only_before_releases_of_our_own(self, ledger: SqlLedger) -> None:
        publish(ledger)
        with pytest.raises(InputError, match="already has releases of its own"):
            ledger.import_history(made_policy(), PASTS)
        assert len(ledger.records()) == 1
        assert ledger.verify().notes == ()

    @pytest.mark.parametrize(
        ("pasts", "found"),
        [
            (PASTS.drop_columns(["group"]), "column group"),
            (PASTS.append_column("zip", PASTS["disease"]), "column .zip"),
            (PASTS.append_column("disease", PASTS["disease"]), "column disease"),
            (PASTS.set_column(0, "release", pa.array([1.5] * 5)), "column release"),
            (PASTS.set_column(0, "release", pa.array([1, None, 1, 1, 1])), "column release"),
            (PASTS.set_column(2, "group", pa.array([1, None, 1, 1, 1])), "1 empty cells"),
            (PASTS[:0], "no rows"),
        ],
    )
    def test_bad_history_is_bad_input(self, ledger: SqlLedger, pasts: pa.Table, found: str) -> None:
        with pytest.raises(TableError, match=found):
            ledger.import_history(made_policy(), pasts)
        assert ledger.entries() == []


class TestBehind:
    """A restored backup must not go on as if nothing had been published."""

    def test_on_the_shelf(self, ledger: SqlLedger, out: Path) -> None:
        publish(ledger, destination=out)
        ghost = ledger.shelf.release("ward", 2)
        shutil.copytree(ledger.shelf.release("ward", 1), ghost)
        manifest = json.loads((ghost / "manifest.json").read_text()) | {"release": 2, "chain": "f" * 64}
        before = ledger.state("ward")
        (ghost / "manifest.json").write_text(json.dumps(manifest))
        with pytest.raises(LedgerBehind, match="release 2"):
            ledger.state("ward")
        with pytest.raises(LedgerBehind):
            reserve(ledger, state=before)
        assert any("behind" in fault for fault in ledger.verify().faults)
        assert ghost.exists()

    def test_at_the_destination(self, ledger: SqlLedger, out: Path, tmp_path: Path) -> None:
        other = open_ledger(tmp_path / "newer.db")
        publish(other, destination=out)
        publish(ledger, ["x", "y"], destination=None)
        assert ledger.state("ward").version == 1
        with pytest.raises(LedgerBehind):
            ledger.state("ward", out)
        assert any("behind" in fault for fault in ledger.verify([out]).faults)
        assert any("behind" in fault for fault in ledger.verify([out / "ward-0001"]).faults)
        assert ledger.verify().sound

    def test_a_strange_manifest_at_the_destination_is_not_ours(self, ledger: SqlLedger, out: Path) -> None:
        (out / "ward-0001").mkdir(parents=True)
        (out / "ward-0001" / "manifest.json").write_text('{"name": "an app"}')
        (out / "ward-0002").mkdir(parents=True)
        (out / "ward-0002" / "manifest.json").write_text("[")
        assert ledger.state("ward", out).version == 0
        assert ledger.verify().sound
        assert len(ledger.verify([out]).faults) == 3  # nothing was compared there, and why


def test_a_changed_or_missing_shelf_file_is_found_and_not_read(ledger: SqlLedger, out: Path) -> None:
    publish(ledger, destination=out)
    folder = ledger.shelf.release("ward", 1)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        for place in {0, len(data) // 2, len(data) - 1}:
            path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
            assert any(str(path) in fault for fault in ledger.verify().faults), path
        path.unlink()
        assert any(str(path) in fault for fault in ledger.verify().faults), path
        if path.suffix == ".parquet":
            with pytest.raises(LedgerError):
                ledger.history("ward")
        path.write_bytes(data)
        path.chmod(0o600)
    (folder / "published" / "more.csv").write_text("x")
    assert any("never reserved" in fault for fault in ledger.verify().faults)
    (folder / "published" / "more.csv").unlink()
    assert ledger.verify().sound


def test_a_damaged_shelf_file_does_not_leave_the_house(ledger: SqlLedger, out: Path) -> None:
    reserve(ledger, destination=out)
    (ledger.shelf.release("ward", 1) / "published" / "table.csv").write_text("other")
    with pytest.raises(LedgerError, match="not the file that was reserved"):
        ledger.seal("ward", 1)
    assert list(out.iterdir()) == []


def test_a_changed_published_copy_is_found(ledger: SqlLedger, out: Path) -> None:
    publish(ledger, destination=out)
    (out / "ward-0001" / "table.csv").write_text("other")
    assert any("published copy" in fault for fault in ledger.verify().faults)
    shutil.rmtree(out)
    assert ledger.verify().sound
    assert any("no longer there" in note for note in ledger.verify().notes)


def test_everything_on_the_shelf_is_private(ledger: SqlLedger, out: Path) -> None:
    publish(ledger, destination=out)
    ledger.import_history(made_policy("old"), PASTS)
    with ledger.stage() as folder:
        (folder / "x").write_text("x")
        for path in [ledger.shelf.root, *ledger.shelf.root.rglob("*")]:
            if path != folder / "x":
                assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    if ledger.database.path is not None:
        assert stat.S_IMODE(ledger.database.path.stat().st_mode) == 0o600
    (ledger.shelf.release("ward", 1) / "groups.parquet").chmod(0o644)
    assert ledger.verify().sound
    assert any("open to others" in note for note in ledger.verify().notes)


def test_links_and_a_manifest_are_not_staged(ledger: SqlLedger, tmp_path: Path) -> None:
    (tmp_path / "passwd").write_text("root")
    for name in ("link", "manifest.json"):
        with ledger.stage() as folder:
            if name == "link":
                (folder / name).symlink_to(tmp_path / "passwd")
            else:
                (folder / name).write_text("{}")
            with pytest.raises(SeriatimError, match=name):
                ledger.reserve(
                    Reservation(
                        state=ledger.state("ward"),
                        secret=SECRET,
                        policy=made_policy(),
                        staged=folder,
                        groups=made_groups(["ann"]),
                        n_published=1,
                    )
                )
    assert ledger.entries() == []
    assert list(ledger.shelf.root.iterdir()) == []


def test_the_migrations_make_the_schema_that_the_code_speaks_of(ledger: SqlLedger) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with ledger.database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, metadata) == []
