"""Releases with different bands are judged in the finest bands that all of them share."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from seriatim.model.common_bands import bands_within
from seriatim.model.history import History, PastRelease


def shown(*releases: list[str | None]) -> list[list[str | None]]:
    """What in_common_bands makes of releases that show these values."""
    values = list(dict.fromkeys(value for release in releases for value in release))
    rows = [np.array([values.index(value) for value in release], dtype=np.int32) for release in releases]
    pasts = (
        PastRelease(number, person=np.arange(len(row), dtype=np.int32), group=np.zeros_like(row), value=row)
        for number, row in enumerate(rows, 1)
    )
    people = pa.array([f"p{at}" for at in range(max(map(len, rows)))])
    found = History(people, pa.array(values, pa.string()), tuple(pasts)).in_common_bands()
    return [[found.values.to_pylist()[code] for code in past.value.tolist()] for past in found]


@pytest.mark.parametrize(
    ("before", "after", "common"),
    [
        (["<10", "[10,20)", ">=20"], ["<20", "<20", ">=20"], ["<20", "<20", ">=20"]),
        (["<10", "[10,20)", ">=20"], ["<10", ">=10", ">=10"], ["<10", ">=10", ">=10"]),
        (["[0,10)", "[10,20)", "[20,40)"], ["[0,10)", "[10,30)", "[10,30)"], ["[0,10)", "[10,40)", "[10,40)"]),
        (["5", "12", "19.5"], ["<10", "[10,20)", "[10,20)"], ["<10", "[10,20)", "[10,20)"]),
        (["<10", "[10,20)"], ["5", "20"], None),  # 20 is in no band: this value changed, and no band differs
    ],
)
def test_the_finest_bands_that_both_releases_have(
    before: list[str | None], after: list[str | None], common: list[str | None] | None
) -> None:
    found = shown(before, after)
    assert found == ([common, common] if common is not None else [["<10", "[10,20)"], ["<10", "20"]])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["<10", ">=10"], ["<5", ">=5"]),  # nothing is common but everything
        (["<10", ">=10"], ["<10", ">=10"]),
        (["1-2", "2-3"], ["1-3", "4"]),  # codes that overlap in one release are no bands
        (["<10", "high"], ["<20", "high"]),
        (["5", "12"], ["5", "13"]),
    ],
)
def test_other_values_stay_as_they_are(before: list[str | None], after: list[str | None]) -> None:
    assert shown(before, after) == [before, after]


def test_missing_values_stay_missing() -> None:
    assert shown(["<10", "[10,20)", ">=20", None], ["<20", "<20", ">=20", None])[0] == ["<20", "<20", ">=20", None]


def test_a_label_is_found_in_the_one_band_that_holds_it() -> None:
    found = bands_within(["[10,20)", "[5,15)", "7", "<10", None, "x"], ["<10", "[10,30)", None])
    assert found == {"[10,20)": "[10,30)", "7": "<10", "<10": "<10"}
