"""A command of another package: found by its entry point, missed with what to install."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = """
import typer

app = typer.Typer()


@app.command("count")
def count(name: str) -> None:
    print("counted", name)


@app.command("weigh")
def weigh(out: str = typer.Option("nowhere", "--out")) -> None:
    from seriatim.errors import Fault, InputError

    raise InputError(Fault("out", out))


def greet() -> None:
    print("hello")
"""
POINTS = """[seriatim.commands]
wards = ward_commands:app
greet = ward_commands:greet
lost = ward_commands:nothing
publish = ward_commands:greet
"""
ALONE = """
import sys
from importlib import metadata
found = metadata.entry_points
own = ("ward_commands",)
metadata.entry_points = lambda **asked: metadata.EntryPoints(
    point for point in found(**asked) if point.value.startswith(own)
)
from seriatim.cli import main
main()
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "ward_commands.py").write_text(MODULE)
    info = tmp_path / "wards-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: wards\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    return tmp_path


def ran(home: Path, *words: str) -> tuple[int, str, str]:
    """Run a command where that package is installed, and none of our further distributions."""
    command = [sys.executable, "-c", f"import sys\nsys.path.insert(0, {str(home)!r})\n{ALONE}", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=home, timeout=300)
    return done.returncode, done.stdout, done.stderr


def test_a_package_brings_a_command_and_a_group(home: Path) -> None:
    assert ran(home, "greet") == (0, "hello\n", "")
    assert ran(home, "wards", "count", "beds") == (0, "counted beds\n", "")
    # errors are told as ours are, with the option's name
    assert ran(home, "wards", "weigh", "--out", "x") == (2, "", "error: --out: x\n")


@pytest.mark.parametrize(("command", "extra"), [("gate", "gate"), ("study", "papers")])
@pytest.mark.parametrize("words", [(), ("--help",), ("anything", "--of", "its", "-o", "wn")])
def test_without_the_package_the_error_says_what_to_install(
    home: Path, command: str, extra: str, words: tuple[str, ...]
) -> None:
    told = f'{command}: this command is in another package; pip install "seriatim[{extra}]"'
    assert ran(home, command, *words) == (2, "", f"error: {told}\n")
    code, out, _ = ran(home, command, *words, "--json")
    assert (code, json.loads(out)["error"]["lines"]) == (2, [told])


def test_a_command_that_cannot_be_loaded_harms_no_other(home: Path) -> None:
    code, _, err = ran(home, "lost", "and", "found")
    told = "lost: registered as ward_commands:nothing, which cannot be loaded (AttributeError)"
    assert (code, told in err) == (2, True)
    assert ran(home, "greet")[0] == 0


def test_no_package_takes_the_place_of_a_command_of_ours(home: Path) -> None:
    code, out, err = ran(home, "publish", "--help")
    assert (code, "hello" in out, err) == (0, False, "")


def test_a_word_that_is_no_command_is_no_crash(home: Path) -> None:
    code, _, err = ran(home, "wrads")
    assert (code, re.search("No such command 'wrads'", err) is not None) == (2, True)
