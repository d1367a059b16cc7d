"""Publish a view: from a table and a policy to a release or a refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seriatim import wiring
from seriatim.api.ledgers import open_ledger, signed_in_ledger
from seriatim.api.prepared import Prepared, ready_under, refuse_other_than_ledger
from seriatim.errors import Fault, InputError, TableError
from seriatim.model import Approval, Policy, Refusal, Release, Verdict, View
from seriatim.model.draft import PLAIN, VALUES
from seriatim.model.names import recipients_given, visible_text
from seriatim.model.verdict import approval_given, checked_approval
from seriatim.ports import Ledger, Progress, no_progress
from seriatim.storage.durable_files import refuse_private_list, write_private_list
from seriatim.tables.reader import read_table
from seriatim.tables.writer import in_kind_of_source
from seriatim.wiring import wired_rehearsal, wired_standing_ledger

if TYPE_CHECKING:
    from seriatim.report import Report, SigningFacts, SignOff
    from seriatim.usecases.publish.corrections import Corrections
    from seriatim.usecases.publish.plan import Plan
    from seriatim.usecases.publish.publish import ReleaseOrder, ReleaseParts


@dataclass(frozen=True, eq=False, repr=False)
class Published:
    """What ``publish`` returns: a release, or a refusal whose ``table`` is None."""

    release: Release | Refusal
    policy: Policy
    view: View
    signed: SigningFacts | None = None
    """What the page to sign says beside the report; None unless something was released."""
    papers: tuple[Path, ...] = ()
    """The publisher's own files beside the release: the page to sign, or the report of a refusal."""

    @cached_property
    def table(self) -> Any:
        """Return the published table as the kind of frame that came in; None if refused, drafted or a dry run.

        The first one, if every sensitive column has a table of its own: ``tables`` returns all of them.
        """
        if self.release.table is None or self.number is None:
            return None
        return in_kind_of_source(self.release.table, self.view.source, (*self.view.plain, *self._sensitive))

    @cached_property
    def tables(self) -> Mapping[str, Any]:
        """Return the published tables by sensitive column, where each has one of its own; else nothing."""
        if self.table is None:
            return {}
        kept = (*self.view.plain, *self._sensitive)
        own = self.release.draft.own_tables
        return {name: in_kind_of_source(draft.table, self.view.source, kept) for name, draft in own.items()}

    @cached_property
    def values(self) -> Any:
        """Return the values of each group, as ``table`` returns the people of it; None unless the form is buckets."""
        if self.table is None or not self.release.draft.buckets or not isinstance(self.release, Release):
            return None
        return in_kind_of_source(self.release.files[VALUES], self.view.source, self._sensitive)

    @cached_property
    def plain(self) -> Any:
        """Return the plain columns beside their boxes, where they may not be beside the group; else None."""
        first = next(iter(self.release.draft.tables.values()))
        if self.table is None or not isinstance(self.release, Release) or PLAIN not in first.files:
            return None
        return in_kind_of_source(first.files[PLAIN], self.view.source, self.view.plain)

    @cached_property
    def groups(self) -> Any:
        """Return who is in which group, for the publisher's eyes only."""
        return in_kind_of_source(self.release.draft.groups_by_source, self.view.source, self._sensitive)

    @property
    def verdict(self) -> Verdict:
        return self.release.verdict

    @property
    def manifest(self) -> Mapping[str, Any] | None:
        return self.release.manifest

    @property
    def codebook(self) -> Mapping[str, Any] | None:
        return self.release.codebook

    @property
    def number(self) -> int | None:
        return self.release.number

    @property
    def draft_digest(self) -> str | None:
        """Return what names the draft that waits for approval; None unless one was kept."""
        return self.release.draft_digest

    @property
    def report(self) -> Report:
        from seriatim.usecases.publish.release_files import report_of_draft

        return report_of_draft(self.policy, self.release.draft, self.verdict, self.number)

    @property
    def sign_off(self) -> SignOff | None:
        """Return the page to sign, with places for two signatures; None unless something was released."""
        from seriatim.report import SignOff

        return None if self.signed is None else SignOff(self.report, self.signed)

    @property
    def _sensitive(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.view.sensitive)

    def __repr__(self) -> str:
        word = "released" if self.verdict.released else "refused"
        return f"Published({self.policy.series!r}, release {self.number}, {word}, {self.release.draft!r})"

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


def publish(
    view: Any,
    policy: Policy,
    ledger: Ledger,
    *,
    out: str | Path | None = None,
    recipients: Iterable[str] = (),
    approval: Approval | None = None,
    dry_run: bool = False,
    draft: str | None = None,
    again: bool = False,
    corrections: Any = None,
    suggest: bool = False,
    empty: bool = False,
    private: str | Path | None = None,
    written: str | None = None,
    period: str = "",
    date: str = "",
    to: Iterable[str] = (),
    approved_by: str | None = None,
    override: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    progress: Progress = no_progress,
) -> Published:
    """Publish a table (a path, or pandas, polars, Arrow) under a policy; a refusal raises nothing.

    With ``out`` the release's files go to a folder of their own below it; without, they stay on the ledger's shelf.
    ``draft`` is its author's name: what would be released is kept, and leaves when somebody else approves it
    (``ledger.approve``).
    A view that a release was made from already is refused unless ``again``, and so is an older file after a newer one.
    ``corrections`` is a table of values that were published wrongly (respondent, column, old, new): anyone who is in it
    counts as a newcomer, and the change of their value is none.
    With ``suggest`` a refusal also tries changes of the policy and says which would pass, and at what cost. A view
    without records goes into a running series of a serial method only with ``empty``: it says that everyone has left.
    Beside a release in ``out`` lies a page to sign; a refusal leaves its report in ``out/refused`` and never a table.
    ``written`` is the format of the files, such as ``"sav"``: that of the view if omitted; where it is neither CSV nor
    Parquet the same tables lie beside it as CSV. ``period`` and ``date`` tell recipients what time the table is about,
    and when it is published.
    ``private`` is a file for a list of the people who are exposed, and why; only its owner may read it. ``to`` is the
    same as ``recipients``, ``approved_by`` with ``override`` the same as ``approval``, as on the command line.
    """
    from seriatim.usecases.publish import publish as publish_case

    progress("reading", 0.0)
    refuse_other_than_ledger(ledger)
    if private is not None:
        refuse_private_list(private)
    if approval is not None and not isinstance(approval, Approval):
        raise InputError(Fault("approval", f"a {type(approval).__name__}", "sr.Approval(by, override)", "make one"))
    approval = approval_given(approved_by, override) or (approval and checked_approval(approval))
    _check_draft(draft, dry_run, approval)
    whom = (*recipients_given(recipients), *recipients_given(to, "to"))
    ready = ready_under(view, policy, separator, encoding)
    destination = Path(out) if out is not None else None
    order = publish_case.ReleaseOrder(
        ready.view,
        ready.plan,
        destination=destination,
        head=ready.plan.policy.head,
        recipients=whom,
        approval=approval,
        author=draft,
        dry_run=dry_run,
        again=again,
        corrections=None if corrections is None else _corrections(corrections, policy),
        empty=empty,
        period=period and visible_text("period", period),
        date=date and visible_text("date", date),
        input_name=ready.source.name,
        input_sha256=ready.source.sha256,
    )
    parts = wiring.wired_publishing(ledger, ready.view.source, progress, written)
    try:
        made = _publishing(ready.plan)(order, parts)
    except TableError:
        if private is not None:  # where values changed no draft can be made: the list says whose
            from seriatim.usecases.attack.exposed import private_list_of_changes

            write_private_list(private_list_of_changes(ready.view, ready.plan.policy, ledger), private)
        raise
    if suggest and isinstance(made, Refusal) and not all(finding.kept for finding in made.verdict.findings):
        from seriatim.usecases.publish.suggestions import with_all_remedies

        made = with_all_remedies(made, replace(order, again=True), parts)
    if private is not None:
        from seriatim.usecases.attack.exposed import private_list_of_draft

        write_private_list(private_list_of_draft(made, ready.plan, ledger, ready.view), private)
    published = Published(made, ready.plan.policy, ready.view, _signed(made, policy.series, ledger))
    if destination is None or dry_run or published.draft_digest is not None:
        return published
    return _with_papers(published, destination, ledger)


def _publishing(plan: Plan) -> Callable[[ReleaseOrder, ReleaseParts], Release | Refusal]:
    if plan.chooses:
        from seriatim.usecases.publish.auto import publish_chosen  # brings compiled kernels

        return publish_chosen
    from seriatim.usecases.publish.publish import publish as publish_case

    return publish_case


def _check_draft(author: str | None, dry_run: bool, approval: Approval | None) -> None:
    """Raise an error for a draft that cannot be kept, before any work is done."""
    if author is None:
        return
    from seriatim.ledger.drafts import refuse_own_override

    visible_text("draft", author)
    if dry_run:
        raise InputError(Fault("draft", "a dry run keeps nothing", "a draft or a dry run", "leave one of them out"))
    refuse_own_override(author, approval)


def _signed(made: Release | Refusal, series: str, ledger: Ledger) -> SigningFacts | None:
    """Return what the page to sign says; it may hold the time, since it is made after the release."""
    if made.number is None or made.manifest is None:
        return None
    return signed_in_ledger(ledger, series, made.number)


def _with_papers(published: Published, out: Path, ledger: Ledger) -> Published:
    """Write the page to sign, or the report of a refusal. What has happened remains if no paper can be written."""
    from seriatim.ledger.destinations import write_page_to_sign, write_refusal

    series, page = published.policy.series, published.sign_off
    with suppress(OSError):
        if page is not None and published.number is not None:
            return replace(published, papers=(write_page_to_sign(out, series, published.number, page.to_html()),))
        number, report = len(ledger.records(series)) + 1, published.report
        return replace(published, papers=write_refusal(out, series, number, report.to_html(), report.to_json()))
    return published


def _corrections(source: Any, policy: Policy) -> Corrections:
    from seriatim.usecases.publish.corrections import corrected_cells

    return corrected_cells(read_table(source).data, policy)


def ledger_to_publish(
    url: str | Path, shelf: str | Path | None, ready: Prepared, out: Path | None = None, dry_run: bool = False
) -> Ledger:
    """Open the ledger to publish with, once. Make a new one last, for a release that may start a series."""
    found = wired_standing_ledger(url, shelf)
    if found is not None:
        return found
    empty = wired_rehearsal()
    empty.state(ready.plan.policy.series, out, ready.plan.policy.head)  # a ledger that is behind must not be made
    ready.begin()
    return empty if dry_run else open_ledger(url, shelf)
