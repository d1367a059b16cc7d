"""Large values are built by keyword: nobody can tell the seventh argument of a call from the eighth."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
LARGE, LEADING = 5, 4
"""Values of more fields than this are large; at most so many leading fields may come by position."""


@cache
def trees() -> dict[Path, ast.Module]:
    """All Python files of the project but kernels, whose tuples of arrays the compiler takes by position."""
    folders = ("src/**", "gate/**", "tests/**", "benchmarks")
    found = [path for folder in folders for path in ROOT.glob(f"{folder}/*.py")]
    return {path: ast.parse(path.read_text()) for path in found if "kernels" not in path.parent.parts[-2:]}


def classes_of(path: Path) -> list[ast.ClassDef]:
    return [node for node in ast.walk(trees()[path]) if isinstance(node, ast.ClassDef)]


def fields_of(node: ast.ClassDef) -> list[ast.AnnAssign]:
    """Return the fields that a constructor takes, and the mark after which they come by keyword."""
    fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
    return [each for each in fields if "ClassVar" not in ast.unparse(each.annotation) and not is_set_later(each)]


def is_set_later(field: ast.AnnAssign) -> bool:
    return field.value is not None and "init=False" in ast.unparse(field.value)


def is_mark(field: ast.AnnAssign) -> bool:
    return ast.unparse(field.annotation) == "KW_ONLY"


def n_by_position(node: ast.ClassDef) -> int:
    """Return how many fields a dataclass takes by position."""
    if any("kw_only=True" in ast.unparse(mark) for mark in node.decorator_list):
        return 0
    marks = [is_mark(field) for field in fields_of(node)]
    return marks.index(True) if any(marks) else len(marks)


def test_large_dataclasses_take_most_fields_by_keyword() -> None:
    large = [
        (path, node)
        for path in trees()
        for node in classes_of(path)
        if any("dataclass" in ast.unparse(mark) for mark in node.decorator_list)
        and sum(not is_mark(field) for field in fields_of(node)) > LARGE
    ]
    assert len(large) > 60
    assert [f"{path.name}: {node.name}" for path, node in large if n_by_position(node) > LEADING] == []


def test_large_tuples_are_built_by_keyword() -> None:
    """A named tuple cannot demand it, so its calls are looked at."""
    names = {
        node.name
        for path in trees()
        for node in classes_of(path)
        if "NamedTuple" in map(ast.unparse, node.bases) and len(fields_of(node)) > LARGE
    }
    assert {"JournalEntry", "Ask"} <= names
    calls = [(path, node) for path, tree in trees().items() for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert [
        f"{path.name}:{call.lineno}: {call.func.id}"
        for path, call in calls
        if isinstance(call.func, ast.Name) and call.func.id in names and len(call.args) > LARGE
    ] == []
