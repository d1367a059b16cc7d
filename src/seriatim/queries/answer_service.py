"""A small answering service: sums over an ordered table, with everything answered so far on record.

What counts is how many queries are answered per record, and how many records are known exactly: there is a cliff at
about one query per record, and a minimum set size hardly moves it.
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
from seriatim.model.value_grid import value_grid
from seriatim.model.visible_text import visible_text
from seriatim.queries.query_bounds import Bounds, bounds
from seriatim.queries.query_kinds import FloatArray, Query, checked_queries
from seriatim.queries.spread_refusals import SpreadRefusals


class Refusals(Protocol):
    """Says which queries are refused. It never sees the table, only queries and answers."""

    @property
    def terms(self) -> Mapping[str, Any]:
        """Return what it promises, for JSON: a book continues under the same terms, or by a decision on record."""

    def reason(self, query: Query) -> str: ...

    def answered(self, query: Query, answer: float) -> tuple[int, ...]: ...


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
    closed: tuple[int, ...] = ()
    """Records that the answer reveals too much about: for the officer, never for those who ask."""


def _numbers(values: Any) -> FloatArray:
    try:
        found: FloatArray = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all():
        raise InputError(Fault("values", "not a list of numbers", "a number for each record"))
    return found


def _written(terms: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in terms.items())


class Answering:
    """Answers queries about one table. Opened on a book with entries, it goes on where that ends.

    Without a rule for refusals, ``SpreadRefusals`` with its defaults is taken. Another rule than the book's is refused,
    unless ``approved_by`` names who decided so: then the book says that as well.
    """

    def __init__(
        self,
        values: Sequence[float] | FloatArray,
        refusals: Refusals | None,
        domain: tuple[float, float],
        book: AnswerBook | None = None,
        *,
        approved_by: str = "",
    ) -> None:
        self._values = _numbers(values)
        refusals = refusals or SpreadRefusals(len(self._values))
        if getattr(refusals, "n", len(self._values)) != len(self._values):
            raise InputError(Fault("refusals", "made for another number of records", f"n = {len(self._values)}"))
        if (self._values < domain[0]).any() or (self._values > domain[1]).any():
            raise InputError(Fault("domain", "some values lie outside of it", "all values lie within it", "widen it"))
        self._refusals, self._domain = refusals, domain
        self._grid = value_grid(self._values)
        self._book: AnswerBook = book if book is not None else ListOfAnswers()
        self._answered: list[tuple[Query, float]] = []
        self._n_asked = 0
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
        terms = json.loads(json.dumps(dict(self._refusals.terms)))
        if not before or before[-1] == terms:
            return
        if not approved_by:
            found = f"another rule than the book's, {_written(before[-1])}"
            raise InputError(Fault("refusals", found, "the same rule", "or name who decides: approved_by=..."))
        self._book.append({"rule": terms, "instead_of": before[-1], "approved_by": approved_by})

    def _must_be_of_this_table(self, query: Query, answer: float | None) -> None:
        """Raise an error if an answer on record is not what this table gives: bounds would mix two tables."""
        if max(query.records) < len(self._values):
            true = query.answer(self._values)
            if answer is None or abs(true - answer) <= 1e-9 * max(abs(true), 1.0):
                return
        raise InputError(Fault("book", "answers about another table", "the table they are about", "use a new book"))

    def _answer(self, query: Query) -> float:
        """Return the true answer; of decimals the decimal sum itself, whose last digits hide no order of adding."""
        if query.is_sum and self._grid.slack == 0:
            steps = self._grid.steps[list(query.records)].tolist()
            weights = [Fraction(str(weight)) for weight in query.weights or (1,) * len(steps)]
            whole = sum(step * weight for step, weight in zip(steps, weights, strict=True))
            total = float(whole / Fraction(10) ** round(-math.log10(self._grid.step)))
            return total / len(query.records) if query.kind == "average" else total
        return query.answer(self._values)

    def _take_up(self, query: Query, answer: float | None) -> tuple[int, ...]:
        self._n_asked += 1
        if answer is None:
            return ()
        self._answered.append((query, answer))
        return self._refusals.answered(query, answer)

    def ask(self, query: Query) -> Answer:
        """Answer a query, or refuse it. It is on record before the answer is returned."""
        checked_queries([query], len(self._values))
        reason = self._refusals.reason(query)
        value = None if reason else self._answer(query)
        asked: dict[str, Any] = {"query": query.kind, "records": list(query.records)}
        if query.weights is not None:
            asked["weights"] = list(query.weights)
        self._book.append({**asked, "answer": value, "refused": reason, "rule": dict(self._refusals.terms)})
        return Answer(value, reason, self._take_up(query, value))

    def bounds(self) -> Bounds:
        """Return what all answers together reveal about every record."""
        queries, answers = [q for q, _ in self._answered], [a for _, a in self._answered]
        return bounds(queries, answers, n=len(self._values), domain=self._domain)

    @property
    def share_answered(self) -> float:
        return len(self._answered) / self._n_asked if self._n_asked else 1.0

    @property
    def queries_per_record(self) -> float:
        return len(self._answered) / len(self._values)

    @property
    def share_exact(self) -> float:
        """Return the share of records that the answers determine."""
        return self.bounds().exact_share if self._answered else 0.0

    def __repr__(self) -> str:
        return (
            f"Answering({len(self._values):,} records; {len(self._answered)} of {self._n_asked} queries answered, "
            f"{self.queries_per_record:.3g} per record; {self.share_exact:.1%} of records known exactly)"
        )
