"""Numbers of requests are those a dictionary would give, whether they were read from the journal or came since."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim_gate.usecases.request_index import NumbersById

# few halves, so that many ids share one
HALVES = st.sampled_from([b"\x00" * 8, b"\xff" * 8, b"\x00" * 7 + b"\x01", b"\x01" + b"\x00" * 7])
IDS = st.lists(st.tuples(HALVES, HALVES).map(b"".join), unique=True, max_size=16)


@settings(max_examples=100, deadline=None)
@given(IDS, st.integers(0, 16))
def test_numbers_are_those_of_a_dictionary(ids: list[bytes], end: int) -> None:
    numbers, end = NumbersById(), min(end, len(ids))
    halves = np.frombuffer(b"".join(ids[:end]), np.uint64).reshape(-1, 2)
    numbers.read_numbers(halves[:, 0].copy(), halves[:, 1].copy())
    assert all(one not in numbers for one in ids[end:])
    for number in range(end, len(ids)):
        numbers[ids[number]] = number
    assert [numbers.number_of(one) for one in ids] == list(range(len(ids)))
    assert numbers.number_of(b"\x02" * 16) is None
