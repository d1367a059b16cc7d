"""Knowledge that somebody states: tables over several steps, by class and by gap, and finite automata."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from support.joint_chains import history_of_arrays

import seriatim as sr
from seriatim.attacks import sequence
from seriatim.errors import AdversaryError
from seriatim.knowledge import SequenceModel
from seriatim.knowledge.knowledge_files import model_bytes, read_model

TWO_STEPS = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.3, 0.7]]])
"""The chance of c after a, b: a table over two steps."""


BY_GAP = {2: {"q": np.eye(2), "p": TWO_STEPS[1]}}


def enumerated(table: np.ndarray, past: list[np.ndarray]) -> np.ndarray:
    """The plain twin: the next value after posteriors about the last two, each path weighed by the product."""
    found = np.zeros(2)
    for a in range(2):
        for b in range(2):
            found += past[0][a] * past[1][b] * table[a, b]
    return found


def test_a_table_over_two_steps_contracts_the_oldest_value_first() -> None:
    model = SequenceModel.from_matrix(TWO_STEPS, "xy")
    first, second = np.array([0.6, 0.4]), np.array([0.3, 0.7])
    state = model.revise(None, [first], revision="product").state
    told = model.revise(state, [second], revision="product").beliefs[0]
    np.testing.assert_allclose(told, enumerated(TWO_STEPS, [first, second]))


def test_certain_pasts_read_their_row_and_short_ones_the_long_run() -> None:
    model = SequenceModel.from_matrix(TWO_STEPS, "xy")
    after_x = model.revise(None, [[1.0, 0.0]])
    after_xy = model.revise(after_x.state, [[0.0, 1.0]])
    np.testing.assert_allclose(after_xy.beliefs[0], TWO_STEPS[0, 1])
    pairs = np.full((2, 2), 0.25)
    for _ in range(2_000):
        pairs = np.einsum("ab,abc->bc", pairs, TWO_STEPS)
    expected = np.einsum("ab,abc->bc", pairs, TWO_STEPS)[0] / pairs.sum(axis=0)[0]
    np.testing.assert_allclose(after_x.beliefs[0], expected, atol=1e-9)


def test_tables_by_class_and_by_gap() -> None:
    stays, moves = np.eye(2), 1 - np.eye(2)
    model = SequenceModel.from_matrix(
        {"old": stays, "young": moves},
        "xy",
        {"old": [0.9, 0.1], "young": [0.5, 0.5]},
        gaps={3: {"young": stays, "old": moves}},
    )
    one = model.revise(None, [[1.0, 0.0]] * 2, classes=["old", "young"]).beliefs
    np.testing.assert_allclose(one, [[1, 0], [0, 1]])
    three = model.revise(None, [[1.0, 0.0]] * 2, gap=3, classes=["old", "young"]).beliefs
    np.testing.assert_allclose(three, [[0, 1], [1, 0]])
    np.testing.assert_allclose(model.at_start(2, ["old", "young"]).beliefs, [[0.9, 0.1], [0.5, 0.5]])


COUNTER = {
    "steps": [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]],
    "then": [[1, 2], [1, 2], [0, 2]],
    "shows": ["x", "x", "y"],
    "values": ["x", "y"],
}
"""x is followed by x, and that by y: what a table over the last value cannot say."""


def test_an_automaton_remembers_more_than_the_last_value() -> None:
    model = SequenceModel.from_automaton(**COUNTER)
    first = model.revise(None, [[1.0, 0.0]])
    np.testing.assert_allclose(first.beliefs, [[1.0, 0.0]])
    second = model.revise(first.state, [[1.0, 0.0]])
    np.testing.assert_allclose(second.beliefs, [[0.0, 1.0]])
    history = history_of_arrays(np.zeros((3, 2), dtype=int), np.array([[0, 1], [0, 1], [1, 0]]), ["x", "y"])
    told = sequence(history, model, "forward").of("p0")
    assert told[0] == pytest.approx({"x": 0.5, "y": 0.5})  # either of them may be the one who starts with x
    assert told[2] == pytest.approx({"x": 0.5, "y": 0.5})


@pytest.mark.parametrize(
    "model",
    [
        SequenceModel.from_automaton(**COUNTER),
        SequenceModel.from_matrix(TWO_STEPS, "xy", [0.7, 0.3]),
        SequenceModel.from_matrix({"p": np.eye(2), "q": TWO_STEPS[0]}, "xy", gaps=BY_GAP),
        SequenceModel.mine(["xyxx", "yx", "xxy"], 2, unseen="zero", denominators="printed"),
    ],
)
def test_what_is_stated_can_be_written_and_read(tmp_path: Path, model: SequenceModel) -> None:
    for path, data in model_bytes(model, tmp_path / "k.toml").items():
        path.write_bytes(data)
    again = read_model(tmp_path / "k.toml")
    assert (again.values, again.classes, again.kind) == (tuple(model.values), model.classes, model.kind)
    seen = np.array([[0.8, 0.2], [0.1, 0.9]])
    classes = [model.classes[-1]] * 2
    for gap in (1, 2):
        one, other = (each.revise(None, seen, gap=gap, classes=classes) for each in (model, again))
        np.testing.assert_allclose(one.beliefs, other.beliefs, atol=1e-12)
        one, other = (each.revise(at.state, seen, classes=classes) for each, at in ((model, one), (again, other)))
        np.testing.assert_allclose(one.beliefs, other.beliefs, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"then": [[1, 2], [1, 2], [0, 3]]}, "a state that is not there"),
        ({"then": [[1, 2], [1, 0], [0, 2]]}, "shows another value"),
        ({"steps": [[1.0, 0.0], [0.0, 1.0]]}, "a row per state"),
        ({"steps": [[1.0, 0.5], [0.0, 1.0], [0.5, 0.5]]}, "rows sum to more than 1"),
        ({"shows": ["x", "x", "z"]}, "not named"),
        ({"values": ["x", "y", "z"], "steps": np.zeros((3, 3)), "then": np.zeros((3, 3))}, "another value"),
    ],
)
def test_automata_that_are_none(change: dict[str, Any], said: str) -> None:
    with pytest.raises(AdversaryError, match=said):
        SequenceModel.from_automaton(**{**COUNTER, **change})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"matrix": np.zeros((2, 2, 3))}, "a row and a column for every value"),
        ({"matrix": {"p": np.eye(2), "q": TWO_STEPS}}, "a row and a column for every value"),
        ({"matrix": {"p": np.eye(2)}, "prior": {"q": [1, 1]}}, "its classes are not those"),
        ({"matrix": np.eye(2), "gaps": {1: np.eye(2)}}, "2 or more"),
        ({"matrix": np.eye(2), "gaps": {2: {"p": np.eye(2)}}}, "its classes are not those"),
        ({"matrix": TWO_STEPS, "gaps": {2: np.eye(2)}}, "several steps"),
        ({"matrix": {}}, "no table"),
        ({"matrix": np.full((20, 20, 20, 20, 20), 0.05)}, "at most 5,000 states"),
    ],
)
def test_tables_that_are_none(given: dict[str, Any], said: str) -> None:
    with pytest.raises(AdversaryError, match=said):
        SequenceModel.from_matrix(**given)


@pytest.mark.parametrize(
    "stated",
    [
        {"values": ["a", "b"], "matrix": [[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.3, 0.7]]]},
        {"values": ["a", "b"], "shows": ["a", "b"], "steps": [[0.9, 0.1], [0.2, 0.8]], "then": [[0, 1], [0, 1]]},
        {"values": ["a", "b"], "matrix": [[0.9, 0.1], [0.2, 0.8]], "gaps": {"2": [[0.5, 0.5], [0.5, 0.5]]}},
    ],
)
def test_a_policy_states_them_inline(tmp_path: Path, stated: dict[str, Any]) -> None:
    shape = {
        "series": {"name": "s", "respondent": "id"},
        "columns": {"age": {"role": "quasi", "kind": "number"}, "job": {"role": "sensitive"}},
        "promise": {"k": 2},
        "defence": {"method": "median"},
        "adversary": {"sure_share": 1.0, "sequence": stated},
    }
    view = {"id": ["p", "q", "r", "s"], "age": [1, 2, 3, 4], "job": ["a", "b", "b", "a"]}
    made = sr.publish(pa.table(view), sr.Policy.from_dict(shape), sr.Ledger.open(tmp_path / "l.db"))
    assert made.verdict.released
    assert any(estimate.attack == "sequence" for estimate in made.verdict.estimates)


def test_a_knowledge_file_is_parsed_once_and_again_when_it_changes(tmp_path: Path) -> None:
    """Also where the new files are as long and as old as those before."""
    path = tmp_path / "k.toml"

    def write(chances: list[list[float]]) -> list[int]:
        made = model_bytes(SequenceModel.from_matrix(chances, ["a", "b"]), path)
        for file, content in made.items():
            file.write_bytes(content)
            os.utime(file, (1, 1))
        return [len(content) for content in made.values()]

    before = write([[0.25, 0.75], [0.5, 0.5]])
    first = read_model(path)
    assert read_model(path) is first
    assert write([[0.75, 0.25], [0.5, 0.5]]) == before
    assert read_model(path).steps[1][0][0].tolist() == [0.75, 0.25]
    path.with_suffix(".parquet").unlink()
    with pytest.raises(AdversaryError, match="no such knowledge file"):
        read_model(path)
