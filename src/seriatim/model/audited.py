"""A published table to audit, coded: made by us or by any other tool."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa

from seriatim.model.classes import Classes, LongArray, PublishedTable, numbered_alike
from seriatim.model.scale import FloatArray, IntArray
from seriatim.model.view import CodedColumn

PriorKind = Literal["published", "uniform", "margin", "conditional"]
"""What an adversary believed before the table."""


@dataclass(frozen=True, slots=True, eq=False)
class AuditedColumn:
    """A column that makes the classes; a missing cell is a label like any other."""

    name: str
    codes: IntArray
    n_values: int
    star: int = -1
    """The code of '*': a label, but not a value."""


@dataclass(frozen=True, slots=True, eq=False)
class AuditedPrior:
    """What the adversary knew before: another table, coded on the same values."""

    name: str
    given: tuple[AuditedColumn, ...]
    """Empty if the table does not have the quasi-identifiers as published; then only its margin can be used."""
    sensitive: tuple[IntArray, ...]


@dataclass(frozen=True, slots=True, eq=False)
class AuditedQuasi:
    """A quasi-identifier before and after: the original on its scale, and what every published label covers."""

    before: CodedColumn
    codes: IntArray
    """The label of each published record; equal labels, equal codes."""
    covers: tuple[IntArray | None, ...]
    """The codes of ``before`` that each label covers; None for a label that covers none of them."""
    points: FloatArray
    """The number that each label is, if it is one."""
    levels: FloatArray
    """The level of the hierarchy that has each label; nan for other labels, such as sets."""

    @property
    def name(self) -> str:
        return self.before.name

    @property
    def n_unread(self) -> int:
        """Count the labels in use that cover no value of the original."""
        return sum(self.covers[label] is None for label in np.unique(self.codes))


@dataclass(frozen=True, slots=True, eq=False)
class AuditedOriginal:
    """The table before it was generalised or perturbed."""

    name: str
    n_records: int
    facing: tuple[AuditedQuasi, ...]
    margins: tuple[tuple[LongArray, LongArray], ...]
    """For each sensitive column, how often each value occurs in the original and in the published table."""
    match: LongArray | None = None
    """The row in the original of each published record, -1 for none (a counterfeit); None if unknown."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AuditedTable:
    """Records equal in ``given`` form a class: the quasi-identifiers, or the column ``group`` of a serial release.

    In a sensitive column, the code -1 is a cell without a value: '*', or suppressed by the policy.
    """

    table: pa.Table = field(repr=False)
    name: str
    given: tuple[AuditedColumn, ...]
    sensitive: tuple[CodedColumn, ...]
    beside: AuditedPrior | None = None
    original: AuditedOriginal | None = None
    reading: tuple[str, ...] = ()
    """How the table was read: what a reader must know before trusting the figures."""

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def published(self) -> PublishedTable:
        """Return it with its classes numbered, as publishing sees a draft: what promises and figures count."""
        return PublishedTable(
            classes=numbered_alike([c.codes for c in self.given], [c.n_values for c in self.given], len(self)),
            labels=self.table.select([column.name for column in self.given]),
            sensitive={column.name: column for column in self.sensitive},
        )


def margin_beside(beside: AuditedPrior, index: int, n_values: int) -> FloatArray:
    """Return the share of each value of the sensitive column ``index`` in the other table."""
    codes = beside.sensitive[index]
    counts = np.bincount(codes[codes >= 0], minlength=n_values)
    return counts / max(int(counts.sum()), 1)


def conditional_beside(audited: AuditedTable, index: int, classes: Classes) -> FloatArray:
    """Return a row of shares per class, from the other table's records of the same class; nan if it has none."""
    assert audited.beside is not None
    numbers, codes = _numbers_beside(audited, audited.beside), audited.beside.sensitive[index]
    counts = np.zeros((len(classes), len(audited.sensitive[index].scale)))
    inside = (numbers < len(classes)) & (codes >= 0)
    np.add.at(counts, (numbers[inside], codes[inside]), 1.0)
    with np.errstate(invalid="ignore"):
        return np.asarray(counts / counts.sum(axis=1, keepdims=True), dtype=np.float64)


def sizes_beside(audited: AuditedTable, classes: Classes) -> LongArray | None:
    """Count the records of the other table in each class; None if it lacks the columns that make classes."""
    if audited.beside is None or not audited.beside.given:
        return None
    numbers = _numbers_beside(audited, audited.beside)
    return np.bincount(numbers[numbers < len(classes)], minlength=len(classes)).astype(np.int64)


def _numbers_beside(audited: AuditedTable, beside: AuditedPrior) -> IntArray:
    """Return the class of each record of the other table; numbers beyond the audited classes are its own.

    Classes are numbered by first records, and the audited ones come first.
    """
    columns = [np.concatenate((a.codes, b.codes)) for a, b in zip(audited.given, beside.given, strict=True)]
    sizes = [max(a.n_values, b.n_values) for a, b in zip(audited.given, beside.given, strict=True)]
    return numbered_alike(columns, sizes, len(columns[0])).of_record[len(audited) :]
