"""Sorts names of files and releases as people mean them: numbers inside them by size, so 9 comes before 10."""

from __future__ import annotations

import re

_DIGITS = re.compile(r"(\d+)")


def name_order(name: str) -> tuple[str | int, ...]:
    """Return a key to sort and compare by: ``m-09``, ``m-9`` and ``M-9`` are equal."""
    return tuple(int(part) if at % 2 else part for at, part in enumerate(_DIGITS.split(name.casefold().strip())))
