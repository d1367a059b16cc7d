"""The project speaks of itself alone: no lock file, no package host, no path of anyone's machine."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
# put together here, so that this file does not name them either
HOSTS = [
    "py" + "pi.org",
    "python" + "hosted",
    "npm" + "js",
    "deb." + "debian",
    "--" + "index-url",
    "--extra-" + "index-url",
]
PATHS = r"(?<![\w.])/(?:root|work|farm|home)/"
BINARY = {".png", ".parquet", ".db", ".js"}


def committed() -> list[Path]:
    try:
        done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [ROOT / name for name in done.stdout.splitlines()]


def test_no_lock_file_and_no_host_or_machine_is_named() -> None:
    files = committed()
    assert len(files) > 100
    assert not [path.name for path in files if path.name in ("uv.lock", "pylock.toml")]
    told = re.compile("|".join([*map(re.escape, HOSTS), PATHS]))
    found = []
    for path in files:
        if path.suffix not in BINARY and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in told.finditer(text)]
    assert found == []


def test_every_command_is_in_a_tutorial_or_the_readme() -> None:
    from seriatim.cli.app import typer_for

    pages = [ROOT / "README.md", *(ROOT / "docs/tutorial").glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    names = list(typer_for(()).commands)
    assert len(names) >= 8
    missing = [name for name in names if f"seriatim {name}" not in text and f"./dev {name}" not in text]
    assert missing == []


def test_the_changelog_has_one_line_per_change() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines()[3:] if line]
    headings = [line for line in lines if line.startswith("#")]
    entries = [line for line in lines if not line.startswith("#")]
    assert {line for line in headings if line.startswith("###")} <= {"### Added", "### Changed", "### Fixed"}
    assert len(entries) > 100
    assert [line for line in entries if not line.startswith("- ") or len(line) > 165 or not line.endswith(".")] == []


def test_every_command_and_error_is_in_the_reference() -> None:
    from seriatim import errors
    from seriatim.cli.app import typer_for

    text = (ROOT / "docs/reference/commands.md").read_text()
    commands = typer_for(()).commands
    names = [" ".join((name, *sub)) for name, one in commands.items() for sub in _below(one)]
    raised = [name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(names) >= 14
    assert len(raised) >= 9
    assert [name for name in names if f"`seriatim {name}`" not in text] == []
    assert [name for name in raised if f"`{name}`" not in text and f"`sr.{name}`" not in text] == []


def _below(command: Any) -> list[tuple[str, ...]]:
    """The names that follow a command's own: those of its subcommands, or none."""
    return [(name,) for name in getattr(command, "commands", {})] or [()]


def test_the_kept_help_page_is_what_typer_prints() -> None:
    from seriatim.cli.app import help_page

    kept = (ROOT / "src/seriatim/cli/help.txt").read_text()
    assert kept == help_page(), "write it anew: ./dev help-page"
    assert "publish" in kept


def test_nothing_depends_on_who_else_installs_a_package_named_tests() -> None:
    """A spawned process imports its work by name: it must be in support, which the path names, and not in a test."""
    spawned = re.compile(r"target=(\w+)")
    found = []
    for path in sorted([*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "gate/tests").glob("test_*.py")]):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*(from|import) tests\b", text, re.MULTILINE), path
        found += [f"{path.name}: {name}" for name in spawned.findall(text) if f"def {name}(" in text]
    assert found == []


def sources() -> list[Path]:
    """The files of the product, and of the gate next door."""
    return sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "gate/src").rglob("*.py")])


def room_of(path: Path) -> str:
    package, room = path.parts[path.parts.index("src") + 1 :][:2]
    return room if package == "seriatim" else f"{package}/{room}"


def test_a_class_has_a_name_of_its_own_in_its_room() -> None:
    """The module is the qualifier; in one room nobody should have to ask which one is meant."""
    homes = defaultdict(list)
    for path in sources():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[room_of(path), node.name].append(str(path.relative_to(ROOT)))
    assert len(homes) > 300
    found = {name: files for (room, name), files in homes.items() if len(files) > 1 and not room.endswith("kernels")}
    assert found == {}


TWINS = {
    "the same part of several methods": "grouping memory",
    "an object of the domain, by what is done with it": "board halves",
}


def test_a_file_has_a_name_of_its_own_in_its_room_unless_it_is_the_same_idea() -> None:
    homes = defaultdict(list)
    for path in sources():
        if not path.stem.startswith("__") and path.stem != "env":  # alembic's own name
            homes[room_of(path), path.stem.removeprefix("_")].append(str(path.relative_to(ROOT)))
    allowed = {name for names in TWINS.values() for name in names.split()}
    assert {name: files for (_, name), files in homes.items() if len(files) > 1 and name not in allowed} == {}


def test_no_module_assigns_a_name_twice() -> None:
    """Two modules that both had a FEW became one: the limit of one look was then that of the other."""
    for path in sources():
        body = ast.parse(path.read_text(encoding="utf-8")).body
        stored = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
        stored += [node.target for node in body if isinstance(node, ast.AnnAssign)]
        names = [one.id for target in stored for one in ast.walk(target) if isinstance(one, ast.Name)]
        assert len(names) == len(set(names)), path.name
