"""Numbering people by their texts, against a plain dictionary."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.model.identity import number_among

TEXTS = st.one_of(st.none(), st.text(max_size=3), st.sampled_from(["", "a", "aa", "ab", "ä", "7", "07", "70"]))


def by_dictionary(known: list[str | None], wanted: list[str | None]) -> tuple[list[int], list[int]]:
    number = {text: i for i, text in enumerate(known) if text is not None}
    out, fresh = [], []
    for row, text in enumerate(wanted):
        if text is None:
            out.append(-1)
            continue
        if text not in number:
            number[text] = len(known) + len(fresh)
            fresh.append(row)
        out.append(number[text])
    return out, fresh


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXTS, max_size=30), st.lists(TEXTS, max_size=30), st.integers(0, 3))
def test_as_a_dictionary_numbers(names: list[str | None], wanted: list[str | None], skip: int) -> None:
    known = [name for i, name in enumerate(names) if name is None or name not in names[:i]]
    column = pa.chunked_array([pa.array(wanted, pa.string()).slice(skip)], pa.string())
    number, fresh = number_among(pa.array(known, pa.string()).slice(skip), column)
    assert (number.tolist(), fresh.tolist()) == by_dictionary(known[skip:], wanted[skip:])


def test_many_people_in_several_blocks() -> None:
    known = [f"p{i}" for i in range(5_000)]
    wanted = [f"p{i}" for i in range(4_000, 9_000)] * 2
    number, fresh = number_among(pa.array(known), pa.array(wanted))
    assert (number.tolist(), fresh.tolist()) == by_dictionary(known, wanted)
