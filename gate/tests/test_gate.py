"""The gate's corners: names, ids, withdrawal, denial, bad input; baselines and their versions; the observer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim import gate
from seriatim.errors import InputError
from seriatim_gate import Gate, JointGate, baseline_from, baseline_from_json, replay
from seriatim_gate.engine.attribute import Attribute, equal_bands
from seriatim_gate.engine.results import drift, results
from seriatim_gate.engine.rules import Rules
from seriatim_gate.engine.starvation import starved_cells, starved_targets
from seriatim_gate.observer import ObservedRequests, _mean_ranks, rankings, thinned_at_random
from seriatim_papers.safe_release_counts import AGES, BASELINE, FIGURE_2, FIGURE_8, LOCATIONS

EVEN = [0.25, 0.25, 0.25, 0.25]


def test_names_may_be_given_instead_of_places() -> None:
    named = Gate(dict(zip(AGES, BASELINE, strict=True)), LOCATIONS, ["kld"], 0.2)
    placed = Gate(BASELINE, 5, "kld", 0.2)
    rng = np.random.default_rng(5)
    for number in range(300):
        x, y = rng.integers(10), rng.integers(5)
        by_name = named.request(AGES[x], LOCATIONS[y], f"r{number}")
        assert by_name.state == placed.request(int(x), int(y), f"r{number}").state
    assert named.released == placed.released
    assert 20 < len(named.released) < 300
    assert set(named.released).isdisjoint(named.waiting)
    assert named.counts.sum() == len(named.released)
    assert named.waiting_counts.sum() == len(named.waiting)


def test_what_the_baseline_does_not_know_is_refused_and_leaves_no_trace() -> None:
    one = Gate([0.5, 0.5, 0.0], ["a", "b"], ["kld"], 0.2, few="asymptotic")
    assert one.request(2, "a", 1).state == "refused"
    assert one.request(7, "a", 2).state == "refused"
    unknown = one.request(0, "nowhere", 3)
    assert (unknown.state, unknown.reason) == ("refused", "the target is not known")
    assert one.status(2).reason == "the value is not in the baseline"
    assert one.released == () == one.waiting
    assert one.counts.sum() == 0
    found = replay(np.array([2, 0, -1]), ["a", "b", "a"], [0.5, 0.5, 0.0], ["a", "b"], "kld", few="asymptotic")
    assert found.refused.tolist() == [0, 2]


def test_an_id_asks_once() -> None:
    one = Gate(EVEN, 2, ["kld"], 0.2)
    first = one.request(0, 0, "r")
    assert one.request(0, 0, "r") == gate.Decision(first.state)
    assert one.counts.sum() + one.waiting_counts.sum() == 1
    with pytest.raises(InputError, match="was used for another record"):
        one.request(1, 0, "r")
    with pytest.raises(InputError, match="id"):
        one.request(1, 0, ["no", "text"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="never requested"):
        one.status("x")


def test_a_withdrawn_record_never_leaves() -> None:
    one = Gate(EVEN, 1, ["kld"], 0.2, few="asymptotic")
    for number in range(12):
        one.request(0, 0, number)
    waiting = one.waiting
    assert len(waiting) > 3
    assert one.withdraw(waiting[1]).state == "withdrawn"
    assert one.withdraw(waiting[0], expired=True).state == "expired"
    assert one.waiting == waiting[2:]
    assert one.withdraw(0).state == "released"
    freed: list[Any] = []
    for number in range(100, 160):
        freed += one.request(1 + number % 3, 0, number).freed
    assert set(freed) & set(waiting) == set(waiting[2:])
    assert freed[0] == waiting[2]


def test_without_a_queue_an_unsafe_request_is_denied_for_good() -> None:
    one = Gate(EVEN, 1, ["kld"], 0.2, few="asymptotic", queue=False)
    states = [one.request(0, 0, number).state for number in range(12)]
    assert states[0] == "released"
    assert states[-1] == "refused"
    assert one.status(11).reason == "not released"
    assert one.waiting == ()


def test_a_gate_grows_with_its_requests() -> None:
    rng = np.random.default_rng(2)
    xs, ys = rng.integers(0, 4, 5_000), rng.integers(0, 3, 5_000)
    one = Gate(EVEN, 3, ["kld", "cst"], 0.05)
    for number, (x, y) in enumerate(zip(xs.tolist(), ys.tolist(), strict=True)):
        one.request(x, y, number)
    assert one.released == tuple(replay(xs, ys, EVEN, 3, ["kld", "cst"], 0.05).released)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"baseline": [0.5, 0.6]}, "baseline"),
        ({"baseline": [0.5, float("nan")]}, "baseline"),
        ({"baseline": "no"}, "baseline"),
        ({"baseline": [1.0]}, "baseline"),
        ({"targets": 0}, "targets"),
        ({"targets": True}, "targets"),
        ({"targets": ["a", "a"]}, "names"),
        ({"tests": []}, "tests"),
        ({"tests": ["xyz"]}, "tests"),
        ({"tests": 3}, "tests"),
        ({"alpha": 1.5}, "alpha"),
        ({"alpha": "0.2"}, "alpha"),
        ({"merge": "none"}, "merge"),
        ({"few": "some"}, "few"),
        ({"target_weights": [1.0]}, "target_weights"),
        ({"tables": {"kld": [0, -1]}}, "tables"),
        ({"tables": [1]}, "tables"),
        ({"distance": "far"}, "distance"),
        ({"queue": 1}, "queue"),
    ],
)
def test_bad_rules_are_faults(change: dict[str, Any], where: str) -> None:
    rules = {"baseline": EVEN, "targets": 2, "tests": ["kld"], "alpha": 0.2, "few": "asymptotic"} | change
    with pytest.raises(InputError) as caught:
        Gate(**rules)
    assert caught.value.faults[0].where.startswith(where)
    with pytest.raises(InputError):
        replay([0], [0], **rules)


def test_bad_requests_are_faults_without_their_value() -> None:
    one = Gate(EVEN, 2, ["kld"], 0.2, few="asymptotic")
    for bad in ("secret", 1.5, None, True):
        with pytest.raises(InputError) as caught:
            one.request(bad, 0, 1)
        assert "secret" not in str(caught.value)
    for xs, ys in (([0.5], [0]), (["a"], [0]), ([[0]], [0]), ([0, 1], [0])):
        with pytest.raises(InputError):
            replay(xs, ys, EVEN, 2, ["kld"], 0.2, few="asymptotic")
    empty = replay([], [], EVEN, 2, ["kld"], 0.2, few="asymptotic")
    assert len(empty.released) == 0


@pytest.mark.parametrize("counts", [[[1, 2]], [[1.5], [1]], [[-1], [1]], [["a"], [1]], [[1], [float("inf")]], [1, 2]])
def test_bad_counts_are_faults(counts: Any) -> None:
    with pytest.raises(InputError, match="counts"):
        gate.mutual_information(counts, [0.5, 0.5])


def test_statistics_at_their_edges() -> None:
    assert gate.mutual_information([[0, 0], [0, 0]], [0.5, 0.5]) == 0.0
    assert np.isnan(gate.divergences([[0, 1], [0, 1]], [0.5, 0.5])[0])
    assert np.isnan(gate.dixon([0.1, 0.1, 0.3]))
    assert np.isnan(gate.dixon([0.1, float("nan"), 0.3]))
    assert gate.dixon([0.0, 0.5, 1.0]) == pytest.approx(0.5)
    assert gate.dixon([0.0, 0.5, 1.0, 1.0]) == pytest.approx(0.5)
    statistics, cells = gate.pearson([[4], [0]], [0.5, 0.5])
    assert (statistics.tolist(), cells.tolist()) == ([0.0], [1])
    with pytest.raises(InputError, match="baseline is zero"):
        gate.divergences([[1], [1]], [1.0, 0.0])
    with pytest.raises(InputError, match="n"):
        gate.dixon_critical(2, 0.2)


def made_up_table(n: int, seed: int = 1) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    place = rng.choice(["north", "south", "west"], n).tolist()
    age = rng.normal(40, 12, n) + np.array([9.0 if each == "west" else 0.0 for each in place])
    return {"age": age.round(1).tolist(), "sex": rng.choice(["f", "m"], n).tolist(), "place": place}


def test_a_baseline_keeps_its_ranges_and_its_version() -> None:
    table = made_up_table(4_000)
    attributes = [equal_bands("age", table["age"], 10), Attribute("sex", ("f", "m"))]
    made = baseline_from(table, attributes, "place", table["place"])
    assert len(made.probabilities) == 20
    assert made.n_records == 4_000
    again = baseline_from_json(made.to_json())
    assert again.version == made.version
    assert (again.codes(table) == made.codes(table)).all()
    assert made.place_of((-5, "f")) == 0
    assert made.place_of((200, "m")) == 19
    assert made.place_of((30, "x")) == -1
    assert made.place_of(30) == -1
    assert made.values[0].endswith("/ f")
    one = Gate(made, None, ["kld"], 0.2)
    assert one.request((35.5, "m"), "north", 1).state in ("released", "waiting")
    assert one.request((35.5, "m"), "east", 2).state == "refused"
    with pytest.raises(InputError, match="changed after"):
        baseline_from_json(made.to_json().replace('"n_records": 4000', '"n_records": 4001'))
    with pytest.raises(InputError, match="not a baseline"):
        baseline_from_json("{}")
    with pytest.raises(InputError, match="300 or more"):
        baseline_from(made_up_table(200), attributes, "place", made_up_table(200)["place"]).must_serve()
    assert any("3,000" in note for note in baseline_from(
        made_up_table(1_000), attributes, "place", made_up_table(1_000)["place"]).advice())  # fmt: skip


def test_drift_says_what_is_no_longer_safe() -> None:
    table, later = made_up_table(4_000), made_up_table(4_000, 2)
    attributes = [equal_bands("age", table["age"], 10)]
    old = baseline_from(table, attributes, "place", table["place"])
    released = replay(old.codes(table), old.target_codes(table["place"]), old.probabilities, 3, ["kld"], 0.2).counts
    same = drift(old, old.with_ranges_of(later), released, ("kld",), 0.2)
    assert same.p_value > 0.01
    older = {**later, "age": [age + 6 for age in later["age"]]}
    moved = drift(old, old.with_ranges_of(older), released, ("kld",), 0.2)
    assert moved.p_value < 1e-6
    assert moved.broken == ("kld",)
    assert moved.advice.startswith("freeze")


def test_a_target_at_which_nothing_could_leave_is_deadlocked() -> None:
    """Mutual information is one limit for all targets: what one of them used up is missing at the others."""
    one = Gate([0.5, 0.5], 2, ["mis"], 0.2, few="asymptotic")
    counts, waiting = np.array([[37, 0], [25, 0]]), np.array([[5, 5], [0, 0]])
    assert starved_targets(counts, waiting, one.asked) == (1,)
    assert starved_targets(counts, np.zeros_like(waiting), one.asked) == ()
    blocks = Gate([0.5, 0.5], 2, ["wdt"], 0.2)
    assert starved_targets(np.zeros_like(counts), waiting, blocks.asked) == ()


def test_starvation_names_the_target_the_test_and_what_would_free_it() -> None:
    one = Gate(EVEN, 2, ["kld"], 0.2, few="asymptotic")
    for number in range(30):
        one.request(0, 1, number)
    found = starved_cells(one.counts, one.waiting_counts, one.asked)
    assert [(each.value, each.target, each.tests) for each in found] == [(0, 1, ("kld",))]
    assert found[0].n_waiting == len(one.waiting)
    assert str(found[0]).startswith(f"target 2: {len(one.waiting)} records of value 1 wait (kld); "), "counted from 1"
    before = len(one.waiting)
    assert found[0].helper_value is not None
    for number in range(found[0].helpers):
        one.request(found[0].helper_value, 1, 100 + number)
    assert len(one.waiting) < before


def test_standing_agrees_with_the_examples() -> None:
    asked = Rules.of(BASELINE, 5, ["mis", "kld", "cst", "dqt", "wdt"], 0.2, "smallest", "asymptotic", None, None)
    by_test = {each.test: each for each in results(FIGURE_8, asked)}
    assert by_test["kld"].safe
    assert by_test["kld"].critical == pytest.approx([0.026599, 0.057343, 0.028954, 0.029834, 0.015018], abs=1e-6)
    assert not any(each.safe for each in results(FIGURE_2, asked) if each.test != "dqt")


def test_an_observer_names_an_outlier_in_a_plain_sample_more_surely_than_through_the_gate() -> None:
    rng = np.random.default_rng(4)
    drawn = rng.permutation(np.repeat(np.arange(50), FIGURE_2.ravel()))
    xs, ys = drawn // 5, drawn % 5
    found = replay(xs, ys, BASELINE, 5, ["wdt"], 0.2)
    watched = ObservedRequests(
        xs=xs, ys=ys, released=found.released, released_at=found.released_at, baseline=BASELINE, n_targets=5
    )
    through = {each.statistic: each for each in rankings(watched)}
    plain = {each.statistic: each for each in rankings(thinned_at_random(watched, rng))}
    assert plain["excess G/N"].first
    assert plain["mean score"].first
    assert plain["excess G/N"].spearman >= through["excess G/N"].spearman
    assert through["share released"].spearman > 0.3
    assert (
        rankings(
            ObservedRequests(xs=xs[:0], ys=ys[:0], released=xs[:0], released_at=xs[:0], baseline=BASELINE, n_targets=5)
        )
        == ()
    )


def test_a_set_may_leave_where_no_record_may() -> None:
    alone, together = (Gate(EVEN, 1, ["kld"], 0.2, few="asymptotic", joint=joint) for joint in (False, True))
    for number in range(40):
        alone.request(0, 0, number)
        together.request(0, 0, number)
    for number in range(40, 46):
        alone.request(1 + number % 2, 0, number)
        together.request(1 + number % 2, 0, number)
    assert len(together.released) >= len(alone.released)
    assert all(each.safe for each in results(together.counts, together.asked))
    with pytest.raises(InputError, match="joint"):
        Gate(EVEN, 1, ["kld"], 0.2, joint=1)  # type: ignore[arg-type]


@pytest.mark.slow
def test_gates_that_decide_together_release_sets_that_all_of_them_hold_safe() -> None:
    rng = np.random.default_rng(4)
    gates = [Gate(EVEN, 2, ["wdt"], 0.2), Gate([0.5, 0.5], 2, ["kld"], 0.2, few="asymptotic")]
    with pytest.raises(InputError, match="sets=True"):
        JointGate(gates)
    joint = JointGate(gates, sets=True)
    for number in range(400):
        place = int(rng.integers(2))
        joint.request([(int(rng.integers(4)), place), (int(rng.integers(2)), place)], number)
        for one in gates:
            assert all(each.safe for each in results(one.counts, one.asked))
    assert len(joint.released) > 100
    assert gates[0].counts.sum() == gates[1].counts.sum() == len(joint.released)
    assert len(joint.released) + len(joint.waiting) == 400
    assert set(joint.released).isdisjoint(joint.waiting)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([-np.inf, 0.0, 0.5, 1.0, 7.0]), max_size=12))
def test_ties_share_their_mean_rank(values: list[float]) -> None:
    plainly = [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2 for value in values
    ]
    assert _mean_ranks(np.array(values, dtype=float)).tolist() == plainly
