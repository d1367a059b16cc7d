"""How a command ends when it cannot go on: one line per fault, the same as JSON, and the exit code."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from seriatim.errors import Fault, InputError, SeriatimError

BUG = 1
_REPEATED = {
    "dependencies": "dependency",
    "recipients": "to",
    "respondents": "respondent",
    "tests": "test",
}
"""What Python takes as a list; the command line repeats an option."""
_ALLOWED = {"again": "--allow again", "empty": "--allow empty", "header_is_right": "--allow header"}
"""Booleans of Python that are words of one option."""
OUTSIDE = SeriatimError.exit_code


def fail_on_arguments(arguments: Sequence[str]) -> None:
    """Refuse half characters: names of files and people that no text file or database could hold."""
    broken = [place for place, text in enumerate(arguments, 1) if any(0xD800 <= ord(mark) < 0xE000 for mark in text)]
    if broken:
        where = ", ".join(map(str, broken))
        found = f"argument {where} holds half a character"
        raise InputError(Fault("command line", found, "text that UTF-8 can carry", "rename it"))


def end_with_faults(error: SeriatimError, as_json: bool, options: Mapping[str, str] | None = None) -> int:
    """Print a SeriatimError and return its exit code; ``options`` are those of the command, by their Python name."""
    options = options or {}
    faults = [_by_option(fault, options) for fault in error.faults] if isinstance(error, InputError) else []
    lines = [str(fault) for fault in faults] or [_dashed(" ".join(str(error).split()), options)]
    fields = [
        {"where": fault.where, "found": fault.found, "allowed": fault.allowed, "remedy": fault.remedy}
        for fault in faults
    ]
    return _told(type(error).__name__, lines, fields, error.exit_code, as_json)


def failed_options(app: Any, arguments: Sequence[str]) -> dict[str, str]:
    """Return the options of the command that was called: ``{"approved_by": "--approved-by"}``."""
    command = app
    for word in arguments:
        command = getattr(command, "commands", {}).get(word, command)
    found = {one.name: max(one.opts, key=len) for one in command.params if one.opts and one.opts[0].startswith("--")}
    found |= _ALLOWED if "allow" in found else {}
    return found | {many: found[one] for many, one in _REPEATED.items() if one in found}


def _by_option(fault: Fault, options: Mapping[str, str]) -> Fault:
    """Name what Python calls a parameter as the command line does."""
    names = fault.where.split(", ")
    where = ", ".join(options[name] for name in names) if all(name in options for name in names) else fault.where
    return Fault(where, *(_dashed(text, options) for text in (fault.found, fault.allowed, fault.remedy)))


def _dashed(text: str, options: Mapping[str, str]) -> str:
    """Write ``(approved_by)`` as ``(--approved-by)``."""
    return re.sub(r"\((\w+)\)", lambda found: f"({options.get(found[1], found[1])})", text)


def end_on_outside_error(error: OSError, as_json: bool) -> int:
    """Print what the system refused: the name of the file and its reason, never what was in it."""
    from seriatim.model.names import printable_file_name

    name = printable_file_name(str(error.filename)) if error.filename else "a file"
    reason = (error.strerror or type(error).__name__).lower()
    return _told(type(error).__name__, [f"{name}: {reason}; check the folder and the disk"], [], OUTSIDE, as_json)


def end_without_memory(as_json: bool) -> int:
    """Say that this machine is too small for the input."""
    line = "there is not enough memory for this input; take fewer rows or columns, or a larger machine"
    return _told("MemoryError", [line], [], OUTSIDE, as_json)


def end_on_bug(place: str, as_json: bool) -> int:
    """Print where an unexpected failure happened."""
    line = f"{place}; set SERIATIM_DEBUG=1 for the traceback (it may show data)"
    return _told("unexpected", [line], [], BUG, as_json)


def end_on_usage(code: int, as_json: bool) -> int:
    """Say as JSON that the command line itself could not be read; the words are on the error stream already."""
    if as_json and code == InputError.exit_code:
        _print_json("UsageError", ["the command line cannot be read"], [], code)
    return code


def _told(kind: str, lines: Sequence[str], faults: Sequence[dict[str, str]], code: int, as_json: bool) -> int:
    for line in lines:
        print(f"error: {line}", file=sys.stderr)  # noqa: T201
    if as_json:
        _print_json(kind, lines, faults, code)
    return code


def _print_json(kind: str, lines: Sequence[str], faults: Sequence[dict[str, str]], code: int) -> None:
    error = {"kind": kind, "exit_code": code, "lines": list(lines), "faults": list(faults)}
    print(json.dumps({"error": error}, indent=1, sort_keys=True))  # noqa: T201
