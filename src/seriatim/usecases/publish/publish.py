"""Publishes a view, or refuses it with reasons.

Ledger first: nobody sees anything before the ledger has it. A refused draft leaves no trace.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from seriatim.errors import Fault, TableError
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
    check_epoch_columns,
    release,
)
from seriatim.model.history import nothing_published
from seriatim.model.own_tables import secret_of_column, view_of_column
from seriatim.model.promises import promise_rules_for_users
from seriatim.ports import Ledger, Progress, Reservation, Workers, Writer, no_progress
from seriatim.usecases.publish.judgement import (
    Followed,
    JudgedDraft,
    beliefs_to_keep,
    followed_people_of,
    histories_once,
    verdict_of,
)
from seriatim.usecases.publish.notes import n_changed_people, remarks_on_draft, remarks_on_other_series, remarks_on_view
from seriatim.usecases.publish.plan import Choice, Plan
from seriatim.usecases.publish.view_order import (
    RecordKeys,
    digest_in_any_case,
    found_again,
    judged_as_repeated,
    record_keys,
    sorted_for_release,
)

if TYPE_CHECKING:
    from seriatim.model.recipients import Holder
    from seriatim.usecases.other_series import OtherSeries
    from seriatim.usecases.publish.corrections import Corrections
    from seriatim.usecases.publish.taken_over import TakenOver

Taken = TypeVar("Taken")


@dataclass(frozen=True, slots=True, eq=False)
class ReleaseOrder:
    """An order to publish this view under this plan."""

    view: View
    plan: Plan
    _: KW_ONLY
    destination: Path | None = None
    head: Path | None = None
    """The file outside the shelf that names the newest release of the series."""
    recipients: tuple[str, ...] = ()
    approval: Approval | None = None
    author: str | None = None
    """Who drafts it: the draft is kept until somebody else approves it."""
    dry_run: bool = False
    again: bool = False
    """Whether a view that was published before may be published again."""
    corrections: Corrections | None = None
    """Values that were published wrongly and are other ones in this view."""
    empty: bool = False
    """Whether a view without records may be published in a series: it says that everyone has left."""
    period: str = ""
    """The time that the table is about, and the day of publication, as recipients are told."""
    date: str = ""
    input_name: str = ""
    input_sha256: str = ""
    """Name and SHA-256 of the input, for the page to sign."""
    choice: Choice | None = None
    """What ``method = "auto"`` chose, which the ledger keeps."""
    notes: tuple[str, ...] = ()
    """What the verdict says about how that was chosen."""

    @property
    def policy(self) -> Policy:
        return self.plan.policy


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseParts:
    """The edges that publishing works with."""

    ledger: Ledger
    workers: Workers
    """For the defence: its search may also be long on few records."""
    by_record: Workers
    """For what takes a moment per record: ordering and judging."""
    writer: Writer
    progress: Progress = no_progress
    read: Callable[[Table, Policy], View] | None = None
    """Makes a view of a table under another policy, for rehearsals with a coarser column."""


def publish(order: ReleaseOrder, parts: ReleaseParts) -> Release | Refusal:
    """Defend, judge and, if nothing is broken, reserve, write and seal."""
    policy, progress = order.plan.settled, parts.progress
    if policy.adversary.priors is not None:
        from seriatim.usecases.publish import foreknowledge

        foreknowledge.refuse_untrue(order.view, policy)
    state = parts.ledger.state(policy.series, order.destination, order.head)
    check_epoch(state, policy)
    check_epoch_columns(state, policy)
    _check_people(order, state)
    # a series gets its secret with its first draft; it is kept once something is reserved
    secret = state.secret or secrets.token_bytes(32)
    state = replace(state, secret=secret).remembering(_remembered(order, parts.ledger))
    keys = record_keys(order.view, secret, parts.by_record)
    digest = digest_in_any_case(keys, secret)
    # tables of their own have views of their own, which have keys of their own
    ordered = None if order.plan.own_tables else keys
    cases = [_drafted(one, parts, own, ordered) for one, own in _orders_by_table(order, state)]
    del keys, ordered  # two numbers per record, which nobody needs while a large draft is judged
    notes = _harmless(cases, order, parts)
    progress("judging", 0.4)
    cases = [replace(case, followed=followed_people_of(case)) for case in map(without_exposed, cases)]
    verdicts = [_judged(case, order, parts, state.n_releases) for case in cases]
    draft, verdict = _joined(cases, verdicts)
    beside = {name for one in verdict.estimates for name in one.detail.get("beside", ())}
    beside_notes = remarks_on_other_series(parts.ledger, policy, order.view, beside)
    verdict = replace(verdict, notes=(*order.notes, *verdict.notes, *notes, *beside_notes))
    # judged last: a view that comes again is a reason to refuse whatever the promises say
    again = found_again(state.views, digest, order.view.source.name)
    made = release(draft, judged_as_repeated(verdict, again, order.again))
    if isinstance(made, Release) and not order.dry_run:
        kept = {name: table for case in cases for name, table in beliefs_to_keep(case).items()}
        state = replace(state, beliefs=kept)
        made = (_written if order.author is None else _drafted_only)(order, parts, made, state, digest)
    progress("done", 1.0)
    return made


def _harmless(cases: Sequence[JudgedDraft], order: ReleaseOrder, parts: ReleaseParts) -> tuple[str, ...]:
    """Return notes about harmless values, if the policy has any."""
    if not order.policy.adversary.harmless:
        return ()
    from seriatim.usecases.publish.harmless_values import remarks_on_spelling  # brings kernels

    return remarks_on_spelling(cases, order.plan.settled, parts.ledger)


def _orders_by_table(order: ReleaseOrder, state: SeriesState) -> list[tuple[ReleaseOrder, SeriesState]]:
    """Return an order for each table that is made, with the state of its series: one, or one per sensitive column."""
    plans = order.plan.own_tables
    if not plans:
        return [(order, state)]
    assert state.secret is not None
    return [
        (
            replace(order, plan=plan, view=view_of_column(order.view, plan.settled)),
            replace(state, secret=secret_of_column(state.secret, name)),
        )
        for name, plan in plans.items()
    ]


def _drafted(order: ReleaseOrder, parts: ReleaseParts, state: SeriesState, keys: RecordKeys | None) -> JudgedDraft:
    """Return the draft of one table, and what it is judged by; ``keys`` of its view, if they are known already."""
    policy, secret = order.plan.settled, state.secret
    assert secret is not None
    alone = keys is not None
    keys = record_keys(order.view, secret, parts.by_record) if keys is None else keys
    view = sorted_for_release(order.view, keys, secret, state.n_releases + 1)
    order = replace(order, view=view)
    histories = _histories(order, parts.ledger, state.beliefs)
    history = next(iter(histories.values()), nothing_published())
    before = _taken_over(view, policy, history, state) if alone else None
    others = _others(order, parts.ledger)
    state = replace(state, history=history, candidates=None if before is None else before.candidates)
    parts.progress("grouping", 0.1)
    draft = replace(order.plan.defence(view, policy, state, parts.workers), source_rows=view.rows)
    promises = order.plan.promises
    if before is not None:
        draft, promises = before.remembered_in(draft), (*promises, before.promise)
    return JudgedDraft(
        view=view,
        draft=draft,
        policy=policy,
        promises=promises,
        histories=histories,
        others=others,
        holders=_holders(order, parts, history, others),
        beliefs=state.beliefs,
        before=before,
    )


def _taken_over(view: View, policy: Policy, history: History, state: SeriesState) -> TakenOver | None:
    if policy.defence is None or not policy.defence.serial:
        return None  # nothing in a table that is judged alone depends on who made the releases before
    from seriatim.usecases.publish.taken_over import taken_over

    return taken_over(view, policy, history, state.memory)


def _judged(case: JudgedDraft, order: ReleaseOrder, parts: ReleaseParts, n_before: int) -> Verdict:
    """Return the verdict on one table, with everything that should be noted."""
    case = replace(case, named=bool(order.plan.own_tables))
    followed = histories_once(case)
    verdict: Verdict
    verdict, changed, beside = _side_by_side(
        parts.by_record,
        lambda: verdict_of(case, parts.by_record, order.approval, followed),
        lambda: _n_changed(case, parts.ledger, n_before, followed),
        lambda: remarks_on_view(case.view, case.draft, case.policy),
    )
    notes = remarks_on_draft(case.draft, case.policy, n_before, case.history, changed)
    notes = notes if case.before is None else (*notes, *case.before.notes)
    if all(finding.rule in promise_rules_for_users() for finding in verdict.findings):
        notes = (*notes, "the policy has no promise to the people of this table, so nothing about them was judged")
    return replace(verdict, notes=(*verdict.notes, *notes, *_corrected(order), *beside))


def _side_by_side(workers: Workers, *looks: Callable[[], Any]) -> list[Any]:
    return workers.map(lambda look: look(), looks)


def _n_changed(case: JudgedDraft, ledger: Ledger, n_before: int, followed: Followed) -> int:
    """Count the people whose value has changed, unless they were followed.

    What the promises judge shows it. Where nothing looks back, the newest release does.
    """
    if (
        not n_before
        or case.first is None
        or case.policy.respondent is None
        or case.policy.adversary.sure_share is not None
    ):
        return 0
    judged = followed()[0].get(case.first)
    if judged is not None:
        return n_changed_people(judged.history)
    before = case.history if len(case.history) else ledger.history(case.policy.series, case.first, newest=1)
    return n_changed_people(before.with_draft(case.draft, case.first))


def _joined(cases: Sequence[JudgedDraft], verdicts: Sequence[Verdict]) -> tuple[Draft, Verdict]:
    """Return the draft and the verdict of all tables together."""
    if len(cases) == 1:
        return cases[0].draft, verdicts[0]
    from seriatim.usecases.publish.joined_own_tables import drafts_as_one, verdicts_as_one

    names = [case.policy.sensitive[0].name for case in cases]
    drafts = dict(zip(names, (case.draft for case in cases), strict=True))
    known = cases[0].policy.adversary
    verdict = verdicts_as_one(dict(zip(names, verdicts, strict=True)), drafts, known)
    return drafts_as_one(drafts), verdict


def without_exposed(case: JudgedDraft) -> JudgedDraft:
    """Return the case without the classes that would break it, if the policy asks for that and its method reads it."""
    settings = case.policy.defence
    if settings is None or settings.leftovers != "withhold":
        return case
    from seriatim.usecases.publish.withheld_classes import withhold_exposed  # brings the attack

    return replace(case, draft=withhold_exposed(case))


def _corrected(order: ReleaseOrder) -> tuple[str, ...]:
    if order.corrections is None:
        return ()
    n = len(order.corrections.people)
    return (
        f"the values of {n} people were corrected: they count as newcomers and are no longer linked to their earlier "
        "groups",
    )


def _others(order: ReleaseOrder, ledger: Ledger) -> dict[str | None, tuple[OtherSeries, ...]]:
    """Return what other series say about these people, by sensitive column, where an attack is bounded."""
    policy, view = order.plan.settled, order.view
    if policy.adversary.breach_share is None or policy.respondent is None or not len(view):
        return {}
    from seriatim.usecases.other_series import series_beside

    people = view.cells(policy.respondent)
    names = [column.name for column in policy.sensitive]
    return {name: series_beside(ledger, policy.series, policy.register, name, people) for name in names}


def _holders(
    order: ReleaseOrder, parts: ReleaseParts, history: History, others: Mapping[str | None, Sequence[OtherSeries]]
) -> tuple[Holder, ...]:
    """Return who would receive this release, with all that they would hold; nobody if no simulation asks for them."""
    known = order.policy.adversary
    if known.breach_share is None:
        return ()
    from seriatim.model.recipients import holdings_of
    from seriatim.usecases.other_series import received_elsewhere

    kept = {past.number for past in history}  # recalled releases no longer count
    records = [one for one in parts.ledger.records(order.policy.series) if one.number in kept]
    # the draft counts as a release that its recipients hold: the question is what they know afterwards
    draft = max(kept, default=0) + 1
    elsewhere = received_elsewhere(others.values())
    own = [(one.number, one.recipients) for one in records]
    holdings = holdings_of([*own, (draft, order.recipients), *elsewhere.items()])
    return holdings.holders(known.together, order.recipients)


def _check_people(order: ReleaseOrder, state: SeriesState) -> None:
    """Raise an error for a view without records: an extract went wrong, or a serial method would end every group.

    Corrected people count as newcomers in every table; those whose other values were right would be in two groups of
    another table with one value, and no promise would see it.
    """
    if order.corrections is not None and order.plan.own_tables:
        found = f"corrections in a series with {len(order.plan.own_tables)} tables, one per sensitive column"
        remedy = "leave these people out of the view from now on: they count as having left"
        raise TableError(Fault("corrections", found, "a series with one sensitive column", remedy))
    settings = order.policy.defence
    ends = settings is not None and settings.serial and state.n_releases > 0
    if order.empty or not (order.view.suppressed.all() if ends else len(order.view) == 0):
        return
    found = "no records to publish" if len(order.view) else "no records"
    remedy = "check the extract; publish it all the same (empty) if everyone has left for good"
    raise TableError(Fault("table", found, "at least one", remedy))


def _written(order: ReleaseOrder, parts: ReleaseParts, made: Release, state: SeriesState, digest: str) -> Release:
    """Reserve, write and seal a release; ``state.beliefs`` are those after it."""
    parts.progress("writing", 0.7)
    record, codebook = _staged(order, parts, made, state, digest, parts.ledger.reserve)
    parts.progress("sealing", 0.9)
    record = parts.ledger.seal(order.policy.series, record.number)
    return made.sealed(record.number, record.manifest, codebook)


def _drafted_only(order: ReleaseOrder, parts: ReleaseParts, made: Release, state: SeriesState, digest: str) -> Release:
    """Keep a release as a draft, with the files that it will have, until somebody else approves it."""
    parts.progress("writing", 0.7)
    assert order.author is not None
    take = partial(parts.ledger.keep, author=order.author, reasons=made.verdict.reasons)
    record, _ = _staged(order, parts, made, state, digest, take)
    return made.waiting(record.digest)


def _remembered(order: ReleaseOrder, ledger: Ledger) -> Mapping[str, pa.Table]:
    memory = ledger.memory(order.policy.series)
    if order.corrections is None:
        return memory
    from seriatim.usecases.publish.corrections import corrected_memory

    return corrected_memory(memory, order.corrections)


def _histories(order: ReleaseOrder, ledger: Ledger, beliefs: Mapping[str, pa.Table]) -> dict[str | None, History]:
    """Return what was published so far by sensitive column, for anything that looks back; nothing else waits for it.

    What follows people whose values change needs the newest releases and the beliefs before them; the rest is not read.
    """
    plan, policy = order.plan, order.plan.settled
    assert policy.defence is not None
    first = policy.sensitive[0].name if policy.sensitive else None
    followed = [first] if policy.defence.serial else []
    followed += [promise.column or first for promise in plan.promises if promise.judges == "series"]
    asked = order.corrections
    # corrections concern any release, so with them everything is read
    if asked is None and followed and _follows_newest(plan):
        from seriatim.usecases.publish.followed_people import history_to_follow  # brings the attack

        return {column: history_to_follow(ledger, policy, column, beliefs) for column in dict.fromkeys(followed)}
    found = {column: ledger.history(policy.series, column) for column in dict.fromkeys(followed)}
    if asked is None:
        return found
    from seriatim.usecases.publish.corrections import check_last_values, corrected_history

    named = {column: found.get(column) or ledger.history(policy.series, column) for column in asked.columns}
    check_last_values(asked, order.view, named)
    return {column: corrected_history(history, asked) for column, history in found.items()}


def _follows_newest(plan: Plan) -> bool:
    """Return whether only j and sure_share look back: they need the newest releases alone."""
    assert plan.settled.defence is not None
    series = [promise for promise in plan.promises if promise.judges == "series"]
    return not plan.settled.defence.serial and all(one.rule in ("j", "sure_share") for one in series)


def _staged(
    order: ReleaseOrder,
    parts: ReleaseParts,
    made: Release,
    state: SeriesState,
    digest: str,
    take: Callable[[Reservation], Taken],
) -> tuple[Taken, dict[str, Any]]:
    """Stage a release's files and let the ledger take them; return what it says, and the codebook."""
    from seriatim.usecases.publish.release_files import (
        codebook_of,  # with all of report/: not for a dry run
        write_folder,
    )

    assert state.secret is not None
    # the number is taken for granted here; reserving fails if another writer was faster
    number = state.n_releases + 1
    codebook = codebook_of(order, made, number)
    with parts.ledger.stage() as folder:
        reservation = Reservation(
            state=state,
            secret=state.secret,
            policy=order.policy,
            staged=folder,
            write=lambda: write_folder(folder, order.policy, parts.writer, made, codebook),
            groups=made.groups,
            n_published=sum(one.table.num_rows for one in made.draft.tables.values()),
            view_digest=digest,
            source=order.view.source.name,
            input_name=order.input_name,
            input_sha256=order.input_sha256,
            corrected=() if order.corrections is None else tuple(order.corrections.people.to_pylist()),
            destination=order.destination,
            head=order.head,
            recipients=order.recipients,
            approval=order.approval,
            memory={**made.draft.memory, **state.beliefs},
            choice={} if order.choice is None else asdict(order.choice),
        )
        return take(reservation), codebook
