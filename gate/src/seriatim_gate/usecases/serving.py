"""How a stored baseline is to be judged by: the tests, their level and critical values, written once as JSON.

Two hosts that read the same rules decide alike: nothing is simulated again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim_gate.engine.dependencies import Dependencies
from seriatim_gate.engine.rules import Rules
from seriatim_gate.ports import StoredBaseline
from seriatim_gate.usecases.requests import Question

SCHEMA = "seriatim.gate.rules/1"


_LATER: dict[str, Any] = {"queue": True, "joint": False, "distance": "kl"}
"""Written down only where they differ: gates of before have none of them."""


class Served(NamedTuple):
    """What a stored baseline is, and how it judges: rules for each dependency."""

    baseline: Dependencies
    question: Question
    rules: tuple[Rules, ...]


def refuse_weak_tests(question: Question) -> None:
    """Refuse tests that no gate may serve with."""
    if tuple(question.tests) == ("dqt",):
        raise InputError(Fault("tests", "dqt alone releases most of an outlier", "dqt beside another test", "add kld"))


def refuse_overlap(gate: str, baseline: Dependencies, others: Mapping[str, Dependencies]) -> None:
    """Refuse a gate beside another whose releases add to its own, or whose limits its own releases would pass."""
    for name, other in others.items():
        shared = [
            dependency
            for guarded, shown in ((baseline, other), (other, baseline))
            for dependency, columns in zip(guarded.names, guarded.columns_of, strict=True)
            if columns <= set(shown.columns)
        ]
        if shared:
            found = f"gate {name!r} of this journal lets out the columns of {shared[0]} as well; the two would add up"
            remedy = "store their dependencies as one gate, or use a journal of its own for other people"
            raise InputError(Fault(f"gate {gate!r}", found, "one gate for a dependency", remedy))


def rules_json(baseline: Dependencies, question: Question) -> str:
    """Return the rules of a gate with their critical values; a float is written so that it is read back exactly.

    The tables of several dependencies are a list, in their order. Chi-square values are by degrees of freedom.
    """
    rules = question.rules(baseline)
    tables = [{name: [float(value) for value in table[1:]] for name, table in asked.tables.items()} for asked in rules]
    chi_squares = {str(free): value for asked in rules for free, value in asked.chi_squares_needed().items()}
    told = {name: value for name, value in asdict(question).items() if _LATER.get(name, ...) != value}
    told |= {"tables": tables if len(tables) > 1 else tables[0], "chi_squares": chi_squares}
    return json.dumps({"schema": SCHEMA, **told}, sort_keys=True)


def read_rules(stored: StoredBaseline) -> Served:
    """Read a stored baseline and its rules."""
    baseline = Dependencies.from_json(stored.content)
    try:
        told: dict[str, Any] = json.loads(stored.rules)
        later: dict[str, Any] = {name: type(value)(told.get(name, value)) for name, value in _LATER.items()}
        question = Question(tuple(told["tests"]), float(told["alpha"]), merge=told["merge"], few=told["few"], **later)
        parts = told["tables"] if isinstance(told["tables"], list) else [told["tables"]]
        tables = [{name: np.array([np.nan, *values]) for name, values in part.items()} or None for part in parts]
        chi_squares = {int(free): float(value) for free, value in told.get("chi_squares", {}).items()}
        if len(tables) != len(baseline.baselines):
            raise ValueError
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(Fault("gate", "its rules cannot be read", SCHEMA, "restore a backup")) from None
    rules = tuple(replace(asked, chi_squares=chi_squares) for asked in question.rules(baseline, tables))
    return Served(baseline, question, rules)


def same_domain(old: Sequence[Rules], new: Sequence[Rules]) -> bool:
    """Return whether places mean the same under both rules."""
    return [(one.values, one.targets) for one in old] == [(one.values, one.targets) for one in new]
