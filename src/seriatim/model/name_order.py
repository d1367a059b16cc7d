"""Names of files and releases in the order people mean: numbers inside them by size, so that 9 comes before 10."""

from __future__ import annotations

import re

_DIGITS = re.compile(r"(\d+)")


def name_order(name: str) -> tuple[str | int, ...]:
    """A key to sort and compare by: ``m-09``, ``m-9`` and ``M-9`` are the same."""
    return tuple(int(part) if at % 2 else part for at, part in enumerate(_DIGITS.split(name.casefold().strip())))
