"""Examples of the pages that can be run as they stand: what they print is what they show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str, kind: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


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
