"""The commands behind the buttons: the words that a job runs, and the line that a person would type."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from seriatim.errors import Fault, InputError
from seriatim.ledger.shelf import slug
from seriatim.policies import guess_series

TRY, DRAFT, PUBLISH, DELIVER, VERIFY = "try", "draft", "publish", "deliver", "verify"
ATTACK, FORECAST, INIT = "attack", "forecast", "init"
TITLES = {
    TRY: "Dry run",
    DRAFT: "Draft for approval",
    PUBLISH: "Release",
    DELIVER: "Delivery",
    VERIFY: "Check of the ledger",
    ATTACK: "Attack",
    FORECAST: "Forecast",
    INIT: "First policy",
}
JUDGING = (TRY, DRAFT, PUBLISH)
REPORTING = (ATTACK, FORECAST)
"""Jobs that leave a report, beside what they print."""
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


def attacking(target: Mapping[str, str], known: float) -> tuple[str, ...]:
    """Return the words of `seriatim attack`, on a series or on files, by someone who knows a share of the values."""
    told = (f"--{option}={text}" for option, text in target.items() if text)  # a name may begin like an option
    return ("attack", *told, *(("--adversary", f"compromised = {known:g}") if known else ()))


def forecasting(series: str, releases: int) -> tuple[str, ...]:
    """Return the words of `seriatim forecast`."""
    return ("forecast", "--releases", str(releases), "--", series)


def guessing(table: Path, folder: Path, series: str) -> tuple[str, ...]:
    """Return the words of `seriatim init`; the policy is named after the series."""
    name = f"--series={series}" if series else f"--series={guess_series(table.stem)}"
    return ("init", f"--out={folder / slug(name.partition('=')[2])}.toml", name, "--", str(table))


def share_of(where: str, text: str, most: float) -> float:
    """Return a percentage that was typed, as a share; nothing is none."""
    try:
        found = float(text.strip().removesuffix("%").replace(",", ".") or 0) / 100
    except ValueError:
        found = -1.0
    if not 0 <= found <= most:
        raise InputError(Fault(where, "not such a number", f"a percentage from 0 to {100 * most:g}"))
    return found


def with_options(words: Sequence[str], *options: str) -> list[str]:
    """Return a command with further options, right behind its name: nothing that follows can swallow them."""
    at = 2 if words[0] == "ledger" else 1
    return [*words[:at], *options, *words[at:]]


def typed(words: Sequence[str], ledger: str) -> str:
    """Return a command as a person would type it. An address with a password stays in the variable it came from."""
    bare = "@" in ledger or words[0] == INIT
    return shlex.join(["seriatim", *(words if bare else with_options(words, "--ledger", ledger))])


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


def existing(where: str, text: str, kind: Literal["file", "folder"] = "file") -> Path:
    """Return the absolute path of a file or folder that is there."""
    if not text or "\0" in text:
        raise InputError(Fault(where, "none was chosen", f"a {where}, or the path of one on this computer"))
    path = Path(text).expanduser().absolute()
    if not (path.is_file() if kind == "file" else path.is_dir()):
        raise InputError(Fault(where, f"there is no such {kind}", f"the path of a {kind} on this computer"))
    return path


def safe_name(name: str) -> str:
    """Return the name of an uploaded file without folders or anything that cannot be seen."""
    last = name.replace("\\", "/").rpartition("/")[2]
    kept = "".join(mark if mark.isprintable() else "_" for mark in last).lstrip(".")[-120:]
    return kept or "table.csv"
