"""What everyone relies on in ``ports.Ledger``: stage, reserve, seal, and nothing is ever forgotten or told."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import numpy as np
import pyarrow as pa

from seriatim.errors import LedgerBehind, LedgerError, LedgerMoved, PolicyError, SeriatimError
from seriatim.model import SeriesState
from seriatim.model.draft import groups_of_columns
from seriatim.testing.clauses import clause_refusal, require_clause
from seriatim.testing.ledger import (
    AUTHOR,
    DISEASE,
    SECRET,
    SERIES,
    TABLE,
    Site,
    Wish,
    keep_wish,
    publish_wish,
    reserve_wish,
    ward_groups,
    ward_policy,
)

_PATIENCE = 60.0
_MANIFEST = "manifest.json"
_LATE = "late.csv"


def _a_new_series_is_empty(desk: Site) -> None:
    """A series that was never published has version 0, no history, no records and no faults."""
    ledger = desk.ledger()
    require_clause(ledger.state(SERIES) == SeriesState(SERIES), "a state that is not empty")
    require_clause(len(ledger.history(SERIES)) == 0, "a history")
    require_clause(dict(ledger.memory(SERIES)) == {}, "a memory")
    require_clause(not ledger.records(), "records")
    require_clause(ledger.verify().sound, "faults")


def _nothing_is_seen_before_it_is_sealed(desk: Site) -> None:
    """A reserved release is counted but not at its destination; a sealed one is there, with its manifest."""
    ledger = desk.ledger()
    reserved = reserve_wish(ledger, Wish(destination=desk.out))
    require_clause((reserved.number, reserved.state) == (1, "reserved"), f"release {reserved.number}, {reserved.state}")
    require_clause(not _visible(desk.out), "files at the destination before the seal")
    sealed = ledger.seal(SERIES, 1)
    require_clause(sealed.state == "sealed", f"a release that is {sealed.state}")
    (folder,) = _visible(desk.out)
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    require_clause(names == [_MANIFEST, TABLE], f"{len(names)} files in the published folder")
    manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
    require_clause(manifest == sealed.manifest, "another manifest than the recorded one")
    require_clause(manifest["chain"] == ledger.state(SERIES).head, "a manifest without the chain head")
    require_clause(ledger.verify([desk.out]).sound, "faults after a release")


def _sealing_twice_changes_nothing(desk: Site) -> None:
    """Sealing may be repeated: the record and the state stay what they were."""
    ledger = desk.ledger()
    sealed = publish_wish(ledger, Wish(destination=desk.out))
    state = ledger.state(SERIES)
    require_clause(ledger.seal(SERIES, 1) == sealed, "another record")
    require_clause(ledger.state(SERIES) == state, "another state")


def _a_moved_series_is_refused(desk: Site) -> None:
    """A reservation judged against an older version fails with LedgerMoved and leaves no trace."""
    ledger = desk.ledger()
    before = ledger.state(SERIES)
    publish_wish(ledger)
    with clause_refusal(LedgerMoved, "a reservation against version 0 of 1"):
        reserve_wish(ledger, Wish(people=("cid", "dan"), state=before))
    require_clause(len(ledger.records(SERIES)) == 1, "a record of the refused release")
    check = ledger.verify()
    require_clause(check.sound and not check.notes, "remains of the refused release")


def _series_do_not_move_each_other(desk: Site) -> None:
    """A release of one series does not refuse a reservation of another."""
    ledger = desk.ledger()
    before = ledger.state(SERIES)
    publish_wish(ledger, Wish(policy=ward_policy("other")))
    require_clause(reserve_wish(ledger, Wish(state=before)).number == 1, "another number than 1")
    require_clause([record.series for record in ledger.records(SERIES)] == [SERIES], "records of another series")


def _of_writers_at_once_one_wins(desk: Site) -> None:
    """Of writers that were judged against the same version exactly one reserves; the others hear LedgerMoved."""
    state = desk.ledger().state(SERIES)
    start = Barrier(3)

    def rival(number: int) -> bool:
        ledger = desk.ledger()
        start.wait(_PATIENCE)
        try:
            reserve_wish(ledger, Wish(people=(f"p{number}", "ann"), state=state))
        except LedgerMoved:
            return False
        return True

    with ThreadPoolExecutor(3) as pool:
        won = sum(pool.map(rival, range(3)))
    require_clause(won == 1, f"{won} winners of 3")
    require_clause(len(desk.ledger().records()) == 1, "another number of records than 1")


def _from_reserve_on_it_counts_as_published(desk: Site) -> None:
    """After a crash between reserve and seal the release is history, the old version is refused, and seal ends it."""
    ledger = desk.ledger()
    before = ledger.state(SERIES)
    reserve_wish(ledger, Wish(destination=desk.out))
    after = desk.ledger()
    require_clause(after.state(SERIES).n_releases == 1, "a state without the reserved release")
    require_clause(len(after.history(SERIES)) == 1, "a history without the reserved release")
    with clause_refusal(LedgerMoved, "a second first release"):
        reserve_wish(after, Wish(state=before))
    require_clause(after.seal(SERIES, 1).state == "sealed", "a release that cannot be sealed after a crash")
    require_clause(len(_visible(desk.out)) == 1, "no files after the seal")
    require_clause(after.verify([desk.out]).sound, "faults after the seal")


def _a_stage_that_is_left_leaves_no_trace(desk: Site) -> None:
    """Anyone who stages files and reserves nothing leaves nothing behind, an error of theirs included."""
    ledger = desk.ledger()
    with ledger.stage() as folder:
        (folder / TABLE).write_text("never", encoding="utf-8")
    require_clause(not folder.exists(), "the staged folder")
    with clause_refusal(KeyError, "the caller's own error"), ledger.stage() as folder:
        raise KeyError
    require_clause(not folder.exists(), "the staged folder after an error")
    require_clause(not ledger.records(), "a record")


def _files_written_while_reserving_are_published(desk: Site) -> None:
    """What ``write`` writes belongs to the release like any staged file; if it fails, nothing is reserved."""
    ledger = desk.ledger()

    def fail(folder: Path) -> None:
        (folder / _LATE).write_text("half", encoding="utf-8")
        raise KeyError

    with clause_refusal(KeyError, "the writer's own error"):
        reserve_wish(ledger, Wish(write=fail))
    require_clause(not ledger.records(), "a record")
    wish = Wish(destination=desk.out, write=lambda folder: (folder / _LATE).touch())
    sealed = publish_wish(ledger, wish)
    require_clause(_LATE in sealed.manifest["files"], "a manifest without the file")
    require_clause((_visible(desk.out)[0] / _LATE).is_file(), "a release without the file")


def _links_and_manifests_are_not_staged(desk: Site) -> None:
    """A link or a manifest among the staged files is refused: only files that were written here leave the house."""
    ledger = desk.ledger()
    (desk.folder / "elsewhere").write_text("of somebody else", encoding="utf-8")
    with clause_refusal(SeriatimError, "a staged link"):
        reserve_wish(ledger, Wish(stage=lambda folder: (folder / "link").symlink_to(desk.folder / "elsewhere")))
    with clause_refusal(SeriatimError, "a staged manifest"):
        reserve_wish(ledger, Wish(stage=lambda folder: (folder / _MANIFEST).touch()))
    require_clause(not ledger.records(), "a record")


def _the_secret_stays_the_same_and_is_not_shown(desk: Site) -> None:
    """A series keeps its first secret, refuses another one, and shows it nowhere."""
    ledger = desk.ledger()
    publish_wish(ledger)
    state = ledger.state(SERIES)
    require_clause(state.secret == SECRET, "another secret")
    with clause_refusal(LedgerError, "another secret"):
        reserve_wish(ledger, Wish(state=replace(state, secret=bytes(32))))
    for shown in (repr(state), repr(ledger.records()), repr(ledger)):
        require_clause(SECRET.hex() not in shown and repr(SECRET) not in shown, "the secret in a repr")


def _a_changed_policy_needs_the_next_epoch(desk: Site) -> None:
    """Inside an epoch the policy stays; the next epoch may change it, and no epoch is left out."""
    ledger = desk.ledger()
    publish_wish(ledger)
    for policy in (ward_policy(k=3), ward_policy(k=3, epoch=3)):
        with clause_refusal(PolicyError, f"a changed policy with epoch {policy.epoch}"):
            reserve_wish(ledger, Wish(policy=policy))
    publish_wish(ledger, Wish(policy=ward_policy(k=3, epoch=2)))
    require_clause(ledger.state(SERIES).epoch == 2, "another epoch than 2")
    require_clause(len(ledger.history(SERIES)) == 2, "a history that restarts with the epoch")


def _people_are_numbered_as_they_appear(desk: Site) -> None:
    """History numbers people in the order in which they appear, keeps their numbers, and gives counterfeits -1."""
    ledger = desk.ledger()
    publish_wish(ledger, Wish(people=("ann", "bob", None, "ann")))
    publish_wish(ledger, Wish(people=("cid", "bob")))
    history = desk.ledger().history(SERIES)
    require_clause([past.person.tolist() for past in history] == [[0, 1, -1, 0], [2, 1]], "other numbers of people")
    require_clause([past.group.tolist() for past in history] == [[0, 0, 1, 1], [0, 0]], "other groups")
    require_clause([past.value.tolist() for past in history] == [[0, 1, 0, 1], [0, 1]], "other values")
    kinds = {array.dtype for past in history for array in (past.person, past.group, past.value)}
    require_clause(kinds == {np.dtype(np.int32)}, "numbers that are not int32")


def _history_holds_published_rows_only(desk: Site) -> None:
    """A suppressed record is in release.groups but not in the history; an empty release is a release."""
    ledger = desk.ledger()
    groups = ward_groups(("ann", "bob", "cid"))
    groups = groups.set_column(1, "group", pa.array([0, 0, None], pa.int32()))
    groups = groups.set_column(4, "suppressed", pa.array([False, False, True]))
    publish_wish(ledger, Wish(groups=groups))
    publish_wish(ledger, Wish(people=()))
    require_clause(
        [len(past.person) for past in ledger.history(SERIES)] == [2, 0], "other rows than the published ones"
    )


def _each_column_has_the_rows_of_its_own_table(desk: Site) -> None:
    """Where each sensitive column has a table of its own, the history of a column holds the rows of its table."""
    ledger = desk.ledger()
    both = {DISEASE: {"role": "sensitive"}, "drug": {"role": "sensitive"}}
    policy = ward_policy(columns=both)
    drugs = ward_groups(("bob", "ann")).rename_columns({DISEASE: "drug"})
    tables = {DISEASE: ward_groups(("ann", "bob", None)), "drug": drugs}
    publish_wish(ledger, Wish(policy=policy, groups=groups_of_columns(tables)))
    found = {column: next(iter(desk.ledger().history(SERIES, column))) for column in tables}
    require_clause(found[DISEASE].person.tolist() == [0, 1, -1], "other people in the first column's table")
    require_clause(found["drug"].person.tolist() == [1, 0], "other people in the second column's table")
    require_clause(len(ledger.history(SERIES, "ward")) == 0, "a history of a column that was never published")


def _memory_is_that_of_the_newest_release(desk: Site) -> None:
    """What a method wants to remember of people comes back with the next release, and only the newest of it."""
    ledger = desk.ledger()
    for slot in (7, 8):
        memory = {"slots": pa.table({"respondent": ["ann"], "slot": [slot]})}
        publish_wish(ledger, Wish(memory=memory))
    recalled = desk.ledger().memory(SERIES)
    require_clause(list(recalled) == ["slots"], "another memory")
    require_clause(recalled["slots"].to_pylist() == [{"respondent": "ann", "slot": 8}], "what was not remembered last")


def _equal_releases_make_equal_chains(desk: Site) -> None:
    """Two ledgers with the same releases have the same chain head, every release moves it, and bytes are equal."""
    heads: list[list[str]] = []
    for name in ("one", "two"):
        ledger = desk.ledger(name)
        heads.append([])
        for people in (("ann", "bob"), ("bob", "cid")):
            publish_wish(ledger, Wish(people=people, destination=desk.folder / name / "out"))
            heads[-1].append(ledger.state(SERIES).head)
    require_clause(heads[0] == heads[1], "different heads")
    require_clause(len(set(heads[0])) == 2, "a head that did not move")
    one, two = (
        {path.name: (path / _MANIFEST).read_bytes() for path in _visible(desk.folder / name / "out")}
        for name in ("one", "two")
    )
    require_clause(one == two, "manifests of different bytes")


def _a_changed_copy_is_found(desk: Site) -> None:
    """Verifying finds a published file that was changed, and one that is no longer what its manifest says."""
    ledger = desk.ledger()
    publish_wish(ledger, Wish(destination=desk.out))
    (folder,) = _visible(desk.out)
    for name in (TABLE, _MANIFEST):
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole.replace(b"1", b"2", 1) if name == _MANIFEST else b"other")
        require_clause(not ledger.verify([desk.out]).sound, f"no fault in a changed {name}")
        (folder / name).write_bytes(whole)
    require_clause(ledger.verify([desk.out]).sound, "a fault in an unchanged copy")


def _a_ledger_behind_its_releases_is_refused(desk: Site) -> None:
    """A ledger that does not know a manifest at the destination (a restored backup) raises LedgerBehind."""
    publish_wish(desk.ledger("newer"), Wish(destination=desk.out))
    old = desk.ledger("older")
    with clause_refusal(LedgerBehind, "a destination with an unknown release"):
        old.state(SERIES, desk.out)
    require_clause(not old.verify([desk.out]).sound, "no fault where a manifest is unknown")


def _a_foreign_folder_is_not_overwritten(desk: Site) -> None:
    """What stands at the destination already is left alone; the release stays reserved and can be sealed later."""
    publish_wish(desk.ledger("twin"), Wish(destination=desk.folder / "twin-out"))
    name = _visible(desk.folder / "twin-out")[0].name
    ledger = desk.ledger()
    reserve_wish(ledger, Wish(destination=desk.out))
    (desk.out / name).mkdir(parents=True)
    (desk.out / name / TABLE).write_text("mine", encoding="utf-8")
    with clause_refusal(LedgerError, "a destination that is taken"):
        ledger.seal(SERIES, 1)
    require_clause((desk.out / name / TABLE).read_text(encoding="utf-8") == "mine", "an overwritten file")
    (desk.out / name).rename(desk.folder / "aside")
    require_clause(ledger.seal(SERIES, 1).state == "sealed", "a release that cannot be sealed later")


def _names_stay_inside(desk: Site) -> None:
    """A series may have any name; its files stay below the destination, and no two series share a folder."""
    ledger = desk.ledger()
    names = ("../../escape", "/etc/x", "a/b", "A/b", "..", "Größe ☃", "x" * 200)
    for name in names:
        publish_wish(ledger, Wish(policy=ward_policy(name), destination=desk.out))
    require_clause(len(_visible(desk.out)) == len(names), "another number of folders than of series")
    strange = {path.name for path in desk.folder.iterdir()} - {"house", "out"}
    require_clause(not strange, f"{len(strange)} files outside")


def _errors_name_nobody(desk: Site) -> None:
    """No refusal repeats a respondent or a value."""
    ledger = desk.ledger()
    before = ledger.state(SERIES)
    publish_wish(ledger, Wish(people=("canary-one", "canary-two")))
    with clause_refusal(LedgerMoved, "an older version") as moved:
        reserve_wish(ledger, Wish(people=("canary-two", "canary-three"), state=before))
    with clause_refusal(PolicyError, "a changed policy") as changed:
        reserve_wish(ledger, Wish(people=("canary-two",), policy=ward_policy(k=3)))
    shown = [*moved, *changed, repr(ledger.records()), repr(ledger.history(SERIES)), repr(ledger.verify())]
    require_clause(
        not any("canary" in text or "gout" in text for text in shown), "a respondent or a value in a message"
    )


def _a_draft_waits_for_another_person(desk: Site) -> None:
    """A draft counts for nothing and is seen nowhere until somebody else than its author approves it, once."""
    ledger = desk.ledger()
    kept = keep_wish(ledger, Wish(destination=desk.out))
    require_clause([draft.state for draft in ledger.drafts()] == ["waiting"], "no draft that waits")
    require_clause(not ledger.records() and not len(ledger.history(SERIES)), "a draft that counts as released")
    require_clause(not _visible(desk.out), "files of a draft at the destination")
    with clause_refusal(SeriatimError, "the author's own approval"):
        ledger.approve(SERIES, AUTHOR)
    made = ledger.approve(SERIES, "B. Li", kept.digest)
    require_clause((made.number, made.state) == (kept.number, "sealed"), f"release {made.number}, {made.state}")
    require_clause(len(_visible(desk.out)) == 1, "no files after the approval")
    with clause_refusal(LedgerMoved, "a second approval"):
        ledger.approve(SERIES, "B. Li")
    require_clause(ledger.verify([desk.out]).sound, "faults after the approval")


def _a_draft_of_a_moved_series_is_refused(desk: Site) -> None:
    """Once the series has moved, a draft that was judged before can only be declined; its entry stays."""
    ledger = desk.ledger()
    keep_wish(ledger)
    publish_wish(ledger, Wish(people=("cid", "dan")))
    with clause_refusal(LedgerMoved, "a draft that was judged against an older version"):
        ledger.approve(SERIES, "B. Li")
    require_clause(len(ledger.records()) == 1, "a record of the refused draft")
    ledger.decline(SERIES, "too late", "B. Li")
    states = [(draft.state, draft.reason) for draft in ledger.drafts(SERIES)]
    require_clause(states == [("declined", "too late")], "a declined draft that is forgotten")
    require_clause(ledger.verify().sound, "faults after a declined draft")


def _visible(folder: Path) -> list[Path]:
    """Return the folders that a reader sees; what is being written has a hidden name."""
    return sorted(path for path in folder.glob("*") if not path.name.startswith("."))


LEDGER_CONTRACT = (
    _a_new_series_is_empty,
    _nothing_is_seen_before_it_is_sealed,
    _sealing_twice_changes_nothing,
    _a_moved_series_is_refused,
    _series_do_not_move_each_other,
    _of_writers_at_once_one_wins,
    _from_reserve_on_it_counts_as_published,
    _a_stage_that_is_left_leaves_no_trace,
    _files_written_while_reserving_are_published,
    _links_and_manifests_are_not_staged,
    _the_secret_stays_the_same_and_is_not_shown,
    _a_changed_policy_needs_the_next_epoch,
    _people_are_numbered_as_they_appear,
    _history_holds_published_rows_only,
    _each_column_has_the_rows_of_its_own_table,
    _memory_is_that_of_the_newest_release,
    _equal_releases_make_equal_chains,
    _a_changed_copy_is_found,
    _a_ledger_behind_its_releases_is_refused,
    _a_foreign_folder_is_not_overwritten,
    _a_draft_waits_for_another_person,
    _a_draft_of_a_moved_series_is_refused,
    _names_stay_inside,
    _errors_name_nobody,
)
