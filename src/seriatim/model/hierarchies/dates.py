"""Generalises dates to months, quarters, years and decades."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import pairwise

from seriatim.model.hierarchies.paths import TOP, paths_digest

_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].*)?", re.ASCII)

_LABELS: dict[str, Callable[[date], str]] = {
    "day": lambda day: f"{day.year:04}-{day.month:02}-{day.day:02}",
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04}",
    "decade": lambda day: f"{day.year // 10:03}0s",
}
DATE_PARTS = tuple(_LABELS)
"""The parts of a date, from fine to coarse."""


@dataclass(frozen=True, slots=True)
class DateHierarchy:
    """``2020-03``, ``2020-Q1``, ``2020``, ``2020s``: any choice of parts, from fine to coarse.

    Reads ISO dates and datetimes; a time zone is kept as written, so the day is the one in the text.
    """

    parts: tuple[str, ...]

    def __post_init__(self) -> None:
        places = [DATE_PARTS.index(part) for part in self.parts]
        if not places or any(coarser <= finer for finer, coarser in pairwise(places)):
            raise ValueError("list parts from fine to coarse, each once")

    @property
    def source(self) -> str:
        return "date"

    @property
    def digest(self) -> str:
        return paths_digest("date", list(self.parts))

    def known(self) -> tuple[str, ...] | None:
        return None

    def paths(self, texts: Sequence[str]) -> list[tuple[str, ...] | None]:
        labels = [_LABELS[part] for part in self.parts]
        days = (date_day(text) for text in texts)
        return [None if day is None else (*(label(day) for label in labels), TOP) for day in days]


def date_day(text: str) -> date | None:
    """Return the day of an ISO date or datetime, or ``None``."""
    text = text.strip()
    if not _ISO.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text).date()
    except ValueError:
        return None
