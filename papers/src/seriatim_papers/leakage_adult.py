"""The Adult section of Ren and Li: tables that keep k, l and t, and what their classes leak all the same.

The public file does not give the printed figures, but their structure, with t measured as total variation. All three
demands are monotone, so a node is tried only where every coarser one passes; minimal means that no finer node passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from seriatim.measures._leakage import figures_by_class
from seriatim.measures.leakage_given import column_by_column
from seriatim.model.class_counts import ValueCounts
from seriatim.model.classes import Classes, numbered_alike
from seriatim.model.scale import FloatArray
from seriatim_papers.adult import Adult, Levels

Node = tuple[int, ...]
COMPARED_AT = (2, 1, 1, 1, 0)
"""The levels of the first five columns at which distances are compared."""


@dataclass(frozen=True, slots=True)
class LeakageTerms:
    """(k, l, t): at least k records and l distinct values in a class, at most t from the margin (total variation)."""

    k: int
    l: int  # noqa: E741 - the field's own name
    t: float

    def __str__(self) -> str:
        return f"({self.k}, {self.l}, {self.t:g})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AnonymisedAdult:
    """A minimal node and what its classes leak."""

    asked: LeakageTerms
    quasi: tuple[str, ...]
    node: Node
    sizes: tuple[int, ...]
    l_d: FloatArray
    l_e: FloatArray
    n_missing: FloatArray
    shares: FloatArray
    """Classes by occupations."""
    margin: FloatArray
    labels: tuple[tuple[int, ...], ...]
    """The codes of each class at the node's levels."""
    names: tuple[str, ...]
    """The names of the classes: generalised labels, without '*'."""

    @property
    def worst(self) -> int:
        return int(self.l_d.argmax())


def adult_minimal_tables(adult: Adult, chosen: Sequence[int], asked: LeakageTerms) -> list[AnonymisedAdult]:
    """Return every minimal node over the chosen quasi-identifiers (1 to 7, as in the paper), most classes first."""
    columns = [adult.quasi[i - 1] for i in chosen]
    passing = _passing(adult, columns, asked)
    minimal = [node for node in passing if not any(finer in passing for finer in _next(node, -1))]
    found = [_table(columns, node, passing[node], asked) for node in minimal]
    return sorted(found, key=lambda table: (-len(table.sizes), table.node))


def adult_table_at(adult: Adult, chosen: Sequence[int], node: Node, asked: LeakageTerms) -> AnonymisedAdult:
    """Return the table at one node, whether it keeps what was asked or not."""
    columns = [adult.quasi[i - 1] for i in chosen]
    seen = ValueCounts.of(_classes_at(columns, node), adult.occupation.codes, adult.occupation.n_values)
    return _table(columns, node, seen, asked)


def adult_known_growth(adult: Adult) -> list[tuple[int, float, float, float, float, float]]:
    """Return for 1 to 7 known columns: classes, mean and largest L_D, mean and largest |L_E|."""
    given = [levels.levels[0] for levels in adult.quasi]
    return [
        (g.n_classes, g.mean_l_d, g.max_l_d, g.mean_l_e, abs(g.max_l_e), g.null_l_d)
        for g in column_by_column(adult.occupation, given)
    ]


def adult_published_growth(adult: Adult, asked: LeakageTerms, up_to: int = 7) -> list[AnonymisedAdult]:
    """Return the minimal table with most classes for 1 to 7 quasi-identifiers."""
    return [adult_minimal_tables(adult, range(1, n + 1), asked)[0] for n in range(1, up_to + 1)]


def leakage_adult_class_figures(adult: Adult, least: int = 30) -> ValueCounts:
    """Return the classes of the first five columns, generalised, that have enough records to have a shape."""
    given = [levels.levels[level] for levels, level in zip(adult.quasi, COMPARED_AT, strict=False)]
    classes = numbered_alike([g.codes for g in given], [g.n_values for g in given], adult.n_records)
    seen = ValueCounts.of(classes, adult.occupation.codes, adult.occupation.n_values)
    return seen.without(classes.sizes < least)


def _passing(adult: Adult, columns: Sequence[Levels], asked: LeakageTerms) -> dict[Node, ValueCounts]:
    """Return the nodes that keep k, l and t; what breaks one of them is broken by every finer node too."""
    found: dict[Node, ValueCounts] = {}
    for node in sorted(product(*(range(len(c.levels)) for c in columns)), key=sum, reverse=True):
        coarser = [
            other for other in _next(node, 1) if all(a < len(c.levels) for a, c in zip(other, columns, strict=True))
        ]
        if all(other in found for other in coarser):
            seen = ValueCounts.of(_classes_at(columns, node), adult.occupation.codes, adult.occupation.n_values)
            if _passes(seen, asked):
                found[node] = seen
    return found


def _next(node: Node, step: int) -> list[Node]:
    """Return the neighbours of a node that are one level coarser (1) or finer (-1) in one column."""
    return [(*node[:at], level + step, *node[at + 1 :]) for at, level in enumerate(node)]


def _classes_at(columns: Sequence[Levels], node: Node) -> Classes:
    given = [c.levels[level] for c, level in zip(columns, node, strict=True)]
    return numbered_alike([g.codes for g in given], [g.n_values for g in given], len(given[0].codes))


def _passes(seen: ValueCounts, asked: LeakageTerms) -> bool:
    if seen.sizes.min() < asked.k or np.diff(seen.starts).min() < asked.l:
        return False
    return bool(figures_by_class(seen)["tv"].max() <= asked.t + 1e-12)


def _table(columns: Sequence[Levels], node: Node, seen: ValueCounts, asked: LeakageTerms) -> AnonymisedAdult:
    figures = figures_by_class(seen)
    first = _classes_at(columns, node).first
    given = [c.levels[level] for c, level in zip(columns, node, strict=True)]
    labels = tuple(tuple(int(g.codes[row]) for g in given) for row in first)
    return AnonymisedAdult(
        asked=asked,
        quasi=tuple(c.name for c in columns),
        node=node,
        sizes=tuple(int(size) for size in seen.sizes),
        l_d=figures["l_d"],
        l_e=figures["l_e"],
        n_missing=figures["n_missing"],
        shares=seen.dense() / seen.sizes[:, None],
        margin=seen.margin,
        labels=labels,
        names=tuple(_in_words(columns, node, codes) for codes in labels),
    )


def _in_words(columns: Sequence[Levels], node: Node, codes: Sequence[int]) -> str:
    words = [c.labels[level][code] for c, level, code in zip(columns, node, codes, strict=True)]
    return ", ".join(word for word in words if word != "*") or "everyone"
