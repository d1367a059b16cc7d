"""The rules that make a value's path: intervals, prefixes, runs, sets, dates."""

from fractions import Fraction

import pytest

from seriatim.model.hierarchies import (
    DateHierarchy,
    IntervalHierarchy,
    PrefixHierarchy,
    date_day,
    number_of,
    path_hierarchy,
    text_runs,
    text_sets,
)
from seriatim.policies import policy_from_dict


def intervals(*widths: float | str, origin: float | str = 0) -> IntervalHierarchy:
    return IntervalHierarchy(tuple(Fraction(str(width)) for width in widths), Fraction(str(origin)))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("23", ("[20,24]", "[20,29]", "*")),
        ("25", ("[25,29]", "[20,29]", "*")),
        ("-1", ("[-5,-1]", "[-10,-1]", "*")),
        ("0", ("[0,4]", "[0,9]", "*")),
        ("+7", ("[5,9]", "[0,9]", "*")),
        (" 7 ", ("[5,9]", "[0,9]", "*")),
        ("7.0", ("[5,9]", "[0,9]", "*")),
        ("1e2", ("[100,104]", "[100,109]", "*")),
        (
            "99999999999999999999",
            ("[99999999999999999995,99999999999999999999]", "[99999999999999999990,99999999999999999999]", "*"),
        ),
    ],
)
def test_whole_numbers(text: str, path: tuple[str, ...]) -> None:
    assert intervals(5, 10).paths([text]) == [path]


def test_decimals_have_half_open_intervals() -> None:
    assert intervals(5).paths(["20.5", "25", "-0.1"]) == [("[20,25)", "*"), ("[25,30)", "*"), ("[-5,0)", "*")]
    assert intervals("0.1", "0.5").paths(["0.3", "-0.05"]) == [
        ("[0.3,0.4)", "[0,0.5)", "*"),
        ("[-0.1,0)", "[-0.5,0)", "*"),
    ]


def test_the_bound_of_a_tenth_is_exact() -> None:
    assert [path and path[0] for path in intervals("0.1").paths(["0.7", "0.6999999999999999999999"])] == [
        "[0.7,0.8)",
        "[0.6,0.7)",
    ]


def test_an_origin_shifts_every_level() -> None:
    assert intervals(5, 10, origin=2).paths(["1", "2"]) == [("[-3,1]", "[-8,1]", "*"), ("[2,6]", "[2,11]", "*")]


@pytest.mark.parametrize(
    "text", ["", "x", "nan", "inf", "-inf", "1_000", "١٢", "0x10", "1e9999", "1,5", "--1", ".", "1 2", "9" * 401]
)
def test_texts_that_are_no_number(text: str) -> None:
    assert number_of(text) is None
    assert intervals(5).paths([text]) == [None]


def test_an_unreadable_text_does_not_change_the_labels_of_the_others() -> None:
    assert intervals(5).paths(["7", "?"]) == [("[5,9]", "*"), None]


@pytest.mark.parametrize("widths", [(), (0,), (-5,), (5, 5), (10, 5), (5, 12)])
def test_widths_that_do_not_nest(widths: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="width"):
        intervals(*widths)


def test_prefixes() -> None:
    made = PrefixHierarchy((4, 3, 0))
    assert made.paths(["12345", "123", "é", ""]) == [
        ("1234*", "123**", "*"),
        ("123", "123", "*"),
        ("é", "é", "*"),
        ("", "", "*"),
    ]
    assert PrefixHierarchy((4, 3)).digest == made.digest
    assert PrefixHierarchy((0,)).paths(["ab"]) == [("*",)]
    for keep in ((), (3, 3), (1, 2), (-1,)):
        with pytest.raises(ValueError, match="keep"):
            PrefixHierarchy(keep)
    with pytest.raises(ValueError, match="at most 100 levels"):
        PrefixHierarchy(tuple(range(101, 0, -1)))


def test_runs_of_an_order() -> None:
    made = text_runs(["a", "b", "c", "d", "e, f"], [2, 4])
    assert made.paths(["a", "d", "e, f", "z"]) == [
        ("{a,b}", "{a,b,c,d}", "*"),
        ("{c,d}", "{a,b,c,d}", "*"),
        ('{"e, f"}', '{"e, f"}', "*"),
        None,
    ]
    assert made.known() == ("a", "b", "c", "d", "e, f")


def test_long_runs_are_made_once() -> None:
    order = [str(place) for place in range(20_000)]
    made = text_runs(order, [10_000])
    first, last = made.paths(["0", "19999"])
    assert first is not None
    assert last is not None
    assert first[0].count(",") == last[0].count(",") == 9_999


def test_named_sets() -> None:
    made = text_sets([["a", "b"], ["c"]])
    assert made.paths(["b", "c"]) == [("{a,b}", "*"), ("{c}", "*")]
    assert made.digest == path_hierarchy("elsewhere", made.rows).digest


def test_dates() -> None:
    made = DateHierarchy(("month", "quarter", "year", "decade"))
    path = ("2020-03", "2020-Q1", "2020", "2020s", "*")
    texts = ["2020-03-05", "2020-03-31T23:59:59", "2020-03-31 23:59:59.123456", "2020-03-31T23:59:59+02:00"]
    assert made.paths(texts) == [path] * 4
    assert made.paths(["1999-12-31"]) == [("1999-12", "1999-Q4", "1999", "1990s", "*")]
    assert DateHierarchy(("day",)).paths(["2020-03-05 10:00:00"]) == [("2020-03-05", "*")]
    assert DateHierarchy(("decade",)).paths(["0009-01-01"]) == [("0000s", "*")]


@pytest.mark.parametrize("text", ["", "2020-13-01", "2020-02-30", "05.03.2020", "2020-3-5", "20200305", "2020-03-05x"])
def test_texts_that_are_no_date(text: str) -> None:
    assert date_day(text) is None


def test_a_builder_in_a_policy_reads_decimals_as_written() -> None:
    columns = {"a": {"role": "quasi", "hierarchy": {"interval": [0.1, 0.5], "origin": 0.05}}}
    policy = policy_from_dict({"series": {"name": "s"}, "columns": columns})
    made = policy.columns["a"].hierarchy
    assert made is not None
    assert made.paths(["0.15"]) == [("[0.15,0.25)", "[0.05,0.55)", "*")]
