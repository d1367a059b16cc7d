"""Promises that a draft keeps or breaks. Checked by code that shares nothing with the defences.

Each is a small frozen value with ``rule``, ``column``, ``judges`` and ``check``. One that judges a "table" is asked
``check(published)``: the figures come from the published table alone, a class is a set of rows with equal published
quasi values, the margin is the published one. One that judges a "series" is asked ``check(judged)``: all releases, the
draft as the newest of them. Others register theirs under the entry point group ``seriatim.promises``: a name in
``[promise]`` and a factory ``(column or None, value) -> Promise``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from seriatim.errors import Fault, PolicyError
from seriatim.model import Policy, Thresholds
from seriatim.ports import Promise
from seriatim.promises.series.breach_bounds import BreachChance, BreachShare
from seriatim.promises.series.coverage import Coverage
from seriatim.promises.series.kept_over_time import capped_groups, serial_promises
from seriatim.promises.series.possible_values import PossibleValues
from seriatim.promises.single.closeness import Closeness
from seriatim.promises.single.crowd import Crowd
from seriatim.promises.single.diversity import DistinctValues, EntropyOfValues, RecursiveValues
from seriatim.promises.single.further import NAMES, further_promises
from seriatim.promises.single.suppression import Suppression

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


def bounds_of(policy: Policy) -> list[Promise]:
    """What the policy's other sections ask to be kept: that priors leave m values, and the bounds.

    A serial table must also say what its groups say, whatever was asked for.
    """
    known, terms, found = policy.adversary, policy.terms.series, list[Promise]()
    if known.priors is not None and terms.m is not None:
        found.append(PossibleValues(known.priors, terms.m))
    if policy.defence is not None and policy.defence.serial:
        found.append(Coverage())
    if policy.defence is None or policy.defence.bounded:
        found.append(Suppression(policy.defence.suppress if policy.defence else 0.0))
    return [*found, *_breach_bounds(policy)]


def _breach_bounds(policy: Policy) -> list[Promise]:
    """The bounds of ``[adversary]``; the closed form needs a degree, which lineages do not have."""
    known, m, n = policy.adversary, policy.terms.series.m, policy.terms.series.degree
    found: list[Promise] = []
    if known.breach is not None and known.lifespan is not None and m is not None and n is not None:
        found.append(
            BreachChance(allowed=known.breach, compromised=known.share_known, lifespan=known.lifespan, m=m, n=n)
        )
    if known.breach_share is not None and policy.respondent is not None:
        found += [BreachShare(known.breach_share, column.name) for column in policy.sensitive]
    return found


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
        promise = factory(column, value)
    except (TypeError, ValueError) as error:
        found = f"its own package refuses the value ({type(error).__name__})"
        raise PolicyError(Fault(where, found, "what that package documents", "correct the value")) from None
    if getattr(promise, "judges", None) not in ("table", "series") or not hasattr(promise, "column"):
        found = f"registered as {point.value}, which does not say what it judges"
        allowed = 'attributes rule, column and judges = "table" or "series"'
        raise PolicyError(Fault(where, found, allowed, "mend or remove the package that registers it"))
    return promise


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
