"""A number of any length is published as itself or refused: never as another number."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from seriatim.model import Kind
from seriatim.tables.codes import UnreadableColumn, codes_of

DIGITS = st.text("0123456789", min_size=1, max_size=400)
SIGNS = st.sampled_from(["", "-", "+"])
EXPONENTS = st.one_of(st.just(""), st.integers(-420, 420).map(lambda power: f"e{power}"))


@st.composite
def numbers(draw: st.DrawFn) -> str:
    whole = draw(DIGITS)
    cut = draw(st.integers(0, len(whole)))
    point = draw(st.booleans())
    body = f"{whole[:cut] or '0'}.{whole[cut:] or '0'}" if point else whole
    return draw(SIGNS) + body + draw(EXPONENTS)


def published(cells: list[str]) -> list[str] | None:
    """What each cell is published as when nothing is generalised; None when the column is refused."""
    try:
        found = codes_of(pa.chunked_array([pa.array(cells, pa.string())]), Kind.NUMBER, "t")
    except UnreadableColumn as unreadable:
        told = str(unreadable.fault)
        if any(cell in told for cell in cells if len(cell) > 3):
            pytest.fail("a cell stands in the message")
        return None
    texts = found.texts().to_pylist()
    assert found.n_missing == 0
    return [texts[code] for code in found.codes]


def same(cell: str, shown: str) -> bool:
    if Fraction(Decimal(cell)) == Fraction(Decimal(shown)):
        return True
    # a program that writes a float in more digits than it has means the float
    digits = len(cell.lower().split("e")[0].replace(".", "").lstrip("+-0"))
    return digits >= 17 and Fraction(Decimal(f"{float(shown):.{digits - 1}e}")) == Fraction(Decimal(cell))


@settings(max_examples=400, deadline=None)
@given(st.lists(numbers(), min_size=1, max_size=4))
@example(["1" * 39])
@example(["9" * 38, "-" + "9" * 38])
@example(["340282366920938463463374607431768211457"])
@example(["1.5", "12345678901234567890"])
@example(["1e-400"])
@example(["1e39", "1"])
@example(["0." + "1" * 30])
def test_a_number_is_published_as_itself_or_refused(cells: list[str]) -> None:
    shown = published(cells)
    if shown is not None:
        assert all(same(cell, text) for cell, text in zip(cells, shown, strict=True)), (cells, shown)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4))
def test_floats_written_in_any_form_are_kept(floats: list[float]) -> None:
    for form in (repr, "{:.16e}".format, "{:.18e}".format):
        shown = published([form(number) for number in floats])
        assert shown is not None
        assert [float(text) for text in shown] == [number + 0.0 for number in floats]


@pytest.mark.parametrize("length", [1, 18, 19, 20, 37, 38])
def test_whole_numbers_that_fit_are_kept_to_the_last_digit(length: int) -> None:
    cells = ["9" * length, "-" + "1" * length, "7"]
    assert published(cells) == cells


@pytest.mark.parametrize("length", [39, 40, 77, 400])
def test_longer_ones_are_refused_with_their_count(length: int) -> None:
    with pytest.raises(UnreadableColumn) as caught:
        codes_of(pa.chunked_array([pa.array(["9" * length, "7", "9" * length])]), Kind.NUMBER, "t")
    assert caught.value.fault.found == "2 numbers with more digits than can be kept" or length == 400
