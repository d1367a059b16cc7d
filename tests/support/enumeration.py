"""Every world that fits a little history, one by one."""

from __future__ import annotations

import itertools
from collections import Counter

from seriatim.attacks.traces_by_person import Traces


def enumerated_values(traces: Traces, told: set[int]) -> list[set[int]]:
    """Per episode the values it has in some world that fits everything public and the compromised values."""
    n = len(traces.respondent)
    possible: list[set[int]] = [set() for _ in range(n)]
    groups = [(enumerated_members(traces, g), enumerated_counts(traces, g)) for g in range(traces.n_groups)]
    choices = [{int(traces.value[e])} if e in told else set(range(traces.n_values)) for e in range(n)]
    for members, top in groups:
        for e in members:
            choices[e] &= set(top)  # a value that a group does not show fits none of its members
    links = [
        (e, e + 1)
        for e in range(n - 1)
        if traces.respondent[e] == traces.respondent[e + 1] and traces.value[e] != traces.value[e + 1]
    ]
    for world in itertools.product(*choices):
        fits = all(world[a] != world[b] for a, b in links) and all(
            _at_most([world[e] for e in members], top) for members, top in groups
        )
        if fits:
            for held, value in zip(possible, world, strict=True):
                held.add(value)
    return possible


def _at_most(held: list[int], top: Counter[int]) -> bool:
    return all(held.count(value) <= top[value] for value in held)


def enumerated_members(traces: Traces, g: int) -> list[int]:
    return traces.people[traces.group_ptr[g] : traces.group_ptr[g + 1]].tolist()


def enumerated_counts(traces: Traces, g: int) -> Counter[int]:
    at = slice(traces.sig_ptr[g], traces.sig_ptr[g + 1])
    return Counter(dict(zip(traces.sig_val[at].tolist(), traces.sig_cnt[at].tolist(), strict=True)))
