"""Small histories for tests of everything serial."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from seriatim.model.history import History, Past

Row = tuple[str | None, int, str]
"""respondent (None: a counterfeit), group, value"""


def history_of(*releases: Sequence[Row]) -> History:
    """A history from rows, people and values in order of appearance, releases numbered from 1."""
    people = list(dict.fromkeys(who for rows in releases for who, _, _ in rows if who is not None))
    values = sorted({value for rows in releases for _, _, value in rows})
    return History(
        pa.array(people, pa.string()),
        pa.array(values, pa.string()),
        tuple(
            Past(
                number,
                np.array([-1 if who is None else people.index(who) for who, _, _ in rows], dtype=np.int32),
                np.array([group for _, group, _ in rows], dtype=np.int32),
                np.array([values.index(value) for _, _, value in rows], dtype=np.int32),
            )
            for number, rows in enumerate(releases, 1)
        ),
    )


def grouped(held: dict[str, str], *groups: str) -> list[Row]:
    """Rows of one release: each text is a group, each letter a person holding ``held[letter]``."""
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
