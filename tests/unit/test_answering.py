"""A service answers sums over groups that are large enough for the column, and never looks at who holds what."""

from __future__ import annotations

import math
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seriatim as sr
from seriatim.ledger.answer_book import books_in_words
from seriatim.queries import Answering, Query, SpreadRefusals, answer_service
from seriatim.queries.answer_service import ListOfAnswers

EVEN = np.arange(24.0)


def opened(values: Any, spread: float = 0.3, book: Any = None, domain: Any = (0, 100), **terms: Any) -> Answering:
    return Answering(values, SpreadRefusals(len(values), spread, **terms), domain, book)


@pytest.mark.parametrize("seed", range(12))
def test_the_least_group_by_counting_all_sets(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets of one record less whose values lie near each other, as a share of all such sets."""
    rng = np.random.default_rng(seed)
    slip, spread = float(rng.choice((1e-4, 0.5, 3.0))), float(rng.choice((0.2, 0.5, 0.7)))
    monkeypatch.setattr(answer_service, "_SLIP", slip)
    values = rng.integers(0, 12, 11) * 1.0
    known = tuple(rng.choice(11, 2, replace=False).tolist())
    others = [value for place, value in enumerate(values.tolist()) if place not in known]
    width = spread * values.std()

    def chance(size: int) -> float:
        sets = list(combinations(others, size - 1))
        return len(others) * size * sum(max(one) - min(one) <= width for one in sets) / len(sets)

    least = 1 + math.ceil(1 / (1 - spread**2))
    enough = [size for size in range(least, len(others) + 1) if chance(size) <= slip * (1 + 1e-9)]
    rule = SpreadRefusals(11, spread, known=known)
    if len(others) not in enough:
        with pytest.raises(sr.InputError, match="too alike"):
            rule.least_group(values)
    else:
        assert rule.least_group(values) == enough[0]


def test_few_values_need_larger_groups() -> None:
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 9000, 500), rng.integers(0, 5, 500), rng.random(500) < 0.5, rng.random(500) < 0.1]
    least = [SpreadRefusals(500, 0.5).least_group(np.asarray(column, dtype=float)) for column in columns]
    assert least == sorted(least)
    assert least[0] < 15
    assert 20 < least[2] < 40
    assert least[3] > 100
    with pytest.raises(sr.InputError, match="too alike"):
        opened(np.repeat((0.0, 7.0), (99, 1)))


def test_more_spread_or_more_people_who_are_known_need_larger_groups() -> None:
    values = np.random.default_rng(2).integers(0, 9000, 300) * 1.0
    least = [SpreadRefusals(300, spread).least_group(values) for spread in (0.1, 0.3, 0.5, 0.7, 0.9, 0.99)]
    assert least == sorted(least)
    assert least[0] < least[-1]
    assert least[-1] >= 51, "a straight line errs by .99 of the standard deviation in groups of 51"
    assert SpreadRefusals(300, 0.3, 40).least_group(values) == 40


def test_a_query_may_split_groups_into_large_ones_only() -> None:
    service = opened(EVEN)
    least = service._least_group
    assert 4 < least <= 12
    assert service.ask(Query("sum", range(12))).value == 66
    assert set(service.groups.tolist()) == {0, 1}
    assert service.ask(Query("average", range(12, 24))).value == 17.5
    assert service.ask(Query("sum", range(least - 1))).refused == f"it would set fewer than {least} records apart"
    assert service.ask(Query("sum", range(13 - least))).refused, "those left over would be too few"
    difference = Query("sum", range(24), (1.0,) * 12 + (-1.0,) * 12)
    assert service.ask(difference).value == -144
    for other in (Query("max", (0, 1)), Query("sum", range(24), (2.0,) * 12 + (1.0,) * 12)):
        assert service.ask(other).refused == "only sums, differences of sums and averages are answered"
    assert service.share_answered == pytest.approx(3 / 7)
    assert service.queries_per_record == 3 / 24
    assert repr(service) == (f"Answering(24 records; 3 of 7 queries answered; groups of {least} or more)")


def test_known_records_hide_nobody() -> None:
    values = np.random.default_rng(3).permutation(EVEN)
    known = tuple(range(8))
    service = opened(values, known=known)
    least = service._least_group
    assert service.ask(Query("sum", range(8 + least - 1))).refused
    assert service.ask(Query("sum", (*known, *range(8, 8 + least)))).value is not None
    for wrong in ((24,), (-1,), (0.5,), (3, 3), 3):
        with pytest.raises(sr.InputError):
            SpreadRefusals(24, known=wrong)  # type: ignore[arg-type]


def test_bounds_hold_every_table_with_the_same_sums_of_groups() -> None:
    values, book = np.array([0.0, 3, 1, 1, 2, 0, 3]), ListOfAnswers()
    book.append({"query": "sum", "records": [0, 1, 2], "answer": 4.0})
    book.append({"query": "sum", "records": [3, 6], "answer": 4.0})
    service = Answering(values, SpreadRefusals(7, 0.1, 1, known=(4,)), (0, 3), book)
    tables = np.array(list(product(range(4), repeat=6)))
    alike = tables[(tables[:, :3].sum(axis=1) == 4) & (tables[:, 3] + tables[:, 5] == 4) & (tables[:, 4] == 0)]
    found = service.bounds()
    places = [0, 1, 2, 3, 5, 6]
    assert found.low[places].tolist() == alike.min(axis=0).tolist()
    assert found.high[places].tolist() == alike.max(axis=0).tolist()
    assert found.low[4] == found.high[4] == 2
    assert found.exact_records == (4, 5)
    assert service.exposed_records == (3, 5, 6), "one alone, and two of whom each knows the other"


def test_equal_values_of_a_set_are_told_to_the_officer() -> None:
    """A set that was chosen because all hold one value is no random deal; no rule without values can refuse it."""
    values = np.repeat((0.0, 40.0, 60.0, 100.0), 10)
    service = opened(values)
    assert service.exposed_records == ()
    assert service.ask(Query("sum", range(10))).value == 0
    assert service.exposed_records == tuple(range(10)) == service.bounds().exact_records


def test_decimals_are_answered_as_decimals() -> None:
    """In floats .1 + .2 is not .15 + .15: the last digit would tell the tables apart."""
    rest = [0.7, 0.25, 0.95, 0.5, 0.0, 0.4, 0.6, 0.85, 0.35, 1.0, 0.05, 0.55, 0.65]
    told = []
    for pair in ([0.1, 0.2], [0.15, 0.15], [0.3, 0.0]):
        service = Answering([*pair, *rest], SpreadRefusals(15, 0.1), (0, 1))
        told.append([service.ask(Query(kind, range(7))).value for kind in ("sum", "average")])
    assert told == [[2.7, 2.7 / 7]] * 3


def test_the_order_of_adding_is_not_told() -> None:
    """Floats that are no decimals: their sum, rounded once, is the same in every order."""
    rng = np.random.default_rng(7)
    values, told = rng.normal(0, 1, 60), set()
    assert len({float(rng.permutation(values).sum()) for _ in range(50)}) > 1
    for _ in range(50):
        service = Answering(rng.permutation(values), SpreadRefusals(60, 0.3), (-9, 9))
        told.add(service.ask(Query("sum", range(60))).value)
    assert len(told) == 1


def test_what_follows_from_the_answers_is_answered_again() -> None:
    service = opened(EVEN)
    for first, last in ((0, 24), (0, 12), (12, 24), (0, 12)):
        query = Query("sum", range(first, last))
        assert service.ask(query).value == query.answer(EVEN)


def test_a_book_about_another_table_is_refused(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    assert opened(EVEN, book=ledger.answer_book("wages")).ask(Query("sum", range(24))).value == 276
    for other in (EVEN + 1, EVEN[:20]):
        with pytest.raises(sr.InputError, match="answers about another table"):
            opened(other, book=ledger.answer_book("wages"))


def test_another_rule_needs_a_name(tmp_path: Path) -> None:
    """A book that was kept under one rule goes on under another only by a decision that it records."""
    ledger = sr.Ledger.open(tmp_path / "ledger.db")

    def under(rule: SpreadRefusals, **decided: str) -> Answering:
        return Answering(EVEN, rule, (0, 100), ledger.answer_book("wages"), **decided)

    assert under(SpreadRefusals(24, 0.7)).ask(Query("sum", range(24))).value == 276
    for other in (SpreadRefusals(24, 0.3), SpreadRefusals(24, 0.7, 20), SpreadRefusals(24, 0.7, known=(3,))):
        with pytest.raises(sr.InputError, match=r"another rule than the book's, .*spread 0.7.*approved_by"):
            under(other)
    few = Query("sum", range(SpreadRefusals(24, 0.3).least_group(EVEN)))
    assert under(SpreadRefusals(24, 0.7)).ask(few).refused
    weaker = under(SpreadRefusals(24, 0.3), approved_by="Ada Byron")
    assert weaker.ask(few).value is not None
    decision = ledger.answer_book("wages").entries()[2]
    assert (decision["approved_by"], decision["instead_of"]["spread"], decision["rule"]["spread"]) == (
        "Ada Byron", 0.7, 0.3,
    )  # fmt: skip
    again = under(SpreadRefusals(24, 0.3))
    assert again.share_answered == pytest.approx(2 / 3), "a decision is no query"
    assert books_in_words(ledger.entries()) == [
        f"wages: 3 queries, 2 answered; known 0, least_group {len(few.records)}, least_records 2, rule groups, "
        "spread 0.3; changed by Ada Byron"
    ]
    assert ledger.verify().sound


def test_a_book_of_the_rule_before_groups_says_whom_it_may_have_exposed() -> None:
    """Records that were counted differently count as known; nothing more is answered about their group."""
    book, rule = ListOfAnswers(), {"rule": "spread", "spread": 0.7, "least_records": 2}
    book.append({"query": "sum", "records": [0, 1], "weights": [1.0, 1.5], "answer": 1.5, "refused": "", "rule": rule})
    with pytest.raises(sr.InputError, match=r"another rule than the book's, rule spread, spread 0\.7"):
        opened(EVEN, book=book)
    service = Answering(EVEN, SpreadRefusals(24, 0.3), (0, 100), book, approved_by="Ada Byron")
    assert service.exposed_records == service.bounds().exact_records == (0, 1)
    assert service.ask(Query("sum", range(12))).refused
    assert service.ask(Query("sum", range(2, 13))).value == 77


def test_a_service_goes_on_from_the_ledger(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    service, stale = (opened(EVEN, book=ledger.answer_book("wages")) for _ in range(2))
    assert service.ask(Query("sum", range(12))).value == 66
    assert service.ask(Query("sum", range(1))).value is None
    with pytest.raises(sr.LedgerMoved, match="answered meanwhile"):
        stale.ask(Query("sum", range(24)))
    again = opened(EVEN, book=ledger.answer_book("wages"))
    assert again.share_answered == 0.5
    assert again.ask(Query("sum", range(13))).refused, "it would tell a record, given the first answer"
    assert ledger.verify().sound


BAD: list[tuple[Any, str]] = [
    (lambda: SpreadRefusals(0), "below 1"),
    (lambda: SpreadRefusals(3, least_records=0), "below 1"),
    (lambda: SpreadRefusals(3, spread=0), "spread: 0"),
    (lambda: SpreadRefusals(3, spread=1), "spread: 1"),
    (lambda: SpreadRefusals(3, spread=float("nan")), "spread: nan"),
    (lambda: Answering(EVEN, SpreadRefusals(3), (0, 24)), "another number of records"),
    (lambda: Answering(["a", "b"], SpreadRefusals(2), (0, 2)), "each a number"),
    (lambda: Answering(EVEN, None, (0, 2)), "outside"),
    (lambda: Answering([1.0, float("nan")], SpreadRefusals(2), (0, 2)), "not a list of numbers"),
    (lambda: Answering([1.0, 2.0], None, (0, 2)), "too alike, or too few"),
    (lambda: Answering([2.0] * 50, None, (0, 2)), "too alike, or too few"),
    (lambda: Answering(EVEN, SpreadRefusals(24, known=tuple(range(24))), (0, 24)), "too alike, or too few"),
    (lambda: Answering(EVEN, None, (0, 24)).ask(Query("sum", (24,))), "beyond the last"),
]


@pytest.mark.parametrize(("work", "fault"), BAD, ids=lambda case: case if isinstance(case, str) else "")
def test_bad_input_is_said(work: Any, fault: str) -> None:
    with pytest.raises(sr.InputError, match=fault):
        work()
