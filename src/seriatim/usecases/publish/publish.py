"""Publishes a view, or refuses it with reasons.

Ledger first: nobody sees anything before the ledger has it. A refused draft leaves no trace.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from seriatim.defences import defence_named
from seriatim.errors import Fault, PolicyError, TableError
from seriatim.knowledge.breach import breach_degree_chosen
from seriatim.measures.query_error import SEED
from seriatim.model import (
    Approval,
    Draft,
    History,
    Policy,
    Refusal,
    Release,
    SeriesState,
    Table,
    Verdict,
    View,
    check_epoch,
    release,
)
from seriatim.model.history import no_history
from seriatim.model.holdings import Holder, holdings_of
from seriatim.model.methods import Degree, method_named
from seriatim.ports import (
    PRIVATE,
    PUBLIC,
    Defence,
    Ledger,
    Progress,
    Promise,
    ReleaseRecord,
    Reservation,
    Workers,
    Writer,
    no_progress,
)
from seriatim.promises import bounds_of, promises_of
from seriatim.report import Facts, PublicReport, Report, column_facts, promises_for_recipients
from seriatim.usecases.publish.codebook import NOTATION, codebook_of, rows_in_codebook
from seriatim.usecases.publish.corrections import (
    Corrections,
    check_corrections,
    history_with_corrections,
    memory_with_corrections,
)
from seriatim.usecases.publish.foreknowledge import check_foreknowledge, refuse_untrue_foreknowledge
from seriatim.usecases.publish.judgement import Case, judgement_by_followers, judgement_memory, judgement_of
from seriatim.usecases.publish.notes import notes_of
from seriatim.usecases.publish.other_series import other_series_notes
from seriatim.usecases.publish.repeated_view import judged_as_repeated, repeated_view
from seriatim.usecases.publish.view_notes import view_notes
from seriatim.usecases.publish.view_order import view_in_order, view_keys, view_order_digest


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A policy that was checked once: what to do and what to keep."""

    policy: Policy
    """The policy as the steward wrote it, which is recorded."""
    settled: Policy
    """The policy with the degree chosen, which is used."""
    defence: Defence
    promises: tuple[Promise, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """An order to publish this view under this plan."""

    view: View
    plan: Plan
    destination: Path | None = None
    recipients: tuple[str, ...] = ()
    approval: Approval | None = None
    dry_run: bool = False
    again: bool = False
    """Whether a view that was published before may be published again."""
    corrections: Corrections | None = None
    """Values that were published wrongly and are other ones in this view."""
    empty: bool = False
    """Whether a view without records may be published in a series: it says that everyone has left."""
    input_name: str = ""
    input_sha256: str = ""
    """Name and SHA-256 of the input, for the page to sign."""

    @property
    def policy(self) -> Policy:
        return self.plan.policy


@dataclass(frozen=True, slots=True)
class Parts:
    """The edges that publishing works with."""

    ledger: Ledger
    workers: Workers
    writer: Writer
    progress: Progress = no_progress
    read: Callable[[Table, Policy], View] | None = None
    """Makes a view of a table under another policy, for rehearsals with a coarser column."""


def publish(order: Order, parts: Parts) -> Release | Refusal:
    """Defend, judge and, if nothing is broken, reserve, write and seal."""
    policy, progress = order.plan.settled, parts.progress
    refuse_untrue_foreknowledge(order.view, policy)
    state = parts.ledger.state(policy.series, order.destination)
    check_epoch(state, policy)
    _check_people(order, state)
    memory = _remembered(order, parts.ledger)
    histories = _histories(order, parts.ledger, memory)
    history = next(iter(histories.values()), no_history())
    secret = state.secret or secrets.token_bytes(32)
    state = replace(state, secret=secret, history=history, memory=memory)
    keys = view_keys(order.view, secret)
    digest = view_order_digest(keys, secret)
    view, rows = view_in_order(order.view, keys, secret, state.n_releases + 1)
    order = replace(order, view=view)
    progress("grouping", 0.1)
    draft = replace(order.plan.defence(view, policy, state, parts.workers), source_rows=rows)
    progress("judging", 0.4)
    case = Case(order.view, draft, policy, order.plan.promises, histories, _holders(order, parts, history), memory)
    case = _without_exposed(case)
    draft = case.draft
    case = replace(case, followed=judgement_by_followers(case))
    verdict = judgement_of(case, parts.workers, order.approval)
    verdict = replace(verdict, notes=(*verdict.notes, *notes_of(draft, policy, state.n_releases, history)))
    verdict = replace(verdict, notes=(*verdict.notes, *_corrected(order), *_beside(order, parts, draft)))
    again = repeated_view(state.views, digest, order.view.table.name)
    made = release(draft, judged_as_repeated(verdict, again, order.again))
    if isinstance(made, Release) and not order.dry_run:
        kept = judgement_memory(case)
        made = _written(order, parts, made, replace(state, memory=kept), digest)
    progress("done", 1.0)
    return made


def _without_exposed(case: Case) -> Case:
    """Return the case without the classes that would break it, if the policy asks for that and its method reads it."""
    settings = case.policy.defence
    row = method_named(settings.method) if settings is not None else None
    if settings is None or row is None or "withhold" not in row.options or settings.options.withhold is None:
        return case
    from seriatim.usecases.publish.withholding import withholding_exposed  # brings the attack

    return replace(case, draft=withholding_exposed(case))


def _beside(order: Order, parts: Parts, draft: Draft) -> tuple[str, ...]:
    """Return what no promise looks at: plain columns, values that are missing whole, other series of these people."""
    policy = order.plan.settled
    return (*view_notes(order.view, draft, policy), *other_series_notes(parts.ledger, policy, order.view))


def _corrected(order: Order) -> tuple[str, ...]:
    if order.corrections is None:
        return ()
    n = len(order.corrections.people)
    return (f"the values of {n} people were corrected: they count as newcomers, and their old groups name nobody",)


def _holders(order: Order, parts: Parts, history: History) -> tuple[Holder, ...]:
    """Return who would receive this release, with all that they would hold; nobody if no simulation asks for them."""
    known = order.policy.adversary
    if known.breach_share is None:
        return ()
    kept = {past.number for past in history}  # recalled releases count no longer
    records = [one for one in parts.ledger.records(order.policy.series) if one.number in kept]
    draft = max(kept, default=0) + 1
    holdings = holdings_of([*((one.number, one.recipients) for one in records), (draft, order.recipients)])
    return holdings.holders(known.collusion or 1, order.recipients)


def _check_people(order: Order, state: SeriesState) -> None:
    """Raise an error for a view without records: an extract went wrong, or a serial method would end every group."""
    settings = order.policy.defence
    ends = settings is not None and settings.serial and state.n_releases > 0
    if order.empty or not (order.view.suppressed.all() if ends else len(order.view) == 0):
        return
    found = "no records to publish" if len(order.view) else "no records"
    remedy = "check the extract; publish with --empty (in Python empty=True) if everyone has left for good"
    raise TableError(Fault("table", found, "at least one", remedy))


def _written(order: Order, parts: Parts, made: Release, state: SeriesState, digest: str) -> Release:
    """Reserve, write and seal a release; ``state.memory`` is what is remembered beside the method's own memory."""
    parts.progress("writing", 0.7)
    record, codebook = _reserve(order, parts, made, state, digest)
    parts.progress("sealing", 0.9)
    record = parts.ledger.seal(order.policy.series, record.number)
    return made.sealed(record.number, record.manifest, codebook)


def settle_to_publish(policy: Policy) -> Policy:
    """Return the policy with n = "choose" replaced by the degree that n-Choose finds, or say what to change.

    If the method has no degree, n is dropped, and the verdict says so.
    """
    terms, row = policy.terms.series, method_named(policy.defence.method) if policy.defence else None
    if row is not None and row.degree is Degree.MEANINGLESS:
        return _with_degree(policy, None)
    if terms.n != "choose" or terms.m is None:
        return policy
    return _with_degree(policy, breach_degree_chosen(terms.m, policy.adversary))


def _with_degree(policy: Policy, n: int | None) -> Policy:
    return replace(policy, terms=replace(policy.terms, series=replace(policy.terms.series, n=n)))


def _remembered(order: Order, ledger: Ledger) -> Mapping[str, pa.Table]:
    memory = ledger.memory(order.policy.series)
    return memory if order.corrections is None else memory_with_corrections(memory, order.corrections)


def _histories(order: Order, ledger: Ledger, memory: Mapping[str, pa.Table]) -> dict[str | None, History]:
    """Return what was published so far by sensitive column, for anything that looks back; nothing else waits for it.

    What follows people whose values change needs the newest releases and a memory; the rest is not read.
    """
    plan, policy = order.plan, order.plan.settled
    assert policy.defence is not None
    first = policy.sensitive[0].name if policy.sensitive else None
    followed = [first] if policy.defence.serial else []
    followed += [promise.column or first for promise in plan.promises if promise.judges == "series"]
    asked = order.corrections
    if asked is None and followed and _follows_newest(plan):
        from seriatim.usecases.publish.followed import followed_history  # brings the attack

        return {column: followed_history(ledger, policy, column, memory) for column in dict.fromkeys(followed)}
    found = {column: ledger.history(policy.series, column) for column in dict.fromkeys(followed)}
    if asked is None:
        return found
    named = {column: found.get(column) or ledger.history(policy.series, column) for column in asked.columns}
    check_corrections(asked, order.view, named)
    return {column: history_with_corrections(history, asked) for column, history in found.items()}


def _follows_newest(plan: Plan) -> bool:
    """Return whether only j and sure_share look back: they need the newest releases alone."""
    assert plan.settled.defence is not None
    series = [promise for promise in plan.promises if promise.judges == "series"]
    return not plan.settled.defence.serial and all(one.rule in ("j", "sure_share") for one in series)


def plan_to_publish(policy: Policy) -> Plan:
    """Check a policy once; raise an error if it does not say what to do and keep, or this version cannot."""
    if policy.defence is None:
        raise PolicyError(Fault("[defence]", "missing", 'a section with method = "median", for example', "add it"))
    ready = settle_to_publish(policy)
    promises = promises_of(ready)
    if not promises:
        raise PolicyError(Fault("[promise]", "no promise", "at least one", "such as k = 5"))
    _check_simulation(policy)
    check_foreknowledge(policy)
    return Plan(policy, ready, defence_named(policy.defence.method), (*promises, *bounds_of(ready)))


def check_first_publish(view: View, plan: Plan) -> None:
    """Check whether a view may start a series, as far as possible without a history."""
    policy = plan.settled
    assert policy.defence is not None
    if policy.defence.serial:
        from seriatim.defences.series.request import check_first_request  # brings compiled kernels

        check_first_request(view, policy)


def _check_simulation(policy: Policy) -> None:
    """Raise an error for a bound on an attack that nothing would judge: it follows people and their values."""
    known = policy.adversary
    if known.breach_share is None and known.sure_share is None:
        return
    where = "[adversary] breach_share" if known.breach_share is not None else "[adversary] sure_share"
    faults = []
    if policy.respondent is None:
        faults.append(Fault(where, "needs a respondent column", "[series] respondent", "add it"))
    if not policy.sensitive:
        faults.append(Fault(where, "no sensitive column to attack", "at least one", 'give it the role "sensitive"'))
    if faults:
        raise PolicyError(faults)
    if known.sure_share is not None:
        from seriatim.knowledge.knowledge_files import knowledge_of_adversary

        knowledge_of_adversary(known)  # a file that cannot be read shows here


def publish_report(policy: Policy, draft: Draft, verdict: Verdict, number: int | None) -> Report:
    """Return the report of a draft and its verdict; a dry run or refusal has no number."""
    forms: dict[str, str] = {column.name: column.form for column in draft.generalised}
    if draft.serial:
        forms |= dict.fromkeys(draft.sensitive, "shuffled")
    if draft.buckets:
        forms = {**dict.fromkeys(draft.quasi, "exact"), **dict.fromkeys(draft.sensitive, "buckets")}
    facts = Facts(
        series=policy.series,
        number=number,
        epoch=policy.epoch,
        policy_digest=policy.digest,
        n_records=draft.n_records,
        n_published=draft.n_records - draft.grouping.n_suppressed,
        n_suppressed=draft.grouping.n_suppressed,
        n_groups=draft.grouping.n_groups,
        n_counterfeits=pc.sum(draft.groups.column("counterfeit")).as_py() or 0,
        columns=column_facts(policy, forms),
        seed=SEED,
    )
    return Report(policy, verdict, facts)


def _reserve(
    order: Order, parts: Parts, made: Release, state: SeriesState, digest: str
) -> tuple[ReleaseRecord, dict[str, Any]]:
    assert state.secret is not None
    number = state.n_releases + 1
    codebook = codebook_of(order.policy, made.draft, made.verdict, number)
    with parts.ledger.stage() as folder:
        _write_files(folder, order.policy, parts.writer, made, codebook)
        reservation = Reservation(
            state=state,
            secret=state.secret,
            policy=order.policy,
            staged=folder,
            groups=made.groups,
            n_published=made.table.num_rows,
            view_digest=digest,
            source=order.view.table.name,
            input_name=order.input_name,
            input_sha256=order.input_sha256,
            corrected=() if order.corrections is None else tuple(order.corrections.people.to_pylist()),
            destination=order.destination,
            recipients=order.recipients,
            approval=order.approval,
            memory={**made.draft.memory, **state.memory},
        )
        return parts.ledger.reserve(reservation), codebook


def _write_files(folder: Path, policy: Policy, write: Writer, made: Release, codebook: dict[str, Any]) -> None:
    """Write what recipients get apart from what only the publisher may see."""
    report = publish_report(policy, made.draft, made.verdict, codebook["release"])
    for part in (PUBLIC, PRIVATE):
        (folder / part).mkdir(mode=0o700)
    write(made, folder / PUBLIC)
    _write(folder / PUBLIC / "codebook.json", json.dumps(codebook, indent=1, sort_keys=True, ensure_ascii=False))
    _write(folder / PUBLIC / "report.html", _public_report_of(report, made.draft).to_html())
    _write(folder / PRIVATE / "report.json", report.to_json())
    _write(folder / PRIVATE / "report.html", report.to_html())


def _public_report_of(report: Report, draft: Draft) -> PublicReport:
    """Return the report for recipients."""
    return PublicReport(
        report.facts, promises_for_recipients(report.verdict), rows_in_codebook(draft, report.policy), NOTATION
    )


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
