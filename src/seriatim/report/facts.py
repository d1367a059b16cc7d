"""What a report knows about a release besides its verdict: counts and names, never a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from seriatim.model.policy import Policy

RESPONDENT = "respondent"


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """One column: what it is and how it is published."""

    name: str
    role: str
    kind: str = ""
    hierarchy: str = ""
    """The file or the rule by which it becomes coarser."""
    form: str = ""
    """How generalised values look: interval, set or node."""
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The counts of one draft and its place in the series."""

    series: str
    number: int | None
    """None for a rehearsal or a refusal: no number was taken."""
    epoch: int
    policy_digest: str
    n_records: int
    n_published: int
    n_suppressed: int
    n_groups: int
    columns: tuple[ColumnFacts, ...] = ()
    seed: int | None = None
    """Of the query workload and the attacks, so that anyone can repeat them."""

    @property
    def suppressed_share(self) -> float:
        return self.n_suppressed / self.n_records if self.n_records else 0.0


def columns_of(policy: Policy, forms: Mapping[str, str] | None = None) -> tuple[ColumnFacts, ...]:
    """The columns of a policy, with the form each generalised one is published in."""
    known = forms or {}
    columns = [
        ColumnFacts(
            name=rule.name,
            role=rule.role.value,
            kind=rule.kind.value if rule.kind else "",
            hierarchy=rule.hierarchy.source if rule.hierarchy else "",
            form=known.get(rule.name, ""),
            unit=rule.unit or "",
        )
        for rule in policy.columns.values()
    ]
    if policy.respondent and policy.respondent not in policy.columns:
        columns.insert(0, ColumnFacts(policy.respondent, RESPONDENT))
    return tuple(columns)
