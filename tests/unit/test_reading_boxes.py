"""What a data user gets out of a published table and its side table."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from seriatim.errors import TableError
from seriatim.reading import Axis, RangeQueries, count_in_ranges, read_boxes

AGE = Axis.whole_numbers(20, 29)
PLACE = Axis.ordered(["n1", "n2", "s1", "s2"], {"north": ("n1", "n2"), "south": ("s1", "s2")})


def test_counts_by_hand():
    table = pa.table(
        {
            "group": [1, 1, 1, 2, 2],
            "age": ["[20,23]", "[20,23]", "[20,23]", "25", "25"],
            "place": ["north", "north", "north", "*", "*"],
            "illness": ["a", "b", "c", "a", "b"],
        }
    )
    side = pa.table({"group": [1], "age": ["[20,23]"], "place": ["north"], "counterfeits": [1]})
    boxes = read_boxes(table, side, {"age": AGE, "place": PLACE})
    assert sorted(boxes.people.tolist()) == [2.0, 2.0]
    # ages 20-21 in n1: half the ages and half the places of group 1's two real people; nothing of group 2
    queries = RangeQueries(
        np.array([[0, 0], [0, 0], [5, 3]], dtype=np.int32), np.array([[1, 0], [9, 3], [5, 3]], dtype=np.int32)
    )
    assert count_in_ranges(boxes, queries).tolist() == [0.5, 4.0, 0.5]


def test_sets_and_unknown_labels():
    assert Axis.ordered(["a,b", 'c"d', "e"]).span('{"a,b","c""d"}') == (0, 1)
    assert AGE.span("[22,24]") == (2, 4)
    assert PLACE.span("south") == (2, 3)
    assert PLACE.span("west") is None
    table = pa.table({"place": ["west", "north"]})
    with pytest.raises(TableError, match="1 labels are not on the axis") as caught:
        read_boxes(table, None, {"place": PLACE})
    assert "west" not in str(caught.value)


def test_a_side_table_of_another_release_is_noticed():
    table = pa.table({"group": [1], "age": ["20"]})
    side = pa.table({"group": [1], "age": ["20"], "counterfeits": [2]})
    with pytest.raises(TableError, match="more counterfeits than rows"):
        read_boxes(table, side, {"age": AGE})
