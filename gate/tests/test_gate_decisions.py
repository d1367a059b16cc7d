"""500 random gates decide as they did when ``tests/kept/gate-decisions.json`` was written.

One dependency and several, every test, rule of merging and distance, ranges and unknown targets, with and without a
queue, sets, withdrawals; then service books that freeze, thaw, expire and take another baseline. The digests change
only when decisions are meant to change; then ``SERIATIM_KEEP_BYTES=1`` writes them anew, and the commit says why.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.gates import ask

from seriatim_gate import Baseline, Gate, JointGate, replay
from seriatim_gate.engine.attribute import Attribute
from seriatim_gate.engine.inputs import Codes
from seriatim_gate.engine.rules import Rules
from seriatim_gate.usecases.request_book import RequestBook

KEPT = Path(__file__).with_name("kept") / "gate-decisions.json"
TESTS = ("mis", "kld", "cst", "dqt", "wdt")
N_SINGLE, N_SEVERAL, N_BOOKS = 300, 150, 50


def test_random_gates_decide_as_before() -> None:
    found = [_digest(_single(seed)) for seed in range(N_SINGLE)]
    found += [_digest(_several(seed)) for seed in range(N_SEVERAL)]
    found += [_digest(_book(seed)) for seed in range(N_BOOKS)]
    if os.environ.get("SERIATIM_KEEP_BYTES"):
        KEPT.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
        pytest.skip("digests written")
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    assert [at for at, (one, other) in enumerate(zip(found, kept, strict=True)) if one != other] == []


def _digest(told: Any) -> str:
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:12]


def _rules(rng: np.random.Generator, alone: bool = True) -> dict[str, Any]:
    """Return how one gate is to judge; stored tables are made up, since simulating hundreds takes minutes."""
    tests = tuple(rng.permutation(TESTS)[: rng.choice([1, 1, 1, 2, 3])].tolist())
    rules: dict[str, Any] = {
        "tests": tests, "alpha": float(rng.choice([0.5, 0.2, 0.05])), "merge": str(rng.choice(["smallest", "forward"])),
        "distance": str(rng.choice(["kl", "kl", "pearson"])), "few": "asymptotic",
    }  # fmt: skip
    if rng.random() < 0.4:
        rules |= {"few": "simulated", "tables": {
            "mis": [0.0, *(6.0 / n**0.8 for n in range(1, 30))], "kld": [0.0, *(4.0 / n**0.9 for n in range(1, 12))],
        }}  # fmt: skip
    if alone:
        rules |= {"queue": bool(rng.random() < 0.8), "joint": bool(rng.random() < 0.3)}
    return rules


def _baseline(rng: np.random.Generator) -> Baseline:
    """Return a baseline of ranges, or of values of which one may have no share; some take unknown targets."""
    width, height = int(rng.integers(2, 9)), int(rng.integers(1, 7))
    p = rng.integers(1, 9, width).astype(float)
    if width > 3 and rng.random() < 0.2:
        p[1] = 0.0
    cut = Attribute("x", edges=(-np.inf, *map(float, range(1, width)), np.inf))
    listed = Attribute("x", tuple(map(str, range(width))))
    shares = rng.dirichlet(np.full(height, 3.0))
    return Baseline(
        attributes=(cut if rng.random() < 0.5 else listed,),
        probabilities=p / p.sum(),
        target="y",
        targets=tuple(map(str, range(height))),
        target_shares=shares / shares.sum(),
        n_records=5_000,
        others="0" if rng.random() < 0.2 else "",
    )


def _asks(rng: np.random.Generator, one: Baseline, n: int) -> list[tuple[Any, str]]:
    """Return records that lean by target, some of them unknown to the baseline."""
    width, height = len(one.probabilities), len(one.targets)
    lean = rng.dirichlet(20 * one.probabilities + 0.1, height)
    ys = rng.choice(height, n, p=one.target_shares)
    asks: list[tuple[Any, str]] = []
    for y in ys.tolist():
        x = int(rng.choice(width, p=lean[y])) if rng.random() < 0.98 else width + 3
        name = str(y) if rng.random() < 0.98 else "elsewhere"
        asks.append((x + 0.25 if one.attributes[0].edges else str(x), name))
    return asks


def _answers(gate: Gate | JointGate, places: list[Any], rng: np.random.Generator) -> list[Any]:
    told: list[Any] = []
    for number, place in enumerate(places):
        said = gate.request(place[0], place[1], number) if isinstance(gate, Gate) else gate.request(place, number)
        told.append((said.state, said.freed, said.reason))
        if rng.random() < 0.03:
            told.append(gate.withdraw(int(rng.integers(0, number + 1))).state)
    return [told, gate.released, gate.waiting]


def _single(seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    one, rules = _baseline(rng), _rules(rng)
    asks = _asks(rng, one, int(rng.integers(20, 250)))
    gate = Gate(one, **rules)
    told = _answers(gate, asks, rng)
    xs, ys = [one.place_of(x) for x, _ in asks], [one.place_of_target(y) for _, y in asks]
    at_once = replay(np.array(xs), np.array(ys), one.probabilities, len(one.targets), **rules)
    found = (at_once.released, at_once.waiting, at_once.refused, at_once.released_at, at_once.counts)
    return [*told, gate.counts.tolist(), gate.waiting_counts.tolist(), [each.tolist() for each in found]]


def _several(seed: int) -> list[Any]:
    rng = np.random.default_rng(10_000 + seed)
    baselines = [_baseline(rng) for _ in range(int(rng.choice([1, 2, 2, 3])))]
    sets, rules = bool(rng.random() < 0.5), [_rules(rng, alone=False) for _ in baselines]
    for one in rules:
        one["tests"] = one["tests"] if sets else tuple(set(one["tests"]) - {"wdt"}) or ("kld",)
        one["tests"] = tuple(sorted(one["tests"]))
        one["queue"] = seed % 10 > 0
    gate = JointGate([Gate(one, **rule) for one, rule in zip(baselines, rules, strict=True)], sets)
    n = int(rng.integers(20, 250))
    told = _answers(gate, list(zip(*(_asks(rng, one, n) for one in baselines), strict=True)), rng)
    return [*told, [one.counts.tolist() for one in gate.gates]]


def _book(seed: int) -> list[Any]:
    """Requests in groups, with freezing, thawing, another baseline, withdrawing and expiring between them."""
    rng = np.random.default_rng(20_000 + seed)
    sizes = [(int(rng.integers(2, 7)), int(rng.integers(1, 5))) for _ in range(1 + seed % 3)]
    asked = [_rules(rng) for _ in sizes]
    joint = bool(rng.random() < 0.4)
    for rule in asked:
        rule |= {"joint": joint, "queue": True}
        rule.pop("distance")
    versions = [
        tuple(_version(rng, size, rule) for size, rule in zip(sizes, asked, strict=True)) for _ in range(3)
    ]  # fmt: skip
    book = RequestBook(lambda number: versions[number - 1], batches=bool(seed % 2))
    told: list[Any] = []
    for step in range(25):
        xs, ys = _cells(rng, sizes, int(rng.integers(1, 20)))
        first = len(book)
        asks = [ask(first + i, x, y) for i, (x, y) in enumerate(zip(xs, ys, strict=True))]
        entries = book.ask(asks, step)[1]
        what, number = rng.random(), int(rng.integers(0, len(book)))
        if what < 0.2:
            entries += book.withdraw(number, step, 1)
        elif what < 0.3:
            entries += book.expire(step, 8)
        elif what < 0.4:
            entries += book.freeze(step, 1)
        elif what < 0.6:
            entries += book.thaw(step, 1)
        elif what < 0.7:
            entries += book.rejudge(1 + step % 3, step, 1)
        elif what < 0.8:
            entries += book.publish(step)
        told.append([(one.kind, one.about, one.n_out) for one in entries])
    guards = [(one.counts.tolist(), one.waiting.tolist()) for one in book.intake.guards]
    return [told, book.intake.left().tolist(), book.intake.waiting.tolist(), guards]


def _version(rng: np.random.Generator, size: tuple[int, int], rule: dict[str, Any]) -> Rules:
    p = rng.integers(3, 9, size[0]).astype(float)
    return Rules.of(
        p / p.sum(), size[1], rule["tests"], rule["alpha"], rule["merge"], rule["few"], None, rule.get("tables"),
        joint=rule["joint"],
    )  # fmt: skip


def _cells(rng: np.random.Generator, sizes: list[tuple[int, int]], n: int) -> tuple[list[int], list[int]]:
    """Return the cells of records as a journal keeps them, a few unknown."""
    places = []
    for width, height in sizes:
        x = np.where(rng.random(n) < 0.02, -1, np.minimum(rng.geometric(0.4, n) - 1, width - 1))
        places.append((x, rng.integers(0, height, n)))
    found = Codes(sizes).pack(places)
    return found[0].tolist(), found[1].tolist()
