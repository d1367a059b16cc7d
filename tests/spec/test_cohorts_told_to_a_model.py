"""Someone with a model from other people learns next to nothing from cohorts: beliefs before and beside the release."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pc
import pytest
from support.random_series import published

from seriatim.defences.series.caps import Caps
from seriatim.defences.series.cohort.grouping import update_groups
from seriatim.defences.series.cohort.memory import SlotHistory
from seriatim.defences.series.cohort.newcomers import drawn_cells, planned_cells
from seriatim.defences.series.contract import SerialDraw, SerialRules, SerialView
from seriatim.model.scale import scale_of

Floats = npt.NDArray[np.float64]
ADULT = Path(os.environ.get("SERIATIM_ADULT", Path(__file__).parents[2].parent / "shared" / "data" / "adult.csv"))
CERTAIN = 0.9

pytestmark = pytest.mark.skipif(not ADULT.exists(), reason="adult.csv is not here: set SERIATIM_ADULT")


def adult_rows(sensitive: str, people: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return the codes of all other columns, and those of one."""
    table = pc.read_csv(ADULT, parse_options=pc.ParseOptions(delimiter=";"))
    rows = np.random.default_rng(0).permutation(table.num_rows)[:people]
    codes = {name: np.unique(table[name].to_numpy(), return_inverse=True)[1][rows] for name in table.column_names}
    return np.stack([codes[name] for name in codes if name != sensitive], axis=1).astype(np.int32), codes[sensitive]


def naive_bayes(known: npt.NDArray[np.int32], value: npt.NDArray[np.int64], asked: npt.NDArray[np.int32]) -> Floats:
    """Return how likely each value is for everyone asked about, by what people who are known hold."""
    n_values = int(value.max()) + 1
    held = np.bincount(value, minlength=n_values) + 1.0
    log = np.tile(np.log(held / held.sum()), (len(asked), 1))
    for column, own in zip(known.T, asked.T, strict=True):
        size = int(max(column.max(), own.max())) + 1
        counts = np.bincount(column * n_values + value, minlength=size * n_values).reshape(size, n_values) + 0.5
        log += np.log(counts / counts.sum(axis=0))[own]
    chance = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(chance / chance.sum(axis=1, keepdims=True))


def beside_cells(chance: Floats, cell: npt.NDArray[np.int64], counts: Floats) -> Floats:
    """Move everyone's chances until they add up to what each cell holds: what independent beliefs become."""
    for _ in range(60):
        told = np.stack([np.bincount(cell, weights=one, minlength=len(counts)) for one in chance.T], axis=1)
        chance = chance * (counts / np.maximum(told, 1e-300))[cell]
        chance = chance / chance.sum(axis=1, keepdims=True)
    return chance


@pytest.mark.parametrize("odds", [1.5, 2.0, 3.0])
@pytest.mark.parametrize(("column", "m"), [("salary-class", 2), ("occupation", 3), ("marital-status", 3)])
def test_a_model_is_hardly_surer_beside_the_cells(column: str, m: int, odds: float) -> None:
    quasi, value = adult_rows(column, 16_000)
    others, people = np.split(np.random.default_rng(1).permutation(len(value)), 2)
    counts = np.bincount(value[people], minlength=int(value.max()) + 1)
    caps = Caps.of_cells(-(-counts * 10**6 // len(people)), m, odds)
    plan = planned_cells(counts, caps, None)
    chance = np.random.default_rng(2)
    for tried in plan.tried:  # as newcomers are dealt
        cell = drawn_cells(quasi[people], (), tried, chance)
        held = np.zeros((int(cell.max()) + 1, len(counts)))
        np.add.at(held, (cell, value[people]), 1)
        if caps.fair(held.astype(np.int64)).all():
            break
    alone = beside_cells(  # whoever knows how often each value occurs in the table
        naive_bayes(quasi[others], value[others], quasi[people]), np.zeros_like(cell), held.sum(axis=0)[None]
    )
    beside = beside_cells(alone, cell, held)
    assert (beside.max(axis=1) > CERTAIN).mean() <= (alone.max(axis=1) > CERTAIN).mean() + 0.01


@pytest.mark.parametrize(("column", "m"), [("salary-class", 2), ("occupation", 3), ("marital-status", 3)])
def test_a_model_is_hardly_surer_of_people_who_left_beside_their_small_cells(column: str, m: int) -> None:
    """Those who left are given up in cells of dozens, not hundreds: there a group says most about a person."""
    quasi, value = adult_rows(column, 16_000)
    n_values = int(value.max()) + 1
    others, people = np.split(np.random.default_rng(1).permutation(len(value)), 2)
    scales = tuple(
        scale_of("interval", pa.array([str(code) for code in range(size)]), np.arange(size, dtype=float))
        for size in (quasi.max(axis=0) + 1).tolist()
    )
    memory, here, chance = SlotHistory(), np.arange(5_000), np.random.default_rng(4)
    for release in range(8):
        own = people[here]
        view = SerialView(
            quasi=quasi[own], scales=scales, sensitive=value[own].astype(np.int32), n_values=n_values, person=here
        )
        memory.remember(
            published(view, update_groups(view, SerialRules(m, odds=2.0), memory, SerialDraw(b"secret", release)))
        )
        stays = chance.random(len(here)) >= 0.06
        here = np.concatenate((here[stays], int(here.max()) + 1 + np.arange((~stays).sum())))
    cell = np.unique(memory.cohort * 100 + memory.last, return_inverse=True)[1]
    held = np.zeros((int(cell.max()) + 1, n_values))
    np.add.at(held, (cell, memory.value), 1)
    chances = naive_bayes(quasi[others], value[others], quasi[people])[memory.holder]
    alone = beside_cells(chances, np.zeros_like(cell), held.sum(axis=0)[None])
    beside = beside_cells(alone, cell, held)
    left = memory.last < memory.n_releases - 1
    assert left.sum() > 1_000
    assert np.median(held.sum(axis=1)[np.unique(cell[left])]) < 60
    sure_alone, sure_beside = alone.max(axis=1) > CERTAIN, beside.max(axis=1) > CERTAIN
    assert sure_beside.mean() <= sure_alone.mean() + 0.01
    assert sure_beside[left].mean() <= sure_alone[left].mean() + 0.02


def test_a_cut_at_the_medians_of_values_would_be_seen() -> None:
    """The control: cells that follow values make the same model surer."""
    quasi, value = adult_rows("salary-class", 16_000)
    others, people = np.split(np.random.default_rng(1).permutation(len(value)), 2)
    cell = (value[people] + (np.random.default_rng(3).random(len(people)) < 0.05)).astype(np.int64) % 2
    held = np.zeros((2, 2))
    np.add.at(held, (cell, value[people]), 1)
    alone = beside_cells(  # whoever knows how often each value occurs in the table
        naive_bayes(quasi[others], value[others], quasi[people]), np.zeros_like(cell), held.sum(axis=0)[None]
    )
    beside = beside_cells(alone, cell, held)
    assert (beside.max(axis=1) > CERTAIN).mean() > (alone.max(axis=1) > CERTAIN).mean() + 0.2


def test_the_model_is_worth_something() -> None:
    quasi, value = adult_rows("salary-class", 16_000)
    others, people = np.split(np.random.default_rng(1).permutation(len(value)), 2)
    found: Any = naive_bayes(quasi[others], value[others], quasi[people]).argmax(axis=1)
    assert (found == value[people]).mean() > 0.78
