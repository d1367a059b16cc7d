"""Attackers who know the rule, that values are whole numbers, and some of the values read nobody from the answers.

Each attack is first run on the rule that services had before, where it reads people.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.answer_attacks import (
    Asker,
    Told,
    certain_by_solver,
    doubling,
    few,
    possible_by_margin,
    possible_ends,
    session,
    spreads_left,
)
from support.old_answers import OldAnswers

from seriatim.queries import Answering, Query, SpreadRefusals


def wages(n: int, most: int = 9000) -> np.ndarray:
    return np.random.default_rng(5).integers(0, most + 1, n) * 1.0


def service(values: np.ndarray, spread: float) -> Answering:
    return Answering(values, SpreadRefusals(len(values), spread), (float(values.min()), float(values.max())))


@pytest.mark.parametrize("spread", [0.5, 0.7])
def test_a_weight_a_little_above_one_reads_nobody(spread: float) -> None:
    """x + (1 + 1/M) y is a whole number of Mths: M times it leaves y when divided by M, and so x."""
    values, much = wages(200), 9001

    def read(asked: Answering | OldAnswers) -> int:
        found = 0
        for first in range(0, 200, 2):
            told = asked.ask(Query("sum", (first, first + 1), (1.0, 1.0 + 1.0 / much))).value
            if told is not None:
                both, y = divmod(round(told * much), much)
                found += int(both - y == values[first]) + int(y == values[first + 1])
        return found

    assert read(OldAnswers(values, spread)) == 200
    assert read(service(values, spread)) == 0


def test_a_billionth_more_is_not_the_same_sum() -> None:
    """Of two sums that are nearly dependent the difference is one record's value, times a billionth."""
    values = wages(200)

    def read(asked: Answering | OldAnswers) -> int:
        whole = asked.ask(Query("sum", range(200))).value
        assert whole is not None
        found = 0
        for one in range(200):
            counted = [1.0] * 200
            counted[one] += 1e-9
            told = asked.ask(Query("sum", range(200), tuple(counted))).value
            found += told is not None and abs((told - whole) * 1e9 - values[one]) < 1.0
        return found

    assert read(OldAnswers(values, 0.9)) > 190
    assert read(service(values, 0.9)) == 0


def test_doubling_reads_two_people_by_weights_of_one_and_nobody_in_groups() -> None:
    """Weights of 1 and -1 are no cure by themselves: sums of bundles carry M x + (M + 1) y."""
    bundle, most = 60, 63
    values = wages(2 + 13 * bundle, most)
    rng = np.random.default_rng(1)
    assert doubling(Asker(OldAnswers(values, 0.65, units=True), len(values), rng), most, bundle) == tuple(values[:2])
    assert doubling(Asker(service(values, 0.65), len(values), rng), most, bundle) is None


def test_oneself_and_another_are_the_other() -> None:
    values = wages(60)
    old, new = OldAnswers(values, 0.7), service(values, 0.7)
    pair = Query("sum", (0, 1))
    assert old.ask(pair).value == values[0] + values[1]
    assert new.ask(pair).value is None


def test_pairs_of_a_column_of_two_values_are_read_no_more() -> None:
    values = (np.random.default_rng(3).random(60) < 0.5) * 1.0
    left = []
    for asked in (OldAnswers(values, 0.5), service(values, 0.5)):
        asker = Asker(asked, 60, np.random.default_rng(4))
        for first in range(0, 60, 2):
            asker.ask(Query("sum", (first, first + 1)))
            asker.ask(Query("sum", (first, (first + 3) % 60)))
        few(asker)
        told = Told.by(asker, values, ())
        certain = certain_by_solver(told)
        ends = [width == 0 for width in possible_ends(told, 0, 1, True, range(60))]
        assert np.flatnonzero(ends).tolist() == certain, "two solvers agree"
        margin = [width == 0 for width in possible_by_margin(told, values, range(0, 60, 6))]
        assert margin == ends[::6]
        left.append(len(certain))
    assert left[0] > 30
    assert left[1] == 0


def test_those_who_know_many_read_no_one_else() -> None:
    """By least squares, with 30 of 60 people known: a sum over a few others is as narrow as over these alone."""
    values, known = wages(60), tuple(range(30))
    queries = [Query("sum", (*known, 30 + 2 * place, 31 + 2 * place)) for place in range(15)]
    left = []
    for asked in (
        OldAnswers(values, 0.9),
        Answering(values, SpreadRefusals(60, 0.9, known=known), (0, 9000)),
    ):
        asker = Asker(asked, 60, np.random.default_rng(6))
        for query in queries:
            asker.ask(query)
        left.append(float(spreads_left(Told.by(asker, values, known)).min()))
    assert left[0] < 0.9
    assert left[1] >= 0.9


def test_sessions_of_all_attacks_read_nobody() -> None:
    """On columns of all kinds; what is asked depends on what was answered."""
    found = [session(seed) for seed in range(1000, 1025)]
    opened = [one for one in found if one is not None]
    assert len(opened) >= 20
    assert {way: sum(one.read.get(way, 0) for one in opened) for one in opened for way in one.read} == {
        "least squares": 0, "integers": 0, "values of groups": 0, "solver": 0, "margin": 0,
    }  # fmt: skip
    assert sum(one.moved for one in opened) == 0, "an answer or refusal depends on who holds which value of a group"
    assert min(one.n_answered for one in opened) > 0
