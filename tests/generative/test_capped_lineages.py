"""Lineages with caps for common values: every part recounted plainly, and the promises find what is wrong."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cohort_worlds import ComingAndGoing, worlds
from support.lineages import remembered
from support.random_series import OneWorker, assert_complete, equal_groupings, published

from seriatim.defences.series.contract import SerialDraw, SerialRules, WhenNotEligible, WithheldReason
from seriatim.defences.series.lineage import waiting_people
from seriatim.defences.series.lineage.grouping import lineage_groups
from seriatim.defences.series.lineage.slots import SlotMemory
from seriatim.defences.series.memory import RememberedRows
from seriatim.errors import InputError, PolicyError
from seriatim.model.judged import JudgedHistory
from seriatim.promises.series.capped_lineages import CapsAsked, capped_lineages
from seriatim.promises.series.lineages import closed_lineages
from seriatim.promises.series.slots import SlotsAsked, lasting_slots

Slots = dict[int, dict[int, tuple[int, int]]]


def played(world: ComingAndGoing, rules: SerialRules) -> list[RememberedRows]:
    memory, history = SlotMemory(), []
    for release, view in enumerate(world.views()):
        made = lineage_groups(view, rules, memory, SerialDraw(b"secret", release), OneWorker())
        assert_complete(view, made)
        if release < 3:
            assert equal_groupings(
                made, lineage_groups(view, rules, memory, SerialDraw(b"secret", release), OneWorker())
            )
        history.append(published(view, made))
        memory.remember(history[-1])
    return history


def caps_of(past: RememberedRows, rules: SerialRules) -> dict[int, float]:
    """The caps that the stored shares of a release stand for."""
    assert past.baseline is not None
    assert rules.odds is not None
    c, m = rules.odds, rules.m
    shares = {v: q / 1e6 for v, q in zip(past.value.tolist(), past.baseline.tolist(), strict=True)}
    return {v: max(1 / m, c * q / (1 + (c - 1) * q)) for v, q in shares.items()}


def assert_fair(values: list[int], caps: dict[int, float], strangers: int) -> None:
    for value, n in Counter(values).items():
        assert n <= caps.get(value, 1.0) * len(values) + 1e-9
        assert n <= len(values) - strangers


def slots_of(past: RememberedRows) -> Slots:
    out: Slots = {}
    assert past.lineage is not None
    assert past.slot is not None
    for at, slot, who, value in zip(
        *(c.tolist() for c in (past.lineage, past.slot, past.person, past.value)), strict=True
    ):
        out.setdefault(at, {})[slot] = (who, value)
    return out


def assert_parts_keep_caps(history: list[RememberedRows], rules: SerialRules) -> None:
    """Recount lineages, batches, drops, additions and what stays; caps never fall."""
    batch_floor = rules.batch - rules.batch // rules.m
    floor = rules.drop - rules.drop // rules.m
    before: Slots = {}
    last_slot: dict[int, int] = {}
    stored: dict[int, int] = {}
    for past in history:
        assert past.baseline is not None
        for value, share in zip(past.value.tolist(), past.baseline.tolist(), strict=True):
            assert share >= stored.get(value, 0)
            stored[value] = share
        now, caps = slots_of(past), caps_of(past, rules)
        for at, slots in now.items():
            old = before.get(at)
            assert_fair([value for _, value in slots.values()], caps, batch_floor if old is None else floor)
            if old is None:
                continue
            added = [slot for slot in slots if slot not in old]
            drop = [slot for slot in old if slot not in slots]
            batch = [
                slot for slot, (who, _) in slots.items()
                if slot in old and who >= 0 and (old[slot][0] != who and last_slot.get(who) != slot)
            ]  # fmt: skip
            assert not (added and drop)
            for part, least, strangers in ((added, rules.batch, batch_floor), (batch, rules.batch, batch_floor),
                                           (drop, rules.drop, floor)):  # fmt: skip
                if part:
                    assert len(part) >= least
                    assert_fair([(slots if slot in slots else old)[slot][1] for slot in part], caps, strangers)
            stays = [old[slot][1] for slot in old if slot not in batch and slot not in drop]
            if stays and (batch or drop):
                assert_fair(stays, caps, floor)
        for slots in now.values():
            last_slot |= {who: slot for slot, (who, _) in slots.items() if who >= 0}
        before = now


@settings(max_examples=50, deadline=None)
@given(worlds(), st.sampled_from([1.25, 1.5, 3.0]), st.sampled_from([60, 360]))
def test_every_part_keeps_its_caps(world: ComingAndGoing, common: float, cell: int) -> None:
    _assert_kept(world, SerialRules(world.m, odds=common, cell=cell))


@settings(max_examples=15, deadline=None)
@given(worlds(returning=True))
def test_so_it_does_when_people_return(world: ComingAndGoing) -> None:
    _assert_kept(world, SerialRules(world.m, odds=1.5, cell=60))


def _assert_kept(world: ComingAndGoing, rules: SerialRules) -> None:
    try:
        history = played(world, rules)
    except InputError as error:
        assert "says nothing" in str(error)  # noqa: PT017 - the only refusal that such a world may meet
        return
    assert_parts_keep_caps(history, rules)
    assert rules.odds is not None
    asked, judged = CapsAsked(world.m, rules.odds), JudgedHistory(remembered(history))
    assert closed_lineages(judged).kept
    found = capped_lineages(judged, asked)
    assert found.kept, found.detail
    lasting = lasting_slots(judged, SlotsAsked(world.m, asked.caps(judged)[0], asked.drop_strangers))
    assert lasting.kept, lasting.detail


WORLD = ComingAndGoing(
    m=3, people=1_400, n_values=8, skew=2.0, churn=0.12, releases=8, families=1, drift=0.0, burst=False, returning=0.0,
    seed=7,
)  # fmt: skip


def test_nobody_is_withheld_where_most_share_a_value() -> None:
    memory, rules, withheld, shares = SlotMemory(), SerialRules(3, odds=1.5), 0, []
    for release, view in enumerate(WORLD.views()):
        made = lineage_groups(view, rules, memory, SerialDraw(b"secret", release), OneWorker())
        withheld += made.n_withheld()
        shares.append(float(np.bincount(view.sensitive).max() / len(view)))
        memory.remember(published(view, made))
    assert min(shares) > 0.5
    assert withheld < 0.005 * WORLD.people * WORLD.releases
    without = lineage_groups(next(iter(WORLD.views())), SerialRules(3), SlotMemory(), SerialDraw(b"s", 0), OneWorker())
    assert without.n_withheld(WithheldReason.DEFERRED) > 0.2 * WORLD.people


def test_a_series_without_caps_goes_on_with_them() -> None:
    """A ledger from before: its releases store no shares, and the next ones do."""
    memory, history = SlotMemory(), []
    world = ComingAndGoing(m=3, people=900, n_values=9, skew=0.3, churn=0.1, releases=6, families=1, drift=0.0,
                           burst=False, returning=0.0, seed=3)  # fmt: skip
    for release, view in enumerate(world.views()):
        rules = SerialRules(3, odds=None if release < 3 else 1.5)
        made = lineage_groups(view, rules, memory, SerialDraw(b"secret", release), OneWorker())
        history.append(published(view, made))
        memory.remember(history[-1])
    judged, asked = JudgedHistory(remembered(history)), CapsAsked(3, 1.5)
    assert [past.baseline is None for past in history] == [True] * 3 + [False] * 3
    assert capped_lineages(judged, asked, newest=True).kept
    assert lasting_slots(judged, SlotsAsked(3, asked.caps(judged)[0], asked.drop_strangers), newest=True).kept


def test_each_way_of_breaking_the_caps_is_found() -> None:
    history = played(WORLD, SerialRules(3, odds=1.5))
    asked = CapsAsked(3, 1.5)

    def broken(change, caps: CapsAsked = asked) -> str:
        columns = ("person", "group", "value", "lineage", "slot", "baseline")
        changed = [RememberedRows(**{name: getattr(past, name).copy() for name in columns}) for past in history]
        change(changed)
        found = capped_lineages(JudgedHistory(remembered(changed)), caps)
        assert not found.kept
        return found.detail

    def all_alike(pasts) -> None:
        for past in pasts:
            past.value[past.lineage == 0] = 0
            past.baseline[past.value == 0] = past.baseline.max()

    def a_share_that_falls(pasts) -> None:
        pasts[-1].baseline[:] = 1

    def two_shares_of_a_value(pasts) -> None:
        pasts[-1].baseline[0] += 1

    assert " 0 lineages" not in broken(all_alike)
    assert "contradict" in broken(a_share_that_falls)
    assert "contradict" in broken(two_shares_of_a_value)
    broken(lambda _: None, CapsAsked(3, 1.0))
    broken(lambda _: None, CapsAsked(6, 1.2))


def test_counterfeits_for_the_first_release_are_refused_beside_caps() -> None:
    with pytest.raises(PolicyError, match="counterfeit"):
        SerialRules(3, odds=1.5, when_not_eligible=WhenNotEligible.COUNTERFEIT)


def test_few_values_make_larger_lineages() -> None:
    sizes = {n: SerialRules(3, 1, cell=360, odds=1.5).lineage_size(810_000, n) for n in (4, 9, 10, 40)}
    assert sizes == {4: 1895, 9: 843, 10: 758, 40: 758}
    assert SerialRules(3, 1, cell=360).lineage_size(810_000, 4) == 360


def unfair_waits(world: ComingAndGoing, rules: SerialRules) -> tuple[int, int]:
    """How many releases let people with a slot gone wait among whom a value exceeds its cap, and how many people."""
    memory, unfair, n_waiting = SlotMemory(), 0, 0
    for release, view in enumerate(world.views()):
        made = lineage_groups(view, rules, memory, SerialDraw(b"secret", release), OneWorker())
        past = published(view, made)
        memory.remember(past)
        held = view.sensitive[made.withheld == WithheldReason.SLOT_TAKEN]
        n_waiting += len(held)
        caps = caps_of(past, rules)
        unfair += any(n > caps.get(v, 1 / rules.m) * len(held) for v, n in Counter(held.tolist()).items())
    return unfair, n_waiting


def test_whoever_returns_and_waits_does_not_wait_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    world = ComingAndGoing(
        m=5,
        people=900,
        n_values=15,
        skew=1.5,
        churn=0.1,
        releases=9,
        families=1,
        drift=0.3,
        burst=False,
        returning=0.5,
        seed=4,
    )
    rules = SerialRules(5, odds=1.5)
    beside, n_beside = unfair_waits(world, rules)
    monkeypatch.setattr(waiting_people, "MOST", 0)
    alone, n_alone = unfair_waits(world, rules)
    assert alone >= 3
    assert beside <= 1
    assert n_alone < n_beside < 0.05 * 9 * 900
