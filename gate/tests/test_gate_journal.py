"""A gate's journal on both databases: what was decided is there, once, and reading it gives the same state."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from support.gate_services import served_journal
from support.gates import AT, GATE, ask, drawn, made_journal, may_leave, past_of, rules, same_state

from seriatim.errors import InputError, JournalHeld, LedgerDamaged, LedgerMissing, SeriatimError
from seriatim_gate import replay
from seriatim_gate.journal import writer as journal_writer
from seriatim_gate.journal.schema import entries, gates, segments
from seriatim_gate.journal.sql_journal import open_journal
from seriatim_gate.ports import REQUEST, JournalEntry, JournalRecord
from seriatim_gate.usecases.request_book import Ask, RequestBook
from seriatim_gate.web.decision_loop import OVER_QUOTA, Wanted, Work, open_gate
from seriatim_gate.web.settings import DAY, Settings
from seriatim_papers.safe_release_counts import BASELINE


def test_a_desk_decides_as_a_replay_does_and_its_journal_gives_it_back(ledger_url: str, monkeypatch) -> None:
    monkeypatch.setattr(journal_writer, "SEGMENT", 100)
    journal = made_journal(ledger_url)
    xs, ys = drawn(1_000)
    writer, book, rng = journal.writer(GATE), RequestBook(rules), np.random.default_rng(3)
    at = 0
    while at < len(xs):
        size = int(rng.integers(1, 60))
        part = [ask(i, xs[i], ys[i]) for i in range(at, min(at + size, len(xs)))]
        answers, made = book.ask(part, AT + at)
        assert [one.number for one in answers] == list(range(at, at + len(part)))
        writer.append(made)
        at += len(part)
    found = replay(xs, ys, BASELINE, 5, ["kld"], 0.2)
    assert book.intake.left().tolist() == found.released.tolist()
    assert book.intake.waiting.tolist() == found.waiting.tolist()
    assert 300 < len(found.released) < 1_000
    writer.close()

    again, other = journal.writer(GATE), RequestBook(rules)
    past = past_of(again)
    assert past["n_out"].tolist() == np.searchsorted(found.released_at, np.arange(1_000), side="right").tolist()
    other.load(again.past())
    same_state(book, other)
    with journal.database.reading() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(segments)).scalar() == 10
    assert journal.bodies(GATE, [0, 999]) == {0: ("person 0", '{"n": 0}'), 999: ("person 999", '{"n": 999}')}
    again.close()


def test_everything_that_can_happen_is_repeated_bit_for_bit(ledger_url: str) -> None:
    journal, rng = made_journal(ledger_url, versions=3), np.random.default_rng(8)
    xs, ys = drawn(900, 4)
    writer, book = journal.writer(GATE), RequestBook(rules, batches=True)
    for i in range(900):
        at = AT + 1_000 * i
        chance = rng.random()
        one = ask(i, xs[i], ys[i], int(rng.integers(1, 4)))
        happened = book.ask([one._replace(mark=int(rng.integers(800)), once=True)], at)[1]
        if chance < 0.05:
            kept = [number for number in range(len(book)) if book.state(number) != "released"]
            happened += book.withdraw(int(rng.choice(kept)), at, 1) if kept else []
        elif chance < 0.1:
            happened += book.expire(at, 300_000)
        elif chance < 0.15:
            happened += book.freeze(at, 2) if not book.frozen else book.thaw(at, 2)
        elif chance < 0.2:
            happened += book.publish(at)
        elif i in (300, 600):
            happened += book.rejudge(i // 300 + 1, at, 2)
        writer.append(happened)
    states = {book.state(number) for number in range(900)}
    assert states == {"released", "waiting", "withdrawn", "expired"}
    assert {book.visible(number) for number in range(900)} == {"released", "pending", "withdrawn"}
    assert len(book.repeats) > 100
    assert len(book.repeats.taken_back) > 5
    assert all(book.visible(number) == "pending" for number in book.expired - book.repeats.taken_back)
    other = RequestBook(rules, batches=True)
    other.load(writer.past())
    same_state(book, other)
    assert other.batch_ends == book.batch_ends
    writer.close()


def test_an_id_asks_once_and_only_for_one_record() -> None:
    book = RequestBook(rules)
    first, made = book.ask([ask(1, 3, 2), ask(1, 3, 2), ask(1, 4, 2), ask(2, 3, 2)], AT)
    assert [(one.number, one.is_new) for one in first] == [(0, True), (0, False), (None, False), (1, True)]
    assert [one.kind for one in made] == [REQUEST, REQUEST]
    again, none = book.ask([ask(1, 3, 2), ask(2, 4, 2)], AT)
    assert [one.number for one in again] == [0, None]
    assert none == []
    assert book.n_asked == {1: 2}


def person(number: int, who: int, x: int, y: int, token: int = 1) -> Ask:
    """A request for the one record of a person."""
    return ask(number, x, y, token)._replace(mark=who, once=True)


def test_a_record_leaves_once_however_many_ask_for_it(ledger_url: str) -> None:
    """Asking for one harmless record again and again would make room for those that give a target away."""
    journal = made_journal(ledger_url)
    writer, book = journal.writer(GATE), RequestBook(rules)
    xs, ys = drawn(60, 3)
    asks = [person(i, i, xs[i], ys[i]) for i in range(60)]
    again = [person(100 + i, i, xs[i], ys[i], 2) for i in range(60)]
    writer.append(book.ask([*asks[:30], *again[:30]], AT)[1])
    for one in [*asks[30:], *again[30:]]:
        writer.append(book.ask([one], AT)[1])
    alone = RequestBook(rules)
    alone.ask(asks, AT)
    order = book.names(book.intake.left().astype(np.int64))
    assert order == alone.names(alone.intake.left().astype(np.int64))
    assert (book.intake.guards[0].counts == alone.intake.guards[0].counts).all()
    assert (len(book), len(book.repeats), book.n_asked) == (120, 60, {1: 60, 2: 60})
    for one, other in zip(asks, again, strict=True):
        first, second = (book.numbers.number_of(bytes.fromhex(each.id)) for each in (one, other))
        assert book.first_of(second) == first
        assert book.visible(second) == book.visible(first)
    other_desk = RequestBook(rules)
    other_desk.load(writer.past())
    same_state(book, other_desk)
    for one in (book, other_desk):
        one.ask([person(500, 3, xs[3], ys[3]), person(501, 3, xs[3], ys[3])], AT)
        assert one.first_of(120) == one.first_of(121) == 3
    same_state(book, other_desk)
    writer.close()


def waiting_pair() -> tuple[RequestBook, int, int]:
    """A book with a record that waits and is wanted by two tokens; the second one asked five seconds later."""
    book = RequestBook(rules)
    book.freeze(AT, 9)
    book.ask([person(1, 7, 3, 2, 1)], AT)
    book.ask([person(2, 7, 3, 2, 2)], AT + 5_000)
    return book, 0, 1


def test_a_record_waits_while_anybody_wants_it() -> None:
    for order in ((0, 1), (1, 0)):
        book, *_ = waiting_pair()
        book.withdraw(order[0], AT + 6_000, 1)
        assert [book.visible(order[0]), book.visible(order[1])] == ["withdrawn", "pending"]
        assert book.intake.waiting.tolist() == [0]
        assert book.withdraw(order[0], AT + 6_000, 1) == []
        book.withdraw(order[1], AT + 6_000, 2)
        assert [book.visible(0), book.visible(1)] == ["withdrawn", "withdrawn"]
        assert book.intake.waiting.tolist() == []
        assert book.ask([person(3, 7, 3, 2)], AT)[0][0].number == 2
        assert book.first_of(2) == 2, "it may be asked for anew"
    book, first, second = waiting_pair()
    assert book.expire(AT + 11_000, 10_000) == []
    assert len(book.expire(AT + 15_000, 10_000)) == 1
    assert [book.state(first), book.visible(second)] == ["expired", "pending"]
    book, first, second = waiting_pair()
    book.expire(AT + 11_000, 10_000)
    book.withdraw(second, AT + 12_000, 2)
    assert [book.visible(first), book.visible(second), len(book.intake.waiting)] == ["pending", "withdrawn", 0]


def test_many_requests_expire_in_parts_so_that_nobody_waits_for_all_of_them() -> None:
    book = RequestBook(rules)
    book.freeze(AT, 9)
    book.ask([ask(i, 3, 2) for i in range(9_000)], AT)
    parts = [len(book.expire(AT + 10, 5)) for _ in range(4)]
    assert parts == [4_096, 4_096, 808, 0]
    assert book.expired == set(range(9_000))


def test_taking_back_looks_alike_whatever_became_of_a_request(ledger_url: str) -> None:
    """Refused and expired requests look like those that wait; a withdrawal must not tell them apart."""
    journal = made_journal(ledger_url)
    writer, book = journal.writer(GATE), RequestBook(rules)
    happened = book.freeze(AT, 9) + book.ask([ask(1, -1, 2), ask(2, 3, 2)], AT)[1] + book.expire(AT + 10, 5)
    happened += book.ask([ask(3, 3, 2)], AT + 20)[1]
    assert [book.state(i) for i in range(3)] == ["refused", "expired", "waiting"]
    assert [book.visible(i) for i in range(3)] == ["pending"] * 3
    for i in range(3):
        happened += book.withdraw(i, AT + 30, 1)
        assert book.withdraw(i, AT + 30, 1) == []
    assert [book.visible(i) for i in range(3)] == ["withdrawn"] * 3
    assert [book.state(i) for i in range(3)] == ["refused", "expired", "withdrawn"]
    writer.append(happened)
    other = RequestBook(rules)
    other.load(writer.past())
    same_state(book, other)
    writer.close()


def test_nothing_leaves_while_a_gate_is_frozen() -> None:
    xs, ys = drawn(400, 5)
    book, free = RequestBook(rules), RequestBook(rules)
    book.freeze(AT, 1)
    for i in range(400):
        book.ask([ask(i, xs[i], ys[i])], AT)
        free.ask([ask(i, xs[i], ys[i])], AT)
    assert book.intake.n_out == 0
    assert book.freeze(AT, 1) == []
    book.thaw(AT, 1)
    assert book.intake.n_out > 150
    assert not any(may_leave(book, int(i)) for i in book.intake.waiting)
    assert book.thaw(AT, 1) == []


def test_another_baseline_keeps_what_left_and_judges_what_waits(ledger_url: str) -> None:
    xs, ys = drawn(500, 6)
    book = RequestBook(rules)
    book.ask([ask(i, xs[i], ys[i]) for i in range(500)], AT)
    before, left = book.intake.guards[0].counts, book.intake.left().tolist()
    book.rejudge(2, AT, 1)
    assert book.intake.left().tolist()[: len(left)] == left
    assert (book.intake.guards[0].counts >= before).all()
    assert book.intake.rules[0].p.tolist() == rules(2)[0].p.tolist()
    assert not any(may_leave(book, int(i)) for i in book.intake.waiting)
    more, _ = drawn(500, 7)
    book.ask([ask(500 + i, more[i], ys[i]) for i in range(500)], AT)
    assert len(book) == 1_000


def test_there_is_one_writer(ledger_url: str) -> None:
    journal = made_journal(ledger_url)
    first = journal.writer(GATE)
    with pytest.raises(JournalHeld, match="another service"):
        open_journal(ledger_url).writer(GATE)
    first.append([JournalEntry(REQUEST, AT, "0" * 32, 1, 1)])
    with journal.database.writing() as connection:  # what a writer with a newer lock would have done
        connection.execute(gates.update().values(epoch=gates.c.epoch + 1))
    with pytest.raises(JournalHeld, match="taken this gate over"):
        first.append([JournalEntry(REQUEST, AT, "1" * 32, 1, 1)])
    first.close()
    second = open_journal(ledger_url).writer(GATE)
    assert len(past_of(second)) == 1
    with pytest.raises(SeriatimError):
        second.append([JournalEntry(REQUEST, AT, "2" * 32, 1, 1), JournalEntry(None, AT, "0" * 32, 1, 1)])  # type: ignore[arg-type]
    second.close()
    third = open_journal(ledger_url).writer(GATE)
    assert len(past_of(third)) == 1, "all entries of a transaction or none"
    third.close()


def test_a_changed_journal_is_refused(ledger_url: str, monkeypatch) -> None:
    monkeypatch.setattr(journal_writer, "SEGMENT", 50)
    journal = made_journal(ledger_url)
    xs, ys = drawn(70)
    writer, book = journal.writer(GATE), RequestBook(rules)
    writer.append(book.ask([ask(i, xs[i], ys[i]) for i in range(60)], AT)[1])
    writer.append(book.ask([ask(i, xs[i], ys[i]) for i in range(60, 70)], AT)[1])
    writer.close()

    def damaged(statement: sa.Executable) -> None:
        with journal.database.writing() as connection:
            connection.execute(statement)
        again = journal.writer(GATE)
        try:
            with pytest.raises(LedgerDamaged):
                RequestBook(rules).load(again.past())
        finally:
            again.close()

    damaged(entries.update().where(entries.c.seq == 65).values(n_out=1))
    damaged(entries.delete().where(entries.c.seq == 69))
    damaged(segments.update().values(packed=b"no"))


def test_tokens_are_kept_as_digests_alone(ledger_url: str, tmp_path: Path) -> None:
    journal = made_journal(ledger_url)
    book = journal.token_book
    one, secret = book.make_token(GATE, "requester", "clinic", frozenset({"p1", "p2"}), 10)
    _, officer = book.make_token(GATE, "officer")
    found = journal.tokens(GATE)
    assert found[hashlib.sha256(secret.encode()).hexdigest()] == one
    assert len(secret) >= 43
    assert secret != officer
    turned = book.rotate_token(GATE, 1)
    assert hashlib.sha256(secret.encode()).hexdigest() not in journal.tokens(GATE)
    assert journal.tokens(GATE)[hashlib.sha256(turned.encode()).hexdigest()].number == 1
    book.revoke_token(GATE, 2)
    assert [each.revoked_at is None for each in journal.tokens(GATE).values()] == [True, False]
    for bad in (
        lambda: book.make_token(GATE, "king"),
        lambda: book.make_token(GATE, "officer", respondents=frozenset({"p"})),
        lambda: book.make_token(GATE, "requester", quota=0),
        lambda: book.revoke_token(GATE, 2),
        lambda: book.rotate_token(GATE, 9),
        lambda: book.make_token("nowhere", "officer"),
    ):
        with pytest.raises(InputError):
            bad()
    for path in tmp_path.iterdir():
        assert turned.encode() not in path.read_bytes()


def test_records_are_held_by_respondent(ledger_url: str) -> None:
    journal = made_journal(ledger_url)
    assert (
        journal.hold_records(GATE, ((f"p{i}", JournalRecord(i % 10, i % 5, f'{{"i":{i}}}')) for i in range(6_000)))
        == 6_000
    )
    assert journal.counts_records(GATE) == 6_000
    writer = journal.writer(GATE)
    assert writer.held_records(["p7", "nobody", "p5999"]) == {
        "p7": JournalRecord(7, 2, '{"i":7}'),
        "p5999": JournalRecord(9, 4, '{"i":5999}'),
    }
    writer.close()
    assert journal.hold_records(GATE, [("q", JournalRecord(0, 0, "{}"))]) == 1
    assert journal.counts_records(GATE) == 1


def test_a_journal_is_not_made_by_looking_for_it(tmp_path: Path) -> None:
    with pytest.raises(LedgerMissing, match="no journal here"):
        open_journal(tmp_path / "nothing.db")
    journal = made_journal(tmp_path / "journal.db")
    assert journal.names() == (GATE,)
    assert journal.baselines("other") == ()
    with pytest.raises(InputError, match="no such gate"):
        journal.writer("other")
    from seriatim.ledger.sql_ledger import open_ledger

    with pytest.raises(InputError, match="tables of something else"):
        open_ledger(tmp_path / "journal.db")


def test_a_quota_counts_a_key_once_also_where_it_comes_twice_at_once(tmp_path: Path) -> None:
    decisions = open_gate(served_journal(tmp_path / "journal.db"), Settings(gate=GATE, expire=DAY))

    def results(*numbers: int) -> list[bool]:
        works = [Work(asyncio.Future(loop=loop), Wanted(ask(i, 3, 2), False, True, 2)) for i in numbers]
        decisions._process(works)
        return [work.result is not OVER_QUOTA for work in works]

    loop = asyncio.new_event_loop()
    try:
        assert results(1, 1, 1) == [True, True, True]
        assert results(2, 3, 1, 2, 3) == [True, False, True, True, False]
        assert results(1, 2, 3) == [True, True, False]
        assert decisions.book.n_asked == {1: 2}
    finally:
        loop.close()
        decisions.stop()
