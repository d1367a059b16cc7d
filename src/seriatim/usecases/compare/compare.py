"""Compares methods on the same views. Nothing is recorded in the steward's ledger, and nothing is published.

With one view, each method makes a dry run of a first release. Several views are published in order into a scratch
ledger, so that methods of both families face the same people, attack and queries; each is judged by its own promises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from time import perf_counter

from seriatim.attacks import estimate_share, prepare, reveal_leavers
from seriatim.errors import Fault, InputError, PolicyError
from seriatim.model import (
    DefenceOptions,
    DefenceSettings,
    Policy,
    PromiseTerms,
    SeriesTerms,
    Thresholds,
    Verdict,
)
from seriatim.model.methods import installed_rows, method_named
from seriatim.ports import Ledger, no_progress
from seriatim.usecases.publish.plan import checked_policy
from seriatim.usecases.publish.publish import ReleaseOrder, ReleaseParts, publish

_SELECTIVITY = 0.05
_SEEDS = (1, 2, 3)
_M = 3
"""Values that stay possible for everyone, if a policy for single releases has no l."""

Scratch = Callable[[], AbstractContextManager[Ledger]]
"""Opens a temporary ledger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedMethod:
    """The outcome of one method; figures are None if it made no draft."""

    method: str
    released: bool
    kept: int = 0
    asked: int = 0
    promises: str = ""
    """The promises it was judged by, as in a policy."""
    releases: int = 0
    """Number of views it released."""
    stopped: bool = False
    """Whether it could not take the next view, which is no refusal."""
    breached: float | None = None
    """Share of people breached by all releases together, if there are several; of the worst sensitive column."""
    gcp: float | None = None
    relation: float | None = None
    """How much of the relation between columns and values it keeps; None if there is none to keep."""
    class_size: float | None = None
    suppressed: float | None = None
    query_error: float | None = None
    seconds: float = 0.0
    why: str = ""
    """Why it would be refused, or cannot be used on this view."""


def compare(
    orders: Sequence[ReleaseOrder], parts: ReleaseParts, scratch: Scratch, methods: Sequence[str] | None = None
) -> tuple[ComparedMethod, ...]:
    """Try every method in turn; by default all that fit the policy, for one release or for a series.

    A method that cannot be used on the view gets a row that says why. Methods that would be released come first, and
    among them the one that keeps most of the relation between columns and values.
    """
    chosen = tuple(dict.fromkeys(methods)) if methods else _methods_to_compare(orders[0].policy)
    known = installed_rows()
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise PolicyError(Fault("methods", f"unknown: {', '.join(map(str, unknown))}", ", ".join(known)))
    found = []
    for at, method in enumerate(chosen):
        parts.progress(f"trying {method}", at / len(chosen))
        found.append(_tried(orders, parts, scratch, method))
    parts.progress("done", 1.0)
    return tuple(sorted(found, key=lambda one: (not one.released, -(one.relation or 0.0))))


def _methods_to_compare(policy: Policy) -> tuple[str, ...]:
    """Return the methods that can keep a policy's promises."""
    serial = policy.terms.series.m is not None or (policy.defence is not None and policy.defence.serial)
    return tuple(name for name, row in installed_rows().items() if row.serial == serial and not row.needs)


def _tried(orders: Sequence[ReleaseOrder], parts: ReleaseParts, scratch: Scratch, method: str) -> ComparedMethod:
    start = perf_counter()
    policy = _policy_to_compare(orders[0].policy, method)
    try:
        plan = checked_policy(policy)
        if len(orders) == 1:
            made = publish(replace(orders[0], plan=plan, dry_run=True), replace(parts, progress=no_progress))
            found = _compared(method, made.verdict)
        else:
            with scratch() as ledger:
                found = _series([replace(order, plan=plan) for order in orders], parts, ledger, method)
    except InputError as error:
        found = ComparedMethod(method=method, released=False, why=str(error.faults[0]))
    return replace(found, promises=_stated(policy), seconds=perf_counter() - start)


def _series(orders: Sequence[ReleaseOrder], parts: ReleaseParts, ledger: Ledger, method: str) -> ComparedMethod:
    """Publish the views in order until one is refused, then attack what was released."""
    policy, released, ended = orders[0].policy, 0, ""
    for order in orders:
        try:
            verdict = publish(order, replace(parts, ledger=ledger, progress=no_progress)).verdict
        except InputError as error:
            if not released:
                raise
            ended = str(error.faults[0])
            break
        if not verdict.released:
            break
        released += 1
    found = _compared(method, verdict)
    found = replace(found, released=verdict.released and not ended, stopped=bool(ended), why=ended or found.why)
    why = "" if found.released else f"release {released + 1}: {found.why}"
    if not released or not policy.sensitive:
        return replace(found, releases=released, why=why)
    breached = max(_breached(ledger, policy, rule.name) for rule in policy.sensitive)
    return replace(found, releases=released, breached=breached, why=why)


def _breached(ledger: Ledger, policy: Policy, column: str) -> float:
    """Return the share of people whose value of this column all releases together reveal."""
    history = ledger.history(policy.series, column)
    row = method_named(policy.defence.method) if policy.defence is not None else None
    known = reveal_leavers(history) if row is not None and row.leavers_known else history
    return estimate_share(prepare(known), policy.adversary.share_known, _SEEDS).share


def _policy_to_compare(policy: Policy, method: str) -> Policy:
    """Return the policy with another method and promises that this method can keep.

    Drops options that only the policy's own method has. If the policy has no promise for the method's family, m is its
    largest l (or 3), and k and l are its m.
    """
    old, row = policy.defence, installed_rows()[method]
    if old is None or old.method == method:
        return replace(policy, defence=old or DefenceSettings(method))
    kept = old.leftovers if old.leftovers in row.words("leftovers") else None
    settings = DefenceSettings(method, old.suppress, form=old.form, options=DefenceOptions(leftovers=kept))
    # it is no longer the policy of the text, which names the method that made a release
    return replace(policy, defence=settings, terms=_terms_for(policy, serial=row.serial), canonical="")


def _terms_for(policy: Policy, serial: bool) -> PromiseTerms:
    terms, m = policy.terms, policy.terms.series.m
    assert policy.defence is not None
    if serial == policy.defence.serial:
        return terms
    if serial:
        diverse = max((required.l for required in terms.per_column.values() if required.l is not None), default=_M)
        return PromiseTerms(series=replace(terms.series, m=max(int(diverse), 2) if m is None else m))
    if terms.k is not None or any(required.l or required.t for required in terms.per_column.values()):
        return replace(terms, series=SeriesTerms(), series_by_column={})
    least = _M if m is None else m
    return PromiseTerms(k=least, per_column={column.name: Thresholds(l=least) for column in policy.sensitive})


def _stated(policy: Policy) -> str:
    """Write the promises of a policy in one line."""
    terms = policy.terms
    found = [f"k = {terms.k}"] if terms.k is not None else []
    for name in ("l", "t"):
        values = {getattr(required, name) for required in terms.per_column.values()} - {None}
        found += [f"{name} = {value:g}" for value in sorted(values)]
    further = [text for required in terms.per_column.values() for text in _further(required)]
    found += list(dict.fromkeys(further))
    found += [f"{name} = {value}" for name, value in terms.series.stated.items() if name in ("m", "n")]
    if policy.adversary.breach_share is not None:
        found.append(f"breach_share = {policy.adversary.breach_share:g}")
    return ", ".join(found)


def _further(required: Thresholds) -> list[str]:
    """Write promises beyond l and t; of those that name values only their own name."""
    found: list[str] = []
    for name, value in required.beyond_l_and_t.items():
        if name in ("max_hit_chance_at", "min_entropy_at") and isinstance(value, Mapping):
            found += [f"{name} {window} = {limit:g}" for window, limit in value.items()]
        elif isinstance(value, int | float):
            found.append(f"{name} = {value:g}")
        elif not name.endswith("_kind"):
            found.append(name)
    return found


def _compared(method: str, verdict: Verdict) -> ComparedMethod:
    figures: dict[str, float] = {}
    for measure in verdict.measures:  # the worst table, if sensitive columns have tables of their own
        figures[measure.name] = max(measure.value, figures.get(measure.name, measure.value))
    counted = [measure for measure in verdict.measures if measure.name.startswith("query_error")]
    errors = [measure.value for measure in counted if measure.detail.get("selectivity") == _SELECTIVITY]
    relations = [measure.value for measure in verdict.measures if measure.name == "relation_kept"]
    return ComparedMethod(
        method=method,
        released=verdict.released,
        kept=sum(finding.kept for finding in verdict.findings),
        asked=len(verdict.findings),
        releases=int(verdict.released),
        gcp=figures["gcp"],
        relation=min(relations, default=None),
        class_size=figures["average_class_size"],
        suppressed=figures["suppressed_share"],
        query_error=max(errors) if errors else None,
        why="; ".join(verdict.reasons),
    )
