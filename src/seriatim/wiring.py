"""The only file that picks concrete adapters: the public functions of the package stand here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seriatim.engines.local import LocalEngine
from seriatim.ledger import open_ledger
from seriatim.ledger.rehearsing import NoLedger
from seriatim.model import Approval, Policy, Release, Verdict
from seriatim.policies import guess_policy, load_policy, policy_from_dict, sketch_columns
from seriatim.ports import Ledger, Progress, no_progress
from seriatim.report import Report
from seriatim.tables.auditable import auditable, read_auditable
from seriatim.tables.histories import history_of
from seriatim.tables.reading import read_table
from seriatim.tables.viewing import view_of
from seriatim.tables.writing import like_source, writer_for
from seriatim.usecases import auditing, publishing
from seriatim.usecases.auditing import Audit, PriorKind


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """What ``publish`` returns: a release, or a refusal whose ``table`` is None."""

    release: Release
    policy: Policy
    table: Any
    """The published table as the kind of frame that came in; None when refused."""
    groups: Any
    """Publisher's eyes only: who is in which group."""

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
    def report(self) -> Report:
        return publishing.report_of(self.policy, self.release.draft, self.verdict, self.number)

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
    progress: Progress = no_progress,
) -> Published:
    """Publish a table (a path, or pandas, polars, Arrow) under a policy; refused drafts raise nothing.

    With ``out`` the release's files go to a folder of their own below it; without, they stay on the ledger's shelf.
    """
    progress("reading", 0.0)
    table = read_table(view)
    order = publishing.Order(
        view_of(table, policy), policy, Path(out) if out is not None else None, tuple(recipients), approval, dry_run
    )
    parts = publishing.Parts(ledger, LocalEngine(), writer_for(table), progress)
    made = publishing.publish(order, parts)
    kept = (*order.view.plain, *(column.name for column in order.view.sensitive))
    return Published(
        made,
        policy,
        None if made.table is None else like_source(made.table, table, kept),
        like_source(made.groups, table, ()),
    )


def audit(table: Any, policy: Policy, *, prior: PriorKind = "published", beside: Any = None) -> Audit:
    """What a published table gives away, made by us or by any other tool; the policy only has to say roles.

    ``prior`` names what the adversary believed before; ``margin`` and ``conditional`` are those of ``beside``.
    """
    other = None if beside is None else read_auditable(beside)
    return auditing.audit(auditable(read_auditable(table), policy, other), policy, prior)


def rehearsal(url: str | Path, shelf: str | Path | None = None) -> Ledger:
    """The ledger a dry run is judged against; one that does not exist yet is not made."""
    path = Path(str(url).removeprefix("sqlite:///")).expanduser()
    there = str(url).startswith("postgres") or path.exists()
    return open_ledger(url, shelf, create=False) if there else NoLedger()


class PolicyFiles:
    """How policies come in; ``seriatim.Policy`` is this face of them."""

    load = staticmethod(load_policy)
    from_dict = staticmethod(policy_from_dict)


class Histories:
    """How histories come in; ``seriatim.History`` is this face of them."""

    from_frame = staticmethod(history_of)


class Ledgers:
    """How ledgers are opened; ``seriatim.Ledger`` is this face of them."""

    open = staticmethod(open_ledger)


__all__ = [
    "Histories",
    "Ledgers",
    "PolicyFiles",
    "Published",
    "audit",
    "guess_policy",
    "load_policy",
    "open_ledger",
    "policy_from_dict",
    "publish",
    "read_table",
    "rehearsal",
    "sketch_columns",
    "view_of",
]
