"""Small histories for tests of everything serial."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from seriatim.model.history import History, PastRelease

Row = tuple[str | None, int, str]
"""respondent (None: a counterfeit), group, value"""
SPOTS = (0, 1, 2, -1)
"""Groups of a drawn release; -1: not in it."""


def history_of(*releases: Sequence[Row]) -> History:
    """A history from rows, people and values in order of appearance, releases numbered from 1."""
    people = list(dict.fromkeys(who for rows in releases for who, _, _ in rows if who is not None))
    values = sorted({value for rows in releases for _, _, value in rows})
    return History(
        pa.array(people, pa.string()),
        pa.array(values, pa.string()),
        tuple(
            PastRelease(
                number,
                person=np.array([-1 if who is None else people.index(who) for who, _, _ in rows], dtype=np.int32),
                group=np.array([group for _, group, _ in rows], dtype=np.int32),
                value=np.array([values.index(value) for _, _, value in rows], dtype=np.int32),
            )
            for number, rows in enumerate(releases, 1)
        ),
    )


def grouped(held: dict[str, str], *groups: Sequence[str]) -> list[Row]:
    """Rows of one release: each text is a group, each letter a person holding ``held[letter]``; or names in a list."""
    return [(who, at, held[who]) for at, group in enumerate(groups) for who in group]


def paper_history() -> History:
    """Table 1 of the Cor-Split paper."""
    held = {
        "Alice": "cancer", "Betty": "bronchitis", "Carl": "AIDS", "Doris": "cancer", "Erica": "AIDS",
        "Fiona": "bronchitis", "Grace": "bronchitis", "Hanna": "cancer",
    }  # fmt: skip
    first = (("Alice", "Betty", "Carl"), ("Doris", "Erica", "Fiona"))
    second = (("Carl", "Doris", "Fiona"), ("Erica", "Grace", "Hanna"))
    return history_of(*([(who, g, held[who]) for g, group in enumerate(r) for who in group] for r in (first, second)))


def subtraction() -> History:
    """Old {abc}, {def}; new {abcdeg}: g holds what f holds."""
    held = dict(zip("abcdefg", "123 123 3".replace(" ", ""), strict=True))
    return history_of(grouped(held, "abc", "def"), grouped(held, "abcdeg"))


def union() -> History:
    """Old {abcdef}, {ghixyw}; new {abcghi}, {dezxyw}: z holds what f holds."""
    held = dict(zip("abcdefghixywz", "1234561231236", strict=True))
    held |= dict(zip("ghixyw", "456123", strict=True)) | {"z": "6"}
    return history_of(grouped(held, "abcdef", "ghixyw"), grouped(held, "abcghi", "dezxyw"))


@st.composite
def histories(draw: st.DrawFn, changing: bool = False, fakes: bool = True, most: int = 7) -> History:
    """Any grouping of a few people over a few releases; ``changing``: their values may change on the way."""
    n_people, n_values = draw(st.integers(2, most)), draw(st.integers(2, 4))
    n_releases = draw(st.integers(1, 4))
    value = st.integers(0, n_values - 1)
    each = st.binary(min_size=n_people, max_size=n_people)  # a byte for each: drawing numbers one by one takes longer
    held = [byte % n_values for byte in draw(each)]
    releases: list[list[Row]] = []
    for _ in range(n_releases):
        spots = [SPOTS[byte % len(SPOTS)] for byte in draw(each)]
        if changing:  # half of them
            held = [byte // 2 % n_values if byte % 2 else old for old, byte in zip(held, draw(each), strict=True)]
        rows: list[Row] = [(f"p{i}", g, f"v{held[i]}") for i, g in enumerate(spots) if g >= 0]
        if fakes:
            extra = draw(st.lists(st.tuples(st.integers(0, 2), value), max_size=2))
            rows += [(None, g, f"v{a}") for g, a in extra if any(g == spot for spot in spots)]
        used = sorted({g for _, g, _ in rows})
        releases.append([(who, used.index(g), a) for who, g, a in rows])
    return history_of(*releases)
