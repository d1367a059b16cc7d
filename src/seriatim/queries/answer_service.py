"""A small answering service: sums and averages over a table that is not published, with everything asked on record.

It refuses by who was asked about, never by who holds what. Records that every answer so far counts alike form a group.
Exchanging their values changes no answer, so answers tell at most which values a group holds, also to somebody who
knows that values are whole numbers, or few. A query that would leave too small a group is refused. How small is too
small follows from the column's margin (which values, how often): values of a group, drawn from it at random, must not
lie near each other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.model.names import visible_text
from seriatim.model.nearness import value_grid
from seriatim.queries.query_bounds import Bounds
from seriatim.queries.query_kinds import FloatArray, LongArray, Query, check_records, rounding_width


class AnswerBook(Protocol):
    """Keeps what was asked and answered, in order: the ledger's ``answer_book``, or a list of your own."""

    def entries(self) -> Sequence[Mapping[str, Any]]: ...

    def append(self, entry: Mapping[str, Any]) -> None: ...


class ListOfAnswers:
    """Answers kept in memory, for trying things out."""

    def __init__(self) -> None:
        self._entries: list[Mapping[str, Any]] = []

    def entries(self) -> Sequence[Mapping[str, Any]]:
        return tuple(self._entries)

    def append(self, entry: Mapping[str, Any]) -> None:
        self._entries.append(entry)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, or why there is none."""

    value: float | None
    refused: str = ""


def _numbers(values: Any) -> FloatArray:
    try:
        found: FloatArray = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all():
        raise InputError(Fault("values", "not a list of numbers", "a number for each record"))
    return found


class Answering:
    """Answers queries about one table. Opened on a book with entries, it continues from the last one.

    Without a rule for refusals, ``SpreadRefusals`` with its defaults is taken. Another rule than the book's is refused,
    unless ``approved_by`` names who decided so: then the book says that as well.
    """

    def __init__(
        self,
        values: Sequence[float] | FloatArray,
        refusals: SpreadRefusals | None,
        domain: tuple[float, float],
        book: AnswerBook | None = None,
        *,
        approved_by: str = "",
    ) -> None:
        self._values = _numbers(values)
        refusals = refusals or SpreadRefusals(len(self._values))
        if refusals.n != len(self._values):
            raise InputError(Fault("refusals", "made for another number of records", f"n = {len(self._values)}"))
        if (self._values < domain[0]).any() or (self._values > domain[1]).any():
            raise InputError(Fault("domain", "some values lie outside of it", "all values lie within it", "widen it"))
        self._domain, self._unknown, self._spread = domain, refusals.unknown, refusals.spread
        self._least_group = refusals.least_group(self._values)
        self._terms = {**refusals.terms, "least_group": self._least_group}
        self._grid = value_grid(self._values)
        self._book: AnswerBook = book if book is not None else ListOfAnswers()
        self._groups: LongArray = np.zeros(len(self._values), dtype=np.int64)
        self._n_asked = self._n_answered = 0
        entries = self._book.entries()
        for entry in entries:
            if "query" in entry:
                query = Query(entry["query"], tuple(entry["records"]), entry.get("weights"))
                self._must_be_of_this_table(query, entry["answer"])
                self._take_up(query, entry["answer"])
        self._must_be_its_rule(entries, approved_by and visible_text("approved_by", approved_by))

    def _must_be_its_rule(self, entries: Sequence[Mapping[str, Any]], approved_by: str) -> None:
        """Raise an error if the book was kept under another rule, unless somebody stands for the change."""
        before = [entry["rule"] for entry in entries if "rule" in entry]
        # as the book has it, where a tuple is a list
        terms = json.loads(json.dumps(self._terms))
        if not before or before[-1] == terms:
            return
        if not approved_by:
            found = f"another rule than the book's, {terms_in_words(before[-1])}"
            raise InputError(Fault("refusals", found, "the same rule", "or name who decides: approved_by=..."))
        self._book.append({"rule": terms, "instead_of": before[-1], "approved_by": approved_by})

    def _must_be_of_this_table(self, query: Query, answer: float | None) -> None:
        """Raise an error if an answer on record is not what this table gives: it would be about other people."""
        if max(query.records) < len(self._values):
            true = query.answer(self._values)
            # a refusal says nothing about the table
            if answer is None or abs(true - answer) <= 1e-9 * max(abs(true), 1.0):
                return
        raise InputError(Fault("book", "answers about another table", "the table they are about", "use a new book"))

    def _answer(self, query: Query) -> float:
        """Return the true answer, whose last digits hide no order of adding; of decimals the decimal sum itself."""
        signs = query.counted.tolist()
        # decimals add up exactly as whole steps: their float sum would tell the order of adding
        if self._grid.slack == 0:
            steps = self._grid.steps[list(query.records)].tolist()
            whole = sum(int(sign) * step for sign, step in zip(signs, steps, strict=True))
            total = float(whole / Fraction(10) ** round(-math.log10(self._grid.step)))
        else:
            total = math.fsum(signs * self._values[list(query.records)])
        return total / len(query.records) if query.kind == "average" else total

    def _reason(self, query: Query) -> str:
        """Return why a query is refused; empty if it may be answered."""
        if not query.is_sum or not np.isin(query.counted, (1.0, -1.0)).all():
            return "only sums, differences of sums and averages are answered"
        finer = finer_groups(self._groups, query)
        sizes = np.bincount(finer[self._unknown], minlength=len(finer))
        moved = np.isin(self._groups, self._groups[list(query.records)])
        if (sizes[finer[moved]] < self._least_group).any():
            return f"it would set fewer than {self._least_group} records apart"
        return ""

    def _take_up(self, query: Query, answer: float | None) -> None:
        self._n_asked += 1
        if answer is not None:
            self._n_answered += 1
            self._groups = finer_groups(self._groups, query)

    def ask(self, query: Query) -> Answer:
        """Answer a query, or refuse it. It is on record before the answer is returned."""
        check_records([query], len(self._values))
        reason = self._reason(query)
        value = None if reason else self._answer(query)
        asked: dict[str, Any] = {"query": query.kind, "records": list(query.records)}
        if query.weights is not None:
            asked["weights"] = list(query.weights)
        self._book.append({**asked, "answer": value, "refused": reason, "rule": self._terms})
        self._take_up(query, value)
        return Answer(value, reason)

    @property
    def groups(self) -> LongArray:
        """Return the group of each record: a sum or average over whole groups is always answered."""
        return self._groups.copy()

    def bounds(self) -> Bounds:
        """Return what each record can be, to whoever knows the sum of every group and the records of ``known``.

        Answers tell no more, also to somebody who knows that values are whole numbers.
        """
        low, high = self._values.copy(), self._values.copy()
        groups, (least, most) = self._groups[self._unknown], self._domain
        sizes, totals = np.bincount(groups), np.bincount(groups, self._values[self._unknown])
        others = (sizes - 1)[groups]
        low[self._unknown] = np.maximum(least, totals[groups] - others * most)
        high[self._unknown] = np.minimum(most, totals[groups] - others * least)
        largest = int(sizes.max())
        return Bounds(low, high, "closed form", rounding_width(largest * least, largest * most))

    @property
    def exposed_records(self) -> tuple[int, ...]:
        """Return the records whose group holds near values only, or but for one: for the officer, never for who asks.

        Values are dealt to groups at random but for what the sets that were asked about say of them: where all of a set
        hold nearly the same value, its sum tells it.
        """
        width = self._spread * float(np.sort(self._values).std())
        groups, values = self._groups[self._unknown], self._values[self._unknown]
        ordered = values[np.lexsort((values, groups))]
        sizes = np.bincount(groups)
        last = np.cumsum(sizes) - 1
        first = last - sizes + 1
        second = np.minimum(first + 1, last)  # without the least value, or without the largest
        but_one = np.minimum(ordered[last] - ordered[second], ordered[np.maximum(last - 1, first)] - ordered[first])
        return tuple(self._unknown[(but_one <= width)[groups]].tolist())

    @property
    def share_answered(self) -> float:
        return self._n_answered / self._n_asked if self._n_asked else 1.0

    @property
    def queries_per_record(self) -> float:
        return self._n_answered / len(self._values)

    def __repr__(self) -> str:
        return (
            f"Answering({len(self._values):,} records; {self._n_answered} of {self._n_asked} queries answered; "
            f"groups of {self._least_group} or more)"
        )


_SLIP = 1e-4
"""The chance, over the life of a service, that values dealt at random lie near each other in some group."""


@dataclass(frozen=True, slots=True)
class SpreadRefusals:
    """Nobody is read to within ``spread`` of the column's standard deviation; see ``least_group``."""

    n: int
    spread: float = 0.7
    least_records: int = 2
    """Unknown records in a group, if the column itself does not demand more."""
    known: tuple[int, ...] = ()
    """Records whose values those who ask may know: partners, staff, whoever pools with them. They hide nobody."""

    def __post_init__(self) -> None:
        if not 0.0 < self.spread < 1.0:
            raise InputError(Fault("spread", f"{self.spread:g}", "above 0 and below 1"))
        if self.n < 1 or self.least_records < 1:
            raise InputError(Fault("refusals", "n or least_records below 1", "whole numbers from 1"))
        if np.size(self.known):
            known = tuple(sorted(Query("sum", self.known).records))
            if known[-1] >= self.n:
                raise InputError(Fault("known", "a record beyond the last", f"positions below {self.n}"))
            object.__setattr__(self, "known", known)

    @property
    def terms(self) -> dict[str, Any]:
        """Return the rule as a book records it."""
        return {
            "rule": "groups",
            "spread": float(self.spread),
            "least_records": self.least_records,
            "known": list(self.known),
        }

    @property
    def unknown(self) -> LongArray:
        """Return the positions of the records whose values nobody who asks may know."""
        return np.setdiff1d(np.arange(self.n), np.array(self.known, dtype=np.int64))

    def least_group(self, values: FloatArray) -> int:
        """Return how many unknown records a group must have at least.

        If values are dealt at random, the chance is at most 1 in 10,000, over all groups that ever come about, that the
        values of a group, without one member's (whoever asks knows their own), lie within ``spread`` standard
        deviations. Also a straight line through all answers errs by ``spread`` of them.
        """
        if values.shape != (self.n,):
            raise InputError(Fault("values", f"shape {values.shape}", f"{self.n} numbers"))
        column = np.sort(values[self.unknown])
        width = self.spread * float(np.sort(values).std())
        # how many lie within the width above each value
        near = np.searchsorted(column, column + width, side="right") - np.arange(len(column)) - 1
        logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, len(column) + 1)))))

        def is_enough(size: int) -> bool:
            """Count the sets of one record less that lie near each other by their least value, of all such sets."""
            able = near[near >= size - 2]
            sets = logs[able] - logs[able - size + 2] - logs[size - 2]
            every = logs[-1] - logs[len(column) - size + 1] - logs[size - 1]
            return len(column) * size * float(np.exp(sets - every).sum()) <= _SLIP

        # fewer could be told by a straight line through all answers, however unlike they are
        low = max(self.least_records, 1 + math.ceil(1 / (1 - self.spread**2) - 1e-9))
        high = len(column)
        if low > high or not is_enough(high):
            allowed = "a column whose values differ among more people"
            raise InputError(
                Fault("values", "too alike, or too few, to answer about", allowed, "publish a table of it")
            )
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
        return high


def finer_groups(groups: LongArray, query: Query) -> LongArray:
    """Return the group of each record once a query is answered: those it counts differently part."""
    _, counted = np.unique(query.row(len(groups)), return_inverse=True)
    _, found = np.unique(groups * (int(counted.max()) + 1) + counted, return_inverse=True)
    return np.asarray(found, dtype=np.int64)


def terms_in_words(terms: Mapping[str, Any]) -> str:
    """Return a rule of a book as a line; records that are known are counted."""
    return ", ".join(f"{name} {len(value) if name == 'known' else value}" for name, value in terms.items())
