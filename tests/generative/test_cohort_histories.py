"""Cohorts on any series: beliefs by counting stay below the stated bound, and the promise finds what is wrong."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cohort_worlds import SCALES, ComingAndGoing, worlds
from support.random_series import assert_complete, equal_groupings, published
from support.stands import remembered

from seriatim.defences.series.cohort.grouping import update_groups
from seriatim.defences.series.cohort.memory import SlotHistory
from seriatim.defences.series.contract import SerialDraw, SerialRules, SerialView, WithheldReason
from seriatim.defences.series.memory import RememberedRows
from seriatim.errors import InputError
from seriatim.model.history import JudgedHistory
from seriatim.promises.series.fair_cells import FairnessTerms, _known_at_most, fair_cells


def played(world: ComingAndGoing, rules: SerialRules) -> list[RememberedRows]:
    memory, history = SlotHistory(), []
    for release, view in enumerate(world.views()):
        made = update_groups(view, rules, memory, SerialDraw(b"secret", release))
        assert_complete(view, made)
        assert equal_groupings(made, update_groups(view, rules, memory, SerialDraw(b"secret", release)))
        history.append(published(view, made))
        memory.remember(history[-1])
    return history


def stays(history: list[RememberedRows]) -> dict[int, tuple[int, int]]:
    """First and last release of everyone who is followed by a slot, as somebody sees who is told every leaver."""
    found: dict[int, tuple[int, int]] = {}
    for release, past in enumerate(history):
        assert past.slot is not None
        for slot in past.slot.tolist():
            first, _ = found.get(slot, (release, release))
            found[slot] = (first, release)
    return found


def beliefs(history: list[RememberedRows]) -> list[dict[int, Fraction]]:
    """Everyone's belief by exact counting, told all memberships and every published multiset; one of all who are alike.

    In each release and group it is known who is in it (leavers included) and which values are. People who were in it
    over the same releases are alike. What a set of alike people holds follows by subtracting multisets.
    """
    last = {slot: end for slot, (_, end) in stays(history).items()}
    out: list[dict[int, Fraction]] = []
    groups: dict[int, dict[int, Counter[int]]] = defaultdict(dict)
    members: dict[int, dict[int, set[int]]] = defaultdict(dict)
    for release, past in enumerate(history):
        assert past.lineage is not None
        assert past.slot is not None
        for at, slot, value in zip(past.lineage.tolist(), past.slot.tolist(), past.value.tolist(), strict=True):
            groups[at].setdefault(release, Counter())[value] += 1
            members[at].setdefault(release, set()).add(slot)
    for at, shown in groups.items():
        for release, values in shown.items():
            gone = members[at][release] - members[at].get(release + 1, set())
            held = values - shown.get(release + 1, Counter())
            assert sum(held.values()) == len(gone), "nobody joins later"
            assert all(last[slot] == release for slot in gone)
            if gone:
                out.append({value: Fraction(n, len(gone)) for value, n in held.items()})
    return out


def caps_by_hand(history: list[RememberedRows], rules: SerialRules) -> dict[int, float]:
    shares: dict[int, float] = defaultdict(float)
    for past in history:
        assert past.baseline is not None
        for value, share in zip(past.value.tolist(), past.baseline.tolist(), strict=True):
            shares[value] = max(shares[value], share / 1e6)
    c = rules.odds
    return {v: 1 / rules.m if c is None else max(1 / rules.m, c * q / (1 + (c - 1) * q)) for v, q in shares.items()}


@settings(max_examples=120, deadline=None)
@given(worlds(), st.sampled_from([None, 1.25, 1.5, 3.0]), st.data())
def test_beliefs_stay_below_the_stated_bound(world: ComingAndGoing, odds: float | None, data: st.DataObject) -> None:
    rules = SerialRules(world.m, odds=odds, cohort=data.draw(st.sampled_from([None, 60])))
    try:
        history = played(world, rules)
    except InputError as error:
        assert "says nothing" in str(error)  # noqa: PT017 - the only refusal that such a world may meet
        return
    found = fair_cells(JudgedHistory(remembered(history)), FairnessTerms(world.m, odds))
    assert found.kept, found.detail
    caps = caps_by_hand(history, rules)
    believed = beliefs(history)
    assert all(float(b) <= caps[v] + 1e-9 for one in believed for v, b in one.items())
    if believed:
        worst = max(b for one in believed for b in one.values())
        assert f"at most {float(worst):.1%} " in found.detail
    for past in history:
        persons = past.person[past.person >= 0]
        assert len(np.unique(persons)) == len(persons)


@settings(max_examples=25, deadline=None)
@given(worlds(returning=True), st.sampled_from([None, 1.5]))
def test_who_returns_enters_another_cohort_and_is_told(world: ComingAndGoing, odds: float | None) -> None:
    rules = SerialRules(world.m, odds=odds, cohort=60)
    try:
        history = played(world, rules)
    except InputError:
        return
    found = fair_cells(JudgedHistory(remembered(history)), FairnessTerms(world.m, odds))
    assert found.kept, found.detail
    cohorts: dict[int, set[int]] = defaultdict(set)
    for past in history:
        assert past.lineage is not None
        for person, at in zip(past.person.tolist(), past.lineage.tolist(), strict=True):
            cohorts[person] |= {at} if person >= 0 else set()
    n_returned = sum(len(at) > 1 for at in cohorts.values())
    assert ("no bound for" in found.detail) == (n_returned > 0)
    assert found.result == ("partly judged" if n_returned else "kept")
    assert found.n_unjudged >= n_returned


WORLD = ComingAndGoing(
    m=3, people=900, n_values=8, skew=0.7, churn=0.1, releases=6, families=1, drift=0.0, burst=False, returning=0.0,
    seed=7,
)  # fmt: skip


def test_nobody_is_withheld_and_leavers_go() -> None:
    memory, rules = SlotHistory(), SerialRules(3, odds=1.5)
    exited = 0
    for release, view in enumerate(WORLD.views()):
        made = update_groups(view, rules, memory, SerialDraw(b"secret", release))
        assert made.n_withheld() == 0
        exited += made.counters["exited"]
        memory.remember(published(view, made))
    assert exited > 100


def test_cells_are_larger_after_the_first_release() -> None:
    memory, rules, chance = SlotHistory(), SerialRules(3, odds=2.0), np.random.default_rng(1)
    quasi = np.column_stack([chance.integers(0, len(scale), 6_000) for scale in SCALES]).astype(np.int32)
    for release, people in enumerate((np.arange(3_000), np.arange(6_000))):
        view = SerialView(
            quasi=quasi[people], scales=SCALES, sensitive=(people % 5).astype(np.int32), n_values=5, person=people
        )
        memory.remember(published(view, update_groups(view, rules, memory, SerialDraw(b"s", release))))
    entered = np.bincount(memory.cohort)
    assert entered.sum() == 6_000
    first = entered[: memory.cohort[:3_000].max() + 1]
    assert 360 <= first.min() < 720 <= entered[len(first) :].min() < 1_500


def test_someone_who_returns_in_time_gets_their_own_slot() -> None:
    views = list(WORLD.views())
    memory, rules = SlotHistory(), SerialRules(3)
    first = update_groups(views[0], rules, memory, SerialDraw(b"s", 0))
    memory.remember(published(views[0], first))
    few = np.arange(len(views[0])) >= 5
    away = _some(views[0], few)
    memory.remember(published(away, update_groups(away, rules, memory, SerialDraw(b"s", 1))))
    again = update_groups(views[0], rules, memory, SerialDraw(b"s", 2))
    assert again.counters["returned"] == 5
    assert first.slots is not None
    assert again.slots is not None
    assert np.array_equal(first.slots.slot_of_record, again.slots.slot_of_record)
    assert not (again.withheld == WithheldReason.SLOT_TAKEN).any()


def _some(view: SerialView, which: np.ndarray) -> SerialView:
    return replace(view, quasi=view.quasi[which], sensitive=view.sensitive[which], person=view.person[which])


def test_each_way_of_breaking_the_claim_is_found() -> None:
    rules = SerialRules(3, odds=1.5, cohort=60)
    history = played(WORLD, rules)
    asked = FairnessTerms(3, 1.5, 0.1)
    assert fair_cells(JudgedHistory(remembered(history)), asked).kept

    def broken(change) -> str:
        changed = [
            RememberedRows(**{name: None if c is None else c.copy() for name, c in _columns(past)}) for past in history
        ]
        change(changed)
        found = fair_cells(JudgedHistory(remembered(changed)), asked)
        assert not found.kept
        return found.detail

    def another_value(pasts):
        pasts[-1].value[0] = (pasts[-1].value[0] + 1) % 8

    def another_person(pasts):
        real = np.flatnonzero(pasts[-1].person >= 0)
        old = pasts[0].person[pasts[0].person >= 0]
        pasts[-1].person[real[0]] = np.setdiff1d(old, pasts[-1].person)[0]

    def a_cohort_that_grows(pasts):
        pasts[-1].lineage[:] = pasts[-1].lineage[0]

    def a_share_that_falls(pasts):
        pasts[-1].baseline[:] = 1

    for change in (another_value, another_person, a_cohort_that_grows, a_share_that_falls):
        assert "do not last" in broken(change)

    def all_alike(pasts):
        for past in pasts:
            past.value[past.lineage == 0] = 0

    assert "too much of a value" in broken(all_alike)
    assert not fair_cells(JudgedHistory(remembered(history)), FairnessTerms(6, 1.5)).kept


def _columns(past: RememberedRows):
    return [(name, getattr(past, name)) for name in ("person", "group", "value", "lineage", "slot", "baseline")]


@pytest.mark.parametrize(("known", "most"), [(0.0, 0), (0.1, 6), (1.0, 24)])
def test_how_many_of_a_cell_somebody_knows(known: float, most: int) -> None:
    assert _known_at_most(25, known) == most
