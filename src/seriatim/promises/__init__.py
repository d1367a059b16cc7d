"""Laws that a draft keeps or breaks. Checked by code that shares nothing with the defences.

Each is a small frozen value with ``check(draft, history) -> Finding``. The figures come from the published table
alone: a class is a set of rows with equal published quasi values, the margin is the published one.
Others register theirs under the entry point group ``seriatim.promises``: a name in ``[promise]`` and a factory
``(column or None, value) -> Promise``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from seriatim.errors import Fault, PolicyError
from seriatim.model import Policy, Thresholds
from seriatim.ports import Promise
from seriatim.promises.series.kept_over_time import capped_groups, serial_promises
from seriatim.promises.single.closeness import Closeness
from seriatim.promises.single.crowd import Crowd
from seriatim.promises.single.diversity import DistinctValues, EntropyOfValues, RecursiveValues
from seriatim.promises.single.further import NAMES, further_promises

Factory = Callable[[str | None, Any], Promise]

# a second word of another promise, not a promise of its own
SERIAL = frozenset({"m", "n"})
_PARAMETERS = frozenset({"l_kind", "l_c", "t_distance", "beta_kind", "j_base"})


def promises_of(policy: Policy) -> tuple[Promise, ...]:
    """Everything the policy asks for. A promise that nobody can check is an error, never silence."""
    found: list[Promise] = [] if policy.terms.k is None else [Crowd(policy.terms.k)]
    faults: list[Fault] = []
    others = registered()
    whole = {name: value for name, value in policy.terms.series.stated.items() if name not in SERIAL}
    _add_further(found, faults, others, None, whole)
    if policy.terms.series.m is not None:
        found.extend(_of_series(policy))
    for column, asked in policy.terms.per_column.items():
        found.extend(_of_column(column, asked))
        _add_further(found, faults, others, column, asked.beyond_l_and_t)
    if faults:
        raise PolicyError(faults)
    return tuple(found)


def _of_series(policy: Policy) -> list[Promise]:
    method = policy.defence.method if policy.defence else None
    column = policy.sensitive[0].name if policy.sensitive else None
    cap = policy.defence.options.group_cap if policy.defence else None
    capped: list[Promise] = [] if cap is None else [capped_groups(cap)]
    return [*serial_promises(policy.terms, policy.adversary, method, column), *capped]


def registered() -> dict[str, EntryPoint]:
    """Promises of others by name; each is loaded when a policy asks for it, so that a broken one harms nobody else."""
    return {point.name: point for point in entry_points(group="seriatim.promises")}


def _made(point: EntryPoint, column: str | None, value: Any) -> Promise:
    where = f"policy: promise.{point.name}"
    try:
        factory: Factory = point.load()
    except (ImportError, AttributeError) as error:
        found = f"registered as {point.value}, which cannot be loaded ({type(error).__name__})"
        raise PolicyError(Fault(where, found, "", "mend or remove the package that registers it")) from None
    try:
        return factory(column, value)
    except (TypeError, ValueError) as error:
        found = f"its own package refuses the value ({type(error).__name__})"
        raise PolicyError(Fault(where, found, "what that package documents", "correct the value")) from None


def _of_column(column: str, asked: Thresholds) -> list[Promise]:
    found: list[Promise] = []
    if asked.l is not None:
        if asked.l_kind == "recursive":
            found.append(RecursiveValues(column, asked.l, asked.l_c or 0.0))
        else:
            found.append((EntropyOfValues if asked.l_kind == "entropy" else DistinctValues)(column, asked.l))
    if asked.t is not None:
        found.append(Closeness(column, asked.t, asked.t_distance))
    found.extend(further_promises(column, asked))
    return found


def _add_further(
    found: list[Promise],
    faults: list[Fault],
    others: Mapping[str, EntryPoint],
    column: str | None,
    asked: Mapping[str, Any],
) -> None:
    for name, value in asked.items():
        if column is not None and name in NAMES:
            continue  # one of ours: it is found already
        if name in others:
            found.append(_made(others[name], column, value))
        elif name not in _PARAMETERS:
            known = ", ".join(["k", "l", "t", *sorted({*NAMES, *others})])
            faults.append(Fault(f"policy: promise.{name}", "this version cannot check it", known, "take it out"))
