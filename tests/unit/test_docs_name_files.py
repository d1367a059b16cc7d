"""Pages for contributors name files and folders that exist: a rename that leaves them behind fails here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = (
    "CONTRIBUTING.md",
    "docs/papers.md",
    *(f"docs/decisions/{p.name}" for p in (ROOT / "docs/decisions").glob("*.md")),
)
TREES = ("src/seriatim", "tests", "docs", "benchmarks", ".ci")


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
