"""Suggests what would pass: changes of a refused policy, each tried in a dry run and listed with its cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from math import ceil
from time import monotonic
from types import MappingProxyType
from typing import Any

from seriatim.errors import InputError
from seriatim.model import (
    CodedColumn,
    ColumnRule,
    DefenceSettings,
    Kind,
    Policy,
    PromiseTerms,
    Role,
    SeriesTerms,
    Verdict,
)
from seriatim.model.methods import AUTO, AUTO_LASTING, method_named
from seriatim.model.release import Refusal
from seriatim.ports import no_progress
from seriatim.usecases.publish.later_views import later_views, leaving_so_far
from seriatim.usecases.publish.plan import COHORT_M, COMMON, checked_policy
from seriatim.usecases.publish.publish import ReleaseOrder, ReleaseParts, publish

SECONDS = 20.0
"""Seconds to search for changes that pass, if the caller sets no limit."""
_CROWDS = (2, 4, 8)
MOST_WITHHELD = 0.25
"""Withholding a larger share is no remedy."""
EVERY = (2, 3, 4, 6, 12)
"""How much less often to publish."""
_PARTS = (20, 10, 5)
"""Into how many steps the range of a column is cut, mildest first."""
_ROUND = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class SuggestedChange:
    """A change of a policy, as lines to paste, and the order with it."""

    lines: tuple[str, ...]
    order: ReleaseOrder


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change that passed its dry run, and its cost compared with the refused draft."""

    lines: tuple[str, ...]
    certainty_lost: float
    withheld: float
    relation: float | None = None
    """How much of the relation between columns and values is kept, if it was measured."""
    breached: float | None = None
    """The upper end of the share of people breached, if a bound judges it."""

    def __str__(self) -> str:
        relation = "" if self.relation is None else f"relation kept {self.relation:.0%}, "
        breached = "" if self.breached is None else f"breached at most {self.breached:.2%}, "
        costs = f"certainty lost {self.certainty_lost:.1%}, withheld {self.withheld:.1%}"
        return f"{', '.join(self.lines)} ({relation}{breached}{costs})"


def with_all_remedies(refused: Refusal, order: ReleaseOrder, parts: ReleaseParts, seconds: float = SECONDS) -> Refusal:
    """Return the refusal with every change that would pass among its remedies; nothing is recorded."""
    found, tried, all_tried = suggestions(order, parts, refused.verdict, seconds)
    # what keeps most of what users of the table are after comes first
    found = sorted(dict.fromkeys(found), key=lambda one: -(one.relation or 0.0))
    told = [f"tried and passes: {one}" for one in found]
    notes = [] if found else [f"{tried} changes of the policy were tried, and none of them passes"]
    if not all_tried:
        notes.append(f"the search for changes that pass ran out of time after {tried}")
    before = refused.verdict
    verdict = replace(before, remedies=(*before.remedies, *told), notes=(*before.notes, *notes))
    return Refusal(refused.draft, verdict)


def suggestions(
    order: ReleaseOrder, parts: ReleaseParts, verdict: Verdict, seconds: float
) -> tuple[list[Suggestion], int, bool]:
    """Try changes until the time is over. Return those that pass, how many were tried, and whether that was all."""
    end, found, tried = monotonic() + seconds, list[Suggestion](), 0
    settled: set[str] = set()
    for kind, change in _suggested_changes(order, verdict, parts):
        if kind in settled:
            continue
        if monotonic() > end:
            return found, tried, False
        tried += 1
        parts.progress(f"trying {', '.join(change.lines)}", 0.9)
        passed = _rehearsed(change, parts)
        if passed is not None:
            found.append(passed)
            settled.add(kind)  # the first of a kind is the mildest
    return found, tried, True


def _suggested_changes(
    order: ReleaseOrder, verdict: Verdict, parts: ReleaseParts
) -> Iterator[tuple[str, SuggestedChange]]:
    """Yield changes by kind, the mildest of each kind first."""
    broken = {finding.rule: finding for finding in verdict.findings if not finding.kept}
    policy = order.policy
    assert policy.defence is not None
    if "suppress" in broken:
        # rounded up, so that the line to paste passes and not the figure before rounding
        share = min(1.0, round(broken["suppress"].worst + 0.0005, 3))
        settings = replace(policy.defence, suppress=share)
        yield from _change("suppress", order, replace(policy, defence=settings), f"[defence] suppress = {share:g}")
    if policy.defence.serial:
        yield from _common_values(order)
        yield from _smaller_m(order)
    else:
        yield from _larger_crowds(order, "breach_share" in broken or "sure_share" in broken)
        if "breach_share" in broken:
            yield from _cohorts(order)
            yield from _chosen_by_looking_ahead(order)
        yield from _withheld_classes(order, parts)
        yield from _coarser_columns(order, parts)
    if "breach_share" in broken:
        yield from _longer_intervals(order, parts)
    yield from _looser(order, verdict)
    yield from _fewer_columns(order)


def _larger_crowds(order: ReleaseOrder, over_releases: bool) -> Iterator[tuple[str, SuggestedChange]]:
    """Yield larger k, the mildest first; where breaches add up over releases, the largest first."""
    policy, k = order.policy, order.policy.terms.k
    k = 2 if k is None else k
    for times in reversed(_CROWDS) if over_releases else _CROWDS:
        terms = replace(policy.terms, k=k * times)
        # over releases each is offered that passes: how much it keeps stands against how much it breaches
        kind = f"k times {times}" if over_releases else "k"
        yield from _change(kind, order, replace(policy, terms=terms), f"[promise] k = {k * times}")


def _chosen_by_looking_ahead(order: ReleaseOrder) -> Iterator[tuple[str, SuggestedChange]]:
    """Yield the method that chooses k before each release; it may take longer than all others."""
    policy = order.policy
    assert policy.defence is not None
    settings = DefenceSettings(AUTO, policy.defence.suppress)
    yield from _change(AUTO, order, replace(policy, defence=settings), f'[defence] method = "{AUTO}"')


def _cohorts(order: ReleaseOrder) -> Iterator[tuple[str, SuggestedChange]]:
    """Yield a take-over by cohorts: it passes only where values stay and every column can be followed."""
    policy = order.policy
    if policy.respondent is None or not policy.sensitive:
        return
    series = replace(policy.terms.series, m=COHORT_M, odds=float(COMMON))
    terms = replace(policy.terms, k=None, per_column=MappingProxyType({}), series=series)
    taken = replace(policy, terms=terms, defence=DefenceSettings(AUTO_LASTING))
    for kind, change in _change(AUTO_LASTING, order, taken, '[defence] method = "cohort"'):
        instead = f"[promise] m = {COHORT_M} and odds = {COMMON} instead of k, l and t"
        yield kind, replace(change, lines=(*change.lines, instead))


def _withheld_classes(order: ReleaseOrder, parts: ReleaseParts) -> Iterator[tuple[str, SuggestedChange]]:
    """Yield the draft without the classes that cause the refusal, and the share that this withholds."""
    policy = order.policy
    assert policy.defence is not None
    row = method_named(policy.defence.method)
    if row is None or "withhold" not in row.words("leftovers") or policy.defence.leftovers == "withhold":
        return
    options = replace(policy.defence.options, leftovers="withhold")
    widest = replace(policy.defence, options=options, suppress=max(policy.defence.allowed, MOST_WITHHELD))
    line = '[defence] leftovers = "withhold"'
    for _, wide in _change("withhold", order, replace(policy, defence=widest), line):
        tried = _rehearsed(wide, parts)
        if tried is None:
            return
        # the wide bound only finds out how much is withheld; the line to paste says that much and no more
        share = max(policy.defence.allowed, min(1.0, ceil(tried.withheld * 1000) / 1000))
        exact = replace(policy, defence=replace(widest, suppress=share))
        for kind, change in _change("withhold", order, exact, line):
            yield kind, replace(change, lines=(line, f"[defence] suppress = {share:g}"))


def _coarser_columns(order: ReleaseOrder, parts: ReleaseParts) -> Iterator[tuple[str, SuggestedChange]]:
    """Yield one column coarser than it is, each by a new view."""
    if parts.read is None or any(rule.level for rule in order.policy.columns.values()):
        return  # a table at a level cannot be read again under its policy
    for column in order.view.quasi:
        for line, rule in coarser_rules(column, order.policy.columns[column.name]):
            policy = coarser_policy(order.policy, rule)
            try:
                view = parts.read(order.view.source, policy)
            except InputError:
                continue
            told = f"[columns.{column.name}] {line}"
            yield from _change(f"coarser {column.name}", replace(order, view=view), policy, told)


def _longer_intervals(order: ReleaseOrder, parts: ReleaseParts) -> Iterator[tuple[str, SuggestedChange]]:
    """Yield publishing less often: a made-up view after the next releases were left out, with today's churn."""
    policy = order.policy
    if policy.respondent is None or not policy.sensitive or order.corrections is not None:
        return
    history = parts.ledger.history(policy.series, policy.sensitive[0].name)
    leaving = leaving_so_far(order.view, history)
    for every in EVERY if leaving > 0 and len(history) else ():
        *_, view = later_views(order.view, leaving, every - 1)
        told = f"publish every {every}{'nd' if every == 2 else 'rd' if every == 3 else 'th'} time"
        yield from _change("interval", replace(order, view=view), policy, f"{told}: leave out the next {every - 1}")


def _common_values(order: ReleaseOrder) -> Iterator[tuple[str, SuggestedChange]]:
    """Yield room for values above one m-th, if the method has it and the policy does not use it yet."""
    policy, terms = order.policy, order.policy.terms
    row = method_named(policy.defence.method) if policy.defence else None
    if row is None or not row.reads_odds or terms.series.m is None or terms.series.odds is not None:
        return
    changed = _over_time(terms, lambda series: replace(series, odds=COMMON))
    yield from _change("odds", order, replace(policy, terms=changed), f"[promise] odds = {COMMON:g}")


def _smaller_m(order: ReleaseOrder) -> Iterator[tuple[str, SuggestedChange]]:
    policy, terms = order.policy, order.policy.terms
    if terms.series.m is None:
        return
    for m in range(terms.series.m - 1, 1, -1):
        changed = _over_time(terms, partial(_with_m, m=m))
        yield from _change("m", order, replace(policy, terms=changed), f"[promise] m = {m}")


def _with_m(series: SeriesTerms, m: int) -> SeriesTerms:
    return replace(series, m=m, n=series.n if series.degree is None else min(series.degree, m))


def _over_time(terms: PromiseTerms, change: Callable[[SeriesTerms], SeriesTerms]) -> PromiseTerms:
    """Return the terms with a change of [promise]; a column keeps what it says itself."""
    before = terms.series
    own = {
        name: SeriesTerms(**{field.name: _own_or(change(one), one, before, field.name) for field in fields(one)})
        for name, one in terms.series_by_column.items()
    }
    return replace(terms, series=change(before), series_by_column=MappingProxyType(own))


def _own_or(changed: SeriesTerms, own: SeriesTerms, general: SeriesTerms, key: str) -> Any:
    """Return what a column says itself, or what is changed for all."""
    return getattr(changed if getattr(own, key) == getattr(general, key) else own, key)


def _looser(order: ReleaseOrder, verdict: Verdict) -> Iterator[tuple[str, SuggestedChange]]:
    """Yield the thresholds that the refused draft would have kept."""
    policy = order.policy
    for finding in verdict.findings:
        if finding.kept or finding.rule not in ("k", "l", "t") or finding.worst <= 0:
            continue
        if finding.rule == "k":
            terms, line = replace(policy.terms, k=int(finding.worst)), f"[promise] k = {int(finding.worst)}"
        else:
            assert finding.column is not None
            value = float(int(finding.worst)) if finding.rule == "l" else round(finding.worst + 0.0005, 3)
            old = policy.terms.per_column[finding.column]
            asked = replace(old, l=value) if finding.rule == "l" else replace(old, t=value)
            columns = MappingProxyType({**policy.terms.per_column, finding.column: asked})
            terms, line = (
                replace(policy.terms, per_column=columns),
                f"[promise.{finding.column}] {finding.rule} = {value:g}",
            )
        yield from _change(f"looser {finding.rule}", order, replace(policy, terms=terms), line)


def _fewer_columns(order: ReleaseOrder) -> Iterator[tuple[str, SuggestedChange]]:
    policy, view = order.policy, order.view
    for column in view.quasi if len(view.quasi) > 1 else ():
        rule = replace(policy.columns[column.name], role=Role.DROP)
        columns = MappingProxyType({**policy.columns, column.name: rule})
        left = replace(view, quasi=tuple(other for other in view.quasi if other is not column))
        line = f'[columns.{column.name}] role = "drop"'
        yield from _change(column.name, replace(order, view=left), replace(policy, columns=columns), line)


def _change(kind: str, order: ReleaseOrder, policy: Policy, line: str) -> Iterator[tuple[str, SuggestedChange]]:
    try:
        plan = checked_policy(policy)
    except InputError:
        return  # not a valid policy, so there is nothing to try
    yield kind, SuggestedChange((line,), replace(order, plan=plan, dry_run=True, approval=None))


def _rehearsed(change: SuggestedChange, parts: ReleaseParts) -> Suggestion | None:
    from seriatim.usecases.publish.auto import publish_chosen  # brings the attack

    making = publish_chosen if change.order.plan.chooses else publish
    try:
        verdict = making(change.order, replace(parts, progress=no_progress)).verdict
    except InputError:
        return None
    if not verdict.released:
        return None
    relations = [measure.value for measure in verdict.measures if measure.name == "relation_kept"]
    breaches = [one.worst for one in verdict.findings if one.rule == "breach_share" and one.worst == one.worst]
    return Suggestion(
        change.lines,
        _worst(verdict, "gcp"),
        _worst(verdict, "suppressed_share"),
        min(relations, default=None),
        max(breaches, default=None),
    )


def _worst(verdict: Verdict, name: str) -> float:
    """Return the largest figure of this name: each table has one."""
    return max(measure.value for measure in verdict.measures if measure.name == name)


def coarser_rules(column: CodedColumn, rule: ColumnRule) -> Iterator[tuple[str, ColumnRule]]:
    """Yield a column's rule made coarser, the mildest first, with the line to paste."""
    if rule.hierarchy is not None:
        for level in range((rule.level or 0) + 1, _levels(column, rule)):
            yield f"level = {level}", replace(rule, level=level)
    elif rule.order is None and rule.kind is not Kind.DATE and column.scale.form == "interval":
        for unit in _units(column, rule.rounding or 0.0):
            yield f"rounding = {unit:g}", replace(rule, rounding=unit)


def coarser_policy(policy: Policy, rule: ColumnRule) -> Policy:
    """Return the policy with this rule for its column."""
    return replace(policy, columns=MappingProxyType({**policy.columns, rule.name: rule}))


def _levels(column: CodedColumn, rule: ColumnRule) -> int:
    """Return how many levels a column's hierarchy has, the last being for all values."""
    assert rule.hierarchy is not None
    texts = [text for text in column.scale.texts[:1].to_pylist() if text is not None]
    paths = [path for path in rule.hierarchy.paths(texts) if path is not None]
    return len(paths[0]) + (rule.level or 0) if paths else 0


def _units(column: CodedColumn, above: float) -> Iterator[float]:
    """Yield round units that cut the column's range into fewer and fewer steps."""
    positions = column.scale.positions
    width = float(positions.max() - positions.min()) if len(positions) else 0.0
    last = above
    for parts in _PARTS if width > 0 else ():
        power = 10.0 ** _power(width / parts)
        unit = next(power * nice for nice in _ROUND if power * nice >= width / parts * (1 - 1e-9))
        # a unit finer than the values themselves changes nothing
        if unit > last and unit > width / max(len(positions) - 1, 1):
            last = unit
            yield unit


def _power(value: float) -> int:
    from math import floor, log10

    return floor(log10(value))
