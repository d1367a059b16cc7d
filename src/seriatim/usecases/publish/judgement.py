"""Judges a draft: every promise, every measure, one verdict with reasons and what would pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from seriatim.measures.information_loss import cost_of_draft, entropy_and_precision
from seriatim.measures.query_error import query_error, value_query_error, worst_shares
from seriatim.model import (
    Approval,
    CodedColumn,
    Draft,
    Estimate,
    Finding,
    History,
    Measure,
    Policy,
    Verdict,
    View,
)
from seriatim.model.class_counts import ClassCounts
from seriatim.model.classes import published_of
from seriatim.model.history import JudgedHistory, nothing_published
from seriatim.model.methods import JUDGED_ANYHOW, method_named
from seriatim.model.promises import ELIGIBLE, PROMISES
from seriatim.ports import Promise, Workers
from seriatim.ports.promise import is_of_cells, need_of
from seriatim.usecases.publish import draft_charts, relation_kept
from seriatim.usecases.publish.relation_kept import joined_group_measures

if TYPE_CHECKING:
    from seriatim.model.candidate_values import Candidates
    from seriatim.model.recipients import Holder
    from seriatim.usecases.other_series import OtherSeries
    from seriatim.usecases.publish.followed_people import FollowedPeople
    from seriatim.usecases.publish.simulation import AttackOutcome
    from seriatim.usecases.publish.taken_over import TakenOver

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JudgedDraft:
    """A draft and what it is judged by."""

    view: View
    draft: Draft
    policy: Policy
    promises: Sequence[Promise]
    histories: Mapping[str | None, History]
    """What was published so far, by the sensitive column followed; the first is the defence's own."""
    others: Mapping[str | None, Sequence[OtherSeries]] = field(default_factory=dict)
    """By sensitive column, other series that say something about the same people, where an attack is bounded."""
    holders: Sequence[Holder] = ()
    """Recipients of this draft, or several of them together, with the releases they would hold."""
    beliefs: Mapping[str, pa.Table] = field(default_factory=dict)
    """What was believed of people before the newest releases."""
    followed: Mapping[str | None, FollowedPeople] = field(default_factory=dict)
    """What a sequential adversary believes, by sensitive column, where that is known already."""
    before: TakenOver | None = None
    """What releases of another method leave possible, if the series was taken over."""
    named: bool = False
    """Whether every finding names its column, since each sensitive column has a table of its own."""

    @property
    def history(self) -> History:
        return next(iter(self.histories.values()), nothing_published())

    @property
    def first(self) -> str | None:
        """Return the sensitive column that promises follow unless they name another."""
        return next(iter(self.draft.sensitive), None)

    def judged(self, column: str | None) -> JudgedHistory:
        """Return the releases so far with the draft, as promises about this column judge them."""
        history = self.histories.get(column, nothing_published())
        found = JudgedHistory.of_draft(history, self.draft, self.view, column)
        return found if self.before is None else replace(found, since=self.before.candidates.until + 1)


Followed = Callable[[], "tuple[Mapping[str | None, JudgedHistory], Sequence[AttackOutcome]]"]
"""The history with the draft for every column that a promise follows, and what attacks found."""


def verdict_of(
    case: JudgedDraft, workers: Workers, approval: Approval | None = None, followed: Followed | None = None
) -> Verdict:
    """Return the verdict. A broken promise refuses a draft; only a named person with a reason can override."""
    draft, policy = case.draft, case.policy
    counts, followed = _once(lambda: ClassCounts.of(published_of(draft))), followed or histories_once(case)

    def checked() -> list[Finding]:
        judged = followed()[0]
        return [_checked(promise, case, counts(), judged) for promise in case.promises if not is_of_cells(promise)]

    # promises share what they look up about people, so they are checked in turn, but not those that count the cells of
    # the draft and need nobody's past
    alone = JudgedHistory(nothing_published(), case.first, draft=draft, view=case.view)
    measuring = _measuring(case, counts, workers)
    tasks = {  # in the order in which they begin: promises wait for what is looked up, the longest measure does not
        "followed": followed,
        "counts": counts,
        "queries": measuring["queries"],
        "covered": lambda: [promise.check(alone) for promise in case.promises if is_of_cells(promise)],
        "kept": checked,
        **measuring,
    }
    done: dict[str, Any] = dict(zip(tasks, workers.map(lambda task: task(), tasks.values()), strict=True))
    measures = tuple(measure for name in measuring for measure in done[name])
    found = tuple(done["covered" if is_of_cells(promise) else "kept"].pop(0) for promise in case.promises)
    judged, simulations = followed()
    findings = _findings_shown(found, case)
    if case.named:
        findings = tuple(replace(finding, column=case.first) for finding in findings)
    broken = [finding for finding in findings if not finding.kept]
    return Verdict(
        findings=findings,
        estimates=_estimates(case, judged, simulations),
        measures=measures,
        reasons=tuple(reason_told(finding) for finding in broken),
        remedies=(
            *(f"{_rule(finding, case.named)}: {finding.remedy}" for finding in broken if finding.remedy),
            *_began_otherwise(broken, policy, case.history),
        ),
        approval=approval,
        charts=draft_charts.drawn(draft, counts(), policy, measures),
        notes=(*(note for one in simulations for note in one.notes), *relation_kept.remarks(measures, draft)),
    )


def _findings_shown(findings: Sequence[Finding], case: JudgedDraft) -> tuple[Finding, ...]:
    """Return the findings, with the cause where too many are withheld.

    Show the default bound of a serial method, and eligible_table, only when they are broken; the summary counts who is
    withheld.
    """
    settings, bound = case.policy.defence, "suppress"
    silent = {ELIGIBLE}
    if settings is not None and settings.for_now and settings.suppress is None:
        silent.add(bound)
    shown = tuple(one for one in findings if not (one.kept and one.rule in silent))
    if all(one.kept or one.rule != bound for one in shown):
        return shown
    from seriatim.usecases.publish.too_many_withheld import explained  # most drafts withhold few

    return tuple(
        explained(one, case.view, case.draft, case.policy) if one.rule == bound and not one.kept else one
        for one in shown
    )


def _estimates(
    case: JudgedDraft, judged: Mapping[str | None, JudgedHistory], simulations: Sequence[AttackOutcome]
) -> tuple[Estimate, ...]:
    return (
        *(estimate for one in simulations for estimate in one.estimates),
        *(one.believed for one in judged.values() if one.believed is not None),
        *_withheld_people(case, judged),
        *_refused_exits(case, judged),
    )


def histories_once(case: JudgedDraft) -> Followed:
    """Return a function that looks up once what the promises about a series judge."""
    return _once(lambda: _judged_by_column(case))


def _judged_by_column(case: JudgedDraft) -> tuple[dict[str | None, JudgedHistory], list[AttackOutcome]]:
    """Return the history with the draft for every column that a promise follows; attacked if that is bounded."""
    found: dict[str | None, JudgedHistory] = {}
    attacked = []
    for promise in case.promises:
        if promise.judges != "series":
            continue
        column = promise.column or case.first
        if column not in found:
            found[column] = case.judged(column)
        need, judged = need_of(promise), found[column]
        if need == "attack" and judged.estimate is None:  # only then are the attack and its kernels loaded
            from seriatim.usecases.publish.simulation import attacked_by_exclusion

            attacked.append(
                attacked_by_exclusion(judged, case.policy, case.holders, _left(case), case.others.get(column, ()))
            )
            found[column] = replace(judged, estimate=attacked[-1].judged_by(case.policy))
        if need == "belief" and judged.believed is None:
            # this attack takes long: what was looked up for the next release is not looked up again
            known = case.followed.get(column) or _followed(judged, case)
            found[column] = replace(judged, believed=known.estimate)
    return found, attacked


def _left(case: JudgedDraft) -> Candidates | None:
    return None if case.before is None else case.before.candidates


def _withheld_people(case: JudgedDraft, judged: Mapping[str | None, JudgedHistory]) -> list[Estimate]:
    """Return what being withheld reveals about each sensitive column of a serial method, if anybody ever was."""
    columns = [column for column, one in judged.items() if column is not None and one.history.withheld_anyone]
    if not case.draft.serial or not columns:
        return []
    from seriatim.attacks.withheld_guesses import withheld

    found = {column: withheld(judged[column].history).estimate for column in columns}
    several = len(case.draft.sensitive) > 1
    return [
        replace(one, detail={**one.detail, **({"column": column} if several else {})})
        for column, one in found.items()
        if one.n_people
    ]


def _refused_exits(case: JudgedDraft, judged: Mapping[str | None, JudgedHistory]) -> list[Estimate]:
    """Return what it says about leavers that they had to wait, where the method decides by values when they go."""
    row = method_named(case.policy.defence.method) if case.policy.defence is not None else None
    if row is None or "baseline" not in row.marks:
        return []
    from seriatim.attacks.refusals import refused_exits
    from seriatim.usecases.attack.attack import exit_rule_of

    rules = [(one.history, exit_rule_of(one.history, case.policy)) for one in judged.values()]
    found = [refused_exits(history, rule).estimate for history, rule in rules if rule is not None]
    return [one for one in found if one.n_people]


def followed_people_of(case: JudgedDraft) -> dict[str | None, FollowedPeople]:
    """Return what is believed about each column of which a promise judges that."""
    columns = [promise.column or case.first for promise in case.promises if need_of(promise) == "belief"]
    return {column: _followed(case.judged(column), case) for column in dict.fromkeys(columns)}


def _followed(judged: JudgedHistory, case: JudgedDraft) -> FollowedPeople:
    """Return the beliefs of an attacker who assumes exchangeability, or who follows values that change."""
    from seriatim.usecases.publish.believed_people import believed_people
    from seriatim.usecases.publish.followed_people import followed_people

    # exchangeability where it applies: leavers are known, and nobody states how values follow each other
    return believed_people(judged, case.policy) or followed_people(judged, case.policy, case.beliefs)


def beliefs_to_keep(case: JudgedDraft) -> dict[str, pa.Table]:
    """Return what the next release has to know of these beliefs, by the name under which it is kept."""
    return {name: kept for one in case.followed.values() for name, kept in one.memory.items() if len(kept)}


def _checked(
    promise: Promise, case: JudgedDraft, counts: ClassCounts, judged: Mapping[str | None, JudgedHistory]
) -> Finding:
    if promise.judges == "table":
        return promise.check(counts)
    return promise.check(judged[promise.column or case.first])


def _once(look: Callable[[], T]) -> Callable[[], T]:
    """Return a function that looks when it is first called; whoever else calls it waits for what that finds."""
    lock, found = Lock(), list[T]()

    def looked() -> T:
        with lock:
            if not found:
                found.append(look())
        return found[0]

    return looked


def _measuring(
    case: JudgedDraft, counts: Callable[[], ClassCounts], workers: Workers
) -> dict[str, Callable[[], tuple[Measure, ...]]]:
    """Return what measures a draft, by name; the figures come in this order, and workers take them side by side."""
    view, draft = case.view, case.draft
    return {
        "loss": lambda: cost_of_draft(draft, counts().sizes),
        "information": lambda: entropy_and_precision(view, draft),
        "queries": lambda: query_error(view, draft, workers),
        "value queries": lambda: value_query_error(view, draft),
        "margins": lambda: worst_shares(view, draft),
        "relation": lambda: relation_kept.of_draft(view, draft),
        "counters": lambda: tuple(Measure(name, float(count), "count") for name, count in draft.counters.items()),
        "groups": lambda: joined_group_measures(view, draft, case.policy),
        "noise": lambda: _noise(view, case.policy),
    }


def _noise(view: View, policy: Policy) -> tuple[Measure, ...]:
    if policy.defence is None or not policy.defence.noise:
        return ()
    from seriatim.measures import averaged_noise  # brings kernels

    columns = (*view.quasi, *view.sensitive)
    return averaged_noise.nearness_of_columns(
        (CodedColumn(c.name, c.codes[~view.suppressed], c.scale) for c in columns), policy
    )


def _began_otherwise(broken: Sequence[Finding], policy: Policy, history: History) -> tuple[str, ...]:
    """Say what helps if earlier releases break the promise themselves: no change of the draft does."""
    m = policy.terms.series.m
    if m is None or not len(history) or not any(finding.rule in _of_the_past(policy) for finding in broken):
        return ()
    from seriatim.promises.series.invariance import weak_m_uniqueness  # brings kernels

    if weak_m_uniqueness(JudgedHistory(history), m).kept:
        return ()
    return (
        "series: earlier releases break these promises too, since another method made them or they were imported; "
        "return to the method of the series, or start a new series under another name. Attack the old series first "
        "if people are in both, since someone who keeps its releases can join the two",
    )


def _of_the_past(policy: Policy) -> frozenset[str]:
    """Return the promises that earlier releases may break as well, so that no later draft can keep them."""
    row = method_named(policy.defence.method) if policy.defence is not None else None
    of_m = row.judged_by if row is not None and row.past_keeps else JUDGED_ANYHOW
    return frozenset((*of_m, *PROMISES["n"].rules))


def _rule(finding: Finding, named: bool) -> str:
    return f"{finding.rule} of {finding.column!r}" if named else finding.rule


def reason_told(finding: Finding) -> str:
    """Say what was found of a broken promise, and what is required."""
    where = f" of {finding.column!r}" if finding.column else ""
    people = f"; {finding.n_people} people in {finding.n_classes} classes" if finding.n_classes else ""
    why = f": {finding.detail}" if finding.rule in ("suppress", ELIGIBLE) else ""
    return f"{finding.rule}{where}: found {finding.worst:.4g}, required {finding.threshold:.4g}{people}{why}"
