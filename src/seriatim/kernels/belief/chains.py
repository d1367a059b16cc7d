"""People's chains of values: what a belief about one appearance says about the next, and about the one before.

A chain is a finite automaton: a state knows the value of the newest appearance and whatever earlier ones matter.
``tables[w, c, a, s]`` is the chance that value s follows state a for people of class c after the gap ``which`` maps to
w; a gap without a table takes that many single steps. A row that sums to less than 1 loses the rest: those people are
not seen again.
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
    """Carry a distribution over states to the next appearance."""
    table = chain.which[gap] if gap < len(chain.which) else -1
    n_states, n_values = chain.then.shape
    times = 1 if table >= 0 else gap
    matrix = chain.tables[max(table, 0), cls]
    for a in range(n_states):
        room[a] = state[a]
    for _ in range(times):
        for a in range(n_states):
            out[a] = 0.0
        for a in range(n_states):
            weight = room[a]
            if weight > 0.0:
                for s in range(n_values):
                    out[chain.then[a, s]] += weight * matrix[a, s]
        for a in range(n_states):
            room[a] = out[a]


@leaf
def _step_back(chain: Chain, cls: int, gap: int, later: Any, out: Any, room: Any) -> None:
    """Carry the weight of what came later back to the appearance before: :func:`_step`, transposed."""
    table = chain.which[gap] if gap < len(chain.which) else -1
    n_states, n_values = chain.then.shape
    times = 1 if table >= 0 else gap
    matrix = chain.tables[max(table, 0), cls]
    for a in range(n_states):
        room[a] = later[a]
    for _ in range(times):
        for a in range(n_states):
            total = 0.0
            for s in range(n_values):
                total += matrix[a, s] * room[chain.then[a, s]]
            out[a] = total
        for a in range(n_states):
            room[a] = out[a]


@kernel
def advance_chains(chain: Chain, state: Floats, cls: Ints, gap: Ints, out: Floats) -> None:
    """Carry everyone's state over their gap; rows are not rescaled."""
    room = np.empty(state.shape[1])
    for i in range(len(state)):
        _step(chain, cls[i], gap[i], state[i], out[i], room)


@kernel
def start_chains(chain: Chain, cls: Ints, out: Floats) -> None:
    """Write the states of people without a history: the prior of their class."""
    for i in range(len(cls)):
        for a in range(out.shape[1]):
            out[i, a] = 0.0
        for s in range(chain.prior.shape[1]):
            out[i, chain.start[s]] += chain.prior[cls[i], s]


@kernel
def filter_chains(chain: Chain, state: Floats, posterior: Floats, out: Floats) -> None:
    """Give each value of the newest appearance its posterior weight, shared among its states as before."""
    n_values = chain.prior.shape[1]
    before = np.empty(n_values)
    for i in range(len(state)):
        for s in range(n_values):
            before[s] = 0.0
        for a in range(state.shape[1]):
            before[chain.value_of[a]] += state[i, a]
        for a in range(state.shape[1]):
            s = chain.value_of[a]
            out[i, a] = state[i, a] * posterior[i, s] / before[s] if before[s] > 0.0 else 0.0
        for s in range(n_values):
            if not before[s] > 0.0:
                out[i, chain.start[s]] += posterior[i, s]


@kernel
def smooth_chains(
    chain: Chain, people: ChainPeople, begin_with: Floats, told: ChainEvidence, to_group: Floats, belief: Floats
) -> int:
    """Combine forward and backward messages along everyone's chain.

    ``begin_with`` has the states before each person's first appearance. Write the message of each appearance to its
    group, and the belief. Return the number of appearances that contradict the knowledge; they start a new chain.
    """
    evidence, log_lam, rho = told.evidence, told.log_lam, told.rho
    n_states, n_values = chain.then.shape
    later, room, through = np.empty(n_states), np.empty(n_states), np.empty(n_states)
    own = np.empty(n_values)
    conflicts = 0
    for p in range(len(people.ptr) - 1):
        begin, end = people.ptr[p], people.ptr[p + 1]
        f = np.empty((end - begin, n_states))
        psi = np.empty((end - begin, n_values))
        for t in range(end - begin):
            row = people.rows[begin + t]
            for s in range(n_values):
                psi[t, s] = np.exp(rho[row] * log_lam[row, s]) if evidence[row, s] else 0.0
            if t > 0:
                _step(chain, people.cls[row], people.gap[begin + t], through, f[t], room)
            else:
                for a in range(n_states):
                    f[t, a] = begin_with[p, a]
            total = _weigh(chain, psi[t], f[t], through)
            if not total > 0.0:
                conflicts += 1
                for a in range(n_states):
                    f[t, a] = 0.0
                for s in range(n_values):
                    f[t, chain.start[s]] += chain.prior[people.cls[row], s]
                total = _weigh(chain, psi[t], f[t], through)
            for a in range(n_states):
                through[a] = through[a] / total if total > 0.0 else f[t, a]
        for a in range(n_states):
            later[a] = 1.0
        for t in range(end - begin - 1, -1, -1):
            row = people.rows[begin + t]
            for s in range(n_values):
                own[s] = 0.0
            for a in range(n_states):
                own[chain.value_of[a]] += f[t, a] * later[a]
            _spread(own, psi[t], evidence[row], log_lam[row], to_group[row], belief[row])
            total = 0.0
            for a in range(n_states):
                later[a] *= psi[t, chain.value_of[a]]
            if t > 0:
                _step_back(chain, people.cls[row], people.gap[begin + t], later, through, room)
                for a in range(n_states):
                    total += through[a] * f[t - 1, a]
                for a in range(n_states):
                    later[a] = through[a] / total if total > 0.0 else 1.0
    return conflicts


@leaf
def _weigh(chain: Chain, psi: Any, f: Any, out: Any) -> float:
    total = 0.0
    for a in range(len(out)):
        out[a] = f[a] * psi[chain.value_of[a]]
        total += out[a]
    return total


@leaf
def _spread(own: Floats, psi: Any, evidence: Any, log_lam: Any, to_group: Any, belief: Any) -> None:
    """Write belief ~ own psi and the message to the group ~ belief / lam, both scaled to 1."""
    total, whole = 0.0, 0.0
    for s in range(len(own)):
        belief[s] = own[s] * psi[s]
        total += belief[s]
    if not total > 0.0:
        for s in range(len(own)):
            belief[s] = psi[s]
            total += psi[s]
    for s in range(len(own)):
        belief[s] = belief[s] / total if total > 0.0 else 0.0
        to_group[s] = belief[s] * np.exp(-log_lam[s]) if evidence[s] else 0.0
        whole += to_group[s]
    for s in range(len(own)):
        to_group[s] = to_group[s] / whole if whole > 0.0 else float(evidence[s])
