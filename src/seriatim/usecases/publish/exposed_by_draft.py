"""The private list of a draft: who is breached and by which chain, and who is in a class that breaks a promise."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import Fault, PolicyError, TableError
from seriatim.model import Draft, History, Refusal, Release
from seriatim.model.candidate_values import CANDIDATES, candidates_remembered
from seriatim.model.class_counts import ClassCounts
from seriatim.model.published import CLASS, RESPONDENT, published_of
from seriatim.ports import Ledger, Promise
from seriatim.promises.single.worst_classes import worst_classes_all_named
from seriatim.usecases.attack.attack import AttackPlan
from seriatim.usecases.attack.exposed import exposed_people
from seriatim.usecases.publish.plan import Plan

SCHEMA = pa.schema(
    [
        ("respondent", pa.string()),
        ("promise", pa.string()),
        ("column", pa.string()),
        ("since", pa.int64()),
        ("chain", pa.string()),
    ]
)


def exposed_by_draft(made: Release | Refusal, plan: Plan, ledger: Ledger) -> pa.Table:
    """Return a row per person and cause, for the publisher's eyes only.

    ``breached`` people are found by all releases with the draft and nobody compromised; the others are in a class of
    the draft that breaks a promise, whose number counts by first record.
    """
    policy = plan.settled
    if policy.respondent is None:
        raise PolicyError(Fault("private", "needs a respondent column", "[series] respondent", "add it"))
    rows: list[dict[str, object]] = []
    for rule in policy.sensitive:
        history = ledger.history(policy.series, rule.name)
        if made.number is None:
            history = history.with_draft(made.draft.own_tables.get(rule.name, made.draft), rule.name)
        rows += _breached(history, AttackPlan(priors=policy.adversary.priors), rule.name)
    rows += _taken_as_known(made.draft, rows)
    for column, draft in made.draft.tables.items():
        promises = plan.promises if column is None else plan.own_tables[column].promises
        found = _in_broken_classes(draft, promises)
        rows += [{**row, "column": row["column"] or column} for row in found]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _breached(history: History, plan: AttackPlan, column: str) -> list[dict[str, object]]:
    try:
        found = exposed_people(history, plan)
    except TableError:
        return []  # several records of a person: only their classes can be told
    return [{**row, "promise": "breached", "column": column} for row in found.to_pylist()]


def _taken_as_known(draft: Draft, listed: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return the people whom releases before a take-over breach, and whom no chain of rules shows to be breached."""
    if CANDIDATES not in draft.memory:
        return []
    left, there = candidates_remembered(draft.memory[CANDIDATES]), {row["respondent"] for row in listed}
    chain = f"certain from the releases up to {left.until} together (found by a solver, so there is no chain)"
    return [
        {"respondent": who, "promise": "breached", "column": column, "since": left.until, "chain": chain}
        for column in draft.sensitive
        for who in left.known.to_pylist()
        if who not in there
    ]


def _in_broken_classes(draft: Draft, promises: Sequence[Promise]) -> list[dict[str, object]]:
    published = published_of(draft)
    if published.named is None:
        return []
    counts, found = ClassCounts.of(published), list[dict[str, object]]()
    for promise in promises:
        if promise.judges == "table":
            with worst_classes_all_named():
                finding = promise.check(counts)
            there = pc.is_in(published.named.column(CLASS), value_set=pa.array(finding.classes))
            broken = published.named.filter(there)
            found += [
                {"respondent": str(who), "promise": finding.rule, "column": finding.column, "chain": f"class {number}"}
                for who, number in zip(*(broken.column(name).to_pylist() for name in (RESPONDENT, CLASS)), strict=True)
            ]
    return found
