"""Every world that fits a little history, one by one."""

from __future__ import annotations

import itertools
from collections import Counter

from seriatim.attacks.trace import Traces


def enumerated_values(traces: Traces, told: set[int]) -> list[set[int]]:
    """Per episode the values it has in some world that fits everything public and the compromised values."""
    n, domain = len(traces.respondent), range(traces.n_values)
    possible: list[set[int]] = [set() for _ in range(n)]
    choices = [[int(traces.value[e])] if e in told else list(domain) for e in range(n)]
    tops = [enumerated_counts(traces, g) for g in range(traces.n_groups)]
    links = [
        (e, e + 1)
        for e in range(n - 1)
        if traces.respondent[e] == traces.respondent[e + 1] and traces.value[e] != traces.value[e + 1]
    ]
    for world in itertools.product(*choices):
        fits = all(
            not Counter(world[e] for e in enumerated_members(traces, g)) - tops[g] for g in range(traces.n_groups)
        ) and all(world[a] != world[b] for a, b in links)
        if fits:
            for e, value in enumerate(world):
                possible[e].add(value)
    return possible


def enumerated_members(traces: Traces, g: int) -> list[int]:
    return traces.people[traces.group_ptr[g] : traces.group_ptr[g + 1]].tolist()


def enumerated_counts(traces: Traces, g: int) -> Counter[int]:
    at = slice(traces.sig_ptr[g], traces.sig_ptr[g + 1])
    return Counter(dict(zip(traces.sig_val[at].tolist(), traces.sig_cnt[at].tolist(), strict=True)))
