"""The worked examples of CONTRIBUTING.md, replayed: each block is put where it says, and what it asserts is so."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def examples() -> list[tuple[str, str]]:
    """Every python block with the file that its first line names; an empty name means: run it."""
    found = []
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE):
        named = re.match(r"# (\S+\.py)\n", block)
        found.append((named.group(1) if named else "", block))
    return found


def module_name(where: str) -> str:
    return where.removeprefix("src/").removesuffix(".py").replace("/", ".")


def new_file(where: str, code: str, patch: pytest.MonkeyPatch) -> None:
    """A module that is not there yet."""
    made = ModuleType(module_name(where))
    patch.setitem(sys.modules, made.__name__, made)
    exec(compile(code, where, "exec", dont_inherit=True), vars(made))
    assert made.__doc__, f"{where} says what it is for"


def changed_function(where: str, code: str, patch: pytest.MonkeyPatch) -> None:
    """A function that is there already: every line of it must still be as the page shows it, with one more."""
    home = import_module(module_name(where))
    (name,) = re.findall(r"^def (\w+)", code, re.MULTILINE)
    shown, there = code[code.index(f"def {name}") :].splitlines(), inspect.getsource(getattr(home, name)).splitlines()
    assert [line for line in shown if line in there] == there, f"{where}: {name} has changed, so must the page"
    assert len(shown) == len(there) + 1
    names = dict(vars(home))
    exec(compile(code, where, "exec", dont_inherit=True), names)
    patch.setattr(home, name, names[name])


def foreign_module(where: str, code: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
    """A module of another package, installed with the entry points that the page shows."""
    shown = re.findall(r"^```toml\n# pyproject.toml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    info = folder / "example-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: example\nVersion: 1.0\n")
    groups = tomllib.loads("".join(shown))["project"]["entry-points"]
    lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in those.items()) for group, those in groups.items()]
    (info / "entry_points.txt").write_text("\n".join(lines))
    patch.syspath_prepend(str(folder))
    new_file(where, code, patch)


def test_the_examples_do_what_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    ran = 0
    for where, code in examples():
        if where and not where.startswith("src/"):
            foreign_module(where, code, tmp_path, monkeypatch)
        elif where and (ROOT / where).exists():
            changed_function(where, code, monkeypatch)
        elif where:
            new_file(where, code, monkeypatch)
        else:
            assert "assert " in code or "check_" in code
            exec(compile(code, "CONTRIBUTING.md", "exec", dont_inherit=True), names)
            ran += 1
    assert ran >= 3


def test_the_new_files_would_pass_our_own_checks(tmp_path: Path) -> None:
    """An example that our tools would refuse is a bad example."""
    files = [(where, code) for where, code in examples() if where and not (ROOT / where).exists()]
    assert len(files) >= 3
    for where, code in files:
        path = tmp_path / Path(where).name
        path.write_text(code)
    settings = str(ROOT / "pyproject.toml")
    for tool in (["ruff", "check", "--config", settings], ["ruff", "format", "--check", "--config", settings]):
        done = subprocess.run([sys.executable, "-m", *tool, str(tmp_path)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
