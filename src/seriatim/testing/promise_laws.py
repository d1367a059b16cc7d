"""What everyone relies on in ``ports.Promise``: a small frozen value that judges alike whatever the order and names."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa

from seriatim.model import Finding
from seriatim.model.published import RESPONDENT, PublishedTable
from seriatim.testing.laws import require_law
from seriatim.testing.promise import Asked, Case, emptied_promise_case, renumbered_promise_case, turned_promise_case

_TELLING = 3
"""Shorter texts stand in any sentence."""


def it_says_what_it_is(asked: Asked) -> None:
    """A promise has a rule, a column or None, and says whether it judges a table or a series."""
    promise = asked.promise
    require_law(isinstance(promise.rule, str) and bool(promise.rule), "no rule")
    require_law(promise.column is None or isinstance(promise.column, str), "a column that is no name")
    require_law(promise.judges in ("table", "series"), "neither a table nor a series to judge")


def it_is_frozen(asked: Asked) -> None:
    """A promise cannot be changed after it was made."""
    for name in ("rule", "column"):
        try:
            setattr(asked.promise, name, getattr(asked.promise, name))
        except (AttributeError, TypeError):
            continue
        require_law(False, f"{name} can be set")


def it_is_kept_where_it_must_be(asked: Asked) -> None:
    """The case that must be kept is kept, and no class breaks it."""
    found = asked.found(asked.keeps)
    require_law(found.kept, f"broken: {found.worst:g} where {found.threshold:g} is asked")
    require_law(found.n_classes == 0, f"{found.n_classes} classes that break what is kept")


def it_is_broken_where_it_must_be(asked: Asked) -> None:
    """The case that must be broken is broken."""
    found = asked.found(asked.breaks)
    require_law(not found.kept, f"kept: {found.worst:g} where {found.threshold:g} is asked")


def the_finding_bears_its_name(asked: Asked) -> None:
    """A finding has the rule of its promise, and names no other column than the promise does."""
    for case in asked.cases:
        found = asked.found(case)
        require_law(isinstance(found, Finding), f"a {type(found).__name__} instead of a Finding")
        require_law(found.rule == asked.promise.rule, "another rule")
        require_law(asked.promise.column is None or found.column in (None, asked.promise.column), "another column")


def it_finds_the_same_twice(asked: Asked) -> None:
    """Checking twice finds the same."""
    for case in asked.cases:
        require_law(repr(asked.found(case)) == repr(asked.found(case)), "another finding")


def it_leaves_its_case_alone(asked: Asked) -> None:
    """Checking changes nothing of what is checked."""
    for case in asked.cases:
        before = _contents(case)
        asked.found(case)
        require_law(_contents(case) == before, "a changed case")


def the_order_of_rows_says_nothing(asked: Asked) -> None:
    """Rows in another order are judged alike."""
    for case in asked.cases:
        _require_alike(asked.found(case), asked.found(turned_promise_case(case)))


def numbers_of_people_values_and_groups_say_nothing(asked: Asked) -> None:
    """A history with other numbers for the same people, values and groups is judged alike."""
    for case in asked.cases:
        if not isinstance(case, PublishedTable):
            _require_alike(asked.found(case), asked.found(renumbered_promise_case(case)))


def no_cell_is_quoted(asked: Asked) -> None:
    """A finding names columns and counts: no respondent and no value, unless the promise itself names the value."""
    for case in asked.cases:
        said, own = repr(asked.found(case)), repr(asked.promise)
        quoted = [cell for cell in _cells(case) if cell in said and cell not in own]
        require_law(not quoted, f"{len(quoted)} cells in the finding")


def nothing_is_no_accident(asked: Asked) -> None:
    """A case without rows ends in a finding."""
    found = asked.found(emptied_promise_case(asked.keeps))
    require_law(isinstance(found, Finding), f"a {type(found).__name__} instead of a Finding")


def _require_alike(one: Finding, other: Finding) -> None:
    require_law(one.kept == other.kept, "kept once and broken once")
    alike = math.isclose(one.worst, other.worst, rel_tol=1e-9, abs_tol=1e-12) or (one.worst != one.worst)
    require_law(alike, "another worst figure")
    require_law((one.n_classes, one.n_people) == (other.n_classes, other.n_people), "other counts")


def _cells(case: Case) -> set[str]:
    """The texts of a case that would tell on somebody; numbers stand in any finding."""
    if isinstance(case, PublishedTable):
        columns = [coded.scale.texts for coded in case.sensitive.values()]
        columns += [case.named[RESPONDENT]] if case.named is not None else []
    else:
        columns = [case.history.values, case.history.respondents]
    texts = {text for column in columns for text in column.cast(pa.string()).to_pylist() if text is not None}
    return {text for text in texts if len(text) >= _TELLING and not text.replace(".", "").isdigit()}


def _contents(case: Case) -> list[Any]:
    if isinstance(case, PublishedTable):
        named = case.named.to_pylist() if case.named is not None else None
        codes = [(name, coded.codes.tobytes()) for name, coded in case.sensitive.items()]
        return [case.classes.of_record.tobytes(), codes, named, case.offered, case.withheld]
    return [[past.number, past.person.tobytes(), past.group.tobytes(), past.value.tobytes()] for past in case.history]


PROMISE_LAWS = (
    it_says_what_it_is,
    it_is_frozen,
    it_is_kept_where_it_must_be,
    it_is_broken_where_it_must_be,
    the_finding_bears_its_name,
    it_finds_the_same_twice,
    it_leaves_its_case_alone,
    the_order_of_rows_says_nothing,
    numbers_of_people_values_and_groups_say_nothing,
    no_cell_is_quoted,
    nothing_is_no_accident,
)
