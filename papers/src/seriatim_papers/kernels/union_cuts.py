"""What groups of two releases have in common, and which can be cut off by taking away few people: for promises.

Nothing here is shared with what makes groups (``correlations``, ``separation``).

The graph: every group of either release is a node, everyone in both releases is an edge between their two
groups, everyone in one of them (and every counterfeit) is an edge to the outside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Flags, Ints, Longs, Marks, inner, kernel, leaf

REACH = 2000
"""A search that has passed this many groups has got away: unions are looked for among so many nearest groups."""


class GroupGraph(NamedTuple):
    """``ends[e]``: the nodes of edge e; ``edges[starts[v]:starts[v + 1]]``: those of node v; ``out``: edges outside."""

    starts: Longs
    edges: Ints
    ends: Ints
    out: Ints


class EdgeFlow(NamedTuple):
    """Scratch: flow on each edge (1 = from its first end to its second), to the outside, and of the search."""

    on: Marks
    outward: Ints
    came_by: Ints
    seen: Ints
    queue: Ints
    touched: Ints
    stamp: Longs
    """One number: the search that ``seen`` is marked with."""


@kernel
def group_graph(old: Ints, new: Ints, n_old: int, n_nodes: int, out: Ints) -> GroupGraph:
    """Return the graph of two releases; ``old`` and ``new`` are the groups of everyone in both."""
    ends = np.empty((len(old), 2), dtype=np.int32)
    starts = np.zeros(n_nodes + 1, dtype=np.int64)
    for edge in range(len(old)):
        ends[edge, 0], ends[edge, 1] = old[edge], new[edge] + n_old
        starts[old[edge] + 1] += 1
        starts[new[edge] + n_old + 1] += 1
    for node in range(n_nodes):
        starts[node + 1] += starts[node]
    at, edges = starts.copy(), np.empty(2 * len(old), dtype=np.int32)
    for edge in range(len(old)):
        for side in range(2):
            node = ends[edge, side]
            edges[at[node]] = edge
            at[node] += 1
    return GroupGraph(starts, edges, ends, out)


@kernel
def unions_to_cut(starts: Longs, met: Ints, old_out: Ints, need: int) -> Ints:
    """Return groups of the newer release below ``need``, or too tied up for ways of one or two steps.

    ``met``: for each row, group after group, the older group that its person was in, -1 for none.
    """
    out, n_out = np.empty(len(starts) - 1, dtype=np.int32), 0
    used = np.zeros(len(old_out), dtype=np.int32)
    for group in range(len(starts) - 1):
        ways = 0
        for i in range(starts[group], starts[group + 1]):
            met_group = met[i]
            # someone who is in no older group leads straight outside
            if met_group < 0:
                ways += 1
            # a way of two steps: to an older group, and out of it by someone who is gone; each of those serves once
            elif used[met_group] < old_out[met_group]:
                used[met_group] += 1
                ways += 1
        for i in range(starts[group], starts[group + 1]):
            if met[i] >= 0:
                used[met[i]] = 0
        if ways < need or starts[group + 1] - starts[group] < need:
            out[n_out] = group
            n_out += 1
    return out[:n_out]


UNKNOWN, ASKED, OPEN = -2, -3, -1


@leaf
def _anchor(graph: GroupGraph, node: int, anchor: Ints, queue: Ints) -> int:
    """Return -1 when a node's part of the graph reaches the outside, else the part's first node, its stand-in.

    ``anchor`` keeps what was found for every node that was passed: a part is walked through once.
    """
    if anchor[node] != UNKNOWN:
        return int(anchor[node])
    anchor[node], queue[0] = ASKED, node
    head, tail, found = 0, 1, node
    while head < tail and found != OPEN:
        near = queue[head]
        head += 1
        found = OPEN if graph.out[near] > 0 else min(found, near)
        for i in range(graph.starts[near], graph.starts[near + 1]):
            edge = graph.edges[i]
            # the end that is not this one
            far = graph.ends[edge, 0] + graph.ends[edge, 1] - near
            # met a part that was walked before and is open: so is this one
            if anchor[far] == OPEN:
                found = OPEN
            elif anchor[far] == UNKNOWN:
                anchor[far], queue[tail] = ASKED, far
                tail += 1
    for i in range(tail):
        anchor[queue[i]] = found
    return int(found)


@leaf
def _augment(graph: GroupGraph, flow: EdgeFlow, source: Ints, sink: Ints, at: Longs) -> bool:
    """Return whether one more way leads from the source outside, to the sink or far away; add it to ``flow``."""
    head, tail, stamp = 0, 0, flow.stamp[0]
    for begin in source:
        if begin >= 0:
            flow.seen[begin], flow.came_by[begin] = stamp, -1
            flow.queue[tail] = begin
            tail += 1
    goal = -1
    while head < tail and goal < 0:
        node = flow.queue[head]
        head += 1
        # a search that comes past this many nodes is taken to have left
        if node == sink[0] or node == sink[1] or graph.out[node] > flow.outward[node] or head > REACH:
            goal = node
            break
        for i in range(graph.starts[node], graph.starts[node + 1]):
            edge = graph.edges[i]
            side = 0 if graph.ends[edge, 0] == node else 1
            far = graph.ends[edge, 1 - side]
            # an edge carries one person, and pushing back against the flow undoes it
            along = flow.on[edge] if side == 0 else -flow.on[edge]
            if along < 1 and flow.seen[far] != stamp:
                flow.seen[far], flow.came_by[far] = stamp, edge
                flow.queue[tail] = far
                tail += 1
    if goal < 0:
        return False
    if graph.out[goal] > flow.outward[goal]:
        flow.outward[goal] += 1
    # below 0 it is a node, whose way outside was used; else an edge
    flow.touched[at[0]] = -1 - goal
    at[0] += 1
    node = goal
    while flow.came_by[node] >= 0:
        edge = flow.came_by[node]
        near = graph.ends[edge, 0] + graph.ends[edge, 1] - node
        flow.on[edge] += 1 if graph.ends[edge, 0] == near else -1
        flow.touched[at[0]] = edge
        at[0] += 1
        node = near
    return True


@inner
def _enough(graph: GroupGraph, flow: EdgeFlow, source: Ints, sink: Ints, need: int) -> int:
    """Return the fewest people whose removal cuts the source off, up to ``need``; ``flow`` comes and goes empty."""
    at = np.zeros(1, dtype=np.int64)
    found = 0
    while found < need:
        flow.stamp[0] += 1
        if not _augment(graph, flow, source, sink, at):
            break
        found += 1
    # taken back edge by edge: clearing all arrays would cost as much as the graph is large
    for i in range(at[0]):
        touched = flow.touched[i]
        if touched >= 0:
            flow.on[touched] = 0
        else:
            flow.outward[-1 - touched] = 0
    return found


@leaf
def _tied_to(graph: GroupGraph, node: int, anchor: int) -> int:
    """Return people who are in both groups: as many ways from one to the other, whatever else there is."""
    ways = 0
    for i in range(graph.starts[node], graph.starts[node + 1]):
        edge = graph.edges[i]
        ways += graph.ends[edge, 0] + graph.ends[edge, 1] - node == anchor
    return ways


@inner
def _cut_off(graph: GroupGraph, flow: EdgeFlow, source: Ints, anchor: int, sizes: Ints, need: int) -> int:
    """Return the smallest cut between the source and the outside, up to ``need``; ``flow`` comes and goes empty.

    In a part that does not reach the outside the anchor stands for it; where it is smaller than ``need``, together
    with each of its neighbours in turn, since its own people would cut it off.
    """
    sink = np.full(2, -1, dtype=np.int32)
    if anchor < 0:
        return _enough(graph, flow, source, sink, need)
    sink[0] = anchor
    if anchor == source[0] or anchor == source[1]:
        return need
    if sizes[anchor] >= need:
        return _enough(graph, flow, source, sink, need)
    lowest = need
    for i in range(graph.starts[anchor], graph.starts[anchor + 1]):
        edge = graph.edges[i]
        sink[1] = graph.ends[edge, 0] + graph.ends[edge, 1] - anchor
        if sink[1] != source[0] and sink[1] != source[1]:
            lowest = min(lowest, _enough(graph, flow, source, sink, need))
    return lowest


@kernel
def fewest_separating(graph: GroupGraph, sizes: Ints, need: int, which: Ints) -> Ints:
    """Return per group asked about the smallest cut below ``need`` around it and one of the other release; or 0.

    A group's own people cut it off, which says no more than the group does: where a group is smaller than
    ``need`` it is therefore cut off together with each of its neighbours in turn.
    """
    n_nodes = len(graph.out)
    lowest, anchor = np.zeros(len(which), dtype=np.int32), np.full(n_nodes, UNKNOWN, dtype=np.int32)
    flow = EdgeFlow(
        np.zeros(len(graph.ends), dtype=np.int8), np.zeros(n_nodes, dtype=np.int32), np.empty(n_nodes, dtype=np.int32),
        np.zeros(n_nodes, dtype=np.int32), np.empty(n_nodes, dtype=np.int32),
        np.empty(need * (n_nodes + 2), dtype=np.int32), np.zeros(1, dtype=np.int64),
    )  # fmt: skip
    source = np.full(2, -1, dtype=np.int32)
    for k in range(len(which)):
        node = which[k]
        source[0], source[1] = node, -1
        own = _anchor(graph, node, anchor, flow.queue)
        if sizes[node] >= need:
            if own >= 0 and sizes[own] >= need and _tied_to(graph, node, own) >= need:
                continue
            cut = _cut_off(graph, flow, source, own, sizes, need)
            lowest[k] = cut if cut < need else 0
            continue
        for i in range(graph.starts[node], graph.starts[node + 1]):
            edge = graph.edges[i]
            source[1] = graph.ends[edge, 0] + graph.ends[edge, 1] - node
            cut = _cut_off(graph, flow, source, own, sizes, need)
            if cut < need and (lowest[k] == 0 or cut < lowest[k]):
                lowest[k] = cut
    return lowest


@kernel
def lowest_correlations(
    starts: Longs, counterfeits: Ints, met: Ints, old_size: Ints, old_counterfeits: Ints
) -> tuple[Ints, Flags]:
    """Return per group, against an earlier release, the lowest degree of a usable correlation, and subtraction holes.

    ``met`` gives for each row, group after group, its person's group in the earlier release, -1 for none. A
    counterfeit counts in a group's size and never in the common core; one group of the two must hold none, and the
    other somebody real outside the core. The degree is that of the smaller group. 0 stands for none.
    """
    n_groups = len(starts) - 1
    lowest, hole = np.zeros(n_groups, dtype=np.int32), np.zeros(n_groups, dtype=np.bool_)
    shared = np.zeros(len(old_size), dtype=np.int32)
    for group in range(n_groups):
        size = starts[group + 1] - starts[group]
        real = size - counterfeits[group]
        for i in range(starts[group], starts[group + 1]):
            if met[i] >= 0:
                shared[met[i]] += 1
        for i in range(starts[group], starts[group + 1]):
            old = met[i]
            if old < 0 or shared[old] == 0:
                continue
            core, least = shared[old], min(size, old_size[old])
            shared[old] = 0
            hole[group] |= core == least and size != old_size[old]
            clean, old_clean = size == real, old_counterfeits[old] == 0
            victim = (old_clean and real > core) or (clean and old_size[old] - old_counterfeits[old] > core)
            if victim and core < least and (lowest[group] == 0 or least - core < lowest[group]):
                lowest[group] = least - core
    return lowest, hole
