"""Mending: swap people of equal value between near groups, or take one out, until no union can be cut off."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, inner, kernel, leaf
from seriatim_papers.kernels.correlations import (
    CorrelationMemory,
    CorrelationTally,
    blank_correlations,
    correlation_badness,
    was_in_correlation,
)
from seriatim_papers.kernels.separation import (
    SeparationProbe,
    SeparationWeb,
    separation_probe,
    separation_then,
    separation_ways,
)

NEAR = 40
"""Groups on each side that are tried."""
TRIES = 60
"""Swaps that are tried before someone is taken out."""


@inner
def _missing(web: SeparationWeb, probe: SeparationProbe, group: int, most: int) -> tuple[int, int]:
    """Return how many ways out a group's unions miss over all releases, and where most; gives up beyond ``most``.

    The worst union is left in ``probe.side``.
    """
    total, worst, where = 0, 0, -1
    for release in range(web.group_in.shape[0]):
        missing = web.need - separation_ways(web, release, probe, group)
        total += missing
        if total > most:
            return total, release
        if missing > worst:
            worst, where = missing, release
    if where >= 0:
        separation_ways(web, where, probe, group)
    return total, where


@inner
def _hc_safe(web: SeparationWeb, group: int, earlier: CorrelationMemory, tally: CorrelationTally) -> int:
    """Return 0 when a group shares little with every earlier one, else 1 + the one it shares most with.

    -1 when nobody is in it. Overwrites ``tally``.
    """
    room = np.empty(web.size[group], dtype=np.int64)
    n_real = 0
    for j in range(web.size[group]):
        room[j] = web.slots[web.base[group] + j]
        n_real += room[j] >= 0
    if n_real == 0:
        return -1
    bad, worst = correlation_badness(room, earlier, tally)
    return int(worst + 1) if bad > 0 else 0


@leaf
def _swap(web: SeparationWeb, group: int, other: int, j: int) -> None:
    """Change ``web``: the people in the same slot of two groups change places."""
    here, there = web.base[group] + j, web.base[other] + j
    person, partner = web.slots[here], web.slots[there]
    web.slots[here], web.slots[there] = partner, person
    if person >= 0:
        web.now[person] = other
    if partner >= 0:
        web.now[partner] = group


class Union(NamedTuple):
    """A union of groups that lacks ways out, against one earlier release; whom its group may swap with."""

    inside: Ints
    """By node: ``mark`` for those in the union."""
    mark: int
    release: int
    missing: int
    first: int
    last: int


@leaf
def _tied(web: SeparationWeb, union: Union, person: int) -> bool:
    """Return whether a person's old group is inside the union."""
    old = separation_then(web, union.release, person)
    return old >= 0 and union.inside[len(web.size) + old] == union.mark


@inner
def _swapped(
    web: SeparationWeb,
    probe: SeparationProbe,
    earlier: CorrelationMemory,
    group: int,
    union: Union,
    tally: CorrelationTally,
) -> bool:
    """Return whether there is a swap with a group outside the union that helps this one and leaves the other safe.

    The nearest one is made in ``web``.
    """
    tries = 0
    for distance in range(1, NEAR + 1):
        for other in (group - distance, group + distance):
            if other < union.first or other >= union.last or union.inside[other] == union.mark:
                continue
            for j in range(web.size[group]):
                person, partner = web.slots[web.base[group] + j], web.slots[web.base[other] + j]
                if not _tied(web, union, person) or _tied(web, union, partner):
                    continue
                _swap(web, group, other, j)
                if _hc_safe(web, group, earlier, tally) == 0 and _hc_safe(web, other, earlier, tally) == 0:
                    tries += 1
                    short = (
                        _missing(web, probe, group, union.missing - 1)[0]
                        if _missing(web, probe, other, 0)[0] == 0
                        else union.missing
                    )
                    if short < union.missing:
                        return True
                _swap(web, group, other, j)
                if tries >= TRIES:
                    return False
    return False


@leaf
def _take_out(web: SeparationWeb, at: int, earlier: CorrelationMemory) -> None:
    """Change ``web``: nobody is there any more; all groups the person was in gain a way out."""
    person = web.slots[at]
    web.slots[at], web.now[person] = -1, -1
    for i in range(earlier.n_places[person] if person < len(earlier.n_places) else 0):
        web.free[earlier.places[person, i]] += 1


@kernel
def repair_unions(web: SeparationWeb, which: Longs, firsts: Longs, lasts: Longs, earlier: CorrelationMemory) -> Longs:
    """Return how many swaps were made, people taken out, and searches made inside closed parts; change ``web``.

    Makes these groups safe; ``firsts`` and ``lasts`` bound whom each may swap with. Once through is enough where no
    part is closed: a swap changes only unions that hold one of its two groups; one of them is safe right after it, the
    other when its turn ends. Taking someone out gives every union as many ways out as before or more. A closed part
    that is opened this way may show unions that said nothing before.
    """
    probe, out = separation_probe(web), np.zeros(3, dtype=np.int64)
    inside, mark = np.zeros(len(probe.seen), dtype=np.int32), 0
    most = 1
    for size in web.size:
        most = max(most, size)
    tally = blank_correlations(earlier, most)
    for i in range(len(which)):
        group = which[i]
        while True:
            worst = _hc_safe(web, group, earlier, tally)
            missing, release = (0, -1) if worst < 0 else _missing(web, probe, group, 1 << 30)
            union = Union(inside, mark + 1, release, missing, firsts[i], lasts[i])
            if worst <= 0 and missing == 0:
                break
            if missing:
                mark += 1
                for k in range(probe.counts[3]):
                    inside[probe.side[k]] = mark
                if worst == 0 and _swapped(web, probe, earlier, group, union, tally):
                    out[0] += 1
                    continue
            leaver = -1
            for j in range(web.size[group]):
                at = web.base[group] + j
                person = web.slots[at]
                if was_in_correlation(person, worst - 1, earlier) if missing == 0 else _tied(web, union, person):
                    leaver = at
            if leaver < 0:
                break
            _take_out(web, leaver, earlier)
            out[1] += 1
    out[2] = probe.counts[0]
    return out
