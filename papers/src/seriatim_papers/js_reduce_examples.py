"""The running example of JS-Reduce (Examples 1 to 3, Tables 1, 3 and 4): what is printed, and what the rules give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seriatim.kernels.arrays import Floats
from seriatim.knowledge import SequenceModel, posterior
from seriatim.knowledge._posterior import Rule
from seriatim.report import Grid

VALUES = ("MAM-pos", "CX-neg", "CX-pos", "BS-neg", "BCM-pos", "PNE-pos")
FOLLOWS = {"BCM-pos": (0.6, 0.02, 0.02, 0.02), "PNE-pos": (0.02, 0.08, 0.6, 0.02)}
"""Table 3(b): the chance of a result after each of the first four."""
PRIORS = (0.002, 0.05, 0.0003, 0.2, 0.001)
"""Table 3(a), the same for everyone in it; the prior of PNE-pos is not printed."""
NOT_PRINTED = 0.001
RELEASES = (
    ("1", "1", "Alice", "51", "F", "12030", "[51,52], F, 12030", "MAM-pos"),
    ("1", "1", "Betty", "52", "F", "12030", "[51,52], F, 12030", "CX-neg"),
    ("1", "2", "Carol", "51", "F", "12031", "[51,52], F, 12031", "CX-pos"),
    ("1", "2", "Doris", "52", "F", "12031", "[51,52], F, 12031", "BS-neg"),
    ("2", "3", "Alice", "51", "F", "12030", "51, F, 1203*", "BCM-pos"),
    ("2", "3", "Carol", "51", "F", "12031", "51, F, 1203*", "PNE-pos"),
    ("2", "4", "Elisa", "51", "F", "12044", "51, F, 1204*", "MAM-neg"),
    ("2", "4", "Fran", "51", "F", "12045", "51, F, 1204*", "CX-neg"),
    ("2", "4", "Grace", "51", "F", "12040", "51, F, 1204*", "CX-pos"),
)
RULES: tuple[tuple[Rule, str], ...] = (("sum", "sum (5.2)"), ("omega", "omega (as run)"), ("bayes", "product"))


@dataclass(frozen=True, slots=True)
class BeliefRow:
    """One printed figure of the example beside what each rule gives."""

    table: str
    person: str
    value: str
    printed: float
    found: dict[str, float]


def running_example() -> SequenceModel:
    """Return what the adversary of the example knows."""
    matrix = np.zeros((len(VALUES), len(VALUES)))
    for value, chances in FOLLOWS.items():
        matrix[:4, VALUES.index(value)] = chances
    return SequenceModel.from_matrix(matrix, VALUES, [*PRIORS, NOT_PRINTED])


def example_beliefs() -> Iterator[BeliefRow]:
    """Return every figure of Table 4 and of Examples 2 and 3, under each rule."""
    first = {rule: _first_release(rule) for rule, _ in RULES}
    people = (("Alice", "MAM-pos", "CX-neg"), ("Betty", "MAM-pos", "CX-neg"),
              ("Carol", "CX-pos", "BS-neg"), ("Doris", "CX-pos", "BS-neg"))  # fmt: skip
    for at, (person, *values) in enumerate(people):
        for value in values:
            yield _row("4(a), PK at the first release", person, value, 0.5, {r: first[r][at] for r, _ in RULES})
    before = {rule: running_example().revise(None, first[rule][[0, 2]]).beliefs for rule, _ in RULES}
    printed = (("Alice", "BCM-pos", 0.31), ("Alice", "PNE-pos", 0.05), ("Carol", "BCM-pos", 0.02),
               ("Carol", "PNE-pos", 0.31))  # fmt: skip
    for person, value, told in printed:
        at = ("Alice", "Carol").index(person)
        yield _row("4(b), RBK (Example 3)", person, value, told, {r: before[r][at] for r, _ in RULES})
    after = {rule: posterior(before[rule], [0, 0, 0, 0, 1, 1], rule) for rule, _ in RULES}
    for person, value, told in (("Alice", "BCM-pos", 0.9), ("Alice", "PNE-pos", 0.1), ("Carol", "BCM-pos", 0.1),
                                ("Carol", "PNE-pos", 0.9)):  # fmt: skip
        at = ("Alice", "Carol").index(person)
        yield _row("4(c), PK at the second release", person, value, told, {r: after[r][at] for r, _ in RULES})


def example_degrees() -> tuple[tuple[str, float, float], ...]:
    """Return Example 1's two configurations with their degrees (Example 2): what it is, print, found."""
    before = running_example().revise(None, _first_release("sum")[[0, 2]]).beliefs
    bcm, pne = VALUES.index("BCM-pos"), VALUES.index("PNE-pos")
    one, two = float(before[0, bcm] + before[1, pne]), float(before[0, pne] + before[1, bcm])
    return (
        ("c1: Alice has BCM-pos, Carol PNE-pos", 0.62, one),
        ("c2: Alice has PNE-pos, Carol BCM-pos", 0.07, two),
        ("Alice has BCM-pos: d1 / (d1 + d2)", 0.9, one / (one + two)),
    )


def _first_release(rule: Rule) -> Floats:
    known = running_example().at_start(4).beliefs
    one, two = posterior(known[:2], [1, 1, 0, 0, 0, 0], rule), posterior(known[2:], [0, 0, 1, 1, 0, 0], rule)
    found: Floats = np.concatenate((one, two))
    return found


def _row(table: str, person: str, value: str, printed: float, beliefs: dict[Rule, Floats]) -> BeliefRow:
    at = VALUES.index(value)
    return BeliefRow(table, person, value, printed, {rule: float(found[at]) for rule, found in beliefs.items()})


def example_grids() -> tuple[Grid, ...]:
    """Return Tables 1, 3 and 4 and the examples, print beside found."""
    tables = Grid(
        "Table 1: both releases, original and generalised",
        ("release", "group", "name", "age", "gender", "zip", "published", "result"),
        RELEASES,
    )
    steps = Grid(
        f"Table 3: priors (a) and steps (b); the prior of PNE-pos is not printed, and is {NOT_PRINTED} here",
        ("result before", "prior", *(f"then {value}" for value in FOLLOWS)),
        tuple(
            (value, f"{prior:g}", *(f"{FOLLOWS[then][at]:g}" if at < 4 else "" for then in FOLLOWS))
            for at, (value, prior) in enumerate(zip(VALUES, PRIORS, strict=False))
        ),
        frozenset({1, 2, 3}),
    )
    degrees = Grid(
        "Examples 1 and 2: the configurations of group 3, and their degrees",
        ("configuration", "print", "found"),
        tuple((words, f"{printed:g}", f"{found:.4f}") for words, printed, found in example_degrees()),
        frozenset({1, 2}),
    )
    beliefs = Grid(
        "Table 4 under the printed sum, the omega estimate that the experiments run, and the product",
        ("table", "name", "result", "print", *(words for _, words in RULES)),
        tuple(
            (one.table, one.person, one.value, f"{one.printed:g}", *(f"{one.found[rule]:.4f}" for rule, _ in RULES))
            for one in example_beliefs()
        ),
        frozenset(range(3, 7)),
    )
    return tables, steps, degrees, beliefs
