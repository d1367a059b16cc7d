"""Example 1 of Cor-Split: who is known, who then loses values, and who is breached; print beside found."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from seriatim.attacks.exclusion_rules import prepare
from seriatim.report import Grid
from seriatim.tables.histories import table_history

FIRST = {"Alice": "cancer", "Betty": "bronchitis", "Carl": "AIDS"}, {
    "Doris": "cancer", "Erica": "AIDS", "Fiona": "bronchitis"}  # fmt: skip
SECOND = {"Carl": "AIDS", "Doris": "cancer", "Fiona": "bronchitis"}, {
    "Erica": "AIDS", "Grace": "bronchitis", "Hanna": "cancer"}  # fmt: skip
KNOWN = ((), ("Carl",), ("Carl", "Erica"))
PRINTED = {
    (): "nobody: every group has three candidate values",
    ("Carl",): "'the adversary can conclude that Erica was hospitalized for AIDS'",
    ("Carl", "Erica"): "not printed",
}


@dataclass(frozen=True, slots=True)
class ExampleFound:
    """What follows if these people's values are known."""

    known: tuple[str, ...]
    breached: tuple[str, ...]
    n_others: int
    narrowed: int
    """Others who lose candidate values without being breached (Lemmas 1 and 2)."""


def cor_split_example() -> tuple[ExampleFound, ...]:
    """Attack Table 1 to the fixed point, with nobody, Carl, and Carl and Erica known."""
    rows = [
        (release, group, who, value)
        for release, groups in enumerate((FIRST, SECOND), start=1)
        for group, members in enumerate(groups)
        for who, value in members.items()
    ]
    names = ("release", "group", "respondent", "sensitive")
    history = table_history(pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))))
    ground, n_people = prepare(history), len({who for _, _, who, _ in rows})
    found = []
    for known in KNOWN:
        run = ground.compromise(ground.traces.episodes_of(list(known)))
        breached = tuple(sorted(set(map(str, run.breached)) - set(known)))
        found.append(ExampleFound(known, breached, n_people - len(known), ground.n_narrowed(run)))
    return tuple(found)


def cor_split_example_told(found: ExampleFound) -> str:
    """Return in words who is breached of how many."""
    names = f": {', '.join(found.breached)}" if found.breached else ""
    return f"{len(found.breached)} of {found.n_others}{names}; {found.narrowed} others lose candidate values"


def cor_split_example_grid() -> Grid:
    """Return the example as a table."""
    rows = tuple(
        (" and ".join(one.known) or "nobody", PRINTED[one.known], cor_split_example_told(one))
        for one in cor_split_example()
    )
    return Grid("Example 1, Table 1: people breached, of those who are not known", ("known", "print", "found"), rows)
