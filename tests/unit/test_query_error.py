"""Queries of a verdict match the share of people in their name, and count as a plain loop counts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seriatim.kernels.check.box_counts import STEPS, fit_box
from seriatim.measures.query_error import LabelBoxes, draw_queries, errors_by_share, fit_queries
from seriatim.model.chance import open_chance


def tables() -> Iterator[tuple[str, np.ndarray]]:
    """Columns of codes as they are met: spikes, long tails, few values, columns that go together, few records."""
    chance = np.random.default_rng(3)
    n = 3000
    age = chance.normal(45, 15, n).clip(0, 99)
    yield "even", chance.integers(0, 100, (2, n))
    yield "ages and sexes", np.stack([age, chance.integers(0, 2, n)])
    yield "half at one value", np.stack([np.where(chance.random(n) < 0.5, 40, chance.integers(0, 99, n)), age])
    yield "long tail", np.stack([np.floor(chance.pareto(1.2, n) * 100).clip(0, 20_000), age])
    yield "many regions", np.stack([chance.zipf(1.3, n) % 500, age, chance.integers(0, 2, n)])
    yield "together", np.stack([age, (age + chance.normal(0, 3, n)).clip(0, 99)])
    yield "seven columns", np.vstack([age, *(chance.integers(0, size, n) for size in (2, 5, 16, 7, 9, 40))])
    yield "one column", age[None]
    yield "few people", np.stack([age, chance.integers(0, 12, n)])[:, :500]
    yield "all distinct", np.arange(n)[None]


@pytest.mark.parametrize(("name", "columns"), list(tables()), ids=[name for name, _ in tables()])
def test_queries_match_their_share_of_people(name: str, columns: np.ndarray) -> None:
    codes = np.stack([np.unique(column.astype(np.int64), return_inverse=True)[1] for column in columns])
    codes = np.ascontiguousarray(codes[:, np.lexsort(codes)].astype(np.int32))
    sizes = codes.max(axis=1).astype(np.int64) + 1
    boxes = LabelBoxes(codes, codes, np.ones(codes.shape[1]))
    for measure in errors_by_share(codes, boxes, sizes, 7, None):
        share = measure.detail["selectivity"]
        assert measure.detail["matched"] == pytest.approx(share, rel=0.1), name
        assert measure.value == 0  # every record is its own box
    for query in fit_queries(codes, sizes, 0.05, draw_queries(codes, sizes, 20, open_chance(1, "queries"))):
        assert (query.low <= query.high).all()
        assert 1 <= len(query.asked) == len(set(query.asked.tolist()))


def grown(codes: np.ndarray, sizes: list[int], centre: list[int], split: list[float], wanted: float) -> list:
    """The twin: try every step that changes something, count plainly, keep the first that is nearest."""
    best = None
    for step in sorted({(w - 1) * STEPS // max(size - 1, 1) for size in sizes for w in range(1, size + 1)}):
        ends = []
        for size, at, part in zip(sizes, centre, split, strict=True):
            width = max(w for w in range(1, size + 1) if (w - 1) * STEPS // max(size - 1, 1) <= step)
            first = min(max(at - int(part * width), 0), size - width)
            ends.append((first, first + width - 1))
        inside = sum(
            all(low <= code <= high for code, (low, high) in zip(record, ends, strict=True)) for record in codes.T
        )
        if best is None or abs(inside - wanted) < abs(best[0] - wanted):
            best = inside, ends
    assert best is not None
    return best[1]


@given(st.data())
def test_a_box_grows_to_the_wanted_count(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    records = data.draw(st.lists(st.tuples(*(st.integers(0, size - 1) for size in sizes)), min_size=1, max_size=12))
    codes = np.ascontiguousarray(np.array(records, dtype=np.int32).T)
    centre = records[data.draw(st.integers(0, len(records) - 1))]
    split = [data.draw(st.floats(0, 0.99)) for _ in sizes]
    wanted = data.draw(st.floats(0.5, 12))
    low, high = fit_box(
        codes, np.array(sizes), np.arange(len(sizes), dtype=np.int32), np.array(centre, dtype=np.int32),
        np.array(split), wanted,
    )  # fmt: skip
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == grown(codes, sizes, list(centre), split, wanted)
