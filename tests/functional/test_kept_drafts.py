"""A draft waits on the shelf: another person releases exactly its bytes, or removes them; nobody sees it before."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import pytest
from support.command_line import seriatim
from support.kept_drafts import keep, killed_at_steps
from support.ledgers import made_policy, publish

import seriatim as sr
from seriatim.errors import InputError, LedgerBehind, LedgerDamaged, LedgerMoved
from seriatim.ledger.sql_ledger import SqlLedger, open_ledger
from seriatim.model import Approval
from seriatim.tables.writer import write_csv
from seriatim.testing.hospital import POLICY, hospital
from seriatim.usecases.publish import publish as publishing

EVERY = 6
"""Of the changes of a file and commits that a kill may fall before; with 1 the tests take a minute."""
Opener = Callable[[], SqlLedger]


@pytest.fixture
def opened(ledger_url: str, tmp_path: Path) -> Opener:
    return lambda: open_ledger(ledger_url, shelf=tmp_path / "shelf")


@pytest.fixture
def ledger(opened: Opener) -> SqlLedger:
    return opened()


@pytest.fixture
def file_ledger(tmp_path: Path) -> SqlLedger:
    return open_ledger(tmp_path / "ledger.db")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def state_of(ledger: SqlLedger) -> list[str]:
    return [draft.state for draft in ledger.drafts("ward")]


class TestWaitingDraft:
    def test_nothing_of_it_is_seen_or_counts(self, ledger: SqlLedger, tmp_path: Path) -> None:
        kept = keep(ledger, destination=tmp_path / "out", head=tmp_path / "head.json")
        assert (kept.state, kept.number, kept.author, kept.n_published) == ("waiting", 1, "A. Ortiz", 2)
        assert (kept.recipients, kept.input_sha256) == (("office",), "ab" * 32)
        assert kept.policy_digest == made_policy().digest
        assert not contents(tmp_path / "out")
        assert not (tmp_path / "head.json").exists()
        assert (ledger.records(), list(ledger.series()), len(ledger.history("ward"))) == ([], [], 0)
        state = ledger.state("ward")
        assert (state.version, state.n_releases, state.epoch, state.policy_digest) == (0, 0, 0, None)
        check = ledger.verify()
        assert (check.faults, check.notes) == ((), ("series 'ward', draft of release 1: waits for approval",))

    def test_is_released_byte_for_byte(self, ledger: SqlLedger, tmp_path: Path) -> None:
        publish(ledger, ["ann", "bob"], destination=tmp_path / "out")
        kept = keep(ledger, ["bob", "cid"], tmp_path / "out", head=tmp_path / "head.json")
        judged = contents(ledger.shelf.draft(kept.digest))
        made = ledger.approve("ward", "Dr Weber")
        assert (made.number, made.state, made.approval) == (2, "sealed", Approval("Dr Weber"))
        assert (made.recipients, made.input_name, made.input_sha256) == (("office",), "visits.csv", "ab" * 32)
        released = contents(ledger.shelf.release("ward", 2))
        del released["manifest.json"]
        assert released == judged
        out = contents(tmp_path / "out" / "ward-0002")
        assert {name: out[name] for name in ("public/table.csv", "private/table.csv")} == {
            name.removeprefix("published/"): data for name, data in judged.items() if name.startswith("published/")
        }
        assert json.loads((tmp_path / "head.json").read_text())["release"] == 2
        history = ledger.history("ward")
        assert [history.respondents[person].as_py() for person in history.releases[1].person] == ["bob", "cid"]
        assert not ledger.shelf.draft_folders()
        check = ledger.verify([tmp_path / "out"])
        assert (check.faults, check.notes) == ((), ())
        assert [entry.kind for entry in ledger.entries()][-4:] == ["drafted", "approved", "reserved", "sealed"]

    def test_gives_way_to_a_newer_one(self, ledger: SqlLedger) -> None:
        first = keep(ledger)
        second = keep(ledger, ["bob", "cid"], author="B. Li")
        assert state_of(ledger) == ["superseded", "waiting"]
        assert ledger.drafts()[0].ended_by == "B. Li"
        assert ledger.shelf.draft_folders() == [ledger.shelf.draft(second.digest)]
        with pytest.raises(LedgerMoved, match="was superseded already"):
            ledger.approve("ward", "Dr Weber", first.digest[:12])
        assert ledger.approve("ward", "Dr Weber", second.digest[:12]).number == 1

    def test_may_begin_the_next_epoch(self, ledger: SqlLedger) -> None:
        publish(ledger)
        keep(ledger, policy=made_policy(epoch=2, k=3))
        assert ledger.state("ward").epoch == 1
        ledger.approve("ward", "Dr Weber")
        assert (ledger.state("ward").epoch, ledger.state("ward").policy_digest) == (2, made_policy(epoch=2, k=3).digest)
        assert ledger.verify().faults == ()

    def test_is_of_its_own_series(self, ledger: SqlLedger) -> None:
        keep(ledger)
        keep(ledger, policy=made_policy("other"))
        publish(ledger, policy=made_policy("third"))
        assert [draft.state for draft in ledger.drafts()] == ["waiting", "waiting"]
        assert ledger.approve("ward", "Dr Weber").series == "ward"
        assert ledger.approve("other", "Dr Weber").series == "other"
        assert ledger.verify().faults == ()


class TestApproval:
    def test_is_never_the_authors(self, ledger: SqlLedger) -> None:
        keep(ledger, author="A. Ortiz")
        for name in ("A. Ortiz", " a.  ORTIZ "):
            with pytest.raises(InputError, match="author of the draft"):
                ledger.approve("ward", name)
        assert state_of(ledger) == ["waiting"]

    def test_of_an_overridden_refusal_is_that_persons(self, ledger: SqlLedger) -> None:
        kept = keep(ledger, approval=Approval("Dr Weber", "asked for by court"))
        assert kept.reasons == ("k: found 1, required 2",)
        with pytest.raises(InputError, match="not who overrides"):
            ledger.approve("ward", "B. Li")
        assert ledger.approve("ward", "Dr Weber").approval == Approval("Dr Weber", "asked for by court")

    @pytest.mark.parametrize("approval", [Approval("Dr Weber"), Approval("A. Ortiz", "why not")])
    def test_is_not_given_with_the_draft(self, file_ledger: SqlLedger, approval: Approval) -> None:
        with pytest.raises(InputError, match="approved_by"):
            keep(file_ledger, approval=approval)
        assert (file_ledger.entries(), file_ledger.shelf.draft_folders()) == ([], [])

    def test_needs_a_draft(self, ledger: SqlLedger) -> None:
        with pytest.raises(InputError, match="has no draft"):
            ledger.approve("ward", "Dr Weber")
        keep(ledger)
        with pytest.raises(InputError, match="no draft of this digest"):
            ledger.approve("ward", "Dr Weber", "0123")
        ledger.decline("ward", "wrong extract", "Dr Weber")
        with pytest.raises(LedgerMoved, match="was declined already"):
            ledger.approve("ward", "Dr Weber")

    def test_comes_too_late_when_the_series_has_moved(self, ledger: SqlLedger) -> None:
        keep(ledger)
        publish(ledger, ["cid", "dan"])
        for _ in range(2):
            with pytest.raises(LedgerMoved, match="judge the draft again") as raised:
                ledger.approve("ward", "Dr Weber")
            assert raised.value.exit_code == 4
            assert state_of(ledger) == ["moved"]
            assert len(ledger.records()) == 1
            ledger.resume()  # clears its bytes
            assert not ledger.shelf.draft_folders()
        assert (ledger.verify().faults, ledger.verify().notes) == ((), ())

    def test_comes_too_late_after_a_delivery_or_a_recall(self, ledger: SqlLedger) -> None:
        publish(ledger, recipients=())
        keep(ledger)
        ledger.recall("ward", 1, "wrong extract")
        assert state_of(ledger) == ["moved"]
        publish(ledger)
        keep(ledger)
        ledger.deliver("ward", 2, ["lab"])
        assert state_of(ledger) == ["superseded", "moved"]

    def test_comes_too_late_when_a_series_with_the_same_people_has_moved(self, ledger: SqlLedger) -> None:
        """``breach_share`` judges both together."""
        text = json.dumps({**json.loads(made_policy().canonical), "adversary": {"breach_share": 0.1}}, sort_keys=True)
        policy = replace(made_policy(), canonical=text, digest=hashlib.sha256(text.encode()).hexdigest())
        keep(ledger, policy=policy)
        publish(ledger, ["eve", "fay"], policy=made_policy("others"))
        publish(ledger, ["bob", "eve"], policy=made_policy("same"))
        with pytest.raises(LedgerMoved, match="are in 'same', which moved"):
            ledger.approve("ward", "Dr Weber")
        assert state_of(ledger) == ["waiting"]
        keep(ledger, policy=policy)
        publish(ledger, ["gus"], policy=made_policy("others"))
        assert ledger.approve("ward", "Dr Weber").number == 1
        assert (ledger.verify().faults, ledger.verify().notes) == ((), ())

    def test_of_two_at_once_one_counts(self, opened: Opener) -> None:
        keep(opened())
        start = Barrier(2)

        def approver(name: str) -> str:
            ledger = opened()
            start.wait(60)
            try:
                return f"released {ledger.approve('ward', name).number}"
            except LedgerMoved:
                return "too late"

        with ThreadPoolExecutor(2) as pool:
            assert sorted(pool.map(approver, ["Dr Weber", "B. Li"])) == ["released 1", "too late"]
        opened().resume()
        assert (opened().verify().faults, opened().verify().notes) == ((), ())
        assert len(opened().records()) == 1

    def test_against_a_decline_at_once(self, opened: Opener) -> None:
        keep(opened())
        start = Barrier(2)

        def decided(how: Callable[[SqlLedger], Any]) -> bool:
            ledger = opened()
            start.wait(60)
            try:
                how(ledger)
            except LedgerMoved:
                return False
            return True

        both = [lambda one: one.approve("ward", "B. Li"), lambda one: one.decline("ward", "no", "Dr Weber")]
        with ThreadPoolExecutor(2) as pool:
            assert sorted(pool.map(decided, both)) == [False, True]
        assert len(opened().records()) == (state_of(opened()) == ["approved"])

    def test_by_a_restored_backup_is_refused(self, tmp_path: Path) -> None:
        ledger = open_ledger(tmp_path / "ledger.db")
        keep(ledger, destination=tmp_path / "out")
        backup = (tmp_path / "ledger.db").read_bytes()
        ledger.approve("ward", "Dr Weber")
        (tmp_path / "ledger.db").write_bytes(backup)
        with pytest.raises(LedgerBehind):
            open_ledger(tmp_path / "ledger.db").approve("ward", "B. Li")


class TestDamage:
    @pytest.mark.parametrize(
        "name", ["published/public/table.csv", "published/private/table.csv", "groups.parquet", "people.parquet"]
    )
    @pytest.mark.parametrize("gone", [False, True])
    def test_is_found_and_does_not_leave(self, file_ledger: SqlLedger, tmp_path: Path, name: str, gone: bool) -> None:
        path = file_ledger.shelf.draft(keep(file_ledger, destination=tmp_path / "out").digest) / name
        data = path.read_bytes()
        if gone:
            path.unlink()
        else:
            path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
        with pytest.raises(LedgerDamaged, match=path.name):
            file_ledger.approve("ward", "Dr Weber")
        assert (file_ledger.records(), contents(tmp_path / "out")) == ([], {})
        assert len(file_ledger.verify().faults) == 1
        file_ledger.decline("ward", "damaged", "Dr Weber")
        assert file_ledger.verify().faults == ()

    def test_is_a_file_that_nobody_judged(self, file_ledger: SqlLedger) -> None:
        folder = file_ledger.shelf.draft(keep(file_ledger).digest)
        (folder / "published" / "public" / "more.csv").write_text("x")
        assert [fault.endswith("never judged") for fault in file_ledger.verify().faults] == [True]
        assert "public/more.csv" not in file_ledger.approve("ward", "Dr Weber").manifest["files"]

    def test_of_the_entry_breaks_the_chain(self, file_ledger: SqlLedger) -> None:
        keep(file_ledger)
        with sqlite3.connect(str(file_ledger.database.path)) as connection:
            connection.execute("UPDATE entries SET body = replace(body, 'A. Ortiz', 'B. Ortiz')")
        assert not file_ledger.verify().sound


class TestErasure:
    def test_reaches_newcomers_of_a_draft(self, ledger: SqlLedger) -> None:
        publish(ledger)
        kept = keep(ledger, ["bob", "cid"])
        assert ledger.erase("ward", "cid") == 1
        assert not ledger.shelf.draft(kept.digest).exists()
        draft = ledger.drafts("ward")[-1]
        assert (draft.state, draft.reason) == ("declined", "a person was erased")
        assert ledger.verify().faults == ()
        with pytest.raises(InputError, match="not in the ledger"):
            ledger.erase("ward", "cid")

    def test_of_anybody_ends_a_draft_that_was_judged_with_them(self, ledger: SqlLedger) -> None:
        publish(ledger)
        kept = keep(ledger, ["cid", "dan"])
        ledger.erase("ward", "ann")
        assert not ledger.shelf.draft(kept.digest).exists()
        assert state_of(ledger) == ["declined"]
        assert ledger.verify().faults == ()


class TestKilled:
    """At every change of a file and every commit: nothing is lost, nothing is released twice, resume ends it."""

    def ledger(self, home: Path) -> SqlLedger:
        home.mkdir(exist_ok=True)
        return open_ledger(home / "ledger.db")

    def sound(self, ledger: SqlLedger, out: Path) -> None:
        assert ledger.verify().faults == ()
        ledger.resume()
        check = ledger.verify([out] if contents(out) else [])
        assert (check.faults, [note for note in check.notes if not note.endswith("waits for approval")]) == ((), [])

    def test_while_it_is_kept(self, tmp_path: Path) -> None:
        def begin(step: int) -> Callable[[], None]:
            ledger = self.ledger(tmp_path / str(step))
            keep(ledger, ["old"])
            return lambda: keep(ledger, destination=tmp_path / str(step) / "out") and None

        def look(step: int) -> None:
            ledger = self.ledger(tmp_path / str(step))
            self.sound(ledger, tmp_path / str(step) / "out")
            assert state_of(ledger) in (["waiting"], ["superseded", "waiting"])
            assert len(ledger.shelf.draft_folders()) == 1
            assert ledger.approve("ward", "Dr Weber").number == 1

        assert killed_at_steps(begin, look, every=EVERY) > 20

    def test_while_it_is_approved(self, tmp_path: Path) -> None:
        def begin(step: int) -> Callable[[], None]:
            ledger = self.ledger(tmp_path / str(step))
            keep(ledger, destination=tmp_path / str(step) / "out")
            return lambda: ledger.approve("ward", "Dr Weber") and None

        def look(step: int) -> None:
            ledger, out = self.ledger(tmp_path / str(step)), tmp_path / str(step) / "out"
            self.sound(ledger, out)
            if state_of(ledger) == ["waiting"]:
                assert (ledger.records(), contents(out)) == ([], {})
                assert ledger.approve("ward", "Dr Weber").state == "sealed"
            assert [record.state for record in ledger.records()] == ["sealed"]
            assert contents(out)["ward-0001/public/table.csv"] == b"age,disease\npublic,flu\n" * 2
            with pytest.raises(LedgerMoved):
                ledger.approve("ward", "B. Li")
            self.sound(ledger, out)
            assert not ledger.shelf.draft_folders()

        assert killed_at_steps(begin, look, every=EVERY) > 20

    def test_while_it_is_declined(self, tmp_path: Path) -> None:
        def begin(step: int) -> Callable[[], None]:
            ledger = self.ledger(tmp_path / str(step))
            keep(ledger)
            return lambda: ledger.decline("ward", "no", "Dr Weber") and None

        def look(step: int) -> None:
            ledger = self.ledger(tmp_path / str(step))
            self.sound(ledger, tmp_path / "none")
            if state_of(ledger) == ["waiting"]:
                ledger.decline("ward", "no", "Dr Weber")
            assert not ledger.shelf.draft_folders()

        assert killed_at_steps(begin, look) > 5


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("policy") / "policy.toml"
    path.write_text(POLICY)
    return sr.Policy.load(path)


class TestPublishedAsDraft:
    def test_is_what_publishing_would_have_released(
        self, tmp_path: Path, policy: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(publishing, "secrets", SimpleNamespace(token_bytes=bytes))
        straight, drafted = (sr.Ledger.open(tmp_path / f"{name}.db") for name in ("straight", "drafted"))
        table = hospital(400)
        sr.publish(table, policy, straight, recipients=["lab"])
        kept = sr.publish(table, policy, drafted, draft="A. Ortiz", recipients=["lab"])
        assert (kept.number, kept.table, kept.manifest, kept.sign_off) == (None, None, None, None)
        assert kept.draft_digest == drafted.drafts()[0].digest
        made = drafted.approve(policy.series, "Dr Weber")
        assert made.recipients == ("lab",)
        one, other = (contents(each.shelf.release(policy.series, 1)) for each in (straight, drafted))
        del one["manifest.json"], other["manifest.json"]  # the chain of a draft is longer
        assert one == other
        assert made.manifest["files"] == straight.records()[0].manifest["files"]

    def test_a_refused_one_is_not_kept(self, tmp_path: Path, policy: Any) -> None:
        ledger = sr.Ledger.open(tmp_path / "ledger.db")
        table = hospital(4)
        made = sr.publish(table, policy, ledger, draft="A. Ortiz")
        assert (made.verdict.released, made.draft_digest, ledger.drafts()) == (False, None, [])
        approval = sr.Approval("Dr Weber", "a test")
        made = sr.publish(table, policy, ledger, draft="A. Ortiz", approval=approval)
        assert made.draft_digest is not None
        assert ledger.drafts()[0].reasons == made.verdict.reasons
        with pytest.raises(InputError, match="a dry run keeps nothing"):
            sr.publish(table, policy, ledger, draft="A. Ortiz", dry_run=True)
        with pytest.raises(InputError, match="draft"):
            sr.publish(table, policy, ledger, draft="")


def test_on_the_command_line(tmp_path: Path) -> None:
    write_csv(hospital(300), tmp_path / "visits.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    run = ("publish", "visits.csv", "--policy", "policy.toml", "--allow", "again")
    made = seriatim(tmp_path, *run, "--draft", "A. Ortiz")
    assert (made.code, "WAITS FOR APPROVAL" in made.out) == (0, True)
    assert "waiting; drafted by A. Ortiz" in seriatim(tmp_path, "ledger", "show").out
    approve = ("ledger", "approve", "ward-visits", "--approved-by")
    assert seriatim(tmp_path, *approve, "A. Ortiz").code == 2
    assert seriatim(tmp_path, *approve, "Dr Weber").code == 0
    assert "Dr Weber" in (tmp_path / "releases/ward-visits-0001/private/to-sign.html").read_text()
    assert seriatim(tmp_path, *run, "--draft", "A. Ortiz").code == 0
    assert seriatim(tmp_path, *run).code == 0
    late = seriatim(tmp_path, *approve, "Dr Weber")
    assert (late.code, "judge the draft again" in late.err) == (4, True)
    decline = ("ledger", "decline", "ward-visits", "--reason", "late", "--declined-by", "Dr Weber")
    assert seriatim(tmp_path, *decline).code == 0
    shown = json.loads(seriatim(tmp_path, "ledger", "show", "ward-visits", "--json").out)
    assert [one["state"] for one in shown] == ["sealed", "sealed", "approved", "declined"]
