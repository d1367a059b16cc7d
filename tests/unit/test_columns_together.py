"""The tables of two columns weighed together, on cases known by hand and against a plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seriatim.attacks.columns_together import ColumnGroups, beliefs_by_both, columns_together


def column(group: list[int], value: list[int], counterfeits: list[tuple[int, int]] | None = None) -> ColumnGroups:
    shown = np.zeros((max(group) + 1, max(value) + 1))
    for where, what in [*zip(group, value, strict=True), *(counterfeits or [])]:
        if where >= 0:
            shown[where, what] += 1
    return ColumnGroups(np.array(group, dtype=np.int32), np.array(value, dtype=np.int32), shown)


def test_columns_that_determine_each_other_and_share_one_combination_give_the_value_away() -> None:
    """Groups {0,1} {2,3} of the one table and {0,2} {1,3} of the other; value and other value are one and the same."""
    own = column([0, 0, 1, 1], [0, 1, 2, 3])
    beside = column([0, 1, 0, 1], [0, 1, 2, 3])
    found = beliefs_by_both(own, beside)
    assert found.alone.tolist() == [0.5] * 4
    assert found.both.tolist() == [1.0] * 4
    told = columns_together(own, beside, "drug", 0.9)
    assert (told.share, told.n_people, told.detail["people"]) == (1.0, 4, 4)


def test_the_same_groups_in_both_tables_tell_nothing_more() -> None:
    own = column([0, 0, 1, 1], [0, 1, 2, 3])
    assert beliefs_by_both(own, own).both.tolist() == [0.5] * 4


def test_independent_columns_tell_nothing_more() -> None:
    own = column([0, 0, 0, 0], [0, 0, 1, 1])
    beside = column([0, 1, 0, 1], [0, 1, 0, 1])
    assert beliefs_by_both(own, beside).both.tolist() == [0.5] * 4


def test_who_is_withheld_from_a_table_is_not_weighed_and_a_counterfeit_counts_as_a_row() -> None:
    own = column([0, 0, -1], [0, 1, 1], counterfeits=[(0, 1)])
    beside = column([0, 0, 0], [0, 0, 0])
    assert beliefs_by_both(own, beside).alone.tolist() == pytest.approx([1 / 3, 2 / 3])
    nobody = column([-1, 0], [0, 0])
    assert columns_together(nobody, column([0, -1], [0, 0]), "drug", 0.9).n_people == 0


PEOPLE = st.lists(
    st.tuples(st.integers(-1, 3), st.integers(0, 3), st.integers(-1, 2), st.integers(0, 4)), min_size=2, max_size=30
)


@given(people=PEOPLE.filter(lambda rows: any(a >= 0 and c >= 0 for a, _, c, _ in rows)))
def test_beliefs_are_those_of_a_plain_twin(people: list[tuple[int, int, int, int]]) -> None:
    g, a, h, b = (list(cells) for cells in zip(*people, strict=True))
    found = beliefs_by_both(column(g, a), column(h, b))
    inside = [i for i in range(len(people)) if g[i] >= 0 and h[i] >= 0]

    def share(group: list[int], value: list[int], where: int, what: int) -> float:
        here = [v for w, v in zip(group, value, strict=True) if w == where]
        return here.count(what) / len(here)

    def weight(i: int, what: int) -> float:
        total = 0.0
        for other in range(5):
            pairs = sum(a[j] == what and b[j] == other for j in inside)
            chance = sum(a[j] == what for j in inside) * sum(b[j] == other for j in inside)
            total += share(h, b, h[i], other) * (pairs * len(inside) / chance if chance else 0.0)
        return share(g, a, g[i], what) * total

    expected = [weight(i, a[i]) / sum(weight(i, what) for what in range(4)) for i in inside]
    assert found.both.tolist() == pytest.approx(expected)
