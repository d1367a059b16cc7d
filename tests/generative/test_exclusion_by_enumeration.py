"""The exclusion attack against enumeration (it is sound) and against a slow twin of its rule (it is complete)."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support.enumeration import enumerated_counts, enumerated_members, enumerated_values
from support.histories import histories

from seriatim.attacks import exclusion, prepare
from seriatim.attacks.traces_by_person import Traces, trace
from seriatim.model.history import History

BOUNDED = settings(max_examples=150, deadline=None)


def told_episodes(history: History, told: list[Any]) -> set[int]:
    return set(trace(history).episodes_of(told).tolist())


@BOUNDED
@given(histories(), st.sets(st.integers(0, 6), max_size=3))
def test_nothing_possible_is_ever_excluded(history: History, picks: set[int]) -> None:
    check_soundness(history, picks)


@BOUNDED
@given(histories(changing=True, most=4), st.sets(st.integers(0, 3), max_size=2))
def test_nothing_possible_is_excluded_when_values_change(history: History, picks: set[int]) -> None:
    if len(trace(history).respondent) <= 8:
        check_soundness(history, picks)


def check_soundness(history: History, picks: set[int]) -> None:
    told = compromised_ids(history, picks)
    found = exclusion(history, told)
    traces = found.traces
    possible = enumerated_values(traces, told_episodes(history, told))
    left = left_of(found)
    for e in range(len(traces.respondent)):
        assert possible[e] <= left[e]
    assert (found.wrong, found.conflicts) == (0, 0)


def compromised_ids(history: History, picks: set[int]) -> list[Any]:
    published_ids = sorted(history.respondents.take(trace(history).order).to_pylist())
    return [who for i, who in enumerate(published_ids) if i in picks]


def left_of(found: Any) -> list[set[int]]:
    from seriatim.attacks.traces_by_person import trace_flags

    return [set(np.flatnonzero(row).tolist()) for row in trace_flags(found.words, found.traces.n_values)]


@BOUNDED
@given(histories(), st.sets(st.integers(0, 6), max_size=3))
def test_the_kernel_equals_its_slow_twin(history: History, picks: set[int]) -> None:
    told = compromised_ids(history, picks)
    assert left_of(exclusion(history, told)) == slow_fixed_point(trace(history), told_episodes(history, told))


class Group(NamedTuple):
    members: set[int]
    counts: Counter[int]
    counterfeits: int


def slow_fixed_point(traces: Traces, told: set[int]) -> list[set[int]]:
    """The same rule on sets and counters, for every pair of groups of different releases, again and again."""
    n = len(traces.respondent)
    left = [set(range(traces.n_values)) for _ in range(n)]
    groups = [
        Group(set(enumerated_members(traces, g)), enumerated_counts(traces, g), int(traces.counterfeits[g]))
        for g in range(traces.n_groups)
    ]
    for group in groups:
        for e in group.members:
            left[e] &= set(group.counts)
    for e in told:
        left[e] = {int(traces.value[e])}
    pairs = [(g, h) for g in range(traces.n_groups) for h in range(-1, traces.n_groups)
             if h < 0 or traces.release_of[g] != traces.release_of[h]]  # fmt: skip
    while True:
        before = [set(held) for held in left]
        for g, h in pairs:
            slow_look(groups[g], groups[h] if h >= 0 else None, left)
        if left == before:
            return left


def slow_look(g: Group, h: Group | None, left: list[set[int]]) -> None:
    in_g = g.members
    in_h = in_g if h is None else h.members
    parts = {"K": in_g & in_h, "X": in_g - in_h, "Y": in_h - in_g}
    values = set(g.counts) | (set() if h is None else set(h.counts))
    holds = {(p, a): sum(left[e] == {a} for e in who) for p, who in parts.items() for a in values}
    may = {(p, a): sum(a in left[e] for e in who) for p, who in parts.items() for a in values}
    lo = {(p, a): 0 for p in parts for a in values}
    hi = {(p, a): 0 for p in parts for a in values}
    sides = [("X", g.counts, g.counterfeits)]
    if h is not None:
        sides.append(("Y", h.counts, h.counterfeits))
    for a in values:
        lo["K", a] = max([holds["K", a]] + [int(s[a] - may[p, a] - f) for p, s, f in sides if s[a]])
        hi["K", a] = min([may["K", a]] + [int(s[a] - holds[p, a]) for p, s, _ in sides if s[a]])
    add_up(lo, hi, "K", values, len(parts["K"]))
    for p, s, fakes in sides:
        for a in s:
            lo[p, a] = max(holds[p, a], int(s[a] - hi["K", a] - fakes))
            hi[p, a] = min(may[p, a], s[a] - lo["K", a])
        add_up(lo, hi, p, values, len(parts[p]))
    for p, who in parts.items():
        for e in [e for e in who if len(left[e]) > 1]:
            kept = {a for a in left[e] if hi[p, a] > holds[p, a]}
            forced = {a for a in kept if lo[p, a] >= may[p, a]}
            left[e] = forced or kept


def add_up(lo: dict[Any, int], hi: dict[Any, int], p: str, values: set[int], size: int) -> None:
    sum_lo, sum_hi = sum(lo[p, a] for a in values), sum(hi[p, a] for a in values)
    for a in values:
        old_lo, old_hi = lo[p, a], hi[p, a]
        hi[p, a] = min(old_hi, size - (sum_lo - old_lo))
        lo[p, a] = max(old_lo, size - (sum_hi - old_hi))


@BOUNDED
@given(histories(), st.sets(st.integers(0, 6), max_size=3))
def test_one_round_equals_the_definitions_and_stays_above_the_fixed_point(history: History, picks: set[int]) -> None:
    told = compromised_ids(history, picks)
    ground = prepare(history)
    episodes = ground.traces.episodes_of(told)
    once = left_of(ground.compromise_once(episodes))
    assert once == slow_once(ground.traces, set(episodes.tolist()))
    assert all(more >= less for more, less in zip(once, left_of(ground.compromise(episodes)), strict=True))


def slow_once(traces: Traces, told: set[int]) -> list[set[int]]:
    """Definitions 2 and 4, on sets."""
    groups = range(traces.n_groups)
    start = [set(range(traces.n_values)) for _ in traces.respondent]
    for g in groups:
        for e in enumerated_members(traces, g):
            start[e] &= set(enumerated_counts(traces, g))
    for e in told:
        start[e] = {int(traces.value[e])}
    ct = [set(held) for held in start]
    for g in groups:
        taken = Counter(next(iter(start[e])) for e in enumerated_members(traces, g) if len(start[e]) == 1)
        for e in enumerated_members(traces, g):
            if len(start[e]) > 1:
                ct[e] -= {a for a, n in enumerated_counts(traces, g).items() if taken[a] >= n}
    hc = [set(held) for held in ct]
    for g, h in itertools.permutations(groups, 2):
        core = set(enumerated_members(traces, g)) & set(enumerated_members(traces, h))
        if core and enumerated_counts(traces, g) == enumerated_counts(traces, h) and traces.counterfeits[h] == 0:
            may = set().union(*(ct[e] for e in enumerated_members(traces, h) if e not in core))
            for e in set(enumerated_members(traces, g)) - core:
                hc[e] &= may
    return hc
