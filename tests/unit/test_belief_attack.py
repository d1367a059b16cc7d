"""Beliefs of an exchangeable attacker: exact by cells, sampled where many tables fit, right as often as they say."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from support.histories import grouped, histories, history_of
from support.stands import Stand, claimed

from seriatim.attacks import belief, reveal_leavers
from seriatim.attacks.traces_by_person import trace
from seriatim.errors import TableError
from seriatim.model.history import History


def enumerated(history: History) -> dict[str, dict[str, float]]:
    """The posterior of everyone by all worlds, each weighed by the margin of the history's people.

    A counterfeit is one more person, of a single group.
    """
    traces = trace(history)
    n_real, margin = len(traces.respondent), Counter(traces.value.tolist())
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
            weight = float(np.prod([margin[v] / n_real for v in world]))
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
