"""Historical groups keep every promise of a series, unions too; and the search for unions against plain enumeration."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.random_series import OneWorker, Series, assert_complete, plain_view, published, series

from seriatim.defences.series.contract import SerialDraw, SerialRules, WhenNotEligible, WithheldReason
from seriatim.defences.series.memory import RememberedRows
from seriatim.engines.threads import Threads
from seriatim.model import Adversary, DefenceSettings, Policy, PromiseTerms, SeriesTerms
from seriatim.model.history import History, JudgedHistory, PastRelease
from seriatim.promises import promises_of
from seriatim_papers.cor_split import CorSplitMethod, CorSplitSetting, play_cor_split
from seriatim_papers.historical.safe_groups import historical_groups
from seriatim_papers.kernels.separation import SeparationWeb, separation_missing
from seriatim_papers.memory import GroupMemory
from seriatim_papers.worlds.census import CensusChurn


def broken(history: list[RememberedRows], n_people: int, n_values: int, rules: SerialRules) -> dict[str, int]:
    """The promises that the last release breaks, and in how many groups."""
    pasts = tuple(
        PastRelease(at, person=p.person.astype(np.int32), group=p.group, value=p.value)
        for at, p in enumerate(history, 1)
    )
    whole = History(pa.array(np.arange(n_people)), pa.array(np.arange(n_values)), pasts)
    terms = PromiseTerms(series=SeriesTerms(m=rules.m, n=rules.n))
    settings = DefenceSettings("historical")
    adversary = Adversary(lifespan=rules.lifespan)
    promises = promises_of(Policy(series="s", columns={}, terms=terms, defence=settings, adversary=adversary))
    judged = JudgedHistory(whole)
    found = [promise.check(judged) for promise in promises if promise.judges == "series"]
    assert {"union_safety", "subtraction", "hc_safety", "weak_m_invariance"} <= {f.rule for f in found}
    return {f.rule: f.n_classes for f in found if not f.kept}


@settings(max_examples=200, deadline=None)
@given(series(), st.booleans(), st.sampled_from(WhenNotEligible))
def test_every_release_keeps_every_promise(world: Series, sticky: bool, when: WhenNotEligible) -> None:
    rules = SerialRules(world.m, world.n, lifespan=5, sticky=sticky, when_not_eligible=when)
    history = []
    for release, view in enumerate(world.views()):
        memory = GroupMemory.of(history, view.person)
        made = historical_groups(view, rules, memory, SerialDraw(b"secret", release), OneWorker())
        assert_complete(view, made)
        history.append(published(view, made))
        assert broken(history, len(world.value), world.n_values, rules) == {}


@pytest.mark.parametrize("sticky", [True, False])
def test_a_longer_series_keeps_every_promise_and_nearly_everyone(sticky: bool) -> None:
    method = CorSplitMethod("historical", GroupMemory.of, historical_groups, sticky)
    played = play_cor_split(
        method, CorSplitSetting(CensusChurn(5_000, 0.10, 8), query_every=100, n_queries=10), Threads(2)
    )
    for k in range(1, len(played.published) + 1):
        assert broken(list(played.published[:k]), played.n_people, 50, SerialRules(6, 3, lifespan=8)) == {}
    assert played.share("withheld") < 0.01


def test_closed_parts_that_mending_opens_are_asked_again() -> None:
    """The same people twice, grouped anew: parts of the graph without a way out, until somebody is taken out."""
    for seed in range(60):
        chance = np.random.default_rng(seed)
        value, rules = chance.integers(0, 3, 40).astype(np.int32), SerialRules(3, 2, lifespan=9, sticky=False)
        history: list[RememberedRows] = []
        for release in range(2):
            view = plain_view(value, chance.permutation(40), 3)
            memory = GroupMemory.of(history, view.person)
            history.append(
                published(view, historical_groups(view, rules, memory, SerialDraw(b"s", release), OneWorker()))
            )
            assert broken(history, 40, 3, rules) == {}


def test_a_small_bucket_that_hardly_changed_loses_somebody() -> None:
    """Twelve people of one signature; one of either group leaves and two come: together that is a union of degree two.

    Nobody outside the bucket may be swapped in, so that one person has to go.
    """
    value = np.array([*range(6), *range(6), 0, 1], dtype=np.int32)
    rules = SerialRules(6, 3, lifespan=9)
    first = plain_view(value, np.arange(12), 6)
    made = historical_groups(first, rules, GroupMemory.of([], first.person), SerialDraw(b"s", 0), OneWorker())
    history = [published(first, made)]
    leavers = [np.flatnonzero((made.group == g) & (value[:12] == g))[0] for g in (0, 1)]
    second = plain_view(value, np.setdiff1d(np.arange(14), leavers), 6)
    made = historical_groups(second, rules, GroupMemory.of(history, second.person), SerialDraw(b"s", 1), OneWorker())
    history.append(published(second, made))
    assert broken(history, 14, 6, rules) == {}
    assert made.counters["in unions"] > 0
    assert made.n_withheld() == made.n_withheld(WithheldReason.UNSAFE) == made.counters["union removals"] == 1


Release = list[set[int]]


@st.composite
def two_releases(draw: st.DrawFn) -> tuple[Release, list[int], Release, list[int], int]:
    """Groups of people 0 .. 17 in two releases, with counterfeits; no group is smaller than the degree."""
    n = draw(st.integers(1, 3))
    both = []
    for _ in range(2):
        spots = draw(st.lists(st.integers(-1, 3), min_size=18, max_size=18))
        people = [{p for p in range(18) if spots[p] == g} for g in range(4)]
        people = [group for group in people if group]
        fakes = [draw(st.sampled_from([0, 0, 0, 1])) for _ in people]
        both += [people, [f + max(0, n - len(g) - f) for g, f in zip(people, fakes, strict=True)]]
    return (*both, n)


def web_of(old: Release, old_fakes: list[int], new: Release, fakes: list[int], n: int) -> SeparationWeb:
    seats = [[*group, *[-1] * f] for group, f in zip(new, fakes, strict=True)]
    size = np.array([len(s) for s in seats], dtype=np.int32)
    now, then = np.full(18, -1, dtype=np.int32), np.full((1, 18), -1, dtype=np.int32)
    for v, group in enumerate(new):
        now[list(group)] = v
    for g, group in enumerate(old):
        then[0, list(group)] = g
    return SeparationWeb(
        np.array([p for s in seats for p in s], dtype=np.int64),
        (np.cumsum(size) - size).astype(np.int64),
        size,
        now,
        then,
        np.cumsum([0, *(len(g) for g in old)]).astype(np.int64),
        np.array([p for g in old for p in g], dtype=np.int32),
        np.array([len(g) + f for g, f in zip(old, old_fakes, strict=True)], dtype=np.int32),
        np.array([f + sum(now[p] < 0 for p in g) for g, f in zip(old, old_fakes, strict=True)], dtype=np.int32),
        2 * n,
    )


def small_unions(old: Release, old_fakes: list[int], new: Release, fakes: list[int], n: int) -> list[set[int]]:
    """All sets of groups of both releases (new ones first), in one piece, with too few ways out; in a part of the graph
    that has no way out, only those that leave groups of both releases behind."""
    groups, kind = new + old, [0] * len(new) + [1] * len(old)
    fake = fakes + old_fakes
    found = []
    for k in range(2, len(groups) + 1):
        for chosen in combinations(range(len(groups)), k):
            held = [set().union(*(groups[i] for i in chosen if kind[i] == side)) for side in (0, 1)]
            cut = len(held[0] ^ held[1]) + sum(fake[i] for i in chosen)
            if not 0 < cut < 2 * n or part_of({chosen[0]}, set(chosen), groups, kind) != set(chosen):
                continue
            part = part_of(set(chosen), set(range(len(groups))), groups, kind)
            whole = [set().union(*(groups[i] for i in part if kind[i] == side)) for side in (0, 1)]
            open_part = whole[0] != whole[1] or any(fake[i] for i in part)
            if open_part or {kind[i] for i in part - set(chosen)} == {0, 1}:
                found.append(set(chosen))
    return found


def part_of(start: set[int], among: set[int], groups: Release, kind: list[int]) -> set[int]:
    """The groups of ``among`` that people tie to those at the start, over any number of steps."""
    part = set(start)
    while more := {i for i in among - part if any(kind[i] != kind[j] and groups[i] & groups[j] for j in part)}:
        part |= more
    return part


@settings(max_examples=200, deadline=None)
@given(two_releases())
@example(([{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}], [0, 0], [{0, 1, 2, 6, 7, 8}, {3, 4, 12, 9, 10, 11}], [0, 0], 2))
def test_small_unions_are_found(releases: tuple[Release, list[int], Release, list[int], int]) -> None:
    n = releases[-1]
    web, unions = web_of(*releases), small_unions(*releases)
    sizes = np.concatenate((web.size, web.old_size))
    for plain in {False, bool(sizes.min(initial=2 * n) >= 2 * n)}:
        flagged = separation_missing(web, np.arange(len(web.size)), np.arange(web.group_in.shape[0]), plain)
        assert flagged.any() == bool(unions)
        assert all(any(v in union for union in unions) for v in np.flatnonzero(flagged))
