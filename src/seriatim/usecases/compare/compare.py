"""Compares methods on one view, each in a dry run: nothing is recorded or written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from seriatim.errors import Fault, InputError, PolicyError
from seriatim.model import METHODS, DefenceSettings, Policy, Verdict
from seriatim.usecases.publish.publish import Order, Parts, planned, publish

_SELECTIVITY = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The outcome of one method; figures are None if it made no draft."""

    method: str
    released: bool
    kept: int = 0
    asked: int = 0
    gcp: float | None = None
    class_size: float | None = None
    suppressed: float | None = None
    query_error: float | None = None
    seconds: float = 0.0
    why: str = ""
    """Why it would be refused, or cannot be used on this view."""


def compare(order: Order, parts: Parts, methods: Sequence[str] | None = None) -> tuple[Compared, ...]:
    """Try every method in turn; by default all that fit the policy, for one release or for a series.

    A method that cannot be used on the view gets a row that says why.
    """
    chosen = tuple(dict.fromkeys(methods)) if methods else fitting(order.policy)
    unknown = [name for name in chosen if name not in METHODS]
    if unknown:
        raise PolicyError(Fault("methods", f"unknown: {', '.join(map(str, unknown))}", ", ".join(METHODS)))
    found = []
    for at, method in enumerate(chosen):
        parts.progress(f"trying {method}", at / len(chosen))
        found.append(_tried(order, parts, method))
    parts.progress("done", 1.0)
    return tuple(found)


def fitting(policy: Policy) -> tuple[str, ...]:
    """Return the methods that can keep a policy's promises."""
    serial = policy.terms.series.m is not None or (policy.defence is not None and policy.defence.serial)
    return tuple(name for name, row in METHODS.items() if row.serial == serial)


def _tried(order: Order, parts: Parts, method: str) -> Compared:
    silent = Parts(parts.ledger, parts.workers, parts.writer)
    start = perf_counter()
    try:
        plan = planned(_under(order.policy, method))
        made = publish(replace(order, plan=plan, dry_run=True), silent)
    except InputError as error:
        return Compared(method=method, released=False, why=str(error.faults[0]))
    return _compared(method, made.verdict, perf_counter() - start)


def _under(policy: Policy, method: str) -> Policy:
    """Return the policy with another method, without options that only its own method has."""
    old = policy.defence
    if old is None or old.method == method:
        return replace(policy, defence=old or DefenceSettings(method))
    shared = set(METHODS[method].options) & {"when_not_eligible"}
    settings = DefenceSettings(method, old.suppress, form=old.form, options=old.options.only(tuple(shared)))
    return replace(policy, defence=settings)


def _compared(method: str, verdict: Verdict, seconds: float) -> Compared:
    figures: Mapping[str, float] = {measure.name: measure.value for measure in verdict.measures}
    errors = [m.value for m in verdict.measures if m.detail.get("selectivity") == _SELECTIVITY]
    return Compared(
        method=method,
        released=verdict.released,
        kept=sum(finding.kept for finding in verdict.findings),
        asked=len(verdict.findings),
        gcp=figures["gcp"],
        class_size=figures["average_class_size"],
        suppressed=figures["suppressed_share"],
        query_error=errors[0] if errors else None,
        seconds=seconds,
        why="; ".join(verdict.reasons),
    )
