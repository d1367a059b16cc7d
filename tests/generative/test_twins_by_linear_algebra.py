"""Twins against exact linear algebra over the rationals, on tiny histories."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from support.histories import histories

from seriatim.attacks import twin_sets
from seriatim.attacks.traces_by_person import Traces, trace
from seriatim.attacks.twin_sets import determined, twins
from seriatim.model.history import History


def rank(rows: list[list[int]]) -> int:
    left = [[Fraction(x) for x in row] for row in rows]
    found = 0
    for c in range(len(left[0]) if left else 0):
        pivot = next((r for r in range(found, len(left)) if left[r][c]), None)
        if pivot is None:
            continue
        left[found], left[pivot] = left[pivot], left[found]
        for r in range(found + 1, len(left)):
            factor = left[r][c] / left[found][c]
            left[r] = [x - factor * y for x, y in zip(left[r], left[found], strict=True)]
        found += 1
    return found


def equations(traces: Traces) -> list[list[int]]:
    n = len(traces.respondent)
    rows = []
    for g in range(traces.n_groups):
        people = set(traces.people[traces.group_ptr[g] : traces.group_ptr[g + 1]].tolist())
        if people and traces.counterfeits[g] == 0:
            rows.append([int(e in people) for e in range(n)])
    return rows


def forced(traces: Traces) -> tuple[set[frozenset[str]], set[str]]:
    """Pairs that must be equal, and people whose value follows, by rank."""
    rows = equations(traces)
    base, n = rank(rows), len(traces.respondent)
    ids = traces.history.respondents.take(traces.respondent).to_pylist()
    pairs: set[frozenset[str]] = set()
    apart: set[frozenset[str]] = set()
    for p, q in combinations(range(n), 2):
        difference = [int(e == p) - int(e == q) for e in range(n)]
        if rank([*rows, difference]) == base:
            alike = traces.value[p] == traces.value[q]
            (pairs if alike else apart).add(frozenset((ids[p], ids[q])))
    lone = {who for pair in apart for who in pair}
    lone |= {ids[p] for p in range(n) if rank([*rows, [int(e == p) for e in range(n)]]) == base}
    return pairs, lone


def found_pairs(history: History) -> set[frozenset[str]]:
    return {frozenset(pair) for held in twins(history) for pair in combinations(sorted(held), 2)}


@settings(max_examples=150, deadline=None)
@given(histories(most=8))
def test_twins_are_exactly_what_the_row_space_forces(history: History) -> None:
    pairs, lone = forced(trace(history))
    assert twins(history).exact
    assert found_pairs(history) == pairs
    assert set(determined(history)) == lone


@settings(max_examples=60, deadline=None)
@given(histories(most=8, fakes=False))
def test_projection_finds_the_same_as_elimination(history: History) -> None:
    exact = found_pairs(history)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(twin_sets, "DENSE", 0)
        assert found_pairs(history) == exact
        # too large for elimination, and said so of everyone there
        patch.setattr(twin_sets, "PROJECTED", 0)
        found = twins(history)
        assert found.exact or 0 < found.undecided <= len(history.respondents)
        assert {frozenset(pair) for held in found for pair in combinations(sorted(held), 2)} <= exact
        if found.exact:
            assert found_pairs(history) == exact
