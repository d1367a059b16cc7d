"""Promises: what a draft keeps or breaks. Each judges the counts of one published table, or a whole history.

``judges`` says which of the two: "table" or "series". A package of others says it the same way.
"""

from __future__ import annotations

from typing import Literal, Protocol, TypeGuard

from seriatim.model.class_counts import ClassCounts
from seriatim.model.history import JudgedHistory
from seriatim.model.verdict import Finding


class TablePromise(Protocol):
    """A promise about one published table, judged by its counts alone: publishing and the audit judge it alike."""

    @property
    def rule(self) -> str: ...

    @property
    def column(self) -> str | None:
        """Return the sensitive column that it is about; None for the whole table."""

    @property
    def judges(self) -> Literal["table"]: ...

    def check(self, counts: ClassCounts) -> Finding: ...


class SeriesPromise(Protocol):
    """A promise about all releases of a series, the draft as the newest of them.

    One that judges more than the history says so by an attribute ``needs``, see ``Need``.
    """

    @property
    def rule(self) -> str: ...

    @property
    def column(self) -> str | None:
        """Return the sensitive column whose values it follows; None for the first."""

    @property
    def judges(self) -> Literal["series"]: ...

    def check(self, judged: JudgedHistory) -> Finding: ...


Promise = TablePromise | SeriesPromise

Need = Literal["attack", "belief", "cells"]
"""What a promise about a series judges beside the history: what an attack on it concluded (``judged.estimate``), what
someone who knows how values follow each other believes (``judged.believed``), or the cells of the draft alone, without
any history."""


def need_of(promise: Promise) -> Need | None:
    """Return what a promise says that it ``needs``; most say nothing."""
    return getattr(promise, "needs", None)


def is_of_cells(promise: Promise) -> TypeGuard[SeriesPromise]:
    """Return whether a promise judges the cells of the draft alone, so that nothing has to be looked up for it."""
    return promise.judges == "series" and need_of(promise) == "cells"
