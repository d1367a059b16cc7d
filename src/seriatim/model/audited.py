"""A published table to be audited, coded: made by us or by any other tool."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from seriatim.model.scale import FloatArray, IntArray
from seriatim.model.tabulation import LongArray, Membership, Tabulation, classify, tabulate
from seriatim.model.view import Coded


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """A column that makes the classes; a missing cell is a label like any other."""

    name: str
    codes: IntArray
    n_values: int
    star: int = -1
    """The code of '*': a label, but not a value."""


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """What the adversary held before: another table, coded on the same values."""

    name: str
    given: tuple[Given, ...]
    """Empty when the table does not have the quasi-identifiers as published; then only its margin can be used."""
    sensitive: tuple[IntArray, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Audited:
    """Records equal in ``given`` form a class: the quasi-identifiers, or the column ``group`` of a serial release.

    In a sensitive column the code -1 is a cell that says nothing: '*', or left out by the policy.
    """

    table: pa.Table = field(repr=False)
    name: str
    given: tuple[Given, ...]
    sensitive: tuple[Coded, ...]
    beside: Beside | None = None

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def classes(self) -> Membership:
        return classify([c.codes for c in self.given], [c.n_values for c in self.given], len(self))

    def count(self, classes: Membership, column: Coded) -> Tabulation:
        return tabulate(classes, column.codes, len(column.scale))


def margin_beside(beside: Beside, index: int, n_values: int) -> FloatArray:
    """The shares that the other table gives each value of the sensitive column ``index``."""
    codes = beside.sensitive[index]
    counts = np.bincount(codes[codes >= 0], minlength=n_values)
    return counts / max(int(counts.sum()), 1)


def conditional_beside(audited: Audited, index: int, classes: Membership) -> FloatArray:
    """One row of shares per class, from the other table's records of the same class; nan where it has none."""
    assert audited.beside is not None
    numbers, codes = _numbers_beside(audited, audited.beside), audited.beside.sensitive[index]
    counts = np.zeros((len(classes), len(audited.sensitive[index].scale)))
    inside = (numbers < len(classes)) & (codes >= 0)
    np.add.at(counts, (numbers[inside], codes[inside]), 1.0)
    with np.errstate(invalid="ignore"):
        return np.asarray(counts / counts.sum(axis=1, keepdims=True), dtype=np.float64)


def sizes_beside(audited: Audited, classes: Membership) -> LongArray | None:
    """Records of the other table in each class; None when it lacks the columns that make classes."""
    if audited.beside is None or not audited.beside.given:
        return None
    numbers = _numbers_beside(audited, audited.beside)
    return np.bincount(numbers[numbers < len(classes)], minlength=len(classes)).astype(np.int64)


def _numbers_beside(audited: Audited, beside: Beside) -> IntArray:
    """The class of each record of the other table; numbers beyond the audited classes are classes of its own.

    Classes are numbered by first records, and the audited ones stand first.
    """
    columns = [np.concatenate((a.codes, b.codes)) for a, b in zip(audited.given, beside.given, strict=True)]
    sizes = [max(a.n_values, b.n_values) for a, b in zip(audited.given, beside.given, strict=True)]
    return classify(columns, sizes, len(columns[0])).of_record[len(audited) :]
