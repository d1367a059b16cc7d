"""Who holds which value moves nobody: exchange values, keep the secret, and all else that is published stays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cohort_worlds import SCALES, ComingAndGoing, worlds
from support.random_series import published

from seriatim.defences.series.caps import Caps
from seriatim.defences.series.cohort.grouping import update_groups
from seriatim.defences.series.cohort.memory import SlotHistory
from seriatim.defences.series.cohort.newcomers import planned_cells
from seriatim.defences.series.contract import SerialDraw, SerialGrouping, SerialRules, SerialView
from seriatim.errors import InputError

Made = list[tuple[SerialView, SerialGrouping]]


def played(world: ComingAndGoing, rules: SerialRules, other: Mapping[int, int]) -> Made:
    """Publish a world in which some people hold other values."""
    memory, out = SlotHistory(), []
    for release, view in enumerate(world.views()):
        value = np.array([other.get(p, v) for p, v in zip(view.person.tolist(), view.sensitive.tolist(), strict=True)])
        changed = replace(view, sensitive=value.astype(np.int32))
        made = update_groups(changed, rules, memory, SerialDraw(b"secret", release))
        memory.remember(published(changed, made))
        out.append((changed, made))
    return out


def alike(made: Made, again: Made) -> Iterator[tuple[SerialGrouping, SerialGrouping]]:
    """Yield the releases up to the first in which others are withheld, other slots given up, or the bit is another.

    Also up to the first whose table holds other values, as it does once one of the two people has left: how often each
    value occurs may decide how large cells are.
    """
    for (view, one), (changed, other) in zip(made, again, strict=True):
        same = np.array_equal(one.withheld, other.withheld) and one.counters == other.counters
        same &= np.array_equal(np.sort(view.sensitive), np.sort(changed.sensitive))
        if not same or not np.array_equal(one.counterfeit_group, other.counterfeit_group):
            return
        yield one, other


def require_same(one: SerialGrouping, other: SerialGrouping) -> None:
    assert np.array_equal(one.group, other.group)
    assert np.array_equal(one.box, other.box)
    assert one.slots is not None
    assert other.slots is not None
    assert np.array_equal(one.slots.slot_of_record, other.slots.slot_of_record)
    assert np.array_equal(one.slots.slot_of_counterfeit, other.slots.slot_of_counterfeit)


def entered_with(made: Made) -> dict[int, tuple[int, int]]:
    """Return for everyone the release in which they first came, and their value."""
    found: dict[int, tuple[int, int]] = {}
    for release, (view, _) in enumerate(made):
        for person, value in zip(view.person.tolist(), view.sensitive.tolist(), strict=True):
            found.setdefault(person, (release, value))
    return found


@settings(max_examples=60, deadline=None)
@given(
    worlds() | worlds(returning=True),
    st.sampled_from([None, 1.5, 2.0, 3.0]),
    st.sampled_from([None, 30, 60]),
    st.integers(0, 2**32 - 1),
)
def test_two_people_exchange_their_values(
    world: ComingAndGoing, odds: float | None, cohort: int | None, seed: int
) -> None:
    rules, chance = SerialRules(world.m, odds=odds, cohort=cohort), np.random.default_rng(seed)
    try:
        made = played(world, rules, {})
    except InputError:
        return
    came = entered_with(made)
    for person in chance.choice(sorted(came), 3).tolist():
        others = [p for p, (release, value) in came.items() if release == came[person][0] and value != came[person][1]]
        if others:
            other = int(chance.choice(others))
            again = played(world, rules, {person: came[other][1], other: came[person][1]})
            for one, two in alike(made, again):
                require_same(one, two)


@settings(max_examples=40, deadline=None)
@given(worlds(), st.sampled_from([None, 1.5, 2.0]), st.integers(0, 2**32 - 1))
def test_the_values_of_a_cell_are_dealt_anew(world: ComingAndGoing, odds: float | None, seed: int) -> None:
    rules, chance = SerialRules(world.m, odds=odds, cohort=30), np.random.default_rng(seed)
    try:
        made = played(replace(world, releases=min(world.releases, 3)), rules, {})
    except InputError:
        return
    view, first = made[0]
    other: dict[int, int] = {}
    for group in range(first.n_groups):
        inside = np.flatnonzero(first.group == group)
        values: npt.NDArray[np.int32] = chance.permutation(view.sensitive[inside])
        other |= dict(zip(view.person[inside].tolist(), values.tolist(), strict=True))
    again = played(replace(world, releases=min(world.releases, 3)), rules, other)
    for one, two in alike(made, again):
        require_same(one, two)


def test_the_law_can_fail() -> None:
    """Exchanges reach every release, and a grouping that follows values is found out."""
    world = ComingAndGoing(m=3, people=900, n_values=8, skew=0.7, churn=0.1, releases=4, families=1, drift=0.0, burst=False, returning=0.0, seed=7)  # fmt: skip  # noqa: E501
    rules = SerialRules(3, odds=2.0, cohort=60)
    made = played(world, rules, {})
    came = entered_with(made)
    one = next(iter(came))
    other = next(p for p, (release, value) in came.items() if release == came[one][0] and value != came[one][1])
    again = played(world, rules, {one: came[other][1], other: came[one][1]})
    assert len(list(alike(made, again))) == world.releases
    assert any((view.sensitive != changed.sensitive).any() for (view, _), (changed, _) in zip(made, again, strict=True))


def test_what_leavers_held_deals_no_cell() -> None:
    """Their slots wait, so the table shows their values still: that fewer in the view hold them is not published."""
    chance, rules = np.random.default_rng(3), SerialRules(3, odds=3.0, cohort=90)
    came = np.concatenate((np.arange(600) % 12, np.repeat(np.arange(12), [22, *[16] * 11]))).astype(np.int32)
    places = chance.integers(0, 12, (len(came), 2)).astype(np.int32)
    found = []
    for leavers in (np.arange(12, 144, 12), np.arange(13, 145, 12)):
        value = came.copy()
        value[:11], value[leavers] = came[leavers], came[:11]
        memory, made = SlotHistory(), []
        for release, who in enumerate((np.arange(600), np.arange(11, len(came)))):
            view = SerialView(quasi=places[who], scales=SCALES, sensitive=value[who], n_values=12, person=who)
            made.append(update_groups(view, rules, memory, SerialDraw(b"secret", release)))
            memory.remember(published(view, made[-1]))
        assert (made[1].n_counterfeits, made[1].n_groups) == (11, made[0].n_groups + 2)
        found.append(made)
    for one, other in zip(*found, strict=True):
        require_same(one, other)


def test_people_who_wait_do_not_all_hold_the_value_that_was_too_frequent() -> None:
    """Its surplus waited alone: whoever saw who was left out was certain, as the table shows which value it is."""
    chance, waited = np.random.default_rng(1), 0
    for secret in (b"one", b"two", b"three"):
        value = chance.integers(0, 8, 1200).astype(np.int32)
        places = chance.integers(0, 12, (1200, 2)).astype(np.int32)
        memory, here = SlotHistory(), np.arange(600)
        for release in range(6):
            view = SerialView(quasi=places[here], scales=SCALES, sensitive=value[here], n_values=8, person=here)
            made = update_groups(view, SerialRules(6, odds=1.5), memory, SerialDraw(secret, release))
            memory.remember(published(view, made))
            out = value[here[made.group < 0]]
            assert not len(out) or np.bincount(out).max() < 0.75 * len(out)
            waited += len(out)
            here = np.concatenate((here[chance.random(len(here)) >= 0.1], np.arange(60) + 600 + 60 * release))
    assert waited > 0


def test_no_look_is_bolder_than_it_may_be() -> None:
    """A failed look tells whoever knows the secret more, the more people were to stay."""
    for odds in (1.5, 2.0, 3.0):
        for shares in ([5, 3, 2], [7, 1, 1, 1], [1] * 10, [9, 4, 3, 2, 1, 1]):
            for people in (2_000, 30_000):
                counts = np.array(shares) * (people // sum(shares))
                plan = planned_cells(counts, Caps.of_cells(-(-counts * 10**6 // counts.sum()), 3, odds), None)
                assert all(tried.stay <= max(plan.stay, 0.12) for tried in plan.tried)
