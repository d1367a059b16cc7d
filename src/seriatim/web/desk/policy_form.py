"""A policy as a form: what each line states, and why it was guessed. All other lines of the file stay as they are."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from seriatim import api
from seriatim.errors import Fault, InputError, PolicyError
from seriatim.storage.durable_files import write_durably

ROLES = {
    "quasi": "others may know it: it is generalised",
    "sensitive": "it is to be protected",
    "plain": "it is published as it is",
    "weight": "it is a survey weight, published as it is",
    "drop": "it is not published",
}
LONGEST = 1 << 20
"""Characters of a policy that is typed."""
_SECTION = re.compile(r"\[(?P<name>.+)\]\s*(#.*)?")
_LINE = re.compile(r"(?P<key>[A-Za-z0-9_-]+) = (?P<value>[^#\n]*?)\s*(?:# guess: (?P<why>.*))?")


@dataclass(frozen=True, slots=True)
class PolicyLine:
    """A line of a policy that a form can change."""

    at: int
    """Its place in the file, from 0."""
    section: str
    column: str
    """The column that it is about; empty in other sections."""
    key: str
    _: KW_ONLY
    value: str
    why: str
    """Why it was guessed; empty once somebody has stated it."""

    @property
    def role(self) -> str:
        return self.value.strip("\"'")


def lines_of(text: str) -> list[PolicyLine]:
    """Return the lines that a form can change, in the order of the file."""
    section, column, found = "", "", []
    for at, line in enumerate(text.splitlines()):
        if head := _SECTION.fullmatch(line.strip()):
            section, column = _place(head["name"])
        elif section and (stated := _LINE.fullmatch(line)):
            found.append(PolicyLine(at, section, column, stated["key"], value=stated["value"], why=stated["why"] or ""))
    return found


def _place(head: str) -> tuple[str, str]:
    """Return the section that a line in brackets opens, and its column."""
    try:
        told = tomllib.loads(f"[{head}]")
    except tomllib.TOMLDecodeError:
        return "", ""
    section = next(iter(told))
    return section, next(iter(told[section]), "") if section == "columns" else ""


def with_values(text: str, values: Mapping[int, str]) -> str:
    """Return the policy with other values in these lines. Somebody has looked at them, so no guess stays on them."""
    lines = text.splitlines()
    for one in lines_of(text):
        if one.at in values:
            given = values[one.at].strip()
            if "\n" in given or "#" in given:
                raise InputError(Fault(one.key, "not one value", "a number, or a text between quotes"))
            lines[one.at] = f"{one.key} = {given}"
    return "\n".join(lines) + "\n"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def keep(path: Path, text: str, seen: str) -> Sequence[str]:
    """Write a policy that loads, if the file is still as it was ``seen``; else return what is wrong with it."""
    if digest(path.read_text(encoding="utf-8")) != seen:
        return ("the file has changed since this page was opened: open it again",)
    trial = path.with_name(f".{path.name}.trial.toml")  # hierarchies are found beside it
    try:
        write_durably(trial, text.encode())
        api.load_policy(trial)
    except PolicyError as error:
        return tuple(str(fault).replace(str(trial), path.name) for fault in error.faults)
    finally:
        trial.unlink(missing_ok=True)
    write_durably(path, text.encode())
    return ()
