"""How much is left to learn for someone who already knows some attributes of a person: none, one, ..., all of them.

Every set of attributes of a size counts, or a seeded sample of sets if there are too many, and in each set every
combination of values that occurs. Averages over combinations (the paper's) and over records differ: a rare combination
counts as much as a frequent one in the first. Both are named, and so is the worst set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from seriatim.measures.equivocation_rows import equivocations
from seriatim.measures.leakage_given import KnownAttribute
from seriatim.model.chance import open_chance
from seriatim.model.classes import Classes, numbered_alike
from seriatim.model.scale import FloatArray

MOST_SETS = 70
SEED = 20_264
Beliefs = Callable[[tuple[int, ...], Classes], FloatArray]
"""Returns for a set of known attributes, and the classes they make, beliefs in each: one distribution per row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UncertaintyLeft:
    """What is left for someone who knows this many attributes; entropies in bits, areas in units x bits."""

    attributes: int
    initial: float
    """H(0), the mean over all combinations of all sets."""
    initial_by_record: float
    area: float
    area_by_record: float
    nothing_left: float
    """The share of records with H(0) = 0."""
    worst: tuple[str, ...]
    """The set of attributes that leaves least area to learn, by records."""


def supplementary_knowledge(
    attributes: Sequence[KnownAttribute], domain: FloatArray, beliefs: Beliefs, seed: int = SEED
) -> list[UncertaintyLeft]:
    """Return what is left at each number of known attributes, from 0 to all."""
    n = len(attributes[0].codes)
    return [_known(size, attributes, domain, beliefs, n, seed) for size in range(len(attributes) + 1)]


def _known(
    size: int, attributes: Sequence[KnownAttribute], domain: FloatArray, beliefs: Beliefs, n: int, seed: int
) -> UncertaintyLeft:
    rows, weights, per_set = [], [], []
    for chosen in attribute_sets(len(attributes), size, seed):
        held = [attributes[i] for i in chosen]
        classes = numbered_alike([a.codes for a in held], [a.n_values for a in held], n)
        figures = _figures(domain, beliefs(chosen, classes))
        rows.append(figures)
        weights.append(classes.sizes)
        per_set.append((float(np.average(figures[:, 1], weights=classes.sizes)), tuple(a.name for a in held)))
    figures, sizes = np.concatenate(rows), np.concatenate(weights)
    by_combination, by_record = figures.mean(axis=0), np.average(figures, axis=0, weights=sizes)
    empty = float(sizes[figures[:, 0] <= 0].sum() / sizes.sum())
    return UncertaintyLeft(
        attributes=size,
        initial=float(by_combination[0]),
        initial_by_record=float(by_record[0]),
        area=float(by_combination[1]),
        area_by_record=float(by_record[1]),
        nothing_left=empty,
        worst=min(per_set)[1],
    )


def _figures(domain: FloatArray, believed: FloatArray) -> FloatArray:
    """Return H(0) and area of each row; equal rows, of which there are many if little is known, are measured once."""
    held = np.ascontiguousarray(believed)
    _, first, which = np.unique(
        held.view(np.dtype((np.void, held.itemsize * held.shape[1]))), return_index=True, return_inverse=True
    )
    found = equivocations(domain, held[first])
    return np.column_stack((found.initial, found.area))[which.reshape(-1)]


def attribute_sets(n_attributes: int, size: int, seed: int = SEED) -> list[tuple[int, ...]]:
    """Return all sets of a size, or a seeded sample of them."""
    if math.comb(n_attributes, size) <= MOST_SETS:
        return list(combinations(range(n_attributes), size))
    chance = open_chance(seed, f"sets/{size}")
    drawn = {tuple(sorted(chance.choice(n_attributes, size, replace=False).tolist())) for _ in range(4 * MOST_SETS)}
    return sorted(drawn)[:MOST_SETS]
