"""A promise with a case that it must keep and one that it must break."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.errors import Fault, InputError
from seriatim.model import Finding, History, Policy
from seriatim.model.class_counts import ClassCounts, ValueCounts
from seriatim.model.classes import CLASS, RESPONDENT, PublishedTable, classes_of
from seriatim.model.history import JudgedHistory, PastRelease, nothing_published
from seriatim.ports import Promise
from seriatim.tables.reader import read_table
from seriatim.tables.views import view_of
from seriatim.testing.clauses import check_contract

Case = ClassCounts | JudgedHistory


def check_promise(promise: Promise, *, keeps: Case | History, breaks: Case | History) -> None:
    """Raise ``ContractBroken`` with a line for each clause of ``ports.Promise`` that the promise breaks.

    ``keeps`` must be kept and ``breaks`` must be broken: for a promise that judges a table, what ``published_counts``
    returns; for one that judges a series, an ``sr.History``, or a ``JudgedHistory`` where it looks at the draft too.
    """
    from seriatim.testing.promise_contract import PROMISE_CONTRACT

    asked = PromiseCase(promise, _as_case(promise, keeps), _as_case(promise, breaks))
    check_contract(PROMISE_CONTRACT, lambda: asked)


def published_counts(table: Any, policy: Policy) -> ClassCounts:
    """Return the counts of a table published as it is: classes by the quasi columns of the policy."""
    view = view_of(read_table(table), policy)
    labels = view.data.select([column.name for column in view.quasi])
    classes = classes_of(labels, labels.column_names)
    named = None
    if view.respondent is not None:
        named = pa.table({RESPONDENT: view.data[view.respondent], CLASS: pa.array(classes.of_record)})
    sensitive = {column.name: column for column in view.sensitive}
    published = PublishedTable(classes=classes, labels=labels, sensitive=sensitive, named=named, offered=len(view))
    return ClassCounts.of(published)


@dataclass(frozen=True, slots=True, eq=False)
class PromiseCase:
    """What the clauses work with."""

    promise: Promise
    keeps: Case
    breaks: Case

    @property
    def cases(self) -> tuple[Case, Case]:
        return self.keeps, self.breaks

    def found(self, case: Case) -> Finding:
        """Check the promise against a case; what earlier checks remembered is left out."""
        check: Callable[[Any], Finding] = self.promise.check
        return check(replace(case))


def _as_case(promise: Promise, case: Case | History) -> Case:
    found = JudgedHistory(case, promise.column) if isinstance(case, History) else case
    judges = "table" if isinstance(found, ClassCounts) else "series"
    if promise.judges != judges:
        allowed = f"what a promise that judges a {promise.judges} is asked about"
        raise InputError(Fault("check_promise", f"a case of a {judges}", allowed, "hand in the other kind"))
    return found


def turned_case(case: Case) -> Case:
    """Return the same case with its classes, or its rows, in the opposite order."""
    if isinstance(case, ClassCounts):
        return _taken(case, np.arange(len(case))[::-1])
    order = [_picked(past, np.arange(len(past.person))[::-1]) for past in case.history]
    return replace(case, history=replace(case.history, releases=tuple(order)))


def renumbered_case(case: JudgedHistory) -> JudgedHistory:
    """Return the same history with other numbers for its people, values and groups."""
    history = case.history
    people, values = np.arange(len(history.respondents))[::-1], np.arange(len(history.values))[::-1]
    releases = [
        replace(
            past,
            person=np.where(past.person < 0, -1, people[past.person]).astype(np.int32) if len(people) else past.person,
            group=(past.n_groups - 1 - past.group).astype(np.int32),
            value=values[past.value].astype(np.int32),
            withheld=past.withheld and replace(past.withheld, person=people[past.withheld.person].astype(np.int32)),
        )
        for past in history
    ]
    named = History(history.respondents.take(pa.array(people)), history.values.take(pa.array(values)), tuple(releases))
    return replace(case, history=named)


def emptied_case(case: Case) -> Case:
    """Return a case without rows."""
    if isinstance(case, ClassCounts):
        return replace(_taken(case, np.arange(0)), named=None, offered=0, withheld=0)
    return replace(case, history=nothing_published())


def _taken(counts: ClassCounts, order: npt.NDArray[np.int64]) -> ClassCounts:
    """Return these classes, in this order."""
    number = np.full(len(counts), -1, dtype=np.int32)
    number[order] = np.arange(len(order))
    named = counts.named
    if named is not None:
        named = named.set_column(1, CLASS, pa.array(number[named[CLASS].to_numpy()]))
    return replace(
        counts,
        sizes=counts.sizes[order],
        values={name: _values_taken(seen, order) for name, seen in counts.values.items()},
        labels=counts.labels.take(pa.array(order)),
        named=named,
    )


def _values_taken(seen: ValueCounts, order: npt.NDArray[np.int64]) -> ValueCounts:
    runs = [np.arange(seen.starts[c], seen.starts[c + 1]) for c in order.tolist()]
    at = np.concatenate([np.zeros(0, dtype=np.int64), *runs])
    starts = np.cumsum([0, *map(len, runs)])
    totals = np.bincount(seen.value[at], weights=seen.count[at], minlength=seen.n_values).astype(np.int64)
    return ValueCounts(seen.sizes[order], starts, seen.value[at], seen.count[at], totals)


def _picked(past: PastRelease, rows: np.ndarray) -> PastRelease:
    marks = {name: mark[rows] for name, mark in past.marks.items()}
    return replace(past, person=past.person[rows], group=past.group[rows], value=past.value[rows], marks=marks)
