"""The site's navigation and its reference of Python names; ./dev docs builds it and fails on a broken link."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import isclass, isroutine
from pathlib import Path

import pytest

import seriatim as sr

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ROOMS = ("attacks", "measures", "gate", "queries", "reading", "knowledge", "testing", "ports")
MADE_BY_THE_SITE = {"reference/options.md", "glossary.md", "contributing.md", "changelog.md"}


def test_the_navigation_names_every_page_once() -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    named = re.findall(r"([\w/.-]+\.md)$", nav, re.MULTILINE)
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert len(named) == len(set(named))
    assert set(named) == pages | MADE_BY_THE_SITE


def test_the_reference_names_everything_that_users_import() -> None:
    page = (DOCS / "reference/python/seriatim.md").read_text(encoding="utf-8")
    assert set(sr.__all__) - set(ROOMS) <= set(re.findall(r"^::: seriatim\.(\w+)$", page, re.MULTILINE))


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_room_has_a_page_and_a_sentence_for_each_name(room: str) -> None:
    package = "seriatim_gate" if room == "gate" else f"seriatim.{room}"
    assert f"::: {package}\n" in (DOCS / f"reference/python/{room}.md").read_text(encoding="utf-8")
    module = import_module(f"seriatim.{room}")
    values = {name: getattr(module, name) for name in module.__all__}
    mute = [name for name, value in values.items() if (isclass(value) or isroutine(value)) and not value.__doc__]
    assert len(values) >= 3
    assert mute == []
