"""Corners in which a promise would be kept on paper only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import plain_promises as plain
import pyarrow as pa
import pytest
from publishing_at_hand import QUASI, publish


@pytest.mark.parametrize("rule", [{"kind": "number"}, {"kind": "number", "hierarchy": {"interval": [1000]}}])
def test_values_of_withheld_people_do_not_stretch_the_scale(tmp_path: Path, rule: dict[str, Any]) -> None:
    """The ordered distance counts steps between values; values nobody sees must not make each step look small."""
    table = pa.table({"q": [1, 1, 2, 2] * 5 + [None] * 80, "s": [1, 1, 2, 2] * 5 + list(range(3, 83))})
    columns = {"q": {**QUASI, "missing": "suppress"}, "s": {"role": "sensitive", **rule}}
    promise = {"s": {"t": 0.25, "t_distance": "ordered"}}
    release = publish(table, columns, tmp_path, promise=promise, defence={"suppress": 0.9})
    assert release.verdict.released
    everyone = release.table.column("s").to_pylist()
    domain = sorted(set(everyone))
    assert domain == [1, 2]
    for members in plain.classes(release.table, ["q"]):
        values = [row["s"] for row in members]
        apart = plain.ordered_distance(plain.shares(values, domain), plain.shares(everyone, domain))
        assert apart <= 0.25 + 1e-9
    assert release.verdict.findings[1].worst <= 0.25
