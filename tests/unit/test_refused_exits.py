"""What it says about leavers that they were not given up: by every world of little cohorts, and in a series."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from support.stands import Stand, claimed

import seriatim as sr
from seriatim.attacks.refusals import ExitRule, RefusalBeliefs, refused_exits
from seriatim.model.history import History
from seriatim.usecases.attack import attack_words

TRIES = 7


def half(n_values: int) -> ExitRule:
    """No value may have more than half of a part; parts of two are enough."""
    return ExitRule(least=2, limits=lambda at, size: np.full(n_values, size // 2), caps=np.full(n_values, 0.5))


def little(value: list[int], left: list[int], gone: dict[int, int]) -> History:
    """One cohort; ``left`` says when each of its people is away first, ``gone`` when their slot is given up."""
    releases: list[list[Stand]] = []
    for at in range(max(left)):
        here = [who for who in range(len(value)) if at < gone.get(who, at + 1)]
        releases.append([(who if at < left[who] else -1, 0, who, value[who]) for who in here])
    return claimed(*releases)


def worlds(value: list[int], cells: list[list[int]]) -> Iterator[list[int]]:
    """Every assignment with the counts of these cells, as often as values can change places."""
    for told in product(*(permutations([value[who] for who in cell]) for cell in cells)):
        world = value.copy()
        for cell, held in zip(cells, told, strict=True):
            for who, one in zip(cell, held, strict=True):
                world[who] = one
        yield world


def refused(world: list[int], away: list[int], here: list[int]) -> bool:
    parts = [[world[who] for who in away], [world[who] for who in here if who not in away]]
    return any(part.count(v) > len(part) // 2 for part in parts for v in part)


def by_enumeration(value: list[int], left: list[int], gone: dict[int, int], n_values: int) -> np.ndarray | None:
    """How often each person holds each value in the worlds in which all refusals happen; None without refusals."""
    people = range(len(value))
    asked = []
    for at in range(max(left)):
        here = [who for who in people if at < gone.get(who, at + 1)]
        away = [who for who in here if at >= left[who]]
        if min(len(away), len(here) - len(away)) >= 2 and refused(value, away, here):
            asked.append((away, here))
    ends = [gone.get(who, 99) for who in people]
    cells = [[who for who in people if ends[who] == end] for end in sorted(set(ends))]
    held = np.zeros((len(value), n_values))
    for world in worlds(value, cells):
        if all(refused(world, away, here) for away, here in asked):
            held[list(people), world] += 1
    return held / held.sum(axis=1, keepdims=True) if asked else None


def test_beliefs_are_those_of_all_worlds() -> None:
    chance = np.random.default_rng(2)
    tried = 0
    while tried < TRIES:
        n, n_values = 8, int(chance.integers(2, 4))
        value = chance.permutation(np.arange(n) % n_values).tolist()
        first = chance.permutation(n)
        left = np.full(n, 4)
        left[first[:2]], left[first[2:4]], left[first[4:5]] = 1, 2, 3
        gone = dict.fromkeys(first[:5].tolist(), 3) if chance.random() < 0.5 else {}
        exact = by_enumeration(value, left.tolist(), gone, n_values)
        if exact is None:
            continue
        tried += 1
        found = refused_exits(little(value, left.tolist(), gone), half(n_values))
        assert found.n_unjudged == 0
        # people whom nothing tells apart are believed alike: compare by belief and size of class
        wanted = sorted(map(tuple, np.round(exact, 9).tolist()))
        got = sorted(
            tuple(row) for row, size in zip(found.belief.tolist(), found.size, strict=True) for _ in range(size)
        )
        assert np.abs(np.array(wanted) - np.array(got)).max() < 0.05
        plain = np.repeat(found.control, found.size, axis=0)
        assert plain.sum() == pytest.approx(n)


def test_a_wait_for_others_says_nothing() -> None:
    found = refused_exits(little([0, 1, 0, 1], [1, 4, 4, 4], {}), half(2))  # one leaver alone is not enough
    assert found.n_refused == 0
    assert found.estimate.n_people == 0


def test_a_refusal_by_another_rule_is_left_out() -> None:
    found = refused_exits(little([0, 1, 0, 1], [1, 1, 4, 4], {}), half(2))  # fair, so this rule would have let them go
    assert found.n_refused == 0


def test_leavers_who_wait_are_believed_to_share_a_value() -> None:
    value = [0, 0, 0, 1, 0, 0, 1, 1, 1, 2, 2, 2]
    found = refused_exits(little(value, [1] * 4 + [4] * 8, {}), half(3))
    (told,) = [row for row, waited in zip(found.belief, found.waited, strict=True) if waited]
    everyone = list(range(12))
    fits = [four for four in combinations(everyone, 4) if refused(value, list(four), everyone)]
    wanted = [np.mean([[value[who] for who in four].count(v) / 4 for four in fits]) for v in range(3)]
    assert told == pytest.approx(wanted, abs=0.03)
    assert found.estimate.n_people == 4
    assert found.estimate.low <= found.estimate.share <= found.estimate.high


def test_the_share_counts_people_who_waited_more_than_a_tenth_above_a_cap() -> None:
    found = RefusalBeliefs(
        size=np.array([30, 10, 60]),
        waited=np.array([True, True, False]),
        belief=np.array([[0.56, 0.44], [0.52, 0.48], [0.6, 0.4]]),
        off=np.full((3, 2), 0.02),
        control=np.full((3, 2), 0.5),
        caps=np.array([0.5, 0.5]),
        n_refused=1,
        n_unjudged=0,
    )
    estimate = found.estimate
    assert (estimate.share, estimate.low, estimate.high) == (0.75, 0.0, 0.75)
    assert estimate.n_people == 40
    assert estimate.detail["of_their_cohorts"] == 0.9
    assert estimate.detail["worst_in_caps"] == pytest.approx(1.2)


def test_verdict_and_attack_say_what_refusals_reveal(tmp_path: Path) -> None:
    chance = np.random.default_rng(1)
    policy = sr.Policy.from_dict(
        {
            "series": {"name": "s", "respondent": "who"},
            "columns": {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
            "promise": {"m": 3},
            "defence": {"method": "cohort"},
        }
    )
    ledger = sr.Ledger.open(tmp_path / "l.db")
    age, ill = chance.integers(18, 90, 400), np.array(list("abcd"))[np.arange(400) % 4]
    first = pa.table({"who": np.arange(400).astype(str), "age": age, "ill": ill})
    sr.publish(first, policy, ledger)
    away = (np.arange(400) < 40) & (np.arange(400) % 4 < 2)  # leavers of two values, half each: more than a third
    made = sr.publish(first.filter(pa.array(~away)), policy, ledger)
    assert made.verdict.released, made.verdict.reasons
    (told,) = [one for one in made.verdict.estimates if one.attack == "refused exits"]
    assert told.n_people == 20
    assert told.detail["refused"] == 1
    assert told.detail["control"] == 0.0
    found = sr.attack(ledger, series="s", view=first, policy=policy)
    assert found.method is not None
    assert found.method.refused == told
    assert any("20 leavers had to wait" in line for line in attack_words.about_method(found))
