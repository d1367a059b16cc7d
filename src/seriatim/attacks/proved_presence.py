"""Presence: who is proved to be in a release, by someone with a register of the population.

Labels of most methods are tight: both ends of a range, and every value of a set, are some member's. A class has as
many people as rows, all of whom fit its labels. Where nobody else can hold an end, or where too few others fit, a
person must be in it. That they are is often what nobody should know: being in a register of patients says enough.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.attacks.group_intersection import (
    fits,
    people_who_fit,
    quasi_of,
    refuse_other_register,
    register_texts,
)
from seriatim.kernels.arrays import Longs
from seriatim.model.classes import class_text_codes, classes_of
from seriatim.model.history import History, PastRelease
from seriatim.model.verdict import Estimate

MOST_ENDS = 14
"""Ends and values of a class's labels that are looked at together; with more, each by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvedPresence:
    """Who is proved to be in which release first."""

    since: dict[str, int]
    n_listed: int
    """People of the register who are in a release."""
    wrong: int
    """People whose presence seems proved and who are in no such release: labels are not tight, or people not listed."""
    undecided: int
    """Classes with so many ends that each was looked at by itself."""
    tight: tuple[str, ...]
    """Columns in which ends of labels were used: each is the value of somebody there."""
    unexplained: int
    """Classes that nobody, or too few of the register, could be in."""

    @property
    def estimate(self) -> Estimate:
        """Return the share of the listed people whose presence is proved: a count, so it has no interval."""
        share = (len(self.since) - self.wrong) / self.n_listed if self.n_listed else 0.0
        detail = {"proved": len(self.since), "undecided": self.undecided, "unexplained": self.unexplained}
        return Estimate("presence", share, share, share, n_people=self.n_listed, wrong=self.wrong, detail=detail)


@dataclass(slots=True)
class _Class:
    """A class of a release: who could be in it, and which ends each of them would account for."""

    rows: Longs
    """Of the register."""
    holds: Longs
    """By person a bit for each end."""
    n_ends: int
    least: int
    """People in it at least: its rows, unless counterfeits are among them."""
    most: int


def presence(history: History, tables: Sequence[pa.Table], register: pa.Table, *, tight: bool = True) -> ProvedPresence:
    """Return whose presence in a release its labels prove, for an attacker whose ``register`` lists everybody.

    ``tables[i]`` is release i as published, row by row as in the history. ``register`` has a column ``respondent`` and
    the quasi-identifiers to match. Ends of labels are not used with ``tight = False``, nor in columns where some are
    nobody's, as those of hierarchies may be: a codebook tells the attacker which these are.
    """
    refuse_other_register(history, tables, register)
    used = [name for name in quasi_of(register) if tight and _ends_occur(history, tables, register, name)]
    return _presence(history, tables, register, used)


def _presence(history: History, tables: Sequence[pa.Table], register: pa.Table, tight: list[str]) -> ProvedPresence:
    ids, names = register_texts(register.column("respondent")), quasi_of(register)
    since: dict[str, int] = {}
    listed, there, wrong, undecided, unexplained = set(ids), set[str](), 0, 0, 0
    for past, table in zip(history, tables, strict=True):
        classes = _classes(past, table.select(names), register.select(names), tight)
        sound = [one for one in classes if _explained(one, np.ones(len(one.rows), dtype=np.bool_))]
        unexplained += len(classes) - len(sound)
        undecided += sum(one.n_ends > MOST_ENDS for one in sound)
        inside = {str(who) for who in history.respondents.take(np.unique(past.person[past.person >= 0])).to_pylist()}
        there |= inside & listed
        proved = {str(ids[row]) for row in _proved(sound)}
        wrong += len(proved - inside)
        since.update(dict.fromkeys(proved - since.keys(), past.number))
    return ProvedPresence(
        since=since, n_listed=len(there), wrong=wrong, undecided=undecided, tight=tuple(tight), unexplained=unexplained
    )


def _classes(past: PastRelease, table: pa.Table, register: pa.Table, tight: list[str]) -> list[_Class]:
    """Return the classes of a release with everyone of the register who fits."""
    found, names = [], table.column_names
    classes = classes_of(table, names)
    labels = [register_texts(table.column(name).take(classes.first)) for name in names]
    held = [_cells(register.column(name)) for name in names]
    n_counterfeits = int((past.person < 0).sum())
    for number, rows in people_who_fit(table, classes.of_record, register, {}):
        holds, n_ends = np.zeros(len(rows), dtype=np.int64), 0
        for name, column, (codes, values) in zip(names, labels, held, strict=True):
            for end in _ends(column[number]) if name in tight else ():
                who = np.array([fits(value, end, {}) for value in values], dtype=np.bool_)[codes[rows]]
                if n_ends < 62 and not who.all():  # an end that everybody holds says nothing
                    holds |= who.astype(np.int64) << n_ends
                    n_ends += 1
        size = int(classes.sizes[number])
        found.append(_Class(rows, holds, n_ends, max(size - n_counterfeits, 1), size))
    return found


def _ends_occur(history: History, tables: Sequence[pa.Table], register: pa.Table, name: str) -> bool:
    """Return whether somebody in each class holds each end of its label; classes of people not listed are left out."""
    row_of = {who: row for row, who in enumerate(register_texts(register.column("respondent")))}
    rows = np.array([row_of.get(str(who), -1) for who in history.respondents.to_pylist()], dtype=np.int64)
    codes, values = _cells(register.column(name))
    for past, table in zip(history, tables, strict=True):
        classes = classes_of(table, quasi_of(register))
        labels = register_texts(table.column(name).take(classes.first))
        row = np.where(past.person >= 0, rows[past.person], -1)
        for number, label in enumerate(labels):
            members = row[classes.rows[classes.starts[number] : classes.starts[number + 1]]]
            if (members < 0).any():
                continue
            there = [values[code] for code in np.unique(codes[members]).tolist()]
            if not all(any(fits(value, end, {}) for value in there) for end in _ends(label)):
                return False
    return True


def _cells(column: pa.ChunkedArray) -> tuple[Longs, list[str]]:
    codes, values = class_text_codes(pa.chunked_array([pa.array(register_texts(column), pa.string())]))
    return np.where(codes < 0, len(values), codes).astype(np.int64), [*values.to_pylist(), ""]


def _ends(label: str | None) -> list[str]:
    """Return the values that occur under a tight label: both ends of a closed range, all of a set."""
    if label is None or len(label) < 2 or "," not in label:
        return []
    if label[0] == "{" and label[-1] == "}":
        return next(csv.reader([label[1:-1]]))
    return [part.strip() for part in label[1:-1].split(",")] if label[0] == "[" and label[-1] == "]" else []


def _proved(classes: list[_Class]) -> set[int]:
    """Return the rows of the register that must be in a class; who is in one is in no other, which may prove more."""
    proved: dict[int, int] = {}
    fresh = True
    while fresh:
        fresh = False
        for at, one in enumerate(classes):
            free = np.array([proved.get(row, at) == at for row in one.rows.tolist()], dtype=np.bool_)
            if not _explained(one, free):
                continue  # somebody of it is not listed: nothing follows
            for spot in _alone(one, free):
                row = int(one.rows[spot])
                if row not in proved:
                    proved[row], fresh = at, True
    return set(proved)


def _alone(one: _Class, free: npt.NDArray[np.bool_]) -> list[int]:
    """Return the people without whom the class cannot be."""
    spots, n = np.flatnonzero(free), int(free.sum())
    if n == one.least:
        return [int(spot) for spot in spots]
    holds, first, counts = np.unique(one.holds[spots], return_index=True, return_counts=True)
    found = []
    for mask, at, count in zip(holds.tolist(), first.tolist(), counts.tolist(), strict=True):
        if count == 1 and mask:  # somebody with the same ends could stand for them
            others = free.copy()
            others[spots[at]] = False
            if not _explained(one, others):
                found.append(int(spots[at]))
    return found


def _explained(one: _Class, free: npt.NDArray[np.bool_]) -> bool:
    """Return whether these people can be a class: enough of them, and some who hold all ends are not too many."""
    holds, full = one.holds[free], (1 << one.n_ends) - 1
    if int(free.sum()) < one.least or int(np.bitwise_or.reduce(holds, initial=0)) != full:
        return False
    if one.n_ends <= one.most or one.n_ends > MOST_ENDS:
        return True  # one person for each end
    kinds, reached = np.unique(holds), {0}
    for _ in range(one.most):
        reached = {mask | int(kind) for mask in reached for kind in kinds}
        if full in reached:
            return True
    return False
