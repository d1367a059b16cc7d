"""What a report knows about a release beside its verdict: counts and names, never a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

from seriatim.model.policy import Policy

RESPONDENT = "respondent"


@dataclass(frozen=True, slots=True)
class ReportedColumn:
    """One column: what it is and how it is published."""

    name: str
    role: str
    _: KW_ONLY
    kind: str = ""
    hierarchy: str = ""
    """Where its hierarchy comes from: a file or a builder."""
    form: str = ""
    """How generalised values look: interval, set or node."""
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCounts:
    """The counts of one table."""

    n_records: int
    n_published: int
    n_suppressed: int
    n_groups: int
    n_counterfeits: int = 0
    """Rows of the table that belong to nobody."""

    @property
    def suppressed_share(self) -> float:
        return self.n_suppressed / self.n_records if self.n_records else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts(TableCounts):
    """The counts of a draft, and its number in the series."""

    series: str
    number: int | None
    """None for a dry run or a refusal, which take no number."""
    epoch: int
    policy_digest: str
    tables: tuple[tuple[str, TableCounts], ...] = ()
    """The counts by sensitive column, where each has a table of its own; the others are then of the first."""
    columns: tuple[ReportedColumn, ...] = ()
    seed: int | None = None
    """The seed of the queries and attacks, so that anyone can repeat them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningFacts:
    """What the page to sign has beside the report's own figures."""

    date: str
    version: str
    """The version of this software."""
    input_name: str
    input_sha256: str
    """Empty for a table that was never a file."""
    chain: str
    """The head of the ledger's chain, which the manifest carries."""
    recipients: tuple[str, ...] = ()


def reported_columns(policy: Policy, forms: Mapping[str, str] | None = None) -> tuple[ReportedColumn, ...]:
    """Return the columns of a policy, with the form in which each generalised one is published."""
    noise = policy.defence.noise if policy.defence is not None else {}
    known = {**(forms or {}), **{name: f"with noise, at most {amount} either way" for name, amount in noise.items()}}
    columns = [
        ReportedColumn(
            name=column.name,
            role=column.role.value,
            kind=column.kind.value if column.kind else "",
            hierarchy=column.hierarchy.source if column.hierarchy else "",
            form=known.get(column.name, ""),
            unit=column.unit or "",
        )
        for column in policy.columns.values()
    ]
    if policy.respondent and policy.respondent not in policy.columns:
        columns.insert(0, ReportedColumn(policy.respondent, RESPONDENT))
    return tuple(columns)
