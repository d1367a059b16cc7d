"""Promises that a draft keeps or breaks. Checked by code that shares nothing with the defences.

Each is a small frozen value with ``rule``, ``column``, ``judges`` and ``check``. One that judges a "table" has
``check(counts)``: its figures come from the ``ClassCounts`` of the published table alone, a class is a set of rows with
equal published quasi values, and the margin is the published one. One that judges a "series" has ``check(judged)``: all
releases, with the draft as the newest. Other packages register theirs under the entry point group
``seriatim.promises``: a name in ``[promise]`` and a factory ``(column or None, value) -> Promise``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from seriatim.errors import Fault, PolicyError
from seriatim.model import Policy, Thresholds
from seriatim.model.policy_keys import PolicySection
from seriatim.model.promises import PROMISES, PromiseRow, PromiseSubject
from seriatim.ports import Promise
from seriatim.startup import let_pandas_in

Factory = Callable[[str | None, Any], Promise]


def promises_of(policy: Policy) -> tuple[Promise, ...]:
    """Return every promise of [promise], and its limits. One that cannot be checked is an error."""
    whole = [
        row for row in PROMISES.values() if not row.per_column and (row.section is PolicySection.PROMISE or row.beside)
    ]
    terms = policy.terms
    faults = [_unchecked(row.key) for row in whole if not row.home and row.key in terms.series.stated]
    found = _of_rows(policy, [row for row in whole if row.judges is PromiseSubject.TABLE])
    found += _foreign(None, terms.series.foreign, faults)
    over_time = [row for row in whole if row.judges is PromiseSubject.SERIES]
    found += _of_rows(policy, [row for row in over_time if {row.key, row.beside} & {*terms.series.stated}])
    for column, thresholds in terms.per_column.items():
        found += _of_column(column, thresholds, faults)
        found += _foreign(column, thresholds.foreign, faults)
    if faults:
        raise PolicyError(faults)
    return tuple(found)


def promised_bounds(policy: Policy) -> tuple[Promise, ...]:
    """Return the promises of the other sections, and those that every serial table keeps."""
    rows = [row for row in PROMISES.values() if row.section is not PolicySection.PROMISE and not row.beside]
    return tuple(_of_rows(policy, [row for row in rows if _is_asked(policy, row)]))


def _is_asked(policy: Policy, row: PromiseRow) -> bool:
    """Return whether a policy can ask for a promise; any other need not be loaded."""
    if row.section is PolicySection.ADVERSARY:
        return getattr(policy.adversary, row.key) is not None
    return row.section is not PolicySection.NOWHERE or (policy.defence is not None and policy.defence.serial)


def _of_rows(policy: Policy, rows: list[PromiseRow]) -> list[Promise]:
    return [promise for row in rows if row.home for promise in _loaded(row)(policy)]


def _loaded(row: PromiseRow) -> Any:
    """Load the function that a promise's row names; only now, since many bring compiled kernels."""
    module, _, name = row.home.partition(":")
    return getattr(import_module(module), name)


def _of_column(column: str, thresholds: Thresholds, faults: list[Fault]) -> Iterator[Promise]:
    for row in PROMISES.values():
        value = thresholds.value_of(row.key) if row.per_column else None
        if value is None:
            continue
        if row.home:
            yield _loaded(row)(column, value, **{one.key: thresholds.value_of(one.key) for one in row.parameters})
        else:
            faults.append(_unchecked(row.key))


def _foreign(column: str | None, values: Mapping[str, object], faults: list[Fault]) -> Iterator[Promise]:
    values = {name: value for name, value in values.items() if name not in PROMISES}
    others = registered() if values else {}  # asking every installed package takes as long as a small audit
    for name, value in values.items():
        if name in others:
            yield _made(others[name], column, value)
        else:
            faults.append(_unchecked(name))


def _unchecked(name: str) -> Fault:
    ours = [row.key for row in PROMISES.values() if row.home and (row.per_column or row.key == "k")]
    known = ", ".join([*ours, *sorted(registered())])
    return Fault(f"[promise] {name}", "this version cannot check it", known, "remove it")


def registered() -> dict[str, EntryPoint]:
    """Return promises of other packages by name; each is loaded on use, so that a broken one harms nobody else."""
    return {point.name: point for point in entry_points(group="seriatim.promises")}


def _made(point: EntryPoint, column: str | None, value: Any) -> Promise:
    where = f"[promise] {point.name}"
    let_pandas_in()
    try:
        factory: Factory = point.load()
    except (ImportError, AttributeError) as error:
        found = f"registered as {point.value}, which cannot be loaded ({type(error).__name__})"
        raise PolicyError(Fault(where, found, "", "repair or remove the package that registers it")) from None
    try:
        promise = factory(column, value)
    except (TypeError, ValueError) as error:
        found = f"its package rejects the value ({type(error).__name__})"
        raise PolicyError(Fault(where, found, "what that package documents", "correct the value")) from None
    if getattr(promise, "judges", None) not in ("table", "series") or not hasattr(promise, "column"):
        found = f"registered as {point.value}, which does not say what it judges"
        allowed = 'attributes rule, column and judges = "table" or "series"'
        raise PolicyError(Fault(where, found, allowed, "repair or remove the package that registers it"))
    return promise
