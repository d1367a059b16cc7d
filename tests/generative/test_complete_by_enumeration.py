"""The complete attack against enumeration: it finds exactly the people whose value is the same in every world."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.enumeration import enumerated_values
from support.histories import grouped, histories, history_of, subtraction

from seriatim.attacks import (
    complete,
    complete_search,
    connected_parts,
    exclusion,
    possible_worlds,
    prepare,
    solver_answers,
    value_exchanges,
)
from seriatim.attacks.complete_search import complete_sample, complete_share
from seriatim.attacks.traces_by_person import trace
from seriatim.kernels.arrays import Flags
from seriatim.model.history import History

Changes = tuple[tuple[object, str, object], ...]
NO_FEW_ALIKE: Changes = ((solver_answers.SolverAnswers, "clear_few_alike", lambda _answers, _work: None),)
ONE_BY_ONE: Changes = (
    *NO_FEW_ALIKE,
    (solver_answers.SolverAnswers, "exchange", lambda _answers, _work: None),
    (solver_answers, "TOO_MANY_CLASSES", 0),
)
BY_CLAUSES: Changes = ((connected_parts, "MOST_ALIKE", 1e9),)
BY_PROGRAMMES: Changes = ((connected_parts, "MOST_LITERALS", 0),)


def change(patch: pytest.MonkeyPatch, changes: Changes) -> None:
    for where, name, value in changes:
        patch.setattr(where, name, value)


def is_small(history: History) -> bool:
    traces = trace(history)
    return bool(traces.n_values ** len(traces.respondent) <= 10_000)


def certain_by_enumeration(history: History, told: list[str]) -> set[str]:
    traces = trace(history)
    ids = history.respondents.take(traces.respondent).to_pylist()
    known = {at for at, who in enumerate(ids) if who in told}
    values = enumerated_values(traces, known)
    return {who for who, held in zip(ids, values, strict=True) if len(held) == 1} - set(told)


@pytest.fixture
def by_programmes(monkeypatch: pytest.MonkeyPatch) -> None:
    """No part is asked as clauses."""
    change(monkeypatch, BY_PROGRAMMES)


def drawn_people(history: History, n: int) -> list[str]:
    published = set(history.respondents.take(trace(history).order).to_pylist())
    return [who for who in history.respondents.to_pylist()[:n] if who in published]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param((), id="as it is"),
        pytest.param((*NO_FEW_ALIKE, (complete_search, "SAMPLE", 0)), id="exchanges instead"),
        pytest.param(((complete_search, "SAMPLE", 0),), id="exchanges too"),
        pytest.param(((connected_parts, "ALIKE", 1), *BY_PROGRAMMES), id="one of those alike may move"),
        pytest.param(ONE_BY_ONE + BY_PROGRAMMES, id="integer programmes alone"),
        pytest.param(ONE_BY_ONE + BY_CLAUSES, id="clauses alone"),
    ],
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=histories(changing=True, most=6), n_told=st.integers(0, 1))
def test_it_finds_exactly_what_enumeration_finds(history: History, n_told: int, changes: Changes) -> None:
    told = drawn_people(history, n_told)
    assume(is_small(history))
    with pytest.MonkeyPatch.context() as patch:
        change(patch, changes)
        found = complete(history, told)
    assert len(found.undecided) == 0
    assert found.breached == certain_by_enumeration(history, told)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(histories(changing=True, most=6))
def test_exchanges_clear_nobody_who_is_certain(history: History) -> None:
    """Also where they are tried one by one, as in large histories, and where one of interchangeable people may move."""
    assume(is_small(history))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connected_parts, "ALIKE", 1)
        patch.setattr(solver_answers, "MOST_CLASSES", 0)
        steps = [solver_answers._Step(None, 0.0, together) for together in (2, 3)] + [
            solver_answers._Step(None, 1e6, first=True)
        ]
        patch.setattr(solver_answers, "_steps", lambda: iter(steps))
        found = complete(history)
    assert len(found.undecided) == 0
    assert found.breached == certain_by_enumeration(history, [])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(histories(changing=True, most=6))
def test_neighbourhoods_as_clauses_find_the_same(history: History) -> None:
    """Small neighbourhoods clear people, with everyone else at the truth; certainty is left to the whole part."""
    assume(is_small(history))
    with pytest.MonkeyPatch.context() as patch:
        steps = [solver_answers._Step(size, 20.0) for size in (1, 2, 3)] + [solver_answers._Step(None, 1e6, first=True)]
        patch.setattr(solver_answers, "_steps", lambda: iter(steps))
        change(patch, ONE_BY_ONE)
        found = complete(history)
    assert len(found.undecided) == 0
    assert found.breached == certain_by_enumeration(history, [])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(histories(most=6))
def test_small_neighbourhoods_find_the_same(history: History) -> None:
    """A world that leaves everyone far away at the truth is a world; only the whole part proves certainty."""
    assume(is_small(history))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solver_answers, "BALLS", (1, 2, 3, 100))
        change(patch, ONE_BY_ONE)
        patch.setattr(connected_parts, "MOST_LITERALS", 0)
        certain = certain_by_enumeration(history, [])
        assert complete(history).breached == certain


def test_a_conclusion_that_rules_miss() -> None:
    """Three pairs over three releases: only all sums together say that a holds 1."""
    held = {"a": "1", "b": "1", "c": "2", "d": "2"}
    history = history_of(grouped(held, "ab", "cd"), grouped(held, "ac", "bd"), grouped(held, "ad", "bc"))
    assert set(complete(history).breached) == certain_by_enumeration(history, [])
    assert set(exclusion(history).breached) <= complete(history).breached


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everyone is asked about alone."""
    change(monkeypatch, ONE_BY_ONE)


@pytest.mark.usefixtures("by_programmes")
@pytest.mark.parametrize("way", ["exchanges", "few alike"])
def test_they_clear_only_whom_a_world_clears_and_leave_fewer_to_ask_about(way: str) -> None:
    held = {who: "123"[at % 3] for at, who in enumerate("abcdefghi")}
    history = history_of(grouped(held, "abc", "def", "ghi"), grouped(held, "aei", "bfg", "cdh"))
    run = prepare(history).compromise(np.empty(0, dtype=np.int32))
    worlds = possible_worlds.undecided_people(run.traces, run.words)
    nobody = np.zeros(len(worlds.size), dtype=np.bool_)
    parts = connected_parts.connected_parts(worlds)
    exchanges = value_exchanges.Exchanges(worlds, parts.some_alike)

    def opened(cleared: Flags) -> tuple[Flags, float]:
        if way == "exchanges":
            return value_exchanges.clear_by_changed_places(exchanges, cleared, nobody, 1_000.0)
        found, closed, work = solver_answers.clear_by_few_alike(parts, cleared, 1_000.0)
        assert not closed.any()
        return found, work

    cleared, work = opened(nobody)
    assert opened(~nobody)[1] == 0, "nobody is sought"
    found = complete_sample(run)
    assert work > 0
    assert found.opened == cleared.sum() > 0
    assert found.whole
    assert found.breached == certain_by_enumeration(history, [])


@pytest.mark.usefixtures("one_by_one", "by_programmes")
def test_who_is_not_decided_counts_against(monkeypatch: pytest.MonkeyPatch) -> None:
    history = subtraction()
    monkeypatch.setattr(possible_worlds, "MOST_VARIABLES", 0)
    found = complete(history)
    assert len(found.undecided) == found.left > 0
    estimate = complete_share(prepare(history), 0.0, (1, 2))
    assert estimate.detail["undecided"] == found.left
    assert estimate.share == 0.0
    assert estimate.high == pytest.approx(found.left / 7)


@pytest.mark.usefixtures("one_by_one")
def test_a_sample_is_seeded_and_its_interval_holds_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(complete_search, "FEW", 0)
    run = prepare(subtraction()).compromise(np.empty(0, dtype=np.int32))
    asked = [complete_sample(run, 1, seed).asked.tolist() for seed in range(8)]
    assert asked == [complete_sample(run, 1, seed).asked.tolist() for seed in range(8)]
    assert {who for one in asked for who in one} == {5, 6}  # f and g, who are twins and undecided
    monkeypatch.setattr(complete_search, "SAMPLE", 1)
    estimate = complete_share(prepare(subtraction()), 0.0, (1, 2))
    assert estimate.high == pytest.approx(2 / 7 * (1 - 0.025))  # 0 of 1 asked about


@pytest.mark.usefixtures("one_by_one")
def test_a_sample_ends_by_work_done_and_not_by_time() -> None:
    run = prepare(subtraction()).compromise(np.empty(0, dtype=np.int32))
    assert complete_sample(run, work=0.0).asked.tolist() == complete_sample(run, work=1.0).asked.tolist()
    assert len(complete_sample(run, work=0.0).asked) == 1, "the first is asked before any work is counted"
    assert len(complete_sample(run, work=1e9).asked) == 2
