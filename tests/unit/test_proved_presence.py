"""Whose presence tight labels prove: as brute force finds it, on small registers."""

from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest

import seriatim as sr
from seriatim.attacks import presence

Person = tuple[int, str]


def label(values: list[int]) -> str:
    return str(values[0]) if len(set(values)) == 1 else f"[{min(values)},{max(values)}]"


def spelled(values: list[str]) -> str:
    return values[0] if len(set(values)) == 1 else "{" + ",".join(sorted(set(values))) + "}"


def published(everyone: list[Person], groups: list[list[int]]) -> tuple[sr.History, pa.Table]:
    who = [at for group in groups for at in group]
    of = [number for number, group in enumerate(groups) for _ in group]
    cells = [(label([everyone[at][0] for at in g]), spelled([everyone[at][1] for at in g])) for g in groups]
    table = pa.table({"age": [cells[g][0] for g in of], "sex": [cells[g][1] for g in of]})
    frame = pa.table({"release": [1] * len(who), "respondent": [f"p{at}" for at in who], "group": of,
                      "sensitive": ["x"] * len(who)})  # fmt: skip
    return sr.History.from_frame(frame), table


def register_of(everyone: list[Person]) -> pa.Table:
    names = [f"p{at}" for at in range(len(everyone))]
    return pa.table({"respondent": names, "age": [a for a, _ in everyone], "sex": [s for _, s in everyone]})


def by_force(everyone: list[Person], groups: list[list[int]]) -> set[str]:
    """Everyone who is in each set of people that would have been published as this table."""
    shown = [(label([everyone[at][0] for at in g]), spelled([everyone[at][1] for at in g]), len(g)) for g in groups]
    choices = [
        [c for c in combinations(range(len(everyone)), size)
         if (label([everyone[at][0] for at in c]), spelled([everyone[at][1] for at in c])) == (ages, sexes)]
        for ages, sexes, size in shown
    ]  # fmt: skip
    worlds = [set().union(*one) for one in product(*choices) if len(set().union(*one)) == sum(map(len, one))]
    return {f"p{at}" for at in set.intersection(*worlds)}


def drawn(seed: int, apart: bool) -> tuple[list[Person], list[list[int]]]:
    chance = np.random.default_rng(seed)
    everyone = [(int(chance.integers(20, 30)), str(chance.choice(["f", "m", "x"]))) for _ in range(10)]
    there = sorted(chance.permutation(10)[:6].tolist(), key=lambda at: everyone[at][0])
    if not apart:
        chance.shuffle(there)
        return everyone, [there[:3], there[3:]]
    cut = next((at for at in (3, 2, 4) if everyone[there[at - 1]][0] < everyone[there[at]][0]), 6)
    return everyone, [group for group in (there[:cut], there[cut:]) if group]


@pytest.mark.parametrize("seed", range(40))
def test_presence_is_that_of_brute_force_where_boxes_are_apart(seed: int) -> None:
    everyone, groups = drawn(seed, apart=True)
    history, table = published(everyone, groups)
    found = presence(history, [table], register_of(everyone))
    assert set(found.since) == by_force(everyone, groups)
    assert (found.wrong, found.unexplained, found.n_listed) == (0, 0, 6)


@pytest.mark.parametrize("seed", range(40))
def test_nobody_is_proved_to_be_there_who_might_not_where_boxes_overlap(seed: int) -> None:
    everyone, groups = drawn(seed, apart=False)
    history, table = published(everyone, groups)
    found = presence(history, [table], register_of(everyone))
    assert set(found.since) <= by_force(everyone, groups)
    assert found.wrong == 0


def test_the_only_person_who_can_hold_an_end_is_there() -> None:
    """21 is an end, and only p0 is 21; p1 and p2 could each be the other end."""
    everyone = [(21, "f"), (29, "f"), (29, "f"), (25, "f"), (25, "f")]
    history, table = published(everyone, [[0, 1, 3]])
    assert presence(history, [table], register_of(everyone)).since == {"p0": 1}
    assert presence(history, [table], register_of(everyone), tight=False).since == {}
    three = [everyone[0], everyone[1], everyone[3]]
    whole = presence(*(lambda found: (found[0], [found[1]]))(published(three, [[0, 1, 2]])), register_of(three))
    assert len(whole.since) == 3  # nobody else fits


def test_ends_that_nobody_holds_prove_nothing_and_other_columns_still_do() -> None:
    everyone = [(21, "f"), (29, "m"), (25, "m"), (20, "m")]
    history, _ = published(everyone, [[0, 1, 2]])
    table = pa.table({"age": ["[20,29]"] * 3, "sex": ["{f,m}"] * 3})  # nobody in it is 20
    found = presence(history, [table], register_of(everyone))
    assert (found.since, found.wrong, found.tight) == ({"p0": 1}, 0, ("sex",))


def test_a_counterfeit_may_be_anybodys_row() -> None:
    everyone = [(21, "f"), (29, "f")]
    frame = pa.table({"release": [1, 1], "respondent": ["p0", None], "group": [0, 0], "sensitive": ["x", "y"]})
    table = pa.table({"age": ["[20,30]", "[20,30]"], "sex": ["f", "f"]})
    assert presence(sr.History.from_frame(frame), [table], register_of(everyone), tight=False).since == {}


def test_a_register_that_lacks_people_is_counted() -> None:
    everyone = [(21, "f"), (29, "f"), (25, "f")]
    history, table = published(everyone, [[0, 1, 2]])
    few = presence(history, [table], register_of(everyone).slice(0, 2))
    assert (few.since, few.unexplained) == ({}, 1)


def test_a_set_of_three_values_is_read_as_a_set() -> None:
    """It was read as a list without braces, of which only the middle value was known: two of three fitted nothing."""
    everyone = [(21, "f"), (21, "m"), (21, "x")]
    history, table = published(everyone, [[0, 1, 2]])
    left = sr.attacks.intersection_by_register(history, [table], register_of(everyone))
    assert left == {"p0": {"x"}, "p1": {"x"}, "p2": {"x"}}
    (counted,) = sr.attacks.shrinking_by_register(history, [table], register_of(everyone), 3)
    assert (counted.n_people, counted.unplaced) == (3, 0)
