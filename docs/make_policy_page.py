"""Writes the tables of docs/reference/policy.md from the rows of policy keys: ./dev policy-page."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from seriatim.model.methods import CHOOSING, installed_rows
from seriatim.model.policy_keys import PolicySection, Setting
from seriatim.policies.shapes import rows_of

PAGE = Path(__file__).parent / "reference" / "policy.md"
_TABLE = re.compile(r"(<!-- keys: (\w+) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def policy_page(page: str) -> str:
    """Return the page with its tables as the rows have them."""
    return _TABLE.sub(lambda found: f"{found[1]}{_table(PolicySection(found[2]))}{found[3]}", page)


def _table(section: PolicySection) -> str:
    rows = rows_of(section)
    if section is PolicySection.DEFENCE:
        lines = [_line(rows["method"]), _line(rows["suppress"]), *map(_line_of_option, _options().values())]
    else:
        lines = [_line(row) for row in rows.values()]
    return "\n".join(["| key | takes | meaning |", "|---|---|---|", *lines]) + "\n"


def _options() -> dict[str, list[tuple[str, Setting]]]:
    """Return the rows of every option with the methods that read it, those of strange packages left out."""
    found: dict[str, list[tuple[str, Setting]]] = {}
    for name, row in {**installed_rows(), CHOOSING.name: CHOOSING}.items():
        for option in row.options if row.home.startswith(("seriatim.", "seriatim_papers.")) else ():
            found.setdefault(option.key, []).append((f"`{name}`", option))
    return found


def _line(row: Setting) -> str:
    return f"| `{row.key}` | {_takes(row)}{'; required' if row.required else ''} | {row.summary} |"


def _line_of_option(read: list[tuple[str, Setting]]) -> str:
    """Return the line of an option: methods that read it alike are named together."""
    takes, means = _by_method(read, _takes), _by_method(read, lambda option: option.summary)
    if len({option.summary for _, option in read}) == 1:
        means = read[0][1].summary
    return f"| `{read[0][1].key}` | {takes} | {means} |"


def _by_method(read: list[tuple[str, Setting]], told: Callable[[Setting], str]) -> str:
    alike: dict[str, list[str]] = {}
    for name, option in read:
        alike.setdefault(told(option), []).append(name)
    return "; ".join(f"for {_listed(names)}: {text}" for text, names in alike.items())


def _takes(row: Setting) -> str:
    """Return what a key takes, with its default."""
    limits = row.limits
    if limits is not None:
        words = limits.words.replace(" to 2^53", "").replace("to m", "to `m`")
        default = "" if row.default is None else f" (default {row.default})"
        return words + re.sub(r'"(\w+)"', r'`"\1"`', row.values.split(":")[0]) + default
    if row.words:
        begun = row.section in (PolicySection.PROMISE, PolicySection.DEFENCE) and not row.required
        default = row.words[0] if begun else row.default
        return _listed([f"`{word}`{' (default)' if word == default else ''}" for word in row.words], "or")
    return row.allowed


def _listed(names: list[str], last: str = "and") -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


if __name__ == "__main__":
    PAGE.write_text(policy_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
