"""Several records of one person: joined pieces hold k people, and nothing else changes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.defences.labels import LabelPieces
from seriatim.defences.single.trim import bounds_with_enough_people, with_enough_people
from seriatim.model import Table, View


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=60), st.integers(2, 6), st.data())
def test_every_piece_holds_k_people_if_all_together_do(who: list[int], k: int, data: st.DataObject) -> None:
    cuts = data.draw(st.sets(st.integers(1, len(who))))
    bounds = np.array(sorted({0, len(who), *cuts}), dtype=np.int64)
    person = np.array(who, dtype=np.int32)
    joined = bounds_with_enough_people(person, bounds, k).tolist()
    assert joined[0] == 0
    assert joined[-1] == len(who)
    assert set(joined) <= set(bounds.tolist())
    sizes = [len(set(who[a:b])) for a, b in pairwise(joined)]
    if len(set(who)) >= k:
        assert min(sizes) >= k
    else:
        assert len(sizes) == 1
    # a piece that held enough is joined only where a neighbour needed it
    if all(len(set(who[a:b])) >= k for a, b in pairwise(bounds.tolist())):
        assert joined == bounds.tolist()


def test_one_record_each_is_left_alone() -> None:
    pieces = LabelPieces(np.arange(4), np.array([0, 1, 2, 4]))
    for respondent, same in ((None, True), ("who", True), ("twice", False)):
        table = Table(pa.table({"who": list("abcd"), "twice": list("aabc")}))
        view = View(table, quasi=(), sensitive=(), plain=(), respondent=respondent, suppressed=np.zeros(4, dtype=bool))
        assert (with_enough_people(pieces, view, 2) is pieces) == same
