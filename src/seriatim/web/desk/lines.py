"""The commands behind the buttons: the words that a job runs, and the line that a person would type."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from seriatim.errors import Fault, InputError

TRY, DRAFT, PUBLISH, DELIVER, VERIFY = "try", "draft", "publish", "deliver", "verify"
TITLES = {
    TRY: "Dry run",
    DRAFT: "Draft for approval",
    PUBLISH: "Release",
    DELIVER: "Delivery",
    VERIFY: "Check of the ledger",
}
JUDGING = (TRY, DRAFT, PUBLISH)
MOST_POLICIES = 200


def publishing(kind: str, table: Path, policy: Path, recipients: Iterable[str], person: str) -> tuple[str, ...]:
    """Return the words of `seriatim publish`: try it, keep a draft, or release it."""
    told = ("publish", str(table), "--policy", str(policy), *(word for one in recipients for word in ("--to", one)))
    if kind == TRY:
        return (*told, "--dry-run", "--suggest")
    return (*told, "--draft", person) if kind == DRAFT else (*told, "--approved-by", person)


def as_kind(words: tuple[str, ...], kind: str, person: str) -> tuple[str, ...]:
    """Return the words of the same table and policy for another kind."""
    given = [words[at + 1] for at, word in enumerate(words) if word == "--to"]
    return publishing(kind, Path(words[1]), Path(words[words.index("--policy") + 1]), given, person)


def delivering(series: str, number: int, recipients: Iterable[str], person: str, out: str) -> tuple[str, ...]:
    """Return the words of `seriatim ledger deliver`."""
    to = (word for one in recipients for word in ("--to", one))
    options = (*to, "--approved-by", person, *(("--out", str(Path(out).expanduser().absolute())) if out else ()))
    return ("ledger", "deliver", *options, "--", series, str(number))  # a series may begin like an option


def with_options(words: Sequence[str], *options: str) -> list[str]:
    """Return a command with further options, right behind its name: nothing that follows can swallow them."""
    at = 2 if words[0] == "ledger" else 1
    return [*words[:at], *options, *words[at:]]


def typed(words: Sequence[str], ledger: str) -> str:
    """Return a command as a person would type it. An address with a password stays in the variable it came from."""
    return shlex.join(["seriatim", *(words if "@" in ledger else with_options(words, "--ledger", ledger))])


def policies_in(folder: Path) -> Mapping[Path, str]:
    """Return the policies in a folder, with the series of each."""
    found = {path: series_of(path) for path in sorted(folder.glob("*.toml"))[:MOST_POLICIES]}
    return {path: series for path, series in found.items() if series}


def series_of(policy: Path) -> str:
    """Return the series that a policy names; empty if it names none or cannot be read."""
    import tomllib

    try:
        told: Any = tomllib.loads(policy.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ""
    series = told.get("series") if "columns" in told else None
    name = series.get("name") if isinstance(series, dict) else None
    return name if isinstance(name, str) else ""


def existing(where: str, text: str) -> Path:
    """Return the absolute path of a file that is there."""
    if not text or "\0" in text:
        raise InputError(Fault(where, "none was chosen", f"a {where}, or the path of one on this computer"))
    path = Path(text).expanduser().absolute()
    if not path.is_file():
        raise InputError(Fault(where, "there is no such file", "the path of a file on this computer"))
    return path


def safe_name(name: str) -> str:
    """Return the name of an uploaded file without folders or anything that cannot be seen."""
    last = name.replace("\\", "/").rpartition("/")[2]
    kept = "".join(mark if mark.isprintable() else "_" for mark in last).lstrip(".")[-120:]
    return kept or "table.csv"
