"""Key positions are those an editor shows."""

from textwrap import dedent

import pytest

from seriatim.policies.faults import nearest_position
from seriatim.policies.policy_files import key_positions

DOCUMENT = dedent(
    '''\
    # a comment with [brackets] and "quotes"
    top = 1
    [columns.age]
      role = "quasi"   # [columns.fake]
    kind="number"
    [ columns . "marital status" ]
    hierarchy = { prefix = [4, 3], "odd = key" = 'x }', deep = { a.b = 1 } }
    [columns]
    zip.role = "a # b"
    zip . 'order' = [
      "one", # first
      """two
    [not.a.table]""",
      ['x', {y = 2}],
    ]
    [[lists]]
    a = 1979-05-27 07:32:32
    [[lists]]
    a = 2
    [lists.sub]
    b = """""quoted"""""
    c = 3
    '''
)


@pytest.mark.parametrize(
    ("path", "position"),
    [
        (("top",), (2, 1)),
        (("columns",), (8, 2)),
        (("columns", "age"), (3, 10)),
        (("columns", "age", "role"), (4, 3)),
        (("columns", "age", "kind"), (5, 1)),
        (("columns", "marital status"), (6, 13)),
        (("columns", "marital status", "hierarchy"), (7, 1)),
        (("columns", "marital status", "hierarchy", "prefix"), (7, 15)),
        (("columns", "marital status", "hierarchy", "prefix", 1), (7, 28)),
        (("columns", "marital status", "hierarchy", "odd = key"), (7, 32)),
        (("columns", "marital status", "hierarchy", "deep", "a", "b"), (7, 64)),
        (("columns", "zip", "role"), (9, 5)),
        (("columns", "zip", "order"), (10, 7)),
        (("columns", "zip", "order", 0), (11, 3)),
        (("columns", "zip", "order", 1), (12, 3)),
        (("columns", "zip", "order", 2, 1, "y"), (14, 10)),
        (("lists", 0, "a"), (17, 1)),
        (("lists", 1), (18, 3)),
        (("lists", 1, "a"), (19, 1)),
        (("lists", 1, "sub", "b"), (21, 1)),
        (("lists", 1, "sub", "c"), (22, 1)),
    ],
)
def test_every_way_of_writing_a_key(path: tuple[str | int, ...], position: tuple[int, int]) -> None:
    assert key_positions(DOCUMENT)[path] == position


def test_windows_line_ends_do_not_shift_anything() -> None:
    assert key_positions(DOCUMENT.replace("\n", "\r\n")) == key_positions(DOCUMENT)


def test_an_escaped_key_is_found_under_its_meaning() -> None:
    assert key_positions('"a\\u00e9\\"b" = 1\n') == {('aé"b',): (1, 1)}


def test_an_unknown_key_falls_back_to_its_table() -> None:
    positions = key_positions(DOCUMENT)
    assert nearest_position(positions, ("columns", "age", "missing")) == (3, 10)
    assert nearest_position(positions, ("nothing", "here")) == (1, 1)


@pytest.mark.parametrize("text", ["= 1", "a = ", "[a", "[[a]", "a = [1", "a = {b 1}", 'a = "x', "a.", "\x00"])
def test_broken_text_stops_quietly(text: str) -> None:
    assert set(key_positions(text)) <= {("a",), ("a", 0), ("a", "b")}
