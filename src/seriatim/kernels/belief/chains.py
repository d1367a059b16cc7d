"""People's chains of values: what a belief about one appearance says about the next, and about the one before.

A chain is a finite automaton: a state knows the value of the newest appearance and whatever earlier ones matter.
``tables[w, c, a, s]`` is the chance that value s follows state a for people of class c after the gap ``which`` maps to
w; a gap without a table takes that many single steps. A row that sums to less than 1 loses the rest: those people are
not seen again.

Where the people of a group meet again, evidence repeats itself, and must not be counted twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from seriatim.kernels.arrays import Bytes, Floats, Ints, Longs, kernel, leaf


class Chain(NamedTuple):
    """Sequence knowledge as kernels read it."""

    prior: Floats
    """(classes, values)"""
    start: Ints
    """The state of a first appearance with each value."""
    value_of: Ints
    """The newest value of each state."""
    then: Ints
    """(states, values): the state that follows."""
    which: Ints
    """The table of each gap; -1 for gaps made of single steps."""
    tables: Floats
    """(tables, classes, states, values); the first is the single step."""


class ChainPeople(NamedTuple):
    """Everyone's appearances in order of time: indices of rows, and the gap before each."""

    ptr: Longs
    rows: Ints
    gap: Ints
    cls: Ints


class ChainEvidence(NamedTuple):
    """What is said about appearances, a row each."""

    evidence: Bytes
    """Whether a value is possible."""
    log_lam: Floats
    """What groups say."""
    rho: Floats
    """The weight of what they say."""


@leaf
def _step(chain: Chain, cls: int, gap: int, state: Any, out: Any, room: Any) -> None:
    """Write into ``out`` the distribution over states at the next appearance; overwrites ``room``."""
    table = chain.which[gap] if gap < len(chain.which) else -1
    n_states, n_values = chain.then.shape
    # a gap with a table of its own is one step of it; any other is that many single steps
    times = 1 if table >= 0 else gap
    matrix = chain.tables[max(table, 0), cls]
    for at in range(n_states):
        room[at] = state[at]
    for _ in range(times):
        for at in range(n_states):
            out[at] = 0.0
        for at in range(n_states):
            weight = room[at]
            # most states are out of the question for any one person
            if weight > 0.0:
                for value in range(n_values):
                    out[chain.then[at, value]] += weight * matrix[at, value]
        for at in range(n_states):
            room[at] = out[at]


@leaf
def _step_back(chain: Chain, cls: int, gap: int, later: Any, out: Any, room: Any) -> None:
    """Write into ``out`` the weight of what came later at the appearance before; overwrites ``room``.

    This is :func:`_step`, transposed.
    """
    table = chain.which[gap] if gap < len(chain.which) else -1
    n_states, n_values = chain.then.shape
    times = 1 if table >= 0 else gap
    matrix = chain.tables[max(table, 0), cls]
    for at in range(n_states):
        room[at] = later[at]
    for _ in range(times):
        for at in range(n_states):
            total = 0.0
            for value in range(n_values):
                total += matrix[at, value] * room[chain.then[at, value]]
            out[at] = total
        for at in range(n_states):
            room[at] = out[at]


@kernel
def step_forward(chain: Chain, state: Floats, cls: Ints, gap: Ints, out: Floats) -> None:
    """Write into ``out`` everyone's states after their gap; rows are not rescaled."""
    room = np.empty(state.shape[1])
    for i in range(len(state)):
        _step(chain, cls[i], gap[i], state[i], out[i], room)


@kernel
def start_states(chain: Chain, cls: Ints, out: Floats) -> None:
    """Write into ``out`` the states of people without a history: the prior of their class."""
    for i in range(len(cls)):
        for at in range(out.shape[1]):
            out[i, at] = 0.0
        for value in range(chain.prior.shape[1]):
            out[i, chain.start[value]] += chain.prior[cls[i], value]


@kernel
def filter_states(chain: Chain, state: Floats, posterior: Floats, out: Floats) -> None:
    """Write into ``out`` states whose newest value has its posterior weight, shared among its states as before."""
    n_values = chain.prior.shape[1]
    before = np.empty(n_values)
    for i in range(len(state)):
        for value in range(n_values):
            before[value] = 0.0
        for at in range(state.shape[1]):
            before[chain.value_of[at]] += state[i, at]
        for at in range(state.shape[1]):
            value = chain.value_of[at]
            # what the group says is about the value: older values keep their shares
            out[i, at] = state[i, at] * posterior[i, value] / before[value] if before[value] > 0.0 else 0.0
        for value in range(n_values):
            # the group says a value that the chain held impossible: begin anew with it
            if not before[value] > 0.0:
                out[i, chain.start[value]] += posterior[i, value]


@kernel
def smooth_messages(
    chain: Chain, people: ChainPeople, begin_with: Floats, told: ChainEvidence, to_group: Floats, belief: Floats
) -> int:
    """Return how many appearances contradict the knowledge; write what chains say into ``to_group`` and ``belief``.

    Forward and backward messages along everyone's chain are combined: ``to_group`` gets the message of each appearance
    to its group. ``begin_with`` has the states before each person's first appearance. An appearance that contradicts
    the knowledge starts a new chain.
    """
    evidence, log_lam, rho = told.evidence, told.log_lam, told.rho
    n_states, n_values = chain.then.shape
    later, room, through = np.empty(n_states), np.empty(n_states), np.empty(n_states)
    own = np.empty(n_values)
    conflicts = 0
    for person in range(len(people.ptr) - 1):
        begin, end = people.ptr[person], people.ptr[person + 1]
        forward = np.empty((end - begin, n_states))
        psi = np.empty((end - begin, n_values))
        for step in range(end - begin):
            row = people.rows[begin + step]
            for value in range(n_values):
                # rho below 1: what a group said counts less where its people were together before
                psi[step, value] = np.exp(rho[row] * log_lam[row, value]) if evidence[row, value] else 0.0
            if step > 0:
                _step(chain, people.cls[row], people.gap[begin + step], through, forward[step], room)
            else:
                for at in range(n_states):
                    forward[step, at] = begin_with[person, at]
            total = _weigh(chain, psi[step], forward[step], through)
            if not total > 0.0:
                conflicts += 1
                for at in range(n_states):
                    forward[step, at] = 0.0
                for value in range(n_values):
                    # a contradiction: as if this were somebody's first appearance
                    forward[step, chain.start[value]] += chain.prior[people.cls[row], value]
                total = _weigh(chain, psi[step], forward[step], through)
            for at in range(n_states):
                through[at] = through[at] / total if total > 0.0 else forward[step, at]
        for at in range(n_states):
            # nothing is known of what comes after the last appearance
            later[at] = 1.0
        for step in range(end - begin - 1, -1, -1):
            row = people.rows[begin + step]
            for value in range(n_values):
                own[value] = 0.0
            for at in range(n_states):
                own[chain.value_of[at]] += forward[step, at] * later[at]
            _spread(own, psi[step], evidence[row], log_lam[row], to_group[row], belief[row])
            total = 0.0
            for at in range(n_states):
                later[at] *= psi[step, chain.value_of[at]]
            if step > 0:
                _step_back(chain, people.cls[row], people.gap[begin + step], later, through, room)
                for at in range(n_states):
                    total += through[at] * forward[step - 1, at]
                for at in range(n_states):
                    # scaled, since over many releases products of chances run out of digits; 1 says nothing about what
                    # came before
                    later[at] = through[at] / total if total > 0.0 else 1.0
    return conflicts


@leaf
def _weigh(chain: Chain, psi: Any, forward: Any, out: Any) -> float:
    """Return the total weight of states after the evidence ``psi``; write their weights into ``out``."""
    total = 0.0
    for at in range(len(out)):
        out[at] = forward[at] * psi[chain.value_of[at]]
        total += out[at]
    return total


@leaf
def _spread(own: Floats, psi: Any, evidence: Any, log_lam: Any, to_group: Any, belief: Any) -> None:
    """Write ``belief`` ~ own psi and the message ``to_group`` ~ belief / lam, both scaled to 1."""
    total, whole = 0.0, 0.0
    for value in range(len(own)):
        belief[value] = own[value] * psi[value]
        total += belief[value]
    if not total > 0.0:
        for value in range(len(own)):
            # the chain rules out all that the evidence allows: the evidence alone is left
            belief[value] = psi[value]
            total += psi[value]
    for value in range(len(own)):
        belief[value] = belief[value] / total if total > 0.0 else 0.0
        # the group must not hear its own message back: it is divided out
        to_group[value] = belief[value] * np.exp(-log_lam[value]) if evidence[value] else 0.0
        whole += to_group[value]
    for value in range(len(own)):
        to_group[value] = to_group[value] / whole if whole > 0.0 else float(evidence[value])


@kernel
def repeated_meeting_weights(
    ptr: Longs, person: Ints, people: ChainPeople, group: Ints, time: Ints, c: float
) -> Floats:
    """Return the weight of each group's messages: 1 / max(1, sum_h c^|t_g - t_h| w (w - 1) / (n (n - 1))).

    w is the number of people that group h, of any release, shares with group g of n people; t is a group's time, and c
    how much of a meeting counts one unit of time away. ``ptr`` and ``person`` are the people of each group, ``group``
    and ``time`` the group and time of a row.
    """
    n_groups = len(ptr) - 1
    rho, shared = np.ones(n_groups), np.zeros(n_groups, dtype=np.int32)
    seen, when = np.empty(n_groups, dtype=np.int32), np.zeros(n_groups, dtype=np.int32)
    for own in range(n_groups):
        n, n_seen, now = ptr[own + 1] - ptr[own], 0, 0
        for i in range(ptr[own], ptr[own + 1]):
            now = time[i]
            for j in range(people.ptr[person[i]], people.ptr[person[i] + 1]):
                row = people.rows[j]
                other = group[row]
                if shared[other] == 0:
                    seen[n_seen] = other
                    when[n_seen] = time[row]
                    n_seen += 1
                shared[other] += 1
        total = 0.0
        for j in range(n_seen):
            w = shared[seen[j]]
            shared[seen[j]] = 0
            # one person who meets another group brings nobody's message back
            if w > 1:
                total += c ** abs(when[j] - now) * w * (w - 1.0)
        if n > 1 and total > n * (n - 1.0):
            rho[own] = n * (n - 1.0) / total
    return rho
