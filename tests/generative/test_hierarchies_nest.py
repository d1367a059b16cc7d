"""Whatever the values, levels nest, paths are equally long and end in ``*``, and digests tell rules apart."""

from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.model.hierarchies import (
    DATE_PARTS,
    DateHierarchy,
    Hierarchy,
    IntervalHierarchy,
    PrefixHierarchy,
    text_runs,
    text_sets,
)
from seriatim.policies import read_arx

BOUNDED = settings(max_examples=100, deadline=None)
NUMBERS = st.one_of(
    st.integers().map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str),
    st.floats(allow_nan=True).map(str),
    st.text(max_size=4),
)
TEXTS = st.lists(st.text(alphabet='ab1*é ,{}"', max_size=6), min_size=1, max_size=30)


@st.composite
def interval_rules(draw: st.DrawFn) -> IntervalHierarchy:
    first = draw(st.integers(1, 20).map(Fraction) | st.integers(1, 500).map(lambda n: Fraction(n, 100)))
    factors = draw(st.lists(st.integers(2, 5), max_size=3))
    origin = draw(st.integers(-50, 50).map(Fraction) | st.integers(-500, 500).map(lambda n: Fraction(n, 10)))
    return IntervalHierarchy(tuple(accumulate(factors, lambda width, factor: width * factor, initial=first)), origin)


def check_levels(made: Hierarchy, texts: list[str]) -> None:
    paths = made.paths(texts)
    assert len(paths) == len(texts)
    found = [path for path in paths if path is not None]
    assert len({len(path) for path in found}) <= 1
    assert all(path[-1] == "*" for path in found)
    for level in range(len(found[0]) - 1 if found else 0):
        above: dict[str, str] = {}
        assert all(above.setdefault(path[level], path[level + 1]) == path[level + 1] for path in found)
    assert made.paths(texts) == paths


@BOUNDED
@given(interval_rules(), st.lists(NUMBERS, min_size=1, max_size=30))
def test_intervals(made: IntervalHierarchy, texts: list[str]) -> None:
    check_levels(made, texts)
    assert made.digest == IntervalHierarchy(made.widths, made.origin).digest
    assert made.digest != IntervalHierarchy((*made.widths, made.widths[-1] * 2), made.origin).digest


@BOUNDED
@given(interval_rules(), st.decimals(-10_000, 10_000, places=3))
def test_an_interval_holds_its_number(made: IntervalHierarchy, number: object) -> None:
    (path,) = made.paths([str(number)])
    assert path is not None
    value = Fraction(str(number))
    for label, width in zip(path, made.widths, strict=False):
        low, high = (Fraction(bound) for bound in label[1:-1].split(","))
        assert low <= value
        assert (value < high and high - low == width) if label.endswith(")") else (value <= high == low + width - 1)
        assert (low - made.origin) % width == 0


@BOUNDED
@given(st.sets(st.integers(0, 8), min_size=1), TEXTS)
def test_prefixes(keep: set[int], texts: list[str]) -> None:
    check_levels(PrefixHierarchy(tuple(sorted(keep, reverse=True))), texts)


@BOUNDED
@given(st.sets(st.sampled_from(DATE_PARTS), min_size=1), st.lists(st.dates().map(str) | st.datetimes().map(str)))
def test_dates(parts: set[str], texts: list[str]) -> None:
    made = DateHierarchy(tuple(part for part in DATE_PARTS if part in parts))
    check_levels(made, texts)
    assert None not in made.paths(texts)


@BOUNDED
@given(st.lists(st.text(max_size=5), min_size=1, max_size=20, unique=True), st.integers(1, 4), st.integers(2, 3))
def test_runs_and_sets(order: list[str], size: int, factor: int) -> None:
    check_levels(text_runs(order, [size, size * factor]), [*order, "unknown value"])
    check_levels(text_sets([order[:3], order[3:]] if order[3:] else [order]), order)


@BOUNDED
@given(st.lists(st.text(alphabet='abc;,\t"\n é*', min_size=1, max_size=5).filter(str.strip), min_size=1, unique=True))
def test_a_file_gives_back_what_was_written(values: list[str]) -> None:
    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    with TemporaryDirectory() as folder:
        path = Path(folder) / "h.csv"
        path.write_bytes("".join(f"{cell(v)};{cell(v[0] + '~')};*\n" for v in values).encode())
        assert read_arx(path).rows == {value: (value[0] + "~", "*") for value in values}
