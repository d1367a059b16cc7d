"""Newcomers of many releases in one file, so that a late release need not read a file per earlier one.

Every 8th release also keeps the newcomers of the last 8 releases together, every 64th those of the last 64, and so on.
Who is who after 100 releases is in nine files, and nobody is named in more than one file per power of 8. Each
release has a file of its own newcomers all the same, so ledgers that lack the others are read as ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seriatim.ledger.shelf import NEWCOMERS, PEOPLE

_TOGETHER = 8

Facts = Mapping[str, Any]


def newcomers_since(number: int) -> int | None:
    """Return the first release whose newcomers this one keeps with its own; None if it keeps only its own."""
    span = 1
    while number % (span * _TOGETHER) == 0:
        span *= _TOGETHER
    return number - span + 1 if span > 1 else None


def naming_files(facts: Sequence[Facts]) -> list[tuple[Facts, str]]:
    """Return the fewest files that name everyone of these releases, in order, each with its release.

    A release with others after it is never recalled, so the newcomers that it keeps with its own all count.
    """
    found: list[tuple[Facts, str]] = []
    unread = facts[-1]["number"] if facts else 0
    for one in reversed(facts):
        if one["number"] <= unread:
            since = newcomers_since(one["number"]) if NEWCOMERS in one["private"] else None
            found.append((one, PEOPLE if since is None else NEWCOMERS))
            unread = (one["number"] if since is None else since) - 1
    return found[::-1]
