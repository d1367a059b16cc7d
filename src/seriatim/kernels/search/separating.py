"""Separating: which groups in the making could be cut off, together with earlier ones, by too few people.

Take some groups of one earlier release and some new ones. Whoever is in an old and a new one of them ties the two
together; everyone else in them, and every counterfeit, is a way out. A union with fewer than ``need`` ways out is
a union correlation. One unit of flow per person, from a group to the outside, finds the fewest ways out.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

FAR = 4000
"""A search that has passed this many groups has got away."""


class Web(NamedTuple):
    """New groups and all earlier ones, tied by people. Nodes: new groups first, then the earlier by lasting number."""

    seats: LongArray
    """The person in each seat, -1 for none; seat j of group v is ``base[v] + j * stride[v]``."""
    base: LongArray
    stride: LongArray
    size: IntArray
    now: IntArray
    """Everyone's new group; -1 for nobody's."""
    group_in: IntArray
    """group_in[release, person]: everyone's lasting group in each earlier release; -1 for none."""
    starts: LongArray
    members: IntArray
    """The people of each lasting group."""
    old_size: IntArray
    free: IntArray
    """Rows of each lasting group that nobody here was in."""
    need: int
    """Fewer ways out are too few: twice the degree."""


class Probe(NamedTuple):
    """Scratch of a search: flow on people (1: from old to new) and outward, the search, and the side cut off."""

    on: npt.NDArray[np.int8]
    outward: IntArray
    seen: IntArray
    came_by: LongArray
    queue: LongArray
    touched: LongArray
    side: LongArray
    left: IntArray
    count: LongArray
    """0: touched; 1: the stamp of ``seen``; 2: groups seen by the last search; 3: groups in ``side``."""


@nb.njit(cache=True, nogil=True)
def probe_of(web: Web) -> Probe:
    n = len(web.size) + len(web.old_size)
    reach = min(n, FAR) + 3
    return Probe(
        np.zeros(len(web.now), dtype=np.int8),
        np.zeros(n, dtype=np.int32),
        np.zeros(n, dtype=np.int32),
        np.empty(n, dtype=np.int64),
        np.empty(n + 2, dtype=np.int64),
        np.empty(web.need * reach, dtype=np.int64),
        np.empty(n + 2, dtype=np.int64),
        np.zeros(len(web.old_size), dtype=np.int32),
        np.zeros(4, dtype=np.int64),
    )


@nb.njit(cache=True, nogil=True)
def then(web: Web, release: int, p: int) -> int:
    """The lasting group a person was in then; -1 for nobody and for newcomers."""
    return int(web.group_in[release, p]) if 0 <= p < web.group_in.shape[1] else -1


@nb.njit(cache=True, nogil=True)
def _spread(web: Web, release: int, probe: Probe, v: int, tail: int) -> tuple[int, int]:
    """Queue the groups that a group still leads to; gives the queue's new end and the group's ways out."""
    stamp, n_new = probe.count[1], len(web.size)
    if v >= n_new:
        for i in range(web.starts[v - n_new], web.starts[v - n_new + 1]):
            p = web.members[i]
            w = web.now[p]
            if w >= 0 and probe.on[p] < 1 and probe.seen[w] != stamp:
                probe.seen[w], probe.came_by[w], probe.queue[tail] = stamp, p, w
                tail += 1
        return tail, web.free[v - n_new]
    ways = 0
    for j in range(web.size[v]):
        p = web.seats[web.base[v] + j * web.stride[v]]
        g = then(web, release, p)
        if g < 0:
            ways += 1
        elif probe.on[p] > -1 and probe.seen[n_new + g] != stamp:
            probe.seen[n_new + g], probe.came_by[n_new + g], probe.queue[tail] = stamp, p, n_new + g
            tail += 1
    return tail, ways


@nb.njit(cache=True, nogil=True)
def _one_more(web: Web, release: int, probe: Probe, source: LongArray, sink: LongArray) -> bool:
    """Send one more person out, if there is a way; else the groups seen are cut off."""
    probe.count[1] += 1
    head, tail, goal, n_new = 0, 0, -1, len(web.size)
    for s in source:
        if s >= 0:
            probe.seen[s], probe.came_by[s], probe.queue[tail] = probe.count[1], -1, s
            tail += 1
    while head < tail and goal < 0:
        v = probe.queue[head]
        head += 1
        tail, ways = _spread(web, release, probe, v, tail)
        if ways > probe.outward[v]:
            probe.outward[v] += 1
            goal = v
        elif v == sink[0] or v == sink[1] or head > FAR:
            goal = v
    probe.count[2] = tail
    if goal < 0:
        return False
    probe.touched[probe.count[0]] = -1 - goal
    probe.count[0] += 1
    while probe.came_by[goal] >= 0:
        p = probe.came_by[goal]
        to_new = goal < n_new
        probe.on[p] += 1 if to_new else -1
        probe.touched[probe.count[0]] = p
        probe.count[0] += 1
        goal = n_new + then(web, release, p) if to_new else web.now[p]
    return True


@nb.njit(cache=True, nogil=True)
def _ways_out(web: Web, release: int, probe: Probe, source: LongArray, sink: LongArray) -> int:
    """How many people can be sent out at once, up to what is needed."""
    found = 0
    while found < web.need and _one_more(web, release, probe, source, sink):
        found += 1
    for i in range(probe.count[0]):
        t = probe.touched[i]
        if t >= 0:
            probe.on[t] = 0
        else:
            probe.outward[-1 - t] = 0
    probe.count[0] = 0
    return found


@nb.njit(cache=True, nogil=True)
def _keep_side(probe: Probe) -> None:
    probe.side[: probe.count[2]] = probe.queue[: probe.count[2]]
    probe.count[3] = probe.count[2]


@nb.njit(cache=True, nogil=True)
def _within(web: Web, release: int, probe: Probe, source: LongArray, lowest: int) -> int:
    """The smallest cut below ``lowest`` inside the closed part just seen: no way leads out, one of its groups is out.

    The part's first old group stands for the outside, if need be with a new one: what is cut off and what remains
    both hold groups of either release, or the cut says no more than the groups themselves.
    """
    n_new = len(web.size)
    anchor, n_old = -1, 0
    for i in range(probe.count[2]):
        v = probe.queue[i]
        n_old += v >= n_new
        if v >= n_new and (anchor < 0 or v < anchor):
            anchor = v
    if n_old < 2 or probe.count[2] - n_old < 2 or anchor == source[0] or anchor == source[1]:
        return lowest
    sink = np.full(2, -1, dtype=np.int64)
    sink[0] = anchor
    g = anchor - n_new
    for i in range(web.starts[g], web.starts[g + 1]):
        if web.old_size[g] < web.need:
            sink[1] = web.now[web.members[i]]
            if sink[1] < 0 or sink[1] == source[0]:
                continue
        found = _ways_out(web, release, probe, source, sink)
        if found < lowest:
            lowest = found
            _keep_side(probe)
        if web.old_size[g] >= web.need:
            break
    return lowest


@nb.njit(cache=True, nogil=True)
def _plain_ways(web: Web, release: int, probe: Probe, v: int) -> int:
    """Ways out of one or two steps: a lower bound that is mostly enough."""
    ways = 0
    for j in range(web.size[v]):
        p = web.seats[web.base[v] + j * web.stride[v]]
        g = then(web, release, p)
        if g < 0:
            ways += 1
        elif probe.left[g] < web.free[g]:
            probe.left[g] += 1
            ways += 1
        if ways >= web.need:
            break
    for j in range(web.size[v]):
        p = web.seats[web.base[v] + j * web.stride[v]]
        g = then(web, release, p)
        if g >= 0:
            probe.left[g] = 0
    return ways


@nb.njit(cache=True, nogil=True)
def fewest_ways(web: Web, release: int, probe: Probe, v: int) -> int:
    """The fewest ways out of a union with a new group and an old one, ``need`` if enough; the union is in ``side``.

    A group smaller than ``need`` is cut off by its own people, which says nothing: it is therefore asked together
    with each old group that it meets.
    """
    source = np.full(2, -1, dtype=np.int64)
    nobody = np.full(2, -1, dtype=np.int64)
    source[0] = v
    alone = web.size[v] >= web.need
    if alone and _plain_ways(web, release, probe, v) >= web.need:
        return web.need
    lowest = web.need
    for j in range(web.size[v]):
        if not alone:
            p = web.seats[web.base[v] + j * web.stride[v]]
            g = then(web, release, p)
            if g < 0:
                continue
            source[1] = len(web.size) + g
        found = _ways_out(web, release, probe, source, nobody)
        if found == 0:
            lowest = _within(web, release, probe, source, lowest)
        elif found < lowest:
            lowest = found
            _keep_side(probe)
        if alone:
            break
    return lowest


@nb.njit(cache=True, nogil=True)
def separable(web: Web, which: LongArray) -> BoolArray:
    """Which of these new groups are in a union with too few ways out, against any earlier release."""
    probe = probe_of(web)
    out = np.zeros(len(which), dtype=np.bool_)
    for release in range(web.group_in.shape[0]):
        for i in range(len(which)):
            if not out[i]:
                out[i] = fewest_ways(web, release, probe, which[i]) < web.need
    return out
