"""``x or 1`` takes a zero for something that was not said: a default is for None alone."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "src" / "seriatim", ROOT / "gate" / "src" / "seriatim_gate")
OF_ZERO = {
    "os.cpu_count() or 1": "no machine has none",
    "float(old.std()) or 1.0": "nothing is divided by a spread of zero",
    "span or 1.0": "nothing is divided by a span of zero",
    "abs(low) or 1.0": "an axis around zero has a width",
    "float((high[asked] - low[asked]).max()) or 1.0": "nothing is divided by a width of zero",
}
"""Expressions that mean zero as well as None, and why."""


def defaults_by_or() -> dict[str, str]:
    """Every ``x or NUMBER`` by its text, with its file; ``x or 0`` says the same of zero and of None."""
    found = {}
    for path in (path for source in SOURCES for path in sorted(source.rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and _is_number(node.values[-1]):
                found[ast.unparse(node)] = path.name
    return found


def _is_number(node: ast.expr) -> bool:
    constant = isinstance(node, ast.Constant) and type(node.value) in (int, float) and bool(node.value)
    return constant or (isinstance(node, ast.Name) and node.id in ("SURE", "RAISED", "RECORDS", "LEAST", "REPETITIONS"))


def test_a_default_is_for_none_alone() -> None:
    assert set(defaults_by_or()) == set(OF_ZERO), defaults_by_or()
