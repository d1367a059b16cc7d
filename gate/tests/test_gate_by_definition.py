"""The gate against a plain twin that recomputes every test from its definition at every step."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support.plain_gate import PlainGate, merged, pearson

from seriatim import gate
from seriatim_gate import Gate, JointGate, replay

ALPHAS = (0.2, 0.05, 0.5)


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[float], int, list[int], list[int]]:
    n_values, n_targets = draw(st.integers(2, 5)), draw(st.integers(1, 5))
    weights = draw(st.lists(st.integers(1, 9), min_size=n_values, max_size=n_values))
    n = draw(st.integers(0, 70))
    seed = draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    xs = rng.integers(-1 if seed % 7 == 0 else 0, n_values, n)
    ys = np.minimum(rng.geometric(0.5, n) - 1, n_targets - 1)
    return [w / sum(weights) for w in weights], n_targets, xs.tolist(), ys.tolist()


@given(
    streams(),
    st.lists(st.sampled_from(["mis", "kld", "cst", "dqt", "wdt"]), min_size=1, max_size=5, unique=True),
    st.sampled_from(ALPHAS),
    st.sampled_from(["smallest", "forward"]),
    st.sampled_from(["kl", "pearson"]),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_replay_and_gate_decide_as_the_definitions_do(
    stream: Any, tests: list[str], alpha: float, merge: str, distance: str, simulated: bool, joint: bool
) -> None:
    p, n_targets, xs, ys = stream
    tables = {}
    if simulated:  # made-up tables: what they hold is not what is tested here
        tables = {
            "mis": [0.0, *(6.0 / n**0.8 for n in range(1, 9))],
            "kld": [0.0, *(4.0 / n**0.9 for n in range(1, 6))],
        }
    few = "simulated" if simulated else "asymptotic"
    twin = PlainGate(p, n_targets, tests=tests, alpha=alpha, merge=merge, tables=tables, distance=distance, joint=joint)
    rules = {
        "baseline": p, "targets": n_targets, "tests": tests, "alpha": alpha, "merge": merge, "few": few,
        "tables": tables or None, "distance": distance, "joint": joint,
    }  # fmt: skip
    one_by_one = Gate(**rules)
    for number, (x, y) in enumerate(zip(xs, ys, strict=True)):
        before = set(twin.released)
        twin.request(x, y)
        decision = one_by_one.request(x, y, number)
        new = set(twin.released) - before
        assert (decision.state == "released") == (number in new)
        assert set(decision.freed) == new - {number}
    assert one_by_one.released == tuple(twin.released)
    assert one_by_one.waiting == tuple(record[0] for record in twin.waiting)
    at_once = replay(np.array(xs, dtype=int), np.array(ys, dtype=int), **rules)
    assert at_once.released.tolist() == twin.released
    assert at_once.waiting.tolist() == [record[0] for record in twin.waiting]
    assert at_once.counts.T.tolist() == twin.counts
    assert len(at_once.refused) + len(at_once.released) + len(at_once.waiting) == len(xs)


@given(st.integers(0, 2**16), st.sampled_from(["smallest", "forward"]), st.sampled_from([[], ["kld"]]))
@settings(max_examples=20, deadline=None)
def test_cells_grow_until_they_merge_in_another_way(seed: int, merge: str, beside: list[str]) -> None:
    """Short cells lie between cells that grow and take turns at being the smaller neighbour; the limit is tight."""
    rng = np.random.default_rng(seed)
    p = np.array([0.32, 0.01, 0.32, 0.02, 0.33])
    xs, ys = rng.choice(5, 150, p=p), np.zeros(150, dtype=int)
    twin = PlainGate(p.tolist(), 1, tests=["cst", *beside], alpha=0.5, merge=merge)
    for x in xs.tolist():
        twin.request(x, 0)
    found = replay(xs, ys, p, 1, ["cst", *beside], 0.5, merge, "asymptotic")
    assert found.released.tolist() == twin.released


def test_equal_prices_are_equal_however_they_round() -> None:
    """5 / (5/23) and 1 / (1/23) are the same price: of two such records the one of the lower value leaves first."""
    p = [w / 23 for w in (5, 1, 8, 9)]
    xs = "20212303312030012321011202312220123122200022"
    ys = "31023000003300100312201011110030203031000202"
    twin = PlainGate(p, 4, tests=["dqt", "wdt"], alpha=0.05)
    for x, y in zip(xs, ys, strict=True):
        twin.request(int(x), int(y))
    rules = {"baseline": p, "targets": 4, "tests": ["dqt", "wdt"], "alpha": 0.05, "few": "asymptotic"}
    found = replay(np.array([*map(int, xs)]), np.array([*map(int, ys)]), **rules)
    assert found.released.tolist() == twin.released


@given(st.lists(st.integers(0, 12), min_size=2, max_size=12), st.sampled_from(["smallest", "forward"]))
@settings(max_examples=200, deadline=None)
def test_merging_is_the_plain_one(column: list[int], rule: str) -> None:
    p = [1 / len(column)] * len(column)
    plain = merged(list(zip(column, p, strict=True)), rule)
    statistics, cells = gate.pearson(np.array(column)[:, None], p, merge=rule)
    assert cells.tolist() == [len(plain)]
    if sum(column):
        assert np.isclose(statistics[0], pearson(plain))


@given(streams(), streams(), st.lists(st.sampled_from(["mis", "kld", "cst", "dqt"]), min_size=1, unique=True))
@settings(max_examples=60, deadline=None)
def test_several_dependencies_let_out_what_all_of_them_hold_safe(one: Any, other: Any, tests: list[str]) -> None:
    """The twin keeps one queue and asks a plain gate per dependency."""
    sides = (one, other)
    rules = [{"tests": tests, "alpha": 0.2}, {"tests": ["kld"], "alpha": 0.05}]
    joint = JointGate([
        Gate(p, n, few="asymptotic", **rule) for (p, n, _, _), rule in zip(sides, rules, strict=True)
    ])  # fmt: skip
    plain = [PlainGate(p, n, **rule) for (p, n, _, _), rule in zip(sides, rules, strict=True)]  # type: ignore[arg-type]
    waiting: list[tuple[int, list[tuple[int, int]]]] = []
    released: list[int] = []
    n = min(len(one[2]), len(other[2]))
    for number in range(n):
        places = [(side[2][number], side[3][number]) for side in sides]
        joint.request(places, number)
        if any(x < 0 for x, _ in places):
            continue
        waiting.append((number, places))
        while True:
            for record in waiting:
                tried = [g.with_records([(0, x, y)]) for g, (x, y) in zip(plain, record[1], strict=True)]
                if all(g.safe(counts) for g, counts in zip(plain, tried, strict=True)):
                    for g, counts in zip(plain, tried, strict=True):
                        g.counts = counts
                    released.append(record[0])
                    waiting.remove(record)
                    break
            else:
                break
    assert joint.released == tuple(released)
    assert joint.waiting == tuple(record[0] for record in waiting)
