"""Separating: which groups in the making could be cut off, together with earlier ones, by too few people.

Take some groups of one earlier release and some new ones. Whoever is in an old and a new one of them ties the two
together; everyone else in them, and every counterfeit, is a way out. A union with fewer than ``need`` ways out is
a union correlation. One unit of flow per person, from a group to the outside, finds the fewest ways out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Flags, Ints, Longs, Marks, inner, kernel, leaf

FAR = 4000
"""A search that has passed this many groups has got away."""

TOGETHER = 32
"""Groups that are asked for short ways again before any of them is searched: by then others are known to be safe."""


class SeparationWeb(NamedTuple):
    """New groups and all earlier ones, tied by people. Nodes: new groups first, then the earlier by lasting number."""

    slots: Longs
    """The person in each slot, -1 for none; those of group v are ``slots[base[v] : base[v] + size[v]]``."""
    base: Longs
    size: Ints
    now: Ints
    """Everyone's new group; -1 for nobody's."""
    group_in: Ints
    """group_in[release, person]: everyone's lasting group in each earlier release; -1 for none."""
    starts: Longs
    members: Ints
    """The people of each lasting group."""
    old_size: Ints
    free: Ints
    """Rows of each lasting group that nobody here was in."""
    need: int
    """Fewer ways out are too few: twice the degree."""


class SeparationProbe(NamedTuple):
    """Scratch of a search: flow on people (1: from old to new) and outward, the search, and the side cut off."""

    on: Marks
    outward: Ints
    seen: Ints
    came_by: Longs
    queue: Longs
    touched: Longs
    side: Longs
    safe: Flags
    """New groups that no union with too few ways out holds, as far as is known: to reach one is to be out."""
    counts: Longs
    """0: searches in closed parts; 1: the stamp of ``seen``; 2: groups seen by the last search; 3: in ``side``."""


@kernel
def separation_rows_free(now: Ints, places: Ints, n_places: Ints, old_size: Ints) -> Ints:
    """Return rows of each lasting group that nobody here was in."""
    free = old_size.copy()
    for person in range(min(len(now), len(n_places))):
        if now[person] >= 0:
            for i in range(n_places[person]):
                free[places[person, i]] -= 1
    return free


@kernel
def separation_as_before(slots: Longs, base: Longs, size: Ints, last: Ints, plain_size: Ints) -> Flags:
    """Return which new groups were, people for people, a group of the last release without counterfeits.

    ``last``: everyone's lasting group in the last release; ``plain_size``: its rows, or -1 if it has counterfeits.
    """
    out = np.zeros(len(size), dtype=np.bool_)
    for node in range(len(size)):
        person = slots[base[node]] if size[node] > 0 else -1
        old = last[person] if 0 <= person < len(last) else -1
        same = old >= 0 and plain_size[old] == size[node]
        for i in range(base[node] + 1, base[node] + size[node]):
            person = slots[i]
            same = same and 0 <= person < len(last) and last[person] == old
        out[node] = same
    return out


@inner
def separation_probe(web: SeparationWeb) -> SeparationProbe:
    """Return scratch for searches in this web."""
    n_nodes = len(web.size) + len(web.old_size)
    reach = min(n_nodes, FAR) + 3
    return SeparationProbe(
        np.zeros(len(web.now), dtype=np.int8),
        np.zeros(n_nodes, dtype=np.int32),
        np.zeros(n_nodes, dtype=np.int32),
        np.empty(n_nodes, dtype=np.int64),
        np.empty(n_nodes + 2, dtype=np.int64),
        np.empty(web.need * reach, dtype=np.int64),
        np.empty(n_nodes + 2, dtype=np.int64),
        np.zeros(n_nodes, dtype=np.bool_),
        np.zeros(4, dtype=np.int64),
    )


@leaf
def separation_then(web: SeparationWeb, release: int, person: int) -> int:
    """Return the lasting group a person was in then; -1 for nobody and for newcomers."""
    return int(web.group_in[release, person]) if 0 <= person < web.group_in.shape[1] else -1


@leaf
def _one_more(web: SeparationWeb, at: Ints, probe: SeparationProbe, source: Longs, sink: Longs) -> int:
    """Return the end of one more way out, found breadth first; -1 if there is none: the groups seen are cut off."""
    slots, base, size, now, _, starts, members, _, free, _ = web  # unpacked once: each look into a tuple costs
    on, outward, seen, came_by, queue, _, _, safe, counts = probe
    counts[1] += 1
    stamp, n_new, head, tail = counts[1], len(size), 0, 0
    for begin in source:
        if begin >= 0:
            seen[begin], came_by[begin], queue[tail] = stamp, -1, begin
            tail += 1
    while head < tail:
        node = queue[head]
        head += 1
        if node == sink[0] or node == sink[1] or head > FAR:
            return int(node)
        if node >= n_new:
            ways = free[node - n_new]
            for i in range(starts[node - n_new], starts[node - n_new + 1]):
                person = members[i]
                other = now[person]
                if other >= 0 and on[person] < 1 and seen[other] != stamp:
                    seen[other], came_by[other], queue[tail] = stamp, person, other
                    tail += 1
                    if safe[other]:
                        return int(other)
        else:
            ways = 0
            for i in range(base[node], base[node] + size[node]):
                person = slots[i]
                old = at[person] if 0 <= person < len(at) else -1
                if old < 0:
                    ways += 1
                elif on[person] > -1 and seen[n_new + old] != stamp:
                    seen[n_new + old], came_by[n_new + old], queue[tail] = stamp, person, n_new + old
                    tail += 1
        if ways > outward[node]:
            outward[node] += 1
            return int(node)
    counts[2] = tail
    return -1


@leaf
def _short_ways(web: SeparationWeb, at: Ints, probe: SeparationProbe, node: int) -> tuple[int, int]:
    """Return how many ways out of a new group need no search: at once, by an old group, or from there to a safe one.

    Any flow is a beginning of the largest: the search finds the rest. Gives the ways, and how many entries of
    ``touched`` undo them.
    """
    slots, base, size, now, _, starts, members, _, free, need = web
    on, outward, _, _, _, touched, _, safe, _ = probe
    n_new, found, n_touched = len(size), 0, 0
    for i in range(base[node], base[node] + size[node]):
        if found == need:
            break
        person = slots[i]
        old = at[person] if 0 <= person < len(at) else -1
        end, onward = -1, -1
        if old < 0:
            end = node
        elif free[old] > outward[n_new + old]:
            end = n_new + old
        else:
            for k in range(starts[old], starts[old + 1]):
                other = now[members[k]]
                if other >= 0 and other != node and safe[other] and on[members[k]] < 1:
                    onward = members[k]
                    break
            if onward < 0:
                continue
        found += 1
        if end >= 0:
            outward[end] += 1
            touched[n_touched] = -1 - end
            n_touched += 1
        if onward >= 0:
            on[onward] += 1
            touched[n_touched] = onward
            n_touched += 1
        if old >= 0:
            on[person] -= 1
            touched[n_touched] = person
            n_touched += 1
    return found, n_touched


@leaf
def _ways_out(web: SeparationWeb, release: int, probe: SeparationProbe, source: Longs, sink: Longs) -> int:
    """Return how many people can be sent out at once, up to what is needed; the flow stays in ``probe``."""
    at, n_new = web.group_in[release], len(web.size)
    on, touched, n_touched, found = probe.on, probe.touched, 0, 0
    if source[1] < 0 and sink[0] < 0:
        found, n_touched = _short_ways(web, at, probe, source[0])
    while found < web.need:
        node = _one_more(web, at, probe, source, sink)
        if node < 0:
            break
        found += 1
        touched[n_touched] = -1 - node
        n_touched += 1
        while probe.came_by[node] >= 0:
            person = probe.came_by[node]
            touched[n_touched] = person
            n_touched += 1
            if node < n_new:
                on[person] += 1
                node = n_new + at[person]
            else:
                on[person] -= 1
                node = web.now[person]
    for i in range(n_touched):
        if touched[i] >= 0:
            on[touched[i]] = 0
        else:
            probe.outward[-1 - touched[i]] = 0
    return found


@leaf
def _keep_side(probe: SeparationProbe) -> None:
    """Copy the groups seen by the last search into ``probe.side``."""
    for i in range(probe.counts[2]):
        probe.side[i] = probe.queue[i]
    probe.counts[3] = probe.counts[2]


@inner
def _within(web: SeparationWeb, release: int, probe: SeparationProbe, source: Longs, lowest: int) -> int:
    """Return the smallest cut below ``lowest`` in the closed part just seen, a group of it out; overwrites ``probe``.

    The part's first old group stands for the outside, if need be with a new one: what is cut off and what remains
    both hold groups of either release, or the cut says no more than the groups themselves.
    """
    n_new = len(web.size)
    anchor, n_old = -1, 0
    for i in range(probe.counts[2]):
        node = probe.queue[i]
        n_old += node >= n_new
        if node >= n_new and (anchor < 0 or node < anchor):
            anchor = node
    if n_old < 2 or probe.counts[2] - n_old < 2 or anchor == source[0] or anchor == source[1]:
        return lowest
    probe.counts[0] += 1
    sink = np.full(2, -1, dtype=np.int64)
    sink[0] = anchor
    old = anchor - n_new
    for i in range(web.starts[old], web.starts[old + 1]):
        if web.old_size[old] < web.need:
            sink[1] = web.now[web.members[i]]
            if sink[1] < 0 or sink[1] == source[0]:
                continue
        found = _ways_out(web, release, probe, source, sink)
        if found < lowest:
            lowest = found
            _keep_side(probe)
        if web.old_size[old] >= web.need:
            break
    return lowest


@inner
def separation_ways(web: SeparationWeb, release: int, probe: SeparationProbe, node: int) -> int:
    """Return the fewest ways out of a union with a new and an old group, or ``need``; it is in ``probe.side``.

    A group smaller than ``need`` is cut off by its own people, which says nothing: it is therefore asked together
    with each old group that it meets.
    """
    source = np.full(2, -1, dtype=np.int64)
    nobody = np.full(2, -1, dtype=np.int64)
    source[0] = node
    alone = web.size[node] >= web.need
    lowest = web.need
    for j in range(web.size[node]):
        if not alone:
            person = web.slots[web.base[node] + j]
            old = separation_then(web, release, person)
            if old < 0:
                continue
            source[1] = len(web.size) + old
        found = _ways_out(web, release, probe, source, nobody)
        if found == 0:
            lowest = _within(web, release, probe, source, lowest)
        elif found < lowest:
            lowest = found
            _keep_side(probe)
        if alone:
            break
    return lowest


@leaf
def _plainly_safe(web: SeparationWeb, release: int, which: Longs, safe: Flags, used: Ints) -> None:
    """Mark the groups for which short ways are enough: out at once, through an old group, or through an old group to
    another new one that is known to be safe. ``used`` must be zero and is so again.
    """
    slots, base, size, now, group_in, starts, members, _, free, need = web
    at = group_in[release]
    for node in which:
        if safe[node]:
            continue
        ways = 0
        for i in range(base[node], base[node] + size[node]):
            person = slots[i]
            old = at[person] if 0 <= person < len(at) else -1
            if old < 0:
                ways += 1
                continue
            room = free[old]
            if used[old] >= room:
                for k in range(starts[old], starts[old + 1]):
                    other = now[members[k]]
                    room += other >= 0 and safe[other]
            if used[old] < room:
                used[old] += 1
                ways += 1
        for i in range(base[node], base[node] + size[node]):
            person = slots[i]
            old = at[person] if 0 <= person < len(at) else -1
            if old >= 0:
                used[old] = 0
        safe[node] = ways >= need


@kernel
def separation_missing(web: SeparationWeb, which: Longs, releases: Longs, plain: bool) -> Flags:
    """Return which of these new groups are in a union with too few ways out, against any of some earlier releases.

    ``plain``: every group, old or new, is as large as ``need``. Then no small union holds a safe group, so that what
    is known to be safe counts as outside for all others, and hardly any search goes far.
    """
    probe = separation_probe(web)
    safe, out = probe.safe, np.zeros(len(which), dtype=np.bool_)
    used = np.zeros(len(web.free), dtype=np.int32)
    everyone = np.arange(len(web.size))
    for release in releases:
        for at in range(len(safe)):
            safe[at] = False
        if plain:
            _plainly_safe(web, release, everyone, safe, used)
        for i in range(len(which)):
            if plain and i % TOGETHER == 0:
                _plainly_safe(web, release, which[i : i + TOGETHER], safe, used)
            if not out[i] and not safe[which[i]]:
                out[i] = separation_ways(web, release, probe, which[i]) < web.need
                safe[which[i]] = plain and not out[i]
    return out
