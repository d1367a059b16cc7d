"""Examples of the pages that can be run as they stand: what they print is what they show."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from support.command_line import seriatim

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str, kind: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [block for name, block in fenced if name == kind]


def pages() -> list[Path]:
    return [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]


def test_commands_name_files_that_a_release_has(tmp_path: Path) -> None:
    """Commands about the demo's releases, as a page prints them; and every path of a release on any page."""
    (block,) = [one for one in blocks("how-to/audit-a-table.md", "") if "seriatim demo" in one]
    folder = tmp_path
    for line in block.splitlines():
        program, *arguments = shlex.split(line)
        if program == "cd":
            folder = folder / arguments[0]
            continue
        ran = seriatim(folder, *arguments)
        assert ran.code == 0, f"{line}\n{ran.out}{ran.err}"
    written = {path.relative_to(folder / "releases").as_posix() for path in (folder / "releases").rglob("*")}
    there = {name.partition("/")[2] for name in written}
    named = {
        (page.name, rest)
        for page in pages()
        for rest in re.findall(r"releases/[a-z-]+-\d{4}/([\w./-]*\w)", page.read_text(encoding="utf-8"))
    }
    assert len(named) >= 8
    assert sorted((page, rest) for page, rest in named if rest not in there) == []


def test_the_audit_of_another_tools_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (policy,), (_, example) = blocks("how-to/audit-a-table.md", "toml"), blocks("how-to/audit-a-table.md", "python")
    (tmp_path / "policy.toml").write_text(policy)
    monkeypatch.chdir(tmp_path)
    exec(example, {})
    shown = [line[2:] for line in example.splitlines() if line.startswith("# ")]
    assert len(shown) == 2
    assert capsys.readouterr().out.splitlines() == shown


def test_the_examples_of_answering_queries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for example in blocks("how-to/answer-queries.md", "python"):
        exec(example, {})
        shown = [line[2:] for line in example.splitlines() if line.startswith("# ")]
        assert len(shown) >= 2
        assert capsys.readouterr().out.splitlines() == shown
