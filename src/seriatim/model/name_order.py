"""Sorts names of files and releases as people mean them: numbers inside them by size, so 9 comes before 10."""

from __future__ import annotations

import re

_DIGITS = re.compile(r"(\d+)")
_LONGEST = 4_000
"""Python reads no longer number."""


def name_order(name: str) -> tuple[str | int, ...]:
    """Return a key to sort and compare by: ``m-09``, ``m-9`` and ``M-9`` are equal."""
    parts = _DIGITS.split(name.casefold().strip())
    return tuple(int(part[-_LONGEST:]) if at % 2 else part for at, part in enumerate(parts))
