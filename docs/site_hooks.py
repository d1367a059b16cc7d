"""What the site adds to the pages of this folder: every command with its options, and the pages beside the README."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from seriatim.cli.app import typer_for

ROOT = Path(__file__).parents[1]
FROM_ROOT = {"GLOSSARY.md": "glossary.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page of options, and the pages that readers of the repository expect in its first folder."""
    files.append(File.generated(config, "reference/options.md", content=options_page()))
    for name, page in FROM_ROOT.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=re.sub(r"\]\(docs/", "](", text)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Let links to the repository's first folder lead to where the site has these pages."""
    up = "../" * page.file.src_uri.count("/")
    for name, there in FROM_ROOT.items():
        markdown = re.sub(rf"\]\((?:\.\./)*{name}", f"]({up}{there}", markdown)
    return markdown


def options_page() -> str:
    """Return the reference of all commands, as their own --help has it."""
    head = (
        "# Every option\n\nGenerated from the commands themselves. [Commands](commands.md) says what each is for, "
        "its Python twin, and the exit codes.\n"
    )
    return head + "".join(_described(typer_for(()), None, "seriatim"))


def _described(command: Any, parent: Any, name: str) -> Iterator[str]:
    context = command.make_context(name.split()[-1], [], parent=parent, resilient_parsing=True)
    inner = getattr(command, "commands", {})
    if parent is not None:
        yield f"\n{'##' if inner or name.count(' ') == 1 else '###'} {name}\n\n{_help(command.help or '')}\n"
    if parent is not None and not inner:
        usage = context.get_usage().removeprefix("Usage: ")
        yield f"\n{_code(' '.join(usage.split()))}\n\n| option | |\n|---|---|\n"
        yield from (_row(*record) for one in command.params if (record := one.get_help_record(context)))
    for word in sorted(inner):
        yield from _described(inner[word], context, f"{name} {word}")


def _help(text: str) -> str:
    """Return the help of a command, its examples as code."""
    parts = [" ".join(part.split()) for part in text.split("\n\n")]
    return "\n\n".join(_code(part[9:]) if part.startswith("Example: ") else _prose(part) for part in parts)


def _code(text: str) -> str:
    return f"```\n{text}\n```"


def _row(option: str, text: str) -> str:
    """Return one line of the table; what stands in brackets at the end of a help text comes last, in small print."""
    words, _, bracket = text.partition("  [")
    small = f" <small>{_cell(bracket.rstrip(']'))}</small>" if bracket else ""
    return f"| `{option.replace('|', chr(92) + '|')}` | {_cell(words)}{small} |\n"


def _cell(text: str) -> str:
    return _prose(" ".join(text.split())).replace("|", "\\|")


def _prose(text: str) -> str:
    """Return text in which nothing is read as markup."""
    return re.sub(r"([*_<\[])", r"\\\1", text)
