"""Generalises texts by their first characters, by runs of a declared order, or by named sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from seriatim.model.hierarchies.paths import TOP, PathHierarchy, path_hierarchy, paths_digest
from seriatim.model.scale import scale_set_label


@dataclass(frozen=True, slots=True)
class PrefixHierarchy:
    """Keep this many characters and mask each of the rest: 12345 becomes ``1234*``, ``123**``, ``*``."""

    keep: tuple[int, ...]
    """Strictly falling; 0 is the top and may be omitted."""

    def __post_init__(self) -> None:
        if not self.keep or min(self.keep) < 0:
            raise ValueError("keep needs at least one number of characters, none negative")
        if any(fewer >= more for more, fewer in pairwise(self.keep)):
            raise ValueError("each level must keep fewer characters than the one before")

    @property
    def source(self) -> str:
        return "prefix"

    @property
    def digest(self) -> str:
        return paths_digest("prefix", [kept for kept in self.keep if kept])

    def known(self) -> tuple[str, ...] | None:
        return None

    def paths(self, texts: Sequence[str]) -> list[tuple[str, ...] | None]:
        kept = [number for number in self.keep if number]
        return [(*(text[:n] + "*" * (len(text) - n) for n in kept), TOP) for text in texts]


def text_runs(order: Sequence[str], sizes: Sequence[int]) -> PathHierarchy:
    """Return runs of ``sizes[h]`` neighbours in the declared order, written as sets; the last run may be shorter."""
    if not order or len(set(order)) != len(order):
        raise ValueError("an order has each value once, and at least one")
    if not sizes or sizes[0] < 1 or any(b <= a or b % a for a, b in pairwise(sizes)):
        raise ValueError("each size must be a greater multiple of the one before")
    runs = [
        (size, [scale_set_label(list(order[start : start + size])) for start in range(0, len(order), size)])
        for size in sizes
    ]
    rows = {value: (*(labels[place // size] for size, labels in runs), TOP) for place, value in enumerate(order)}
    return path_hierarchy("group", rows)


def text_sets(groups: Sequence[Sequence[str]]) -> PathHierarchy:
    """Return one level of named sets under the top."""
    rows = {value: (scale_set_label(list(group)), TOP) for group in groups for value in group}
    if not rows or len(rows) != sum(len(group) for group in groups):
        raise ValueError("each value belongs to one group, and no group is empty")
    return path_hierarchy("groups", rows)
