"""Numbering people by their texts, against a plain dictionary: as defences and the ledger do, and as promises do."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.model.history import people_numbered
from seriatim.model.text_hash import identity_numbers

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
    number, fresh = identity_numbers(pa.array(known, pa.string()).slice(skip), column)
    assert (number.tolist(), fresh.tolist()) == by_dictionary(known[skip:], wanted[skip:])


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXTS, max_size=30), st.lists(TEXTS, max_size=30), st.integers(0, 3))
def test_promises_number_as_a_dictionary_does(names: list[str | None], wanted: list[str | None], skip: int) -> None:
    known = [name for i, name in enumerate(names) if name is None or name not in names[:i]][skip:]
    column = pa.chunked_array([pa.array(wanted, pa.string()).slice(skip)], pa.string())
    people, number = people_numbered(pa.array(known, pa.string()), column)
    expected, fresh = by_dictionary(known, wanted[skip:])
    assert number.tolist() == expected
    assert people.to_pylist() == [*known, *(wanted[skip:][row] for row in fresh)]


def test_promises_know_people_by_their_text_whatever_the_type() -> None:
    people, number = people_numbered(pa.array(["7", None, "8"]), pa.chunked_array([pa.array([8, 9, 7, None, 9])]))
    assert people.to_pylist() == ["7", None, "8", "9"]
    assert number.tolist() == [2, 3, 0, -1, 3]
    people, number = people_numbered(pa.array([], pa.string()), pa.chunked_array([pa.nulls(2)]))
    assert (people.to_pylist(), number.tolist()) == ([], [-1, -1])


def test_many_people_in_several_blocks() -> None:
    known = [f"p{i}" for i in range(5_000)]
    wanted = [f"p{i}" for i in range(4_000, 9_000)] * 2
    number, fresh = identity_numbers(pa.array(known), pa.array(wanted))
    assert (number.tolist(), fresh.tolist()) == by_dictionary(known, wanted)
    assert people_numbered(pa.array(known), pa.array(wanted))[1].tolist() == number.tolist()
