"""Errors name a parameter as Python does; the command line writes it as its option."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from seriatim.cli.app import typer_for
from seriatim.cli.failure import end_with_faults, failed_options
from seriatim.errors import Fault, InputError, SeriatimError

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "src" / "seriatim", ROOT / "gate" / "src" / "seriatim_gate")


def faults_below_the_command_line() -> list[str]:
    """Every text that a Fault or an error of ours is made of, outside ``cli``."""
    found = []
    for path in (path for source in SOURCES for path in sorted(source.rglob("*.py"))):
        if "cli" in path.relative_to(ROOT).parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "").endswith(("Fault", "Error", "Refused")):
                texts = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
                found += [text for text in texts if isinstance(text, str)]
    return found


def test_no_error_below_the_command_line_speaks_of_its_options_alone() -> None:
    texts = faults_below_the_command_line()
    assert len(texts) > 1000
    dashed = [text for text in texts if re.search(r"--[a-z]", text)]
    # a whole command to run may have options
    assert [text for text in dashed if "seriatim " not in text] == []


@pytest.mark.parametrize(
    ("words", "fault", "told"),
    [
        (("publish",), Fault("override", "needs a name (approved_by)"), "--override: needs a name (--approved-by)"),
        (("gate", "replay"), Fault("x, y", "no columns"), "--x, --y: no columns"),
        (("gate", "replay"), Fault("dependencies", "odd"), "--dependency: odd"),
        (("gate", "token", "make"), Fault("respondents", "odd"), "--respondent: odd"),
        (("publish",), Fault("x.csv", "is odd (why)", "", "check it"), "x.csv: is odd (why); check it"),
        (("publish",), Fault("table", "is odd"), "table: is odd"),
        (("nothing",), Fault("override", "odd"), "override: odd"),
    ],
)
def test_the_command_line_adds_the_dashes(
    words: tuple[str, ...], fault: Fault, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = failed_options(typer_for(words), words)
    assert end_with_faults(InputError(fault), False, options) == 2
    assert capsys.readouterr().err == f"error: {told}\n"


def test_an_error_without_faults_is_told_alike(capsys: pytest.CaptureFixture[str]) -> None:
    options = failed_options(typer_for(("publish",)), ("publish",))
    assert end_with_faults(SeriatimError("full; choose another folder (out)"), False, options) == 5
    assert capsys.readouterr().err == "error: full; choose another folder (--out)\n"
