"""A hierarchy: how the values of a column become coarser, level by level.

It is either a table of value paths (an ARX file) or a builder that makes the path of any value. Both say which label
each value has at every level.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

TOP = "*"


class Hierarchy(Protocol):
    """Level 0 is the value itself; the last level is ``*`` for all.

    Levels are nested: two values that share a label at one level share it at every level above.
    """

    @property
    def source(self) -> str:
        """Return where it came from, for messages: a file name or the builder's name."""

    @property
    def digest(self) -> str:
        """Return a digest; equal hierarchies have equal digests."""

    def paths(self, texts: Sequence[str]) -> list[tuple[str, ...] | None]:
        """Return the labels of each value from level 1 up to ``*``; ``None`` for a value it does not know.

        Every path has the same length, at least 1.
        """

    def known(self) -> tuple[str, ...] | None:
        """Return all values it knows, in its own order; ``None`` for a builder without a list."""


@dataclass(frozen=True, slots=True)
class PathHierarchy:
    """The rows of an ARX file: value;level1;...;*."""

    source: str
    digest: str
    rows: dict[str, tuple[str, ...]]

    def paths(self, texts: Sequence[str]) -> list[tuple[str, ...] | None]:
        return [self.rows.get(text) for text in texts]

    def known(self) -> tuple[str, ...] | None:
        return tuple(self.rows)


def path_hierarchy(source: str, rows: Mapping[str, tuple[str, ...]]) -> PathHierarchy:
    """Make a hierarchy of its rows. Their order counts: it is the order of the values on the scale."""
    levels = [_coded(labels) for labels in zip(*rows.values(), strict=True)]
    return PathHierarchy(source, paths_digest("rows", [list(rows), levels]), dict(rows))


def _coded(labels: tuple[str, ...]) -> list[list[Any]]:
    """Return each label once and the label of each row: a long set label must not be written per row."""
    places: dict[str, int] = {}
    rows = [places.setdefault(label, len(places)) for label in labels]
    return [list(places), rows]


def paths_digest(name: str, content: Any) -> str:
    """Return the digest of a hierarchy: its kind and its content as canonical JSON."""
    text = json.dumps([name, content], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
