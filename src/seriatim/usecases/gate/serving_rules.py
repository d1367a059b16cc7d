"""How a stored baseline is to be judged by: the tests, their level and critical values, written once as JSON.

Two hosts that read the same rules decide alike: nothing is simulated again.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.gate.baseline import Baseline, baseline_from_json
from seriatim.gate.rules import Asked, rules_asked
from seriatim.ports.journal import StoredBaseline
from seriatim.usecases.gate.requests import Question

SCHEMA = "seriatim.gate.rules/1"


def serving_rules_json(baseline: Baseline, question: Question) -> str:
    """Return the rules of a gate with their critical values; a float is written so that it is read back exactly."""
    asked = rules_asked(baseline, None, question.tests, question.alpha, question.merge, question.few, None, None)
    tables = {name: [float(value) for value in table[1:]] for name, table in asked.tables.items()}
    return json.dumps({"schema": SCHEMA, **asdict(question), "tables": tables}, sort_keys=True)


def read_serving_rules(stored: StoredBaseline) -> tuple[Baseline, Question, Asked]:
    """Read a stored baseline and its rules."""
    try:
        told: dict[str, Any] = json.loads(stored.rules)
        question = Question(tuple(told["tests"]), float(told["alpha"]), told["merge"], told["few"])
        tables = {name: np.array([np.nan, *values]) for name, values in told["tables"].items()}
    except (KeyError, TypeError, ValueError):
        raise InputError(Fault("gate", "its rules cannot be read", SCHEMA, "restore a backup")) from None
    baseline = baseline_from_json(stored.content)
    asked = rules_asked(
        baseline, None, question.tests, question.alpha, question.merge, question.few, None, tables or None
    )  # fmt: skip
    return baseline, question, asked


def same_rules_domain(old: Asked, new: Asked) -> bool:
    """Return whether places mean the same under both rules."""
    return old.values == new.values and old.targets == new.targets


def _with_queue(asked: Asked, queue: bool) -> Asked:
    """Return the rules with or without a queue."""
    return replace(asked, queue=queue)
