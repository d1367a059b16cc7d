"""Beliefs of an exchangeable attacker: exact by cells, sampled where many tables fit, right as often as they say."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from support.histories import grouped, histories, history_of
from support.stands import Stand, claimed

from seriatim.attacks import belief, reveal_leavers, sampled_belief
from seriatim.attacks.traces_by_person import trace
from seriatim.errors import TableError
from seriatim.model.history import History, PastRelease


def enumerated(history: History) -> dict[str, dict[str, float]]:
    """The posterior of everyone by all worlds, each weighed by how often every value is published.

    A counterfeit is one more person, of a single group.
    """
    traces = trace(history)
    n_real, margin = len(traces.respondent), Counter(dict.fromkeys(range(traces.n_values), 0))
    for value, count in zip(traces.sig_val.tolist(), traces.sig_cnt.tolist(), strict=True):
        margin[value] += count
    members = [traces.people[a:b].tolist() for a, b in itertools.pairwise(traces.group_ptr)]
    truth = [
        Counter(dict(zip(traces.sig_val[a:b].tolist(), traces.sig_cnt[a:b].tolist(), strict=True)))
        for a, b in itertools.pairwise(traces.sig_ptr)
    ]
    n = n_real
    for group, made_up in enumerate(traces.counterfeits.tolist()):
        members[group] += range(n, n + made_up)
        n += made_up
    total, found = 0.0, np.zeros((n, traces.n_values))
    for world in itertools.product(sorted(margin), repeat=n):
        if all(Counter(world[e] for e in who) == held for who, held in zip(members, truth, strict=True)):
            weight = float(np.prod([margin[v] / margin.total() for v in world]))
            total += weight
            found[np.arange(n), list(world)] += weight
    values, ids = history.values.to_pylist(), history.respondents.take(traces.respondent).to_pylist()
    return {
        who: {v: p for v, p in zip(values, row / total, strict=True) if p > 0}
        for who, row in zip(ids, found[:n_real], strict=True)
    }


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(histories(most=6, fakes=False))
def test_exact_cells_are_what_enumeration_finds(history: History) -> None:
    traces = trace(history)
    assume(0 < traces.n_values ** len(traces.respondent) <= 2_000)
    found, truth = belief(history), enumerated(history)
    ids = history.respondents.take(traces.respondent[found.people]).to_pylist()
    for who, cell in zip(ids, found.cell.tolist(), strict=True):
        if found.exact[cell]:
            assert found.of(who) == pytest.approx(truth[who])


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(histories(most=5, fakes=True))
def test_a_counterfeit_may_be_any_row_of_its_group(history: History) -> None:
    """Whoever stood only in groups with counterfeits was believed to hold their true value, with certainty."""
    traces = trace(history)
    assume(0 < traces.n_values ** (len(traces.respondent) + int(traces.counterfeits.sum())) <= 3_000)
    assume(len(set(traces.value.tolist())) == traces.n_values)
    found, truth = belief(history), enumerated(history)
    ids = history.respondents.take(traces.respondent[found.people]).to_pylist()
    for who, cell in zip(ids, found.cell.tolist(), strict=True):
        assert found.of(who) == pytest.approx(truth[who], abs=1e-9 if found.exact[cell] else 0.03)


def test_beside_a_counterfeit_nobody_is_certain() -> None:
    history = history_of([("a", 0, "1"), ("b", 0, "2"), (None, 0, "3"), ("c", 1, "3"), ("d", 1, "1")])
    found = belief(history)
    assert found.of("a") == pytest.approx({"1": 1 / 3, "2": 1 / 3, "3": 1 / 3})
    assert found.sure() == 0


def refilled() -> History:
    """A group of four: b and d leave, and e and f with the same values take their slots."""
    held = dict(zip("abcdef", "112212", strict=True))
    return history_of(grouped(held, "abcd"), grouped(held, "acef"))


def test_where_many_tables_fit_the_chain_finds_the_shares() -> None:
    found, truth = belief(refilled()), enumerated(refilled())
    assert not found.exact.any()
    for who in "abcdef":
        assert found.of(who) == pytest.approx(truth[who], abs=0.02)


def test_a_known_value_counts_in_its_cell() -> None:
    held = dict(zip("abcde", "11223", strict=True))
    history = history_of(grouped(held, "abcde"))
    assert belief(history).of("c") == pytest.approx({"1": 0.4, "2": 0.4, "3": 0.2})
    assert belief(history, ["d"]).of("c") == pytest.approx({"1": 0.5, "2": 0.25, "3": 0.25})
    assert belief(history, "abde").sure() == 1


def test_values_that_change_are_for_the_sequence_attack() -> None:
    with pytest.raises(TableError, match=r"attacks\.sequence"):
        belief(history_of([("a", 0, "1"), ("b", 0, "2")], [("a", 0, "2"), ("b", 0, "1")]))


def test_leavers_are_read_from_slots() -> None:
    """Two leavers of the same value: the slot says which counterfeit is who, and a person stands only once."""
    first: list[Stand] = [(p, 0, p, p % 2) for p in range(4)]
    second: list[Stand] = [(-1, 0, 0, 0), (-1, 0, 2, 0), (1, 0, 1, 1), (3, 0, 3, 1)]
    # person 0 is back in another lineage: their old slot stays a counterfeit of nobody
    third: list[Stand] = [*second[:2], (0, 1, 9, 0), *second[2:]]
    told = reveal_leavers(claimed(first, second, third))
    assert told.releases[1].person.tolist() == [0, 2, 1, 3]
    assert told.releases[2].person.tolist() == [-1, 2, 0, 1, 3]
    assert np.array_equal(told.releases[1].marks["slot"], [0, 2, 1, 3])


def latin(n: int) -> History:
    """n x n people, grouped by row and then by column; every group shows each of n values once."""
    spots = [(f"{i} {j}", i, j, str((i + j) % n)) for i in range(n) for j in range(n)]
    return history_of([(who, i, v) for who, i, _, v in spots], [(who, j, v) for who, _, j, v in spots])


def published(past: PastRelease) -> list[tuple[int, int]]:
    return sorted(zip(past.group.tolist(), past.value.tolist(), strict=True))


def truths(history: History) -> list[History]:
    """Return all histories that publish the same groups and counts as this one."""
    traces = trace(history)
    people = history.respondents.take(traces.respondent).to_pylist()
    found = []
    for world in itertools.product(range(traces.n_values), repeat=len(people)):
        held = dict(zip(traces.respondent.tolist(), world, strict=True))
        moved = [replace(past, value=np.array([held[p] for p in past.person], dtype=np.int32)) for past in history]
        if all(published(a) == published(b) for a, b in zip(history, moved, strict=True)):
            found.append(replace(history, releases=tuple(moved)))
    return found


@pytest.mark.parametrize("history", [refilled(), latin(3)])
def test_belief_is_the_same_whichever_truth_gave_the_release(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """The chain began at the truth, so what it said depended on it."""
    monkeypatch.setattr(sampled_belief, "STEPS", 20_000)
    first, worlds = belief(history), truths(history)
    assert len(worlds) > 5
    for other in worlds:
        assert np.array_equal(first.by_cell, belief(other).by_cell)


def test_nobody_is_judged_where_chains_from_several_tables_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Latin square of five: no move leads from one to another, and each that the chain began at seemed certain."""
    monkeypatch.setattr(sampled_belief, "STEPS", 50_000)
    found = belief(latin(5))
    assert (found.sure(), len(found.people), found.n_unjudged, found.n_disputed) == (0, 0, 25, 25)
