"""Cells of a CSV file become whole numbers only if every one is written as it would be printed."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from seriatim.tables.files import _as_read

CELLS = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(str),
    st.integers(-1_000, 1_000).map(str),
    st.integers(0, 2**63 - 1).map(hex),
    st.integers(0, 999).map(lambda n: f"{n:03}"),
    st.sampled_from(["-0", "+1", " 1", "1 ", "1.0", "1e3", "0X1F"]),
    st.none(),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(CELLS, min_size=1, max_size=4))
@example(["9", "0xFFFFFFFFF"])
@example(["0xFFFFF"])
@example(["9999999999999999999"])
def test_a_number_is_one_that_is_written_so(cells: list[str | None]) -> None:
    known = [cell for cell in cells if cell is not None]
    plain = [cell for cell in known if cell.lstrip("-").isdigit() and str(int(cell)) == cell]
    fits = len(plain) == len(known) > 0 and all(-(2**63) <= int(cell) < 2**63 for cell in known)
    read = _as_read(pa.chunked_array([pa.array(cells, pa.string())]))
    assert (read.type == pa.int64()) == fits
    assert read.cast(pa.string()).to_pylist() == cells
