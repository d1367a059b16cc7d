"""A release that nobody received may be recalled: it no longer counts, and the chain keeps why."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.command_line import seriatim
from support.ledgers import SECRET, made_groups, made_policy

import seriatim as sr
from seriatim.errors import InputError
from seriatim.ledger.sql_ledger import SqlLedger, open_ledger
from seriatim.ports import ReleaseRecord, Reservation
from seriatim.testing.hospital import hospital_months


def publish(ledger: SqlLedger, people: list[str], out: Path | None = None, **more: Any) -> ReleaseRecord:
    state = ledger.state("ward", out)
    with ledger.stage() as folder:
        (folder / "public").mkdir()
        (folder / "public" / "table.csv").write_text("age\n30\n")
        asked = Reservation(
            state=state,
            secret=state.secret or SECRET,
            policy=made_policy(),
            staged=folder,
            groups=made_groups(people),
            n_published=len(people),
            destination=out,
            **more,
        )
        record = ledger.reserve(asked)
    return ledger.seal("ward", record.number)


@pytest.fixture
def ledger(tmp_path: Path) -> SqlLedger:
    return open_ledger(tmp_path / "ledger.db")


class TestRecalledRelease:
    @pytest.fixture
    def recalled(self, ledger: SqlLedger, tmp_path: Path) -> ReleaseRecord:
        publish(ledger, ["ann", "bob"], tmp_path / "out")
        publish(ledger, ["bob", "cid"], tmp_path / "out", view_digest="abc")
        return ledger.recall("ward", 2, "wrong extract", "A. Ortiz")

    def test_is_marked_with_its_reason_in_the_chain(self, ledger: SqlLedger, recalled: ReleaseRecord) -> None:
        assert (recalled.state, recalled.recalled) == ("recalled", "wrong extract")
        assert [record.state for record in ledger.records()] == ["sealed", "recalled"]
        last = ledger.entries()[-1]
        assert last.kind == "recalled"
        assert (last.facts["reason"], last.facts["by"]) == ("wrong extract", "A. Ortiz")
        check = ledger.verify()
        assert (check.faults, check.notes) == ((), ())

    @pytest.mark.usefixtures("recalled")
    def test_counts_no_longer(self, ledger: SqlLedger) -> None:
        history = ledger.history("ward")
        assert [past.number for past in history] == [1]
        assert history.respondents.to_pylist() == ["ann", "bob", None]
        assert ledger.state("ward").views == ()
        assert ledger.memory("ward") == {}

    @pytest.mark.usefixtures("recalled")
    def test_keeps_its_number_and_the_next_release_goes_on(self, ledger: SqlLedger, tmp_path: Path) -> None:
        assert publish(ledger, ["cid", "dan"], tmp_path / "out").number == 3
        history = ledger.history("ward")
        assert [past.number for past in history] == [1, 3]
        assert [history.respondents[person].as_py() for person in history.releases[1].person] == ["cid", "dan"]
        assert ledger.verify([tmp_path / "out"]).sound

    @pytest.mark.usefixtures("recalled")
    def test_its_copy_is_removed_and_foreign_files_stay(self, ledger: SqlLedger, tmp_path: Path) -> None:
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["ward-0001"]
        publish(ledger, ["dan", "eve"], tmp_path / "out")
        (tmp_path / "out" / "ward-0003" / "mine.txt").write_text("x")
        ledger.recall("ward", 3, "once more")
        assert [path.name for path in (tmp_path / "out" / "ward-0003").rglob("*")] == ["mine.txt"]

    def test_changed_and_linked_files_stay_whatever_they_are_called(self, ledger: SqlLedger, tmp_path: Path) -> None:
        publish(ledger, ["ann", "bob"], tmp_path / "out")
        target = tmp_path / "out" / "ward-0001"
        shutil.copytree(target / "public", tmp_path / "kept")
        shutil.rmtree(target / "public")
        (target / "public").symlink_to(tmp_path / "kept")
        publish(ledger, ["bob", "cid"], tmp_path / "out")
        changed = tmp_path / "out" / "ward-0002" / "public" / "table.csv"
        changed.write_text("what someone else put there")
        (tmp_path / "out" / "ward-0002" / "private" / "to-sign.html").write_text("a page of my own")
        for number in (2, 1):
            ledger.recall("ward", number, "wrong")
        assert (tmp_path / "kept" / "table.csv").read_text() == "age\n30\n"
        left = [path.name for path in (tmp_path / "out" / "ward-0002").rglob("*") if path.is_file()]
        assert sorted(left) == ["table.csv", "to-sign.html"]
        check = ledger.verify()
        assert check.sound
        assert sum("check it" in note for note in check.notes) == 2

    def test_half_a_copy_goes_with_it(self, ledger: SqlLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(type(ledger), "seal", lambda *_: None)
            publish(ledger, ["ann", "bob"], tmp_path / "out")
        (tmp_path / "out" / ".ward-0001.partial" / "private").mkdir(parents=True)
        ledger.recall("ward", 1, "wrong")
        assert list((tmp_path / "out").iterdir()) == []

    @pytest.mark.usefixtures("recalled")
    def test_is_never_delivered(self, ledger: SqlLedger) -> None:
        with pytest.raises(InputError, match="was recalled"):
            ledger.deliver("ward", 2, ["lab"])

    @pytest.mark.usefixtures("recalled")
    def test_people_in_it_can_be_erased(self, ledger: SqlLedger) -> None:
        assert ledger.erase("ward", "cid") == 1
        assert ledger.verify().sound

    @pytest.mark.usefixtures("recalled")
    def test_a_draft_judged_with_it_must_be_judged_again(self, ledger: SqlLedger) -> None:
        version = ledger.state("ward").version
        publish(ledger, ["dan"])
        ledger.recall("ward", 3, "x")
        assert ledger.state("ward").version == version + 2


class TestRecallIsRefused:
    @pytest.mark.parametrize("reason", ["", "  "])
    def test_without_a_reason(self, ledger: SqlLedger, reason: str) -> None:
        publish(ledger, ["ann", "bob"])
        with pytest.raises(InputError, match="reason: empty"):
            ledger.recall("ward", 1, reason)

    def test_when_it_was_delivered(self, ledger: SqlLedger) -> None:
        publish(ledger, ["ann", "bob"])
        ledger.deliver("ward", 1, ["lab"])
        with pytest.raises(InputError, match="was delivered to 1 recipients"):
            ledger.recall("ward", 1, "wrong")
        publish(ledger, ["ann", "bob"], recipients=("office", "lab"))
        with pytest.raises(InputError, match="was delivered to 2 recipients"):
            ledger.recall("ward", 2, "wrong")
        assert [record.state for record in ledger.records()] == ["sealed", "sealed"]

    def test_when_a_later_release_counts(self, ledger: SqlLedger) -> None:
        for people in (["ann"], ["bob"]):
            publish(ledger, people)
        with pytest.raises(InputError, match="release 2 was judged together with it"):
            ledger.recall("ward", 1, "wrong")
        ledger.recall("ward", 2, "wrong")
        assert ledger.recall("ward", 1, "wrong").state == "recalled"
        with pytest.raises(InputError, match="was recalled already"):
            ledger.recall("ward", 1, "wrong")

    def test_when_it_was_imported_or_is_not_there(self, ledger: SqlLedger) -> None:
        pasts = {"release": [1, 1], "respondent": ["ann", "bob"], "group": [1, 1], "disease": ["flu", "gout"]}
        ledger.import_history(made_policy(), pa.table(pasts))
        with pytest.raises(InputError, match="made before this ledger"):
            ledger.recall("ward", 1, "wrong")
        with pytest.raises(InputError, match="has no release 7"):
            ledger.recall("ward", 7, "wrong")


def test_an_unfinished_release_may_be_recalled_and_is_not_finished_later(ledger: SqlLedger, tmp_path: Path) -> None:
    state = ledger.state("ward")
    with ledger.stage() as folder:
        ledger.reserve(
            Reservation(
                state=state, secret=SECRET, policy=made_policy(), staged=folder, groups=made_groups(["ann"]),
                n_published=1, destination=tmp_path / "out",
            )
        )  # fmt: skip
    ledger.recall("ward", 1, "never wanted")
    assert list(ledger.resume()) == []
    assert ledger.verify().sound
    assert not list((tmp_path / "out").glob("*"))


@pytest.mark.parametrize("name", ["manifest.json", "table.csv"])
def test_a_removal_cut_short_is_a_note_that_resume_finishes(ledger: SqlLedger, tmp_path: Path, name: str) -> None:
    publish(ledger, ["ann", "bob"], tmp_path / "out")
    target = tmp_path / "out" / "ward-0001"
    kept = {path: path.read_bytes() for path in target.rglob("*") if path.is_file()}
    ledger.recall("ward", 1, "wrong")
    path, data = next((path, data) for path, data in kept.items() if path.name == name)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    for check in (ledger.verify(), ledger.verify([tmp_path / "out"])):
        assert check.faults == ()
        assert any("recalled" in note for note in check.notes)
    ledger.resume()
    assert not target.exists()
    assert ledger.verify().notes == ()


WARD = {
    "series": {"name": "ward", "respondent": "patient"},
    "columns": {
        "age": {"role": "quasi"}, "sex": {"role": "quasi"}, "postcode": {"role": "quasi", "kind": "category"},
        "ward": {"role": "plain"}, "disease": {"role": "sensitive"},
    },
    "promise": {"m": 3},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cohort", "invariant", "historical"])
def test_a_series_goes_on_as_if_the_recalled_release_had_not_been(tmp_path: Path, method: str) -> None:
    views = hospital_months(500, 3, churn=0.1)
    promise = {"m": 3, "n": 1} if method == "historical" else {"m": 3}
    policy = sr.Policy.from_dict({**WARD, "promise": promise, "defence": {"method": method, "suppress": 0.2}})
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    assert [sr.publish(view, policy, ledger).number for view in views[:2]] == [1, 2]
    ledger.recall("ward", 2, "sent the wrong month")
    again = sr.publish(views[1], policy, ledger)
    assert again.number == 3, again.verdict.reasons
    assert sr.publish(views[2], policy, ledger).number == 4
    assert sr.attack(ledger, series="ward").wrong == 0
    assert ledger.verify().sound


def test_recall_from_the_command_line(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "ledger.db")
    publish(ledger, ["ann", "bob"])
    missing = seriatim(tmp_path, "ledger", "recall", "ward", "1")
    assert missing.code == 2
    ran = seriatim(tmp_path, "ledger", "recall", "ward", "1", "--reason", "wrong extract", "--json")
    assert (ran.code, json.loads(ran.out)["state"]) == (0, "recalled")
    assert "recalled: wrong extract" in seriatim(tmp_path, "ledger", "show").out
    assert seriatim(tmp_path, "ledger", "recall", "ward", "1", "--reason", "again").code == 2
