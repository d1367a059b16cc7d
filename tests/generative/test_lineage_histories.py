"""Closed lineages on any series: fair in every part, nobody in two, nobody lost, everything found again."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.lineages import remembered
from support.random_series import OneWorker, Series, assert_complete, equal_groupings, plain_view, published, series

from seriatim.defences.series.contract import SerialDraw, SerialRules, WhenNotEligible, WithheldReason
from seriatim.defences.series.lineage.grouping import lineage_groups
from seriatim.defences.series.lineage.slots import SlotMemory
from seriatim.defences.series.memory import RememberedRows
from seriatim.model.judged import JudgedHistory
from seriatim.promises.series.lineages import closed_lineages, fair_lineages
from seriatim.promises.series.slots import lasting_places


def fair(values: list[int], m: int) -> bool:
    return not values or m * max(Counter(values).values()) <= len(values)


def slots_of(past: RememberedRows) -> dict[int, dict[int, tuple[int, int]]]:
    """lineage -> slot -> (person, value)"""
    out: dict[int, dict[int, tuple[int, int]]] = {}
    assert past.lineage is not None
    assert past.slot is not None
    rows = zip(past.lineage.tolist(), past.slot.tolist(), past.person.tolist(), past.value.tolist(), strict=True)
    for lineage, slot, person, value in rows:
        assert slot not in out.setdefault(lineage, {})
        out[lineage][slot] = (person, value)
    return out


def assert_lineages_keep_their_promise(
    history: list[RememberedRows], m: int, few_wait: bool = True, joining: int | None = None
) -> None:
    """In every lineage, batch, drop, addition and remainder no value exceeds 1/m; no one is ever in two lineages."""
    made: dict[int, int] = {}
    founded: dict[int, int] = {}
    home: dict[int, int] = {}
    holder: dict[int, int] = {}
    last_slot: dict[int, int] = {}
    since: dict[int, int] = {}
    before: dict[int, dict[int, tuple[int, int]]] = {}
    dead: set[int] = set()
    for release, past in enumerate(history):
        now = slots_of(past)
        assert not dead & set(now)
        dead |= set(before) - set(now)
        for lineage, slots in now.items():
            assert fair([value for _, value in slots.values()], m)
            old = before.get(lineage)
            batch = []
            if founded.setdefault(lineage, release) == release and few_wait and set(before) & set(now):
                assert len(slots) >= max(2 * m, 12), "a few do not found a lineage beside others"
            added = [slot for slot in slots if made.setdefault(slot, release) == release and old is not None]
            for slot, (person, value) in slots.items():
                if person >= 0:
                    assert home.setdefault(person, lineage) == lineage
                    if old is not None and (holder.get(slot), last_slot.get(person)) != (person, slot):
                        if slot not in added:
                            batch.append(slot)
                        else:
                            assert person not in last_slot, "who joins with a slot of his own is new"
                    holder[slot], last_slot[person] = person, slot
                if old is not None and slot not in added:
                    assert old[slot][1] == value
            if old is not None:
                drop = set(old) - set(slots)
                assert not (drop and added), "of both in one release only the difference shows"
                assert fair([old[slot][1] for slot in drop], m)
                assert fair([old[slot][1] for slot in batch], m)
                assert fair([old[slot][1] for slot in old if slot not in batch], m)
                assert fair([value for slot, (_, value) in slots.items() if slot not in batch], m)
                assert_parts(drop, since, old)
                assert fair([slots[slot][1] for slot in added], joining or m + m // 3)
                assert not added or len(added) >= max(2 * m, 12)
                for time in {made[slot] for slot in slots}:
                    rest = [value for slot, (_, value) in slots.items() if made[slot] == time]
                    assert fair(rest, m), "what is left of slots made together"
                    assert time == founded[lineage] or len(rest) >= max(m + 2, 8)
                held = Counter(value for slot, (_, value) in slots.items() if made[slot] == founded[lineage])
                assert all(held[old[slot][1]] > 2 for slot in batch), "a value that stands alone is not refilled"
                assert not batch or len(batch) >= max(2 * m, 12)
                assert not drop or len(drop) >= max(m + 2, 8)
            for slot in slots:
                if old is None or slot in batch or slot in added:
                    since[slot] = release
        before = now


def assert_parts(drop: set[int], since: dict[int, int], old: dict[int, tuple[int, int]]) -> None:
    """People who are dropped together came together, or three values or more came at each time."""
    times = {since[slot] for slot in drop}
    for time in times if len(times) > 1 else ():
        assert len({old[slot][1] for slot in drop if since[slot] == time}) > 2


@settings(max_examples=150, deadline=None)
@given(series(max_people=140), st.sampled_from(WhenNotEligible), st.sampled_from([None, 3]), st.sampled_from([20, 360]))
def test_lineages(world: Series, when: WhenNotEligible, lifespan: int | None, cell: int):
    rules = SerialRules(world.m, lifespan=lifespan, when_not_eligible=when, cell=cell)
    memory, history = SlotMemory(), []
    for release, view in enumerate(world.views()):
        made = lineage_groups(view, rules, memory, SerialDraw(b"secret", release), OneWorker())
        assert equal_groupings(made, lineage_groups(view, rules, memory, SerialDraw(b"secret", release), OneWorker()))
        assert_complete(view, made)
        _assert_boxes(made, world.m)
        history.append(published(view, made))
        memory.remember(history[-1])
        if when is WhenNotEligible.COUNTERFEIT:
            assert not made.n_withheld(WithheldReason.DEFERRED)
    assert_lineages_keep_their_promise(history, world.m, when is not WhenNotEligible.COUNTERFEIT)
    for promise in (
        closed_lineages(JudgedHistory(remembered(history))),
        fair_lineages(JudgedHistory(remembered(history)), world.m),
    ):
        assert promise.kept, promise.detail
    assert lasting_places(JudgedHistory(remembered(history)), world.m).kept


def _assert_boxes(made, m: int) -> None:
    """Boxes lie inside their group and hold m to 2m - 1 real people, fewer only when the group has fewer."""
    real = made.group >= 0
    members = Counter(made.group[real].tolist())
    boxes = Counter(zip(made.group[real].tolist(), made.box[real].tolist(), strict=True))
    assert len({box for _, box in boxes}) == len(boxes)
    for (group, _), n in boxes.items():
        assert n < 2 * m
        assert n >= min(m, members[group])


def test_few_wait_in_a_long_series():
    """Newcomers of the values that no leaver had were left over, more in every release, until a release was refused."""
    chance = np.random.default_rng(14)
    value = chance.integers(0, 10, 400).astype(np.int32)
    here, memory, history, rules = np.arange(400), SlotMemory(), [], SerialRules(3, allowed=0.05)
    mixed = 0
    for release in range(35):
        view = plain_view(value, here, 10)
        made = lineage_groups(view, rules, memory, SerialDraw(b"s", release), OneWorker())
        assert (made.group < 0).mean() <= rules.allowed, release
        mixed += made.counters["given_back"] > 0
        history.append(published(view, made))
        memory.remember(history[-1])
        gone = chance.random(400) < 0.05
        here = np.concatenate((here[~gone], len(value) + np.arange(gone.sum())))
        value = np.concatenate((value, chance.integers(0, 10, gone.sum()))).astype(np.int32)
    assert mixed, "nothing was at stake"
    assert_lineages_keep_their_promise(history, 3, joining=3)
    assert lasting_places(JudgedHistory(remembered(history)), 3).kept


@pytest.mark.parametrize("gone_for", [1, 2])
def test_who_comes_back_finds_his_own_slot(gone_for: int):
    chance = np.random.default_rng(5)
    value = chance.integers(0, 8, 200).astype(np.int32)
    everyone = np.arange(200)
    memory = SlotMemory()
    rules = SerialRules(4)
    made = []
    for release, who in enumerate([everyone, *[everyone[20:]] * gone_for, everyone]):
        view = plain_view(value, who, 8)
        made.append(lineage_groups(view, rules, memory, SerialDraw(b"s", release), OneWorker()))
        memory.remember(published(view, made[-1]))
    back = made[-1].withheld[:20]
    dropped = sum(m.counters["dropped"] for m in made)
    assert (back != WithheldReason.NO).sum() == dropped
    assert (back[back != WithheldReason.NO] == WithheldReason.SLOT_TAKEN).all()
    assert made[-1].counters["returned"] == 20 - dropped


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.sampled_from([0.15, 0.35]), st.sampled_from([0.0, 0.4]))
def test_a_small_table_for_a_long_time(seed: int, m: int, churn: float, returning: float):
    assert_long_series_keeps_the_promises(seed, m, churn, returning)


def test_newcomers_join_lineages_in_such_a_table():
    assert assert_long_series_keeps_the_promises(0, 3, 0.35, 0.0) > 50


def assert_long_series_keeps_the_promises(seed: int, m: int, churn: float, returning: float) -> int:
    """Hundreds of people, a dozen releases: newcomers join, what joined is refilled and dropped. Counts who join."""
    chance = np.random.default_rng(seed)
    weights = np.arange(1, 13) ** -0.7
    value = chance.choice(12, 1_500, p=weights / weights.sum()).astype(np.int32)
    here, away, known = np.arange(250), np.empty(0, dtype=np.int64), 250
    rules, memory, history, joined = SerialRules(m, cell=80), SlotMemory(), [], 0
    for release in range(12):
        view = plain_view(value, np.sort(here), 12)
        made = lineage_groups(view, rules, memory, SerialDraw(b"secret", release), OneWorker())
        assert_complete(view, made)
        joined += made.counters["joined"]
        history.append(published(view, made))
        memory.remember(history[-1])
        leaves = chance.random(len(here)) < churn
        back = chance.permutation(away)[: int(returning * leaves.sum())]
        came = np.arange(known, known + leaves.sum() - len(back))
        away = np.setdiff1d(np.union1d(away, here[leaves]), back)
        here, known = np.concatenate((here[~leaves], back, came)), known + len(came)
    assert_lineages_keep_their_promise(history, m)
    assert closed_lineages(JudgedHistory(remembered(history))).kept
    assert fair_lineages(JudgedHistory(remembered(history)), m).kept
    assert lasting_places(JudgedHistory(remembered(history)), m).kept, lasting_places(
        JudgedHistory(remembered(history)), m
    ).detail
    return joined
