"""The promises about a series against the plainest reading of their definitions."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support.histories import histories

from seriatim.model.history import History, JudgedHistory
from seriatim.promises.series.invariance import m_invariance, m_uniqueness, weak_m_invariance, weak_m_uniqueness
from seriatim.promises.series.kept_over_time import lifespan_limit
from seriatim_papers.historical.promises import hc_safety, no_subtraction, union_safety

BOUNDED = settings(max_examples=150, deadline=None)
Group = tuple[frozenset[int], Counter[int], int]
"""people, published values, size"""


def releases_of(history: History) -> list[list[Group]]:
    found = []
    for past in history.releases:
        groups = []
        for g in range(past.n_groups):
            rows = np.flatnonzero(past.group == g)
            people = frozenset(int(p) for p in past.person[rows] if p >= 0)
            groups.append((people, Counter(past.value[rows].tolist()), len(rows)))
        found.append(groups)
    return found


@BOUNDED
@given(histories(), st.integers(2, 3))
def test_uniqueness_and_invariance(history: History, m: int) -> None:
    releases = releases_of(history)
    groups = [group for release in releases for group in release]
    unique = all(len(values) >= m and max(values.values()) == 1 for _, values, _ in groups)
    weak = all(len(values) >= m and len(set(values.values())) == 1 for _, values, _ in groups)
    steady = all(set(v1) == set(v2) for p1, v1, _ in groups for p2, v2, _ in groups if p1 & p2)
    assert m_uniqueness(JudgedHistory(history), m).kept == unique
    assert weak_m_uniqueness(JudgedHistory(history), m).kept == weak
    assert m_invariance(JudgedHistory(history), m).kept == (unique and steady)
    assert weak_m_invariance(JudgedHistory(history), m).kept == (weak and steady)


@BOUNDED
@given(histories(), st.integers(1, 3))
def test_historical_safety_and_subtraction(history: History, n: int) -> None:
    releases = releases_of(history)
    unsafe, holes = False, False
    for old, new in combinations(releases, 2):
        for p1, _, s1 in old:
            for p2, _, s2 in new:
                core, least = len(p1 & p2), min(s1, s2)
                if not core:
                    continue
                holes |= core == least and s1 != s2
                into_new = len(p1) == s1 and len(p2) > core
                into_old = len(p2) == s2 and len(p1) > core
                unsafe |= (into_new or into_old) and least - n < core < least
    assert hc_safety(JudgedHistory(history), n).kept == (not unsafe)
    assert no_subtraction(JudgedHistory(history)).kept == (not holes)


@BOUNDED
@given(histories(most=8), st.integers(1, 3))
def test_union_safety(history: History, n: int) -> None:
    releases = releases_of(history)
    found = any(small_cut(old, new, 2 * n) for old, new in combinations(releases, 2))
    assert union_safety(JudgedHistory(history), n).kept == (not found)


def small_cut(old: list[Group], new: list[Group], need: int) -> bool:
    """Whether some groups of both releases, in one piece, are cut off from all else by fewer than ``need``."""
    nodes = [(0, group) for group in old] + [(1, group) for group in new]
    for k in range(2, len(nodes) + 1):
        for chosen in combinations(range(len(nodes)), k):
            inside = [nodes[i] for i in chosen]
            rest = [x for x in piece(inside, nodes) if x not in inside]
            people = [frozenset().union(*(group[0] for side, group in inside if side == release)) for release in (0, 1)]
            fakes = sum(group[2] - len(group[0]) for _, group in inside)
            cut = len(people[0] ^ people[1]) + fakes
            if in_one_piece(inside) and 0 < cut < need and (reaches_out(inside, nodes) or linked(rest)):
                return True
    return False


def linked(groups: list[tuple[int, Group]]) -> bool:
    return any(a[0] & b[0] for s, a in groups for t, b in groups if s != t)


def in_one_piece(groups: list[tuple[int, Group]]) -> bool:
    return linked(groups) and len(piece(groups[:1], groups)) == len(groups)


def piece(part: list[tuple[int, Group]], nodes: list[tuple[int, Group]]) -> list[tuple[int, Group]]:
    """The part of the graph that some groups lie in."""
    found = list(part)
    while True:
        more = [x for x in nodes if x not in found and any(x[0] != y[0] and x[1][0] & y[1][0] for y in found)]
        if not more:
            return found
        found += more


def reaches_out(inside: list[tuple[int, Group]], nodes: list[tuple[int, Group]]) -> bool:
    """Whether the part of the graph these groups lie in has an edge to the outside."""
    part = piece(inside, nodes)
    everyone = [frozenset().union(*(g[0] for side, g in part if side == release)) for release in (0, 1)]
    return everyone[0] != everyone[1] or any(g[2] > len(g[0]) for _, g in part)


@BOUNDED
@given(histories(), st.integers(1, 4))
def test_limits(history: History, most: int) -> None:
    releases = releases_of(history)
    often = Counter(p for release in releases for people, _, _ in release for p in people)
    assert lifespan_limit(JudgedHistory(history), most).n_people == sum(n > most for n in often.values())
