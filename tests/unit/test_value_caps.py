"""The shares that caps follow: defence and promise count them each in their own way."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from seriatim.defences.series import caps
from seriatim.defences.series.contract import SerialView
from seriatim.model.scale import scale_of
from seriatim.promises.series import value_caps

SCALE = scale_of("interval", pa.array(["0"]), np.zeros(1))
NOTHING = np.zeros(4, dtype=np.int64)


def both(value: np.ndarray, new: np.ndarray, before: np.ndarray = NOTHING) -> list[int]:
    """Return what both count, in millionths; they must agree."""
    n = len(value)
    view = SerialView(
        quasi=np.zeros((n, 1), dtype=np.int32), scales=(SCALE,), sensitive=value, n_values=4, person=np.arange(n)
    )
    found = caps.largest_shares(view, before, new)
    assert np.array_equal(found, value_caps.largest_shares(value.astype(np.int64), new, before))
    return found.tolist()


def people(*counts: int) -> np.ndarray:
    return np.repeat(np.arange(4, dtype=np.int32), counts)


@pytest.mark.parametrize(
    ("staying", "entering", "share"),
    [
        ((200, 50, 50, 0), (0, 100, 100, 0), 666_667),  # those who stay are 300 of 500
        ((100, 50, 50, 0), (0, 100, 100, 0), 500_000),  # half of the table
        ((100, 50, 50, 0), (0, 101, 100, 0), 249_377),  # fewer than newcomers: the table's share
        ((100, 50, 49, 0), (0, 50, 50, 0), 334_449),  # 199 say too little
        ((0, 50, 50, 0), (150, 50, 0, 0), 750_000),  # newcomers alone
    ],
)
def test_whoever_is_half_of_the_table_counts_alone(
    staying: tuple[int, ...], entering: tuple[int, ...], share: int
) -> None:
    value = np.concatenate((people(*staying), people(*entering)))
    new = np.arange(len(value)) >= sum(staying)
    assert both(value, new)[0] == share


@settings(max_examples=200)
@given(st.data())
def test_no_share_exceeds_twice_that_of_a_table_unless_newcomers_have_it(data: st.DataObject) -> None:
    chance = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    value = chance.choice(4, data.draw(st.integers(4, 900)), p=[0.1, 0.2, 0.3, 0.4]).astype(np.int32)
    assume(np.bincount(value).max() <= 0.97 * len(value))  # a column that says nothing is refused
    new = chance.random(len(value)) < data.draw(st.floats(0, 1))
    before = chance.integers(0, 300_000, 4)
    found, table = both(value, new, before), np.bincount(value, minlength=4) / len(value)
    own = np.bincount(value[new], minlength=4) / max(int(new.sum()), 1)
    allowed = np.maximum(np.maximum(2 * table, own), before / 1e6)
    assert (np.array(found) <= 1e6 * allowed + 1).all()
    assert (np.array(found) >= before).all()
