"""Names and reasons: the ledger keeps them for good, so each must be text that anyone can read; and their order."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from seriatim.errors import Fault, InputError

LONGEST = 200
VISIBLE = f"visible text, at most {LONGEST} characters"
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters that count as printable and show nothing; so do variation selectors."""


def seen_in_text(mark: str) -> bool:
    """Return whether a character can be seen, or is a space."""
    return mark.isprintable() and mark not in _BLANK and not "\ufe00" <= mark <= "\ufe0f"


def is_visible_text(text: str) -> bool:
    """Return whether a text is short and has something that can be seen, and nothing that cannot."""
    alone = (mark for mark in text.strip() if not unicodedata.category(mark).startswith("M"))
    return len(text) <= LONGEST and all(map(seen_in_text, text)) and any(alone)


def visible_text(where: str, text: Any) -> str:
    """Return a name or a reason, or raise an error."""
    if not isinstance(text, str):
        raise InputError(Fault(where, f"a {type(text).__name__}", VISIBLE))
    if not is_visible_text(text):
        found = f"{len(text):,} characters" if len(text) > LONGEST else "empty, or with characters that nobody can see"
        raise InputError(Fault(where, found, VISIBLE))
    return text


def recipients_given(given: Any, where: str = "recipients") -> tuple[str, ...]:
    """Return names of recipients; a text is one name."""
    if isinstance(given, str):
        given = (given,)
    if not isinstance(given, Iterable):
        raise InputError(Fault(where, f"a {type(given).__name__}", "a list of names"))
    return tuple(visible_text(where, name) for name in given)


def printable_file_name(path: Path | str) -> str:
    """Return a path with a question mark for whatever a terminal cannot show, such as half a character."""
    return "".join(mark if mark.isprintable() else "?" for mark in str(path))


_DIGITS = re.compile(r"(\d+)")
_LONGEST = 4_000
"""Python reads no longer number."""


def name_order(name: str) -> tuple[str | int, ...]:
    """Return a key to sort and compare by: ``m-09``, ``m-9`` and ``M-9`` are equal."""
    parts = _DIGITS.split(name.casefold().strip())
    return tuple(int(part[-_LONGEST:]) if at % 2 else part for at, part in enumerate(parts))
