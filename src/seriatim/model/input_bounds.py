"""Bounds of what is read: said once, and looked at before any work, so that no file takes all time or memory."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from seriatim.errors import Fault, InputError
from seriatim.model.names import printable_file_name

LARGEST_DOCUMENT = 1 << 22
"""Bytes of a policy, an adversary, or the head of a knowledge file: more than 100,000 columns declare."""
LARGEST_RECORD = 1 << 25
"""Bytes of a file that Seriatim wrote as JSON: a baseline, a saved answer."""
LARGEST_HIERARCHY = 1 << 26
LARGEST_LIST = 1 << 28
"""Bytes of a list of people."""
DEEPEST = 50
"""Tables inside each other."""
LONGEST_ROW = 1 << 24
"""Bytes of one row of a table: long free text is no reason to reject a file."""
MOST_COLUMNS = 1 << 15
MOST_ROWS = 50_000_000
MOST_CELLS = 1_000_000_000
MOST_PAIRED = 200
"""Columns that are all compared with each other."""
LONGEST_NUMBER = 1_600
"""Characters of a number; the longest float needs 1,100."""

_KEY = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DEEP = re.compile(rf"(?<![\w-]){_KEY}(?:[ \t]*+\.[ \t]*+{_KEY}){{{DEEPEST}}}")


def given_file_bytes(path: Path, what: str, largest: int, error: type[InputError] = InputError) -> bytes:
    """Return the bytes of a file that a user names; ``what`` is its purpose, for messages."""
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode) and not path.is_dir():
            found, remedy = f"is a pipe or a device, no {what} file", "save it as a file and name that"
            raise error(Fault(printable_file_name(path), found, remedy=remedy))
        if state.st_size > largest:
            found = f"is larger than a {what} file may be: {largest >> 20} MB"
            raise error(Fault(printable_file_name(path), found, remedy="check the path"))
        return path.read_bytes()
    except FileNotFoundError:
        found, remedy = f"there is no such {what} file", "check the path"
    except IsADirectoryError:
        found, remedy = f"is a folder, no {what} file", "name the file in it"
    except PermissionError:
        found, remedy = f"this {what} file may not be read", "check its permissions"
    except (OSError, ValueError) as failed:
        reason = getattr(failed, "strerror", None) or "the path is not valid"
        found, remedy = f"this {what} file cannot be read ({reason})", "check the path"
    raise error(Fault(printable_file_name(path), found, remedy=remedy))


def is_too_deep(text: str) -> bool:
    """Return whether a TOML text has dotted keys deeper than any file of ours: readers take quadratic time for them."""
    return _DEEP.search(text) is not None


def size_fault(where: str, columns: int, rows: int = 0) -> Fault | None:
    """Return the fault that a table is too large, from what is known before its cells are read."""
    if columns > MOST_COLUMNS:
        return Fault(where, f"{columns:,} columns", f"at most {MOST_COLUMNS:,}", "leave out those that are not needed")
    if rows > MOST_ROWS or rows * columns > MOST_CELLS:
        allowed = f"at most {MOST_ROWS:,} rows, and {MOST_CELLS:,} cells"
        return Fault(where, f"{rows:,} rows of {columns:,} columns", allowed, "check that it is the right file")
    return None
