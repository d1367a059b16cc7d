"""What everyone relies on in ``ports.Promise``: a small frozen value that judges alike whatever the order and names."""

from __future__ import annotations

import math
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
from seriatim.testing.clauses import check_contract, require_clause

_TELLING = 3
"""Shorter texts stand in any sentence."""


def _it_says_what_it_is(asked: PromiseCase) -> None:
    """A promise has a rule, a column or None, and says whether it judges a table or a series."""
    promise = asked.promise
    require_clause(isinstance(promise.rule, str) and bool(promise.rule), "no rule")
    require_clause(promise.column is None or isinstance(promise.column, str), "a column that is no name")
    require_clause(promise.judges in ("table", "series"), "neither a table nor a series to judge")


def _it_is_frozen(asked: PromiseCase) -> None:
    """A promise cannot be changed after it was made."""
    for name in ("rule", "column"):
        try:
            setattr(asked.promise, name, getattr(asked.promise, name))
        except (AttributeError, TypeError):
            continue
        require_clause(False, f"{name} can be set")


def _it_is_kept_where_it_must_be(asked: PromiseCase) -> None:
    """The case that must be kept is kept, and no class breaks it."""
    found = asked.found(asked.keeps)
    require_clause(found.kept, f"broken: {found.worst:g} where {found.threshold:g} is asked")
    require_clause(found.n_classes == 0, f"{found.n_classes} classes that break what is kept")


def _it_is_broken_where_it_must_be(asked: PromiseCase) -> None:
    """The case that must be broken is broken."""
    found = asked.found(asked.breaks)
    require_clause(not found.kept, f"kept: {found.worst:g} where {found.threshold:g} is asked")


def _the_finding_bears_its_name(asked: PromiseCase) -> None:
    """A finding has the rule of its promise, and names no other column than the promise does."""
    for case in asked.cases:
        found = asked.found(case)
        require_clause(isinstance(found, Finding), f"a {type(found).__name__} instead of a Finding")
        require_clause(found.rule == asked.promise.rule, "another rule")
        require_clause(asked.promise.column is None or found.column in (None, asked.promise.column), "another column")


def _it_finds_the_same_twice(asked: PromiseCase) -> None:
    """Checking twice finds the same."""
    for case in asked.cases:
        require_clause(repr(asked.found(case)) == repr(asked.found(case)), "another finding")


def _it_leaves_its_case_alone(asked: PromiseCase) -> None:
    """Checking changes nothing of what is checked."""
    for case in asked.cases:
        before = _contents(case)
        asked.found(case)
        require_clause(_contents(case) == before, "a changed case")


def _the_order_says_nothing(asked: PromiseCase) -> None:
    """Classes, or rows of a history, in another order are judged alike."""
    for case in asked.cases:
        _require_alike(asked.found(case), asked.found(turned_case(case)))


def _numbers_of_people_values_and_groups_say_nothing(asked: PromiseCase) -> None:
    """A history with other numbers for the same people, values and groups is judged alike."""
    for case in asked.cases:
        if not isinstance(case, ClassCounts):
            _require_alike(asked.found(case), asked.found(renumbered_case(case)))


def _no_cell_is_quoted(asked: PromiseCase) -> None:
    """A finding names columns and counts: no respondent and no value, unless the promise itself names the value."""
    for case in asked.cases:
        said, own = repr(asked.found(case)), repr(asked.promise)
        quoted = [cell for cell in _cells(case) if cell in said and cell not in own]
        require_clause(not quoted, f"{len(quoted)} cells in the finding")


def _nothing_is_no_accident(asked: PromiseCase) -> None:
    """A case without rows ends in a finding."""
    found = asked.found(emptied_case(asked.keeps))
    require_clause(isinstance(found, Finding), f"a {type(found).__name__} instead of a Finding")


def _require_alike(one: Finding, other: Finding) -> None:
    require_clause(one.kept == other.kept, "kept once and broken once")
    alike = math.isclose(one.worst, other.worst, rel_tol=1e-9, abs_tol=1e-12) or (one.worst != one.worst)
    require_clause(alike, "another worst figure")
    require_clause((one.n_classes, one.n_people) == (other.n_classes, other.n_people), "other counts")


def _cells(case: Case) -> set[str]:
    """Return the texts of a case that would reveal somebody; numbers may be in any finding."""
    if isinstance(case, ClassCounts):
        columns = [*(scale.texts for scale in case.scales.values()), *case.labels.columns]
        columns += [case.named[RESPONDENT]] if case.named is not None else []
    else:
        columns = [case.history.values, case.history.respondents]
    texts = {text for column in columns for text in column.cast(pa.string()).to_pylist() if text is not None}
    return {text for text in texts if len(text) >= _TELLING and not text.replace(".", "").isdigit()}


def _contents(case: Case) -> list[Any]:
    if isinstance(case, ClassCounts):
        named = case.named.to_pylist() if case.named is not None else None
        parts = [(each.starts, each.value, each.count, each.totals) for each in case.values.values()]
        counted = [part.tobytes() for each in parts for part in each]
        return [case.sizes.tobytes(), counted, case.labels.to_pylist(), named, case.offered, case.withheld]
    return [[past.number, past.person.tobytes(), past.group.tobytes(), past.value.tobytes()] for past in case.history]


PROMISE_CONTRACT = (
    _it_says_what_it_is,
    _it_is_frozen,
    _it_is_kept_where_it_must_be,
    _it_is_broken_where_it_must_be,
    _the_finding_bears_its_name,
    _it_finds_the_same_twice,
    _it_leaves_its_case_alone,
    _the_order_says_nothing,
    _numbers_of_people_values_and_groups_say_nothing,
    _no_cell_is_quoted,
    _nothing_is_no_accident,
)


Case = ClassCounts | JudgedHistory


def check_promise(promise: Promise, *, keeps: Case | History, breaks: Case | History) -> None:
    """Raise ``ContractBroken`` with a line for each clause of ``ports.Promise`` that the promise breaks.

    ``keeps`` must be kept and ``breaks`` must be broken: for a promise that judges a table, what ``published_counts``
    returns; for one that judges a series, an ``sr.History``, or a ``JudgedHistory`` where it looks at the draft too.
    """
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
