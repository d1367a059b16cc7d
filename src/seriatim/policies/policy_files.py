"""Reads the steward's files, and reports what goes wrong in one line."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from contextlib import suppress
from pathlib import Path
from typing import Any

from seriatim.errors import Fault, PolicyError
from seriatim.model.table_faults import LARGEST_DOCUMENT, given_file_bytes, is_too_deep
from seriatim.policies.faults import KeyPath, Position

_PLACE = re.compile(r"^(.*) \(at line (\d+), column (\d+)\)$", re.DOTALL)


def bytes_within_bounds(path: Path, what: str, largest: int = LARGEST_DOCUMENT) -> bytes:
    """Return the file's bytes; ``what`` names its purpose: policy, hierarchy, adversary."""
    return given_file_bytes(path, what, largest, PolicyError)


def toml_with_places(path: Path, what: str) -> tuple[dict[str, Any], dict[KeyPath, Position]]:
    """Return the document and the positions of its keys."""
    content = bytes_within_bounds(path, what)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        column = error.start - (content.rfind(b"\n", 0, error.start) + 1) + 1
        raise PolicyError(Fault(f"{path}:{line}:{column}", "not UTF-8", remedy="save the file as UTF-8")) from None
    if not text.strip():
        raise PolicyError(Fault(f"{path}:1:1", "the file is empty", remedy="seriatim init writes one to start from"))
    too_deep = Fault(f"{path}:1:1", "values are nested too deeply", remedy="flatten them")
    if is_too_deep(text):
        raise PolicyError(too_deep)
    try:
        return tomllib.loads(text), key_positions(text)
    except RecursionError:
        raise PolicyError(too_deep) from None
    except ValueError as error:
        raise PolicyError(_syntax_fault(path, text, str(error))) from None


def _syntax_fault(path: Path, text: str, message: str) -> Fault:
    placed = _PLACE.match(message)
    if placed:
        message, line, column = placed[1], int(placed[2]), int(placed[3])
    else:
        message = message.removesuffix(" (at end of document)")
        lines = text.replace("\r\n", "\n").split("\n")
        line, column = len(lines), len(lines[-1]) + 1
    return Fault(f"{path}:{line}:{column}", f"not valid TOML: {message}", remedy="correct the line")


_BLANK = re.compile(r"(?:[ \t\n]++|#[^\n]*+)*+")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# possessive, as a pattern that may go back keeps a hundred bytes for each character of a text
_SHORT_TEXT = r'"(?:[^"\\\n]++|\\.)*+"|' + r"'[^'\n]*+'"
_QUOTED_KEY = re.compile(_SHORT_TEXT)
_TEXT = re.compile(r'"""(?:\\[\s\S]|[^\\])*?"{3,5}|' + r"'''[\s\S]*?'{3,5}|" + _SHORT_TEXT)
_OTHER = re.compile(r"[^,\]}\n#]++")


def key_positions(text: str) -> dict[KeyPath, Position]:
    """Return line and column, both from 1, of every table, key and array element."""
    scanner = _Scanner(text.replace("\r\n", "\n"))
    with suppress(_LostError, RecursionError):  # what was found so far still helps messages
        scanner.document()
    return scanner.positions()


class _LostError(Exception):
    """The text is not what a valid TOML document would have here."""


# Runs only on text that ``tomllib`` has accepted, so it needs to know where keys and values start and end, not whether
# they are valid. If it gets lost it stops, and messages point at the nearest table it has seen.
class _Scanner:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.offsets: dict[KeyPath, int] = {}
        self.repeats: dict[KeyPath, int] = {}
        """How often each ``[[array]]`` header was seen."""

    def positions(self) -> dict[KeyPath, Position]:
        starts = [0, *(found.end() for found in re.finditer("\n", self.text))]
        lines = {path: bisect_right(starts, offset) for path, offset in self.offsets.items()}
        return {path: (line, self.offsets[path] - starts[line - 1] + 1) for path, line in lines.items()}

    def document(self) -> None:
        table: KeyPath = ()
        self.take(_BLANK)
        while self.at < len(self.text):
            if self.text.startswith("[", self.at):
                table = self.header()
            else:
                self.pair(table)
            self.take(_BLANK)

    def header(self) -> KeyPath:
        brackets = "[[" if self.text.startswith("[[", self.at) else "["
        self.at += len(brackets)
        path: KeyPath = ()
        keys = self.keys()
        for place, (key, offset) in enumerate(keys):
            path += (key,)
            if place == len(keys) - 1:
                if brackets == "[[":
                    self.repeats[path] = self.repeats.get(path, 0) + 1
                    path += (self.repeats[path] - 1,)
                self.offsets[path] = offset
            else:
                self.offsets.setdefault(path, offset)
                if path in self.repeats:
                    path += (self.repeats[path] - 1,)
        self.expect("]" * len(brackets))
        return path

    def pair(self, table: KeyPath) -> None:
        path = table
        for key, offset in self.keys():
            path += (key,)
            self.offsets.setdefault(path, offset)
        self.expect("=")
        self.value(path)

    def keys(self) -> list[tuple[str, int]]:
        """Return the parts of a dotted key, each with its offset."""
        found = []
        while True:
            self.take(_SPACE)
            offset = self.at
            quoted = self.take(_QUOTED_KEY)
            key = tomllib.loads(f"key = {quoted}")["key"] if quoted else self.take(_BARE_KEY)
            if not quoted and not key:
                raise _LostError
            found.append((key, offset))
            self.take(_SPACE)
            if not self.text.startswith(".", self.at):
                return found
            self.at += 1

    def value(self, path: KeyPath) -> None:
        self.take(_SPACE)
        if self.text.startswith("[", self.at):
            self.array(path)
        elif self.text.startswith("{", self.at):
            self.inline(path)
        elif not (self.take(_TEXT) or self.take(_OTHER)):
            raise _LostError

    def array(self, path: KeyPath) -> None:
        self.at += 1
        index = 0
        self.take(_BLANK)
        while not self.text.startswith("]", self.at):
            self.offsets.setdefault((*path, index), self.at)
            self.value((*path, index))
            self.separator("]")
            index += 1
        self.at += 1

    def inline(self, path: KeyPath) -> None:
        self.at += 1
        self.take(_BLANK)
        while not self.text.startswith("}", self.at):
            self.pair(path)
            self.separator("}")
        self.at += 1

    def separator(self, end: str) -> None:
        self.take(_BLANK)
        if self.text.startswith(",", self.at):
            self.at += 1
            self.take(_BLANK)
        elif not self.text.startswith(end, self.at):
            raise _LostError

    def expect(self, mark: str) -> None:
        if not self.text.startswith(mark, self.at):
            raise _LostError
        self.at += len(mark)

    def take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found.group()
