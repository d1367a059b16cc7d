"""Gates, journals and requests for tests of the gate's service."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from seriatim_gate.engine.attribute import Attribute
from seriatim_gate.engine.baseline import Baseline
from seriatim_gate.engine.dependencies import Dependencies
from seriatim_gate.engine.results import results
from seriatim_gate.engine.rules import Rules
from seriatim_gate.journal.sql_journal import SqlJournal, open_journal
from seriatim_gate.ports import JournalWriter, Past, StoredBaseline
from seriatim_gate.usecases.request_book import Ask, RequestBook
from seriatim_gate.usecases.requests import Question
from seriatim_gate.usecases.serving import read_rules, rules_json
from seriatim_papers.safe_release_counts import AGES, FIGURE_2, LOCATIONS

GATE = "soldiers"
AT = 1_800_000_000_000


def soldiers(counts: Any = FIGURE_2) -> Baseline:
    """The paper's table as a baseline."""
    total = counts.sum()
    return Baseline(
        attributes=(Attribute("age", AGES),),
        probabilities=counts.sum(axis=1) / total,
        target="location",
        targets=LOCATIONS,
        target_shares=counts.sum(axis=0) / total,
        n_records=10_000,
    )


@cache
def stored(number: int = 1, tests: tuple[str, ...] = ("kld",)) -> StoredBaseline:
    """A version of it; later ones lean a little towards the first values."""
    leaning = FIGURE_2 * (1 + np.linspace(0.03, 0, 10)[:, None] * (number - 1))
    made = Dependencies((soldiers(leaning),))
    return StoredBaseline(number, made.version, made.to_json(), rules_json(made, Question(tests)), "{}")


def rules(number: int = 1) -> tuple[Rules, ...]:
    return read_rules(stored(number)).rules


def made_journal(url: str | Path, versions: int = 1) -> SqlJournal:
    journal = open_journal(url, create=True)
    for number in range(1, versions + 1):
        one = stored(number)
        journal.add_baseline(GATE, one.version, one.content, one.rules, one.report)
    return journal


def drawn(n: int, seed: int = 1) -> tuple[Any, Any]:
    """n requests from the paper's table, as places."""
    cells = np.random.default_rng(seed).choice(50, n, p=FIGURE_2.ravel() / FIGURE_2.sum())
    return cells // 5, cells % 5


def ask(number: int, x: int, y: int, token: int = 1) -> Ask:
    name = hashlib.sha256(str(number).encode()).hexdigest()[:32]
    return Ask(
        name,
        int(x),
        y=int(y),
        token=token,
        mark=hash((int(x), int(y))),
        respondent=f"person {number}",
        body=f'{{"n": {number}}}',
    )


def past_of(writer: JournalWriter) -> Past:
    """Everything that a journal holds."""
    return np.concatenate(writer.past())


def may_leave(book: RequestBook, number: int) -> bool:
    """Whether a waiting request's record keeps all tests, judged from the counts alone."""
    (guard,), (x, y) = book.intake.guards, book.intake.cell(number)
    counts = guard.counts.copy()
    counts[x, y] += 1
    return all(one.safe for one in results(counts, guard.asked))


def same_state(one: RequestBook, other: RequestBook) -> None:
    """Two books are equal bit for bit."""
    n, n_out = len(one), one.intake.n_out
    assert (len(other), other.intake.n_out, other.n_entries) == (n, n_out, one.n_entries)
    assert (one.frozen, one.frozen_for, one.shown, one.shown_at, one.seen_at, one.baseline) == (
        other.frozen, other.frozen_for, other.shown, other.shown_at, other.seen_at, other.baseline,
    )  # fmt: skip
    assert one.rows[:n].tobytes() == other.rows[:n].tobytes()
    assert (_numbers(one), one.n_asked, one.expired) == (_numbers(other), other.n_asked, other.expired)
    assert (one.repeats.first, one.repeats.taken_back) == (other.repeats.first, other.repeats.taken_back)
    assert one.intake.statuses.tobytes() == other.intake.statuses.tobytes()
    assert one.intake.left().tobytes() == other.intake.left().tobytes()
    assert one.intake.left_at().tobytes() == other.intake.left_at().tobytes()
    for name in ("dependencies", "targets", "limits", "ranked"):
        assert getattr(one.intake.board, name).tobytes() == getattr(other.intake.board, name).tobytes(), name
    for name in ("share", "inverse", "log_p", "own", "step", "merged_own", "merged_step", "count", "waiting"):
        assert one.intake.board.cells[name].tobytes() == other.intake.board.cells[name].tobytes(), name
    assert (one.intake.waiting == other.intake.waiting).all()


def _numbers(book: RequestBook) -> list[int | None]:
    names = book.names(np.arange(len(book)))
    assert [book.numbers.number_of(bytes.fromhex(name)) for name in names] == list(range(len(book)))
    return [book.numbers.number_of(bytes.fromhex(name)) for name in names]
