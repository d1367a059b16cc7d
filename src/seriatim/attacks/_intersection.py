"""Intersection: the least an adversary does with releases made by any tool.

Everyone's value is among those published for their group, in every release: the candidates are what all
these sets have in common. Where the adversary does not know who is in which group but holds a register of
people with their values, a person may be in every group whose box they fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.attacks.fit import people_in
from seriatim.attacks.trace import PriorValues, Traces, as_flags, as_words, trace
from seriatim.kernels.arrays import Words
from seriatim.model.history import History

Candidates = dict[Any, set[Any]]


def intersection(history: History, priors: PriorValues | None = None) -> Candidates:
    """What everyone ever published may hold, by respondent id; where values changed, in the last episode."""
    traces = trace(history)
    words = traces.everything(priors)
    for words in _release_by_release(traces, priors):  # noqa: B007 - the last one counts
        pass
    return _named(traces, words)


@dataclass(frozen=True, slots=True)
class Shrinking:
    """How far the candidates of those published in it had shrunk by a release."""

    number: int
    n_people: int
    below: int
    """People with fewer than l candidates left."""
    single: int
    """People with one candidate left."""


def shrinking(history: History, least: int, priors: PriorValues | None = None) -> tuple[Shrinking, ...]:
    """Release after release: how many of its people have fewer than ``least`` candidates, how many one."""
    traces = trace(history)
    found = []
    for at, words in enumerate(_release_by_release(traces, priors)):
        left = np.bitwise_count(words[_episodes_in(traces, at)]).sum(axis=1)
        number = history.releases[at].number
        found.append(Shrinking(number, len(left), int((left < least).sum()), int((left == 1).sum())))
    return tuple(found)


def intersection_by_register(
    history: History,
    tables: Sequence[pa.Table],
    register: pa.Table,
    known: Mapping[str, Mapping[str, set[str]]] | None = None,
) -> Candidates:
    """Candidates when only a register links people to boxes.

    ``tables[i]`` is release i as published, row for row as in the history; ``register`` has a column
    ``respondent`` and the quasi-identifiers to match; ``known[column][label]`` lists the values under a
    hierarchy's label, where intervals, sets and ``*`` do not say it. Who is in a release is taken as known.
    Nothing is learnt of people who are not in the register, or whom it gives values that fit no box.
    """
    traces = trace(history)
    words = traces.everything()
    for words, _ in _register_by_release(traces, tables, register, known or {}):  # noqa: B007 - the last one counts
        pass
    return _named(traces, words)


def shrinking_by_register(
    history: History, tables: Sequence[pa.Table], register: pa.Table, least: int
) -> tuple[Shrinking, ...]:
    """As :func:`shrinking`, for an adversary with a register; counted are the people it places in some box."""
    traces = trace(history)
    found = []
    for at, (words, placed) in enumerate(_register_by_release(traces, tables, register, {})):
        left = np.bitwise_count(words[placed]).sum(axis=1)
        below = (left < least) & (left > 0)  # none left: the register contradicts the releases
        number = history.releases[at].number
        found.append(Shrinking(number, len(left), int(below.sum()), int((left == 1).sum())))
    return tuple(found)


def _register_by_release(
    traces: Traces, tables: Sequence[pa.Table], register: pa.Table, known: Mapping[str, Mapping[str, set[str]]]
) -> Iterator[tuple[Words, npt.NDArray[np.int64]]]:
    """After each release the candidate sets, and the episodes in it that the register places in some box."""
    words, masks = traces.everything(), _masks(traces)
    spot = _register_rows(traces, register)
    quasi = [name for name in register.column_names if name != "respondent"]
    for at, (past, table) in enumerate(zip(traces.history.releases, tables, strict=True)):
        episodes = _episodes_in(traces, at)
        may = np.zeros_like(words)
        for group, rows in people_in(table.select(quasi), past.group, register.select(quasi), known):
            inside = np.zeros(register.num_rows + 1, dtype=np.bool_)
            inside[rows] = True
            may[episodes[inside[spot[episodes]]]] |= masks[int(traces.first_of_release[at]) + group]
        placed = episodes[may[episodes].any(axis=1)]
        words[placed] &= may[placed]
        yield words, placed


def _register_rows(traces: Traces, register: pa.Table) -> npt.NDArray[np.int64]:
    """For each episode its row in the register; the row after the last for people not in it."""
    rows = {str(who).strip(): row for row, who in enumerate(register.column("respondent").to_pylist())}
    ids = map(str, traces.history.respondents.take(traces.respondent).to_pylist())
    return np.array([rows.get(who, register.num_rows) for who in ids], dtype=np.int64)


def _release_by_release(traces: Traces, priors: PriorValues | None) -> list[Words]:
    """The candidate sets after each release."""
    masks, words = _masks(traces), traces.everything(priors)
    when = traces.release_of[traces.groups]
    owner = np.repeat(np.arange(len(traces.respondent)), np.diff(traces.person_ptr))
    states = []
    for at in range(len(traces.history)):
        now = np.flatnonzero(when == at)
        words[owner[now]] &= masks[traces.groups[now]]
        states.append(words.copy())
    return states


def _episodes_in(traces: Traces, at: int) -> npt.NDArray[np.int64]:
    owner = np.repeat(np.arange(len(traces.respondent)), np.diff(traces.person_ptr))
    here: npt.NDArray[np.int64] = owner[traces.release_of[traces.groups] == at]
    return here


def _masks(traces: Traces) -> Words:
    """Per group the values published for it."""
    bits = as_words(np.eye(max(traces.n_values, 1), dtype=np.bool_))
    masks = np.zeros((traces.n_groups, bits.shape[1]), dtype=np.uint64)
    np.bitwise_or.at(masks, np.repeat(np.arange(traces.n_groups), np.diff(traces.sig_ptr)), bits[traces.sig_val])
    return masks


def _named(traces: Traces, words: Words) -> Candidates:
    values = traces.history.values.to_pylist()
    ids = traces.ids(traces.latest)
    flags = as_flags(words[traces.latest], len(values))
    return {who: {values[i] for i in np.flatnonzero(row)} for who, row in zip(ids, flags, strict=True)}
