"""m-Distinct: values change, and no update graph loses a value below m; plain paths beside the kernel-free search."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from support.random_series import OneWorker, Series, assert_complete, assert_unique, published, series

import seriatim as sr
from seriatim.defences.series.contract import SerialDraw, SerialRules, SerialView, WithheldReason
from seriatim.defences.series.memory import RememberedRows
from seriatim.model.history import History, PastRelease
from seriatim_papers.distinct import distinct, seen_updates
from seriatim_papers.invariant import invariant
from seriatim_papers.update_graph import values_left


def history_of(pasts: list[RememberedRows], n_values: int) -> History:
    n = max((int(past.person.max(initial=-1)) for past in pasts), default=-1) + 1
    releases = tuple(
        PastRelease(at, person=past.person.astype(np.int32), group=past.group, value=past.value)
        for at, past in enumerate(pasts, start=1)
    )
    return History(pa.array(np.arange(n)), pa.array(np.arange(n_values)), releases)


def moving(world: Series, chance: np.random.Generator, stay: float) -> list[SerialView]:
    """The views of a series in which everyone's value moves on now and then, by one or two."""
    value = {person: int(v) for person, v in enumerate(world.value)}
    views = []
    for view, who in zip(world.views(), world.present, strict=True):
        now = [value[int(person)] for person in who]
        views.append(
            SerialView(
                quasi=view.quasi,
                scales=view.scales,
                sensitive=np.array(now, dtype=np.int32),
                n_values=view.n_values,
                person=view.person,
            )
        )
        for person in value:
            if chance.random() > stay:
                value[person] = (value[person] + int(chance.integers(1, 3))) % world.n_values
    return views


@settings(max_examples=100, deadline=None)
@given(series(max_people=60, max_releases=5), st.integers(0, 99), st.sampled_from([0.0, 0.7, 1.0]))
def test_m_values_stay_possible_in_every_release(world: Series, seed: int, stay: float) -> None:
    pasts: list[RememberedRows] = []
    for release, view in enumerate(moving(world, np.random.default_rng(seed), stay)):
        rules, draw = SerialRules(world.m), SerialDraw(b"secret", release)
        made = distinct(view, rules, pasts, draw, OneWorker())
        assert_complete(view, made)
        follows = seen_updates(view, pasts)
        pasts.append(published(view, made))
        assert_unique(pasts[-1], world.m)
        for _, left in values_left(history_of(pasts, view.n_values), follows):
            assert min(left) >= world.m


def test_groups_that_look_at_one_release_alone_lose_values() -> None:
    """What may follow is a ring: fresh groups each time rule values out, m-Distinct does not, and few are withheld."""
    rng, n = np.random.default_rng(2), 400
    value, pasts, fresh, out = rng.integers(0, 12, n), [], [], 0
    base = Series(
        m=3, n=1, n_values=12, quasi=rng.integers(0, [7, 3], (n, 2)).astype(np.int32), value=value.astype(np.int32),
        present=(np.arange(n),), scales=_scales(),
    )  # fmt: skip
    (view,) = base.views()
    for release in range(4):
        now = SerialView(
            quasi=view.quasi, scales=view.scales, sensitive=value.astype(np.int32), n_values=12, person=view.person
        )
        made = distinct(now, SerialRules(3), pasts, SerialDraw(b"s", release), OneWorker())
        alone = invariant(now, SerialRules(3), [], SerialDraw(b"s", release), OneWorker())
        follows = seen_updates(now, pasts)
        pasts.append(published(now, made))
        fresh.append(published(now, alone))
        out += made.n_withheld(WithheldReason.UNSAFE)
        value = (value + (rng.random(n) < 0.3)) % 12
    few = [min(left) for _, left in values_left(history_of(fresh, 12), follows)]
    kept = [min(left) for _, left in values_left(history_of(pasts, 12), follows)]
    assert np.mean(np.array(few) == 1) > 0.2
    assert min(kept) >= 3
    assert out < 0.05 * 4 * n


def _scales() -> tuple:
    from support.random_series import SCALES

    return SCALES


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sets(st.integers(0, 4), min_size=1), min_size=1, max_size=4),
    st.lists(st.booleans(), min_size=25, max_size=25),
)
def test_values_left_are_those_on_some_path(layers: list[set[int]], edges: list[bool]) -> None:
    follows = np.array(edges).reshape(5, 5)
    pasts = [
        RememberedRows(np.array([0, *[-1] * (len(layer) - 1)]), group=np.zeros(len(layer), dtype=np.int32),
                       value=np.array(sorted(layer), dtype=np.int32))
        for layer in layers
    ]  # fmt: skip
    paths = [
        path
        for path in itertools.product(*map(sorted, layers))
        if all(follows[a, b] for a, b in itertools.pairwise(path))
    ]
    ((_, left),) = values_left(history_of(pasts, 5), follows)
    assert left == [len({path[at] for path in paths}) for at in range(len(layers))]


def test_a_policy_names_it(tmp_path) -> None:
    policy = sr.Policy.from_dict(
        {
            "series": {"name": "jobs", "respondent": "who"},
            "columns": {"age": {"role": "quasi", "kind": "number"}, "job": {"role": "sensitive"}},
            "promise": {"m": 3},
            "defence": {"method": "distinct"},
        }
    )
    ledger, rng = sr.Ledger.open(tmp_path / "ledger.db"), np.random.default_rng(1)
    age, job = rng.integers(20, 60, 240), rng.integers(0, 8, 240)
    for _ in range(3):
        table = pa.table({"who": np.arange(240), "age": age, "job": [f"j{j}" for j in job]})
        made = sr.publish(table, policy, ledger)
        assert made.verdict.released, made.verdict.reasons
        moved = rng.random(240) < 0.2
        job = np.where(moved, (job + 1) % 8, job)
    told = [note for note in made.verdict.notes if "changed" in note]
    assert told
