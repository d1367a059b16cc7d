"""What a learning attacker guesses: the model is scikit-learn's, matched guesses are enumeration's, controls hold."""

from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

import seriatim as sr
from seriatim.attacks.intervals import risk_beyond
from seriatim.attacks.learnt_guesses import NaiveBayes, learnt
from seriatim.errors import TableError


def world(n: int, seed: int, follows: float = 0.0) -> pa.Table:
    """People whose value follows their age as often as ``follows`` says, and is drawn otherwise."""
    chance = np.random.default_rng(seed)
    age, sex = chance.integers(0, 70, n), chance.choice(["f", "m"], n)
    drawn = chance.choice(7, n, p=[0.3, 0.2, 0.15, 0.1, 0.1, 0.1, 0.05])
    ill = np.where(chance.random(n) < follows, age // 10, drawn)
    return pa.table({"respondent": [f"p{at}" for at in range(n)], "age": age, "sex": sex, "sensitive": ill.astype(str)})


def published(table: pa.Table, k: int, seed: int = 0, releases: int = 1) -> sr.History:
    """Groups of k people drawn by lot."""
    found = []
    for number in range(1, releases + 1):
        group = np.random.default_rng((seed, number)).permutation(len(table)) // k
        rows = {"release": [number] * len(table), "respondent": table["respondent"], "group": group}
        found.append(pa.table({**rows, "sensitive": table["sensitive"]}))
    return sr.History.from_frame(pa.concat_tables(found))


def known(table: pa.Table) -> pa.Table:
    return table.drop(["sensitive"])


def test_the_model_is_that_of_scikit_learn() -> None:
    naive = pytest.importorskip("sklearn.naive_bayes")
    chance = np.random.default_rng(4)
    features, value = chance.integers(0, 5, (200, 3)), chance.integers(0, 4, 200)
    held = (value[:, None] == np.arange(4)).astype(float)
    theirs = naive.CategoricalNB(alpha=1).fit(features, value)
    asked = chance.integers(0, 5, (50, 3))
    assert np.allclose(NaiveBayes.of(features, held).prior(asked), theirs.predict_proba(asked), atol=1e-6)


def test_a_model_of_other_people_tells_who_of_a_group_holds_what() -> None:
    """By enumeration: of the assignments that fit the group, the most probable gives everyone their guess."""
    table = pa.table({"respondent": ["a", "b", "c"], "age": [5, 15, 25], "sensitive": ["0", "1", "2"]})
    others = world(3_000, 1, follows=0.9).drop(["respondent"])
    found = learnt(published(table, 3), table.drop(["sensitive"]), others.drop(["sex"]))
    share = np.full((3, 3), 0.05) + 0.8 * np.eye(3)
    best = max(permutations(range(3)), key=lambda held: np.prod([share[at, one] for at, one in enumerate(held)]))
    assert best == (0, 1, 2)
    assert (found.rate, found.by_groups) == (1.0, pytest.approx(1 / 3))


@pytest.mark.parametrize("seed", range(4))
def test_learning_gains_nothing_where_values_are_independent(seed: int) -> None:
    table, others = world(800, seed), world(800, seed + 50).drop(["respondent"])
    for found in (
        learnt(published(table, 5, seed), known(table)),
        learnt(published(table, 5, seed), known(table), others),
    ):
        assert found.gain.low <= 0.0 <= found.gain.high
    whole = learnt(published(table, 800, seed), known(table))  # one group, which says no more than the margin
    assert whole.risk.low <= 0.0 <= whole.risk.high


def test_where_values_follow_ages_learning_gains_and_people_outside_are_guessed_as_well() -> None:
    table, others = world(2_000, 1, follows=0.6), world(4_000, 2, follows=0.6).drop(["respondent"])
    history = published(table, 5)
    for found in (learnt(history, known(table)), learnt(history, known(table), others)):
        assert found.gain.low > 0.1
        assert found.outside > 0.4
        assert found.risk.low > 0.0
        assert found.rate > found.by_groups > 0.3
    assert found.outside == pytest.approx(found.before, abs=0.04)


def test_all_releases_count_and_people_nobody_knows_are_left_out() -> None:
    table = world(600, 3, follows=0.5)
    once, often = (learnt(published(table, 5, releases=n), known(table)) for n in (1, 2))
    assert often.rate > once.rate + 0.2
    some = learnt(published(table, 5), known(table).slice(0, 100))
    assert some.n_people == 100
    assert learnt(published(table, 5), known(table).slice(0, 0)).n_people == 0
    with pytest.raises(TableError, match="no column respondent"):
        learnt(published(table, 5), table.select(["age"]))


def test_the_risk_is_what_remains_beyond_the_control() -> None:
    hits, control = np.repeat([1.0, 0.0], [600, 400]), np.repeat([1.0, 0.0], [500, 500])
    risk, low, high = risk_beyond(hits, control)
    assert risk == pytest.approx(0.2)
    assert low < 0.2 < high
    assert high - low < 0.2
    assert risk_beyond(control, control)[1] < 0 < risk_beyond(control, control)[2]
