"""Audits a published table: what it reveals, about whom and in which column, whoever made it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from seriatim.engines.threads import ALL_CORES
from seriatim.errors import Fault, InputError, TableError
from seriatim.measures._leakage import figures_by_class
from seriatim.model import Chart, Finding, Measure, Policy
from seriatim.model.audited import AuditedTable, PriorKind, conditional_beside, margin_beside
from seriatim.model.class_counts import ClassCounts, ValueCounts
from seriatim.model.classes import Classes
from seriatim.model.doors import at_door, whole_argument
from seriatim.model.scale import FloatArray
from seriatim.ports import TablePromise, Workers
from seriatim.usecases.audit import (
    audit_charts,
    audit_figures,
    audit_numbers,
    audit_original,
    audit_page,
    audit_promises,
)


@dataclass(frozen=True, slots=True, eq=False)
class AdversaryQuestion:
    """What the adversary knows."""

    prior: PriorKind = "published"
    """``published`` is the margin of the table itself, ``uniform`` knows nothing.

    ``margin`` and ``conditional`` use the other table that the audited one was coded with: its margin, or its shares
    within each class.
    """
    sampled: float | None = None
    """The share of the population that is in the table, if it is a sample; None if unknown."""


def _as_arrow(table: pa.Table) -> Any:
    return table


@dataclass(frozen=True, slots=True, eq=False)
class ColumnBlock:
    """One sensitive column: its counts by class, the prior, and every figure of every class."""

    column: str
    counts: ValueCounts
    prior: FloatArray
    figures: Mapping[str, FloatArray]
    by_margin: bool
    """Whether the prior is the published margin, as the null hypothesis and its p-values assume."""


@at_door
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Audit:
    """What an audit found. Tables and charts are made on demand."""

    audited: AuditedTable
    policy: Policy
    membership: Classes
    counts: ClassCounts
    blocks: tuple[ColumnBlock, ...]
    prior: str
    promises: tuple[TablePromise, ...]
    findings: tuple[Finding, ...]
    question: AdversaryQuestion = AdversaryQuestion()
    dress: Callable[[pa.Table], Any] = _as_arrow
    """Turns an Arrow table into the kind of frame that came in."""
    workers: Workers = ALL_CORES

    def __repr__(self) -> str:
        broken = [f"{f.rule} of {f.column}" if f.column else f.rule for f in self.findings if not f.kept]
        verdict = f"broken: {', '.join(broken)}" if broken else "promises kept" if self.findings else "no promises"
        lines = [
            f"Audit of {self.audited.name!r}: {len(self.audited):,} records in {len(self.membership):,} classes; "
            f"prior: {self.prior}; {verdict}"
        ]
        for column, worst in self.summary.items():
            told = ", ".join(
                f"{name} {worst[name]:.4g}" for name in ("size", "distinct_l", "tv", "l_d", "l_e", "max_p")
            )
            lines.append(f"  {column}, worst class: {told}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self.report._repr_html_()

    @property
    def kept(self) -> bool:
        """Return whether every promise of the policy is kept; if not, the command exits with code 3."""
        return all(finding.kept for finding in self.findings)

    @cached_property
    def classes(self) -> Any:
        """Return a row per class and sensitive column, as the kind of frame that came in (Arrow for a file)."""
        return self.dress(self._classes)

    @cached_property
    def records(self) -> Any:
        """Return a row per record and sensitive column, with the figures of its class."""
        return self.dress(audit_figures.by_record(self._classes, self.membership, len(self.blocks)))

    @cached_property
    def _classes(self) -> pa.Table:
        return pa.concat_tables([audit_figures.by_class(block, self.membership) for block in self.blocks])

    @cached_property
    def summary(self) -> dict[str, dict[str, Any]]:
        """Return for each sensitive column the worst of each figure under the same name, n_classes and n_records."""
        return {block.column: audit_figures.worst_of_each(block, self.membership) for block in self.blocks}

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """Return figures about the table as a whole."""
        return audit_figures.all_measures(self)

    @cached_property
    def charts(self) -> dict[str, Chart]:
        return audit_charts.drawn(self.audited, self.blocks, self.membership)

    @cached_property
    def special_uniques(self) -> Any:
        """Return a row per record: how many minimal sets of columns single it out, the smallest, SUDA's score (log)."""
        found = audit_figures.special_uniques(self.audited)
        columns = {"row": np.arange(len(self.audited)), "n_sets": found.n_sets, "smallest": found.smallest}
        return self.dress(pa.table({**columns, "log_score": found.log_score}))

    def worst_sets(self, column: str, up_to: int = 3) -> Any:
        """Return for each record the smallest set of known columns that reveals most about it: row, given, l_d."""
        if column not in self.summary:
            raise InputError(Fault(f"column {column!r}", "not a sensitive column", ", ".join(self.summary)))
        whole_argument("up_to", up_to)
        return self.dress(audit_figures.worst_sets(self.audited, column, up_to))

    def equivocation(self, column: str, near: str | None = None) -> Any:
        """Return a row per record: how near an attacker comes to its number, in its class ("±5%" or "±15" days)."""
        if column not in self.summary:
            raise InputError(Fault(f"column {column!r}", "not a sensitive column", ", ".join(self.summary)))
        return self.dress(audit_numbers.by_record(self, column, near))

    def equivocation_known(self, column: str, near: str | None = None) -> Any:
        """Return a row per number of columns known, from none to all: how near an attacker comes, and the worst set."""
        if column not in self.summary:
            raise InputError(Fault(f"column {column!r}", "not a sensitive column", ", ".join(self.summary)))
        return self.dress(audit_numbers.by_columns_known(self, column, near))

    @property
    def readings(self) -> dict[str, dict[str, str]]:
        """Return the distance behind each figure of closeness."""
        return {
            c.name: audit_promises.distances_read(self.policy.columns[c.name], c.scale) for c in self.audited.sensitive
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a data protection officer should know beside the figures."""
        return (
            *self.audited.reading,
            *audit_promises.not_judged(self.policy, self.promises),
            *audit_promises.respondent_noted(self.audited, self.policy),
            *audit_promises.groups_noted(self.audited),
            *audit_numbers.notes(self),
            *audit_original.remarks(self.audited),
        )

    @property
    def report(self) -> audit_page.TableReport:
        return audit_page.TableReport(self)


def audit(
    audited: AuditedTable,
    policy: Policy,
    question: AdversaryQuestion | None = None,
    dress: Callable[[pa.Table], Any] = _as_arrow,
    workers: Workers = ALL_CORES,
) -> Audit:
    """Audit a published table."""
    asked = question or AdversaryQuestion()
    prior = asked.prior
    if asked.sampled is not None and not 0.0 < asked.sampled <= 1.0:
        raise InputError(Fault("sampled", f"a share of {asked.sampled:g}", "above 0 and up to 1"))
    published = audited.published()
    membership = published.classes
    _must_compare(audited, membership, prior)
    counts = ClassCounts.of(published)
    blocks = tuple(_block(audited, policy, index, membership, counts, prior) for index in range(len(audited.sensitive)))
    promises = audit_promises.about_one_table(policy)
    return Audit(
        audited=audited,
        policy=policy,
        membership=membership,
        counts=counts,
        blocks=blocks,
        prior=_prior_name(audited, prior),
        promises=promises,
        findings=tuple(promise.check(counts) for promise in promises),
        question=asked,
        dress=dress,
        workers=workers,
    )


def _block(
    audited: AuditedTable, policy: Policy, index: int, membership: Classes, counts: ClassCounts, prior: PriorKind
) -> ColumnBlock:
    name = audited.sensitive[index].name
    depth, seen = _depth(policy, name), counts.values[name]
    before = _prior(audited, index, membership, seen, prior)
    if before.ndim == 1:
        figures = figures_by_class(seen, None if prior == "published" else before, depth)
    else:
        rows = [figures_by_class(seen.only(c), before[c], depth) for c in range(len(seen))]
        figures = {figure: np.concatenate([row[figure] for row in rows]) for figure in rows[0]}
    return ColumnBlock(name, seen, before, figures, prior == "published")


def _depth(policy: Policy, column: str) -> int:
    """Return the l of recursive (c, l) in the policy, else 2."""
    asked = policy.terms.per_column.get(column)
    return max(math.ceil(asked.l), 2) if asked and asked.l_kind == "recursive" and asked.l is not None else 2


def _prior(audited: AuditedTable, index: int, membership: Classes, seen: ValueCounts, prior: PriorKind) -> FloatArray:
    name = audited.sensitive[index].name
    if prior == "published":
        return seen.margin
    if prior == "uniform":
        return np.full(seen.n_values, 1.0 / seen.n_values)
    assert audited.beside is not None
    where = f"{audited.beside.name}, column {name!r}"
    if prior == "margin":
        shares = margin_beside(audited.beside, index, seen.n_values)
        unknown = int(((shares <= 0) & (seen.totals > 0)).sum())
        if unknown:
            raise TableError(_misses(where, f"the prior misses {unknown} published values"))
        return shares
    shares = conditional_beside(audited, index, membership)
    empty = int(np.isnan(shares[:, 0]).sum())
    if empty:
        raise TableError(_misses(where, f"the prior has no record in {empty} of {len(membership)} classes"))
    unknown = int((shares[seen.owner, seen.value] <= 0).sum())
    if unknown:
        raise TableError(_misses(where, f"the prior misses {unknown} values in classes that publish them"))
    return shares


def _misses(where: str, found: str) -> Fault:
    return Fault(
        where, found, "a positive share for every published value", "use a larger table, or the published margin"
    )


def _must_compare(audited: AuditedTable, membership: Classes, prior: PriorKind) -> None:
    faults = []
    if prior in ("margin", "conditional") and audited.beside is None:
        faults.append(Fault("prior", f"{prior}, but no table to take it from", "a table", "add the original table"))
    if prior == "conditional" and audited.beside is not None and not audited.beside.given:
        found = "the table of the prior lacks quasi-identifiers"
        faults.append(Fault(audited.beside.name, found, "the same columns as published", "generalise it likewise"))
    if len(membership) < 2 and prior == "published":
        faults.append(
            Fault(audited.name, "one class: all records have the same quasi values, so there is nothing to compare",
                  "at least two classes", "audit against prior uniform, or one from another table")
        )  # fmt: skip
    for index, column in enumerate(audited.sensitive):
        beside = audited.beside.sensitive[index] if audited.beside else column.codes[:0]
        codes = np.concatenate((column.codes, beside))
        n_used = int((np.bincount(codes[codes >= 0], minlength=1) > 0).sum())
        if n_used < 2:
            found = "one value throughout" if n_used else "no value at all"
            faults.append(
                Fault(f"{audited.name}, column {column.name!r}", f"{found}, so there is nothing to learn",
                      "at least two values", 'change its role to "plain" or "drop"')
            )  # fmt: skip
    if faults:
        raise TableError(faults)


def _prior_name(audited: AuditedTable, prior: PriorKind) -> str:
    beside = audited.beside.name if audited.beside else ""
    return {
        "published": "published margin",
        "uniform": "uniform",
        "margin": f"margin of {beside}",
        "conditional": f"{beside} within each class",
    }[prior]
