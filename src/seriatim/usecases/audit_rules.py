"""The thresholds of a policy, judged on a published table: which fail, in which classes, for how many people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.model import Coded, Draft, Finding, Grouping, Policy
from seriatim.model.audited import Audited
from seriatim.model.history import no_history
from seriatim.model.tabulation import Membership
from seriatim.ports import Promise
from seriatim.promises import promises_of
from seriatim.promises.counting import NAMED, withholding

if TYPE_CHECKING:
    from seriatim.usecases.auditing import Block


def findings_of(
    audited: Audited, policy: Policy, membership: Membership, blocks: Sequence[Block]
) -> tuple[Finding, ...]:
    """One finding per threshold that the policy names; none when it only says roles."""
    if policy.terms.k is None and not policy.terms.per_column:
        return ()
    alone = replace(policy, terms=replace(policy.terms, further={}))
    whole = _as_draft(audited, audited.table, {})
    drafts = {column.name: _said(audited, column) for column in audited.sensitive}
    figures = {block.column: block for block in blocks}
    found = []
    for promise in promises_of(alone):
        column = getattr(promise, "column", None)
        finding = promise.check(drafts.get(column, whole) if column else whole, no_history())
        found.append(_with_classes(finding, promise, membership, figures.get(column) if column else None))
    return tuple(found)


def not_judged(policy: Policy) -> tuple[str, ...]:
    """Laws about a series, which one table can neither keep nor break."""
    return tuple(f"{name}: a law about a series, not judged on a single table" for name in sorted(policy.terms.further))


def carried(audited: Audited, policy: Policy) -> tuple[str, ...]:
    """A respondent column in a table that is to leave the house."""
    if policy.respondent is None or policy.respondent not in audited.table.column_names:
        return ()
    return (f"the column {policy.respondent} says whom a record is about: with it every record is found",)


def _with_classes(finding: Finding, promise: Promise, membership: Membership, block: Block | None) -> Finding:
    """Name the classes that break a law which only counts them, and say what withholding them would cost."""
    if finding.kept or finding.classes:
        return finding
    broken = _broken(finding, promise, membership, block)
    if broken is None or int(broken.sum()) != finding.n_classes:
        return finding
    numbers = tuple(int(c) for c in np.flatnonzero(broken)[:NAMED])
    withheld = withholding(finding.n_classes, finding.n_people)
    # leaving out whole classes mends k and l, but moves the margin that t is measured against
    mended = finding.rule in ("k", "l") and finding.n_classes < len(membership)
    ways = [finding.remedy, withheld] if mended else [finding.remedy]
    return replace(finding, classes=numbers, remedy="; ".join(way for way in ways if way))


def _broken(
    finding: Finding, promise: Promise, membership: Membership, block: Block | None
) -> npt.NDArray[np.bool_] | None:
    if finding.rule == "k":
        return np.asarray(membership.sizes < finding.threshold)
    if block is None:
        return None
    figures, tie = block.figures, 1e-9
    name = type(promise).__name__
    if name == "DistinctValues":
        return figures["distinct_l"] < finding.threshold
    if name == "EntropyOfValues":
        return np.asarray(np.log(figures["entropy_l"]) < np.log(finding.threshold) - tie)
    if name == "RecursiveValues":
        return figures["recursive_c"] >= getattr(promise, "c", np.inf)
    if name == "Closeness":
        distance = {"equal": "tv", "ordered": "emd"}.get(getattr(promise, "distance", ""))
        return figures[distance] > finding.threshold + tie if distance and block.by_margin else None
    return None


def _as_draft(audited: Audited, table: pa.Table, sensitive: Mapping[str, Coded]) -> Draft:
    """A published table in the form that promises judge; nothing but the table is known of it."""
    nobody = Grouping(np.zeros(table.num_rows, dtype=np.int32), 1)
    return Draft(table, tuple(c.name for c in audited.given), sensitive, nobody, (), pa.table({}))


def _said(audited: Audited, column: Coded) -> Draft:
    """The records whose value is published: the others say nothing about this column."""
    said = column.codes >= 0
    if said.all():
        return _as_draft(audited, audited.table, {column.name: column})
    shown = Coded(column.name, column.codes[said], column.scale)
    return _as_draft(audited, audited.table.filter(pa.array(said)), {column.name: shown})
