"""A view in another order than its source: columns are put in order when they are asked for."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from seriatim.model import CodedColumn, Table, View
from seriatim.model.scale import scale_of

TEXTS = pa.array(["a", "b", "c"])


def view_of_codes(codes: list[int]) -> View:
    """A view whose column ``value`` says the same in cells and codes, and whose ``row`` counts the rows."""
    held = np.array(codes, dtype=np.int32)
    data = pa.table({"row": np.arange(len(held)), "value": TEXTS.take(pa.array(held))})
    column = CodedColumn("value", held, scale_of("set", TEXTS, np.arange(3.0)))
    return View(Table(data), quasi=(column,), sensitive=(), plain=("row",), respondent=None, suppressed=held == 2)


orders = st.lists(st.integers(0, 2), min_size=1, max_size=8).flatmap(
    lambda codes: st.tuples(
        st.just(codes),
        st.permutations(range(len(codes))),
        st.lists(st.integers(0, len(codes) - 1), max_size=8),
    )
)


@given(orders)
def test_cells_follow_the_records_through_two_orders(drawn: tuple[list[int], list[int], list[int]]) -> None:
    codes, first, second = drawn
    order, again = np.array(first, dtype=np.int64), np.array(second, dtype=np.int64)
    view = view_of_codes(codes).taken(order).with_cells("row", pa.array([-row for row in first])).taken(again)
    rows = [first[at] for at in second]
    assert len(view) == len(rows)
    assert view.cells("row").to_pylist() == [-row for row in rows]
    assert view.cells("value").to_pylist() == TEXTS.take(pa.array(view.quasi[0].codes)).to_pylist()
    assert view.quasi[0].codes.tolist() == [codes[row] for row in rows]
    assert view.suppressed.tolist() == [codes[row] == 2 for row in rows]
    assert view.data.to_pydict() == {"row": [-row for row in rows], "value": view.cells("value").to_pylist()}
    some = np.arange(len(rows))[::2]
    for name in ("row", "value"):
        assert view.cells(name, some).to_pylist() == view.cells(name).to_pylist()[::2]


def test_a_view_in_the_order_of_its_source_copies_nothing() -> None:
    view = view_of_codes([0, 1, 2])
    assert view.data is view.source.data
    assert view.cells("value").chunk(0).buffers()[2].address == view.source.data["value"].chunk(0).buffers()[2].address
