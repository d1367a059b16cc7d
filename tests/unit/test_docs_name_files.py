"""Pages for contributors name files and folders that exist: a rename that leaves them behind fails here."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import seriatim as sr
from seriatim import api

ROOT = Path(__file__).parents[2]
PAGES = (
    "CONTRIBUTING.md",
    "docs/papers.md",
    *(f"docs/decisions/{p.name}" for p in (ROOT / "docs/decisions").glob("*.md")),
)
TREES = ("src/seriatim", "gate", "papers", "tests", "docs", "benchmarks", ".ci")


def paths_there_are() -> set[str]:
    """Every file and folder by each ending of its path, so that a page may begin where its reader knows it."""
    found = set()
    for tree in TREES:
        files = [path for path in (ROOT / tree).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        for path in files:
            for there in (path, *path.parents):
                parts = there.relative_to(ROOT).parts if there.is_relative_to(ROOT) else ()
                found |= {"/".join(parts[at:]) for at in range(len(parts))}
    return found


def named_in(text: str) -> list[str]:
    """What stands in backticks and looks like a path: ``folder/``, ``folder/file.py`` or ``file.py``."""
    return [
        name
        for name in re.findall(r"`([^`\s]+)`", text)
        if re.fullmatch(r"[\w-][\w.-]*(/[\w.-]+)*(/|\.py|\.md|/\w+)", name)
    ]


def test_a_path_is_told_from_a_word() -> None:
    text = "`model/draft.py`, `kernels/`, `ports.py`; not `./dev check`, `n`, `k = 5`, `sr.audit`, `--json`"
    assert named_in(text) == ["model/draft.py", "kernels/", "ports.py"]


@pytest.mark.parametrize("page", PAGES)
def test_every_file_named_exists(page: str) -> None:
    there = paths_there_are()
    assert [name for name in named_in((ROOT / page).read_text()) if name.rstrip("/") not in there] == []


def test_the_pages_name_many() -> None:
    assert len(named_in((ROOT / "docs/papers.md").read_text())) >= 30
    assert len(named_in((ROOT / "CONTRIBUTING.md").read_text())) >= 30


def test_the_drawing_of_the_path_names_rooms_that_exist() -> None:
    there = paths_there_are()
    rooms = re.findall(r'class="room"[^>]*>([^<]+)<', (ROOT / "docs/path.svg").read_text())
    words = [word.strip(",") for line in rooms for word in line.split() if word != "name/"]
    assert len(words) >= 15
    missing = [w for w in words if not {w.rstrip("/"), f"{w}.py", f"kernels/{w}"} & there]
    assert missing == []


def python_names_in(text: str) -> set[str]:
    """What stands in backticks or in a Python block and begins with ``sr.`` or ``api.``."""
    code = [*re.findall(r"`([^`\n]+)`", text), *re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)]
    return {
        name
        for part in code
        for name in re.findall(r"(?<![\w.])(?:seriatim\.)?((?:sr|api)(?:\.(?!py\b)[a-zA-Z_]\w*)+)", part)
    }


def exists(name: str) -> bool:
    found: Any = sr if name.startswith("sr.") else api
    for part in name.split(".")[1:]:
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


def test_every_python_name_exists() -> None:
    pages = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "CHANGELOG.md",
        *sorted((ROOT / "docs").rglob("*.md")),
    ]
    named = {(page.name, name) for page in pages for name in python_names_in(page.read_text(encoding="utf-8"))}
    assert len(named) >= 40
    assert sorted((page, name) for page, name in named if not exists(name)) == []


def folders_in(folder: str) -> set[str]:
    return {path.parent.name for path in (ROOT / "src/seriatim" / folder).glob("*/__init__.py")}


def test_the_map_names_every_room() -> None:
    named = set(named_in((ROOT / "CONTRIBUTING.md").read_text()))
    modules = {path.name for path in (ROOT / "src/seriatim").glob("*.py") if not path.name.startswith("__")}
    assert {f"{room}/" for room in folders_in("")} | modules <= named
    assert {f"{verb}/" for verb in folders_in("usecases")} <= named
    assert {f"kernels/{room}/" for room in folders_in("kernels")} <= named


def test_rooms_on_one_line_of_the_map_are_layers_of_the_import_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    ours, of_the_gate = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for head, layers in (("| rooms | hold |", ours), ("| rooms of the gate | hold |", of_the_gate)):
        table = text[text.index(head) :].partition("\n\n")[0]
        lines = re.findall(r"^\| (`[^|]+) \|", table, re.MULTILINE)
        shown = [{name.rstrip("/").removesuffix(".py") for name in named_in(line)} for line in lines]
        assert shown == [set(layer.split(" | ")) for layer in layers if layer != "__main__"]


def test_the_papers_are_listed_item_by_item() -> None:
    """144 items, numbered through; each names what does it, a test of it that exists, and what it was compared with."""
    rows = re.findall(r"^\| (\d+) \| (.+) \| (.+) \| (.+) \| (.+) \|$", (ROOT / "docs/papers.md").read_text(), re.M)
    assert [int(number) for number, *_ in rows] == list(range(1, 145))
    assert len({item for _, item, *_ in rows}) == 144
    for number, _, modules, tests, how in rows:
        assert named_in(modules), number
        assert all(name.rpartition("/")[2].startswith("test_") for name in named_in(tests)), number
        assert named_in(tests), number
        assert how.strip(), number
    assert [number for number, *_, how in rows if "**open" in how] == []
