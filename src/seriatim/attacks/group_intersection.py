"""Intersection: the least an adversary does with releases made by any tool.

In every release, a person's value is among those published for their group, so the values common to all their groups
remain. An adversary who does not know who is in which group, but has a register of people, places each person in every
group whose box they fit.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.attacks.traces_by_person import PriorValues, Traces, trace, trace_bit_words, trace_flags
from seriatim.errors import AdversaryError, Fault
from seriatim.kernels.arrays import Words
from seriatim.model.classes import class_text_codes
from seriatim.model.history import History
from seriatim.model.scale import span_of, span_point

Candidates = dict[Any, set[Any]]


def intersection(history: History, priors: PriorValues | None = None) -> Candidates:
    """Return everyone's possible values, by respondent id; if values changed, those of the last episode."""
    traces = trace(history)
    words = traces.everything(priors)
    for words in _release_by_release(traces, priors):  # noqa: B007 - the last one counts
        pass
    return _named(traces, words)


@dataclass(frozen=True, slots=True)
class ShrinkingCounts:
    """How far the possible values of a release's people have shrunk by then."""

    number: int
    n_people: int
    below: int
    """People with fewer than ``least`` possible values."""
    single: int
    """People with one possible value."""
    unplaced: int = 0
    """People of a register who are in the release and fit none of its boxes: nothing is said about them."""


def shrinking(history: History, least: int, priors: PriorValues | None = None) -> tuple[ShrinkingCounts, ...]:
    """Count for each release its people with fewer than ``least`` possible values, and with one."""
    traces = trace(history)
    found = []
    for at, words in enumerate(_release_by_release(traces, priors)):
        left = np.bitwise_count(words[_episodes_in(traces, at)]).sum(axis=1)
        number = history.releases[at].number
        found.append(ShrinkingCounts(number, len(left), int((left < least).sum()), int((left == 1).sum())))
    return tuple(found)


def intersection_by_register(
    history: History,
    tables: Sequence[pa.Table],
    register: pa.Table,
    known: Mapping[str, Mapping[str, set[str]]] | None = None,
) -> Candidates:
    """Return the possible values of people whom only a register links to boxes.

    ``tables[i]`` is release i as published, row by row as in the history. ``register`` has a column ``respondent`` and
    the quasi-identifiers to match. ``known[column][label]`` lists the values under a hierarchy's label, for labels
    other than intervals, sets and ``*``. The adversary knows who is in a release. They learn nothing about people who
    are not in the register or fit no box.
    """
    traces = trace(history)
    words = traces.everything()
    for words, _ in _register_by_release(traces, tables, register, known or {}):  # noqa: B007 - the last one counts
        pass
    return _named(traces, words)


def shrinking_by_register(
    history: History, tables: Sequence[pa.Table], register: pa.Table, least: int
) -> tuple[ShrinkingCounts, ...]:
    """Count like :func:`shrinking`, for an adversary with a register; only people who fit some box are counted."""
    refuse_other_register(history, tables, register)
    traces = trace(history)
    found = []
    listed = _register_rows(traces, register) < register.num_rows
    for at, (words, placed) in enumerate(_register_by_release(traces, tables, register, {})):
        left = np.bitwise_count(words[placed]).sum(axis=1)
        unplaced = int(listed[_episodes_in(traces, at)].sum()) - len(placed)
        below = (left < least) & (left > 0)  # none left: the register contradicts the releases
        number = history.releases[at].number
        found.append(ShrinkingCounts(number, len(left), int(below.sum()), int((left == 1).sum()), unplaced))
    return tuple(found)


def refuse_other_register(history: History, tables: Sequence[pa.Table], register: pa.Table) -> None:
    """Refuse tables that are not these releases, and a register without ids."""
    if [table.num_rows for table in tables] != [len(past.person) for past in history]:
        raise AdversaryError(Fault("tables", "other releases, or other rows", "each release as published, in order"))
    if "respondent" not in register.column_names:
        raise AdversaryError(Fault("register", "no column 'respondent'", "ids and quasi-identifiers"))
    if missing := sum(name not in table.column_names for table in tables for name in quasi_of(register)):
        raise AdversaryError(Fault("register", f"{missing} columns that a release lacks", "columns of the releases"))


def quasi_of(register: pa.Table) -> list[str]:
    """Return the columns of a register that may be matched."""
    return [name for name in register.column_names if name != "respondent"]


def _register_by_release(
    traces: Traces, tables: Sequence[pa.Table], register: pa.Table, known: Mapping[str, Mapping[str, set[str]]]
) -> Iterator[tuple[Words, npt.NDArray[np.int64]]]:
    """Yield for each release the possible values, and the episodes in it that fit some box."""
    refuse_other_register(traces.history, tables, register)
    words, masks = traces.everything(), _masks(traces)
    spot = _register_rows(traces, register)
    quasi = quasi_of(register)
    for at, (past, table) in enumerate(zip(traces.history.releases, tables, strict=True)):
        episodes = _episodes_in(traces, at)
        may = np.zeros_like(words)
        for group, rows in people_who_fit(table.select(quasi), past.group, register.select(quasi), known):
            inside = np.zeros(register.num_rows + 1, dtype=np.bool_)
            inside[rows] = True
            may[episodes[inside[spot[episodes]]]] |= masks[int(traces.first_of_release[at]) + group]
        placed = episodes[may[episodes].any(axis=1)]
        words[placed] &= may[placed]
        yield words, placed


def _register_rows(traces: Traces, register: pa.Table) -> npt.NDArray[np.int64]:
    """Return each episode's row in the register; one past the last for people who are not in it."""
    rows = {who: row for row, who in enumerate(register_texts(register.column("respondent")))}
    ids = map(str, traces.history.respondents.take(traces.respondent).to_pylist())
    return np.array([rows.get(who, register.num_rows) for who in ids], dtype=np.int64)


def _release_by_release(traces: Traces, priors: PriorValues | None) -> list[Words]:
    """Yield the possible values after each release."""
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
    """Return the values published for each group."""
    bits = trace_bit_words(np.eye(max(traces.n_values, 1), dtype=np.bool_))
    masks = np.zeros((traces.n_groups, bits.shape[1]), dtype=np.uint64)
    np.bitwise_or.at(masks, np.repeat(np.arange(traces.n_groups), np.diff(traces.sig_ptr)), bits[traces.sig_val])
    return masks


def _named(traces: Traces, words: Words) -> Candidates:
    values = traces.history.values.to_pylist()
    ids = traces.ids(traces.latest)
    flags = trace_flags(words[traces.latest], len(values))
    return {who: {values[i] for i in np.flatnonzero(row)} for who, row in zip(ids, flags, strict=True)}


Packed = npt.NDArray[np.uint8]


def people_who_fit(
    published: pa.Table,
    group: npt.NDArray[np.int32],
    register: pa.Table,
    known: Mapping[str, Mapping[str, set[str]]],
) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    """Yield each box with its group and the rows of the register that fit it.

    A group may have several boxes: cohorts publish finer ones, which cross groups.
    """
    keys = [group, *(class_text_codes(published.column(name))[0] for name in register.column_names)]
    boxes, first = np.unique(np.column_stack(keys), axis=0, return_index=True)
    n = register.num_rows
    columns = [
        (register_texts(published.column(name).take(first)), _fits(published, register, name, known.get(name, {})))
        for name in register.column_names
    ]
    for at, number in enumerate(boxes[:, 0].tolist()):
        inside = np.full(-(-n // 8), 255, dtype=np.uint8)
        for labels, fits in columns:
            inside &= fits[labels[at]]
        yield number, np.flatnonzero(np.unpackbits(inside, count=n))


def register_texts(column: pa.ChunkedArray) -> list[str | None]:
    """Return cells as text, without blanks around them."""
    if pa.types.is_temporal(column.type):  # a time of Arrow may lie outside those of Python
        column = column.cast(pa.string())
    return [None if value is None else str(value).strip() for value in column.to_pylist()]


def _fits(
    published: pa.Table, register: pa.Table, name: str, known: Mapping[str, set[str]]
) -> dict[str | None, Packed]:
    """Return for each label of a column the people who fit it, as bits."""
    values = np.array([text or "" for text in register_texts(register.column(name))], dtype=object)
    distinct, which = np.unique(values, return_inverse=True)
    held = set(distinct.tolist())
    found = {}
    for label in set(register_texts(published.column(name))):
        read = _plain_label(label, held)
        fitting = [any(fits(value, one, known) for one in read) for value in distinct.tolist()]
        found[label] = np.packbits(np.array(fitting, dtype=np.bool_)[which])
    return found


def _plain_label(label: str | None, held: set[str]) -> list[str | None]:
    """Return the labels that one stands for, as anonypy writes them: ``['20-29']``, ``['a,b']`` or ``a,b``.

    A text with commas is a list of values only if it is no value itself and one of its parts is.
    """
    if label is None or label in held or (label.startswith("{") and label.endswith("}")):
        return [label]
    bare = label[1:-1].strip() if label.startswith("[") and label.endswith("]") else ""
    if bare[:1] in ("'", '"') and bare[-1:] == bare[:1]:
        inside = next(csv.reader([bare], quotechar=bare[0], skipinitialspace=True))
        return [one for text in inside for one in _plain_label(text, held)]
    parts = [part.strip() for part in label.split(",")]
    return [*parts] if span_of(label) is None and len(parts) > 1 and held.intersection(parts) else [label]


def fits(value: str, label: str | None, known: Mapping[str, set[str]]) -> bool:
    """Return whether a value lies under a published label; a missing cell fits everyone, an unknown one every label."""
    if label is None or label == "*" or value in ("", label):
        return True
    if label in known:
        return value in known[label]
    if label.startswith("{") and label.endswith("}"):
        return value in next(csv.reader([label[1:-1]]))
    number, span = span_point(value), span_of(label)
    if span is not None and not math.isnan(number):
        return span.holds(number)
    if label.startswith("[") and label.endswith("]") and "," in label:
        low, _, high = label[1:-1].partition(",")  # dates, by text
        return low.strip() <= value <= high.strip()
    if label.endswith("*"):
        return len(value) == len(label) and value.startswith(label.rstrip("*"))
    return False
