"""The private lists of who is exposed: by an attack on releases, and by a draft. For the publisher's eyes only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.attacks import Step, prepare
from seriatim.errors import Fault, PolicyError, TableError
from seriatim.model import Draft, History, Policy, Refusal, Release, View
from seriatim.model.candidate_values import CANDIDATES, candidates_remembered
from seriatim.model.class_counts import ClassCounts
from seriatim.model.classes import CLASS, RESPONDENT, published_of
from seriatim.ports import Ledger, Promise
from seriatim.promises.single.class_bound import worst_classes_all_named
from seriatim.usecases.attack.attack import AdversaryPlan, KnownAlgorithm, ground_with_cuts
from seriatim.usecases.publish.later_views import texts_of
from seriatim.usecases.publish.plan import Plan

_STEPS = 12
"""A long chain is cut to its latest steps: they are the ones to break."""


def private_list(history: History, plan: AdversaryPlan, algorithm: KnownAlgorithm | None = None) -> pa.Table:
    """Return a row per person breached with nobody compromised: respondent, since, chain.

    ``since`` is the release after which the value is certain; ``chain`` names releases, groups and rules, no values.
    People follow whom only someone who knows the algorithm breaches, in any draw of compromised people.
    """
    ground = prepare(history, plan.priors.of_history(history) if plan.priors else None)
    found = ground.compromise(ground.traces.episodes_of([]))
    people = list(found.breached)
    chains = [found.chain(who, _STEPS) for who in people]
    further: Counter[object] = Counter()
    if algorithm is not None:
        knowing = ground_with_cuts(ground, algorithm)
        for seed in plan.seeds:
            further.update(knowing.compromise(knowing.draw(plan.compromised, seed), keep_log=False).breached.keys())
        further = Counter({who: n for who, n in further.items() if who not in found.breached})
    by_cuts = [f"the method's cuts: in {n} of {len(plan.seeds)} draws of compromised people" for n in further.values()]
    told = ["; ".join(dict.fromkeys(map(_told, chain))) for chain in chains]
    return pa.table(
        {
            "respondent": pa.array([str(who) for who in (*people, *further)], pa.string()),
            "since": pa.array([*map(_since, chains), *(None for _ in further)], pa.int64()),
            "chain": pa.array([*told, *by_cuts], pa.string()),
        }
    )


def _since(chain: list[Step]) -> int | None:
    return max((release for step in chain for release, _ in step.groups), default=None)


def _told(step: Step) -> str:
    groups = ", ".join(f"release {release} group {group}" for release, group in step.groups)
    return f"{step.rule}: {groups}" if groups else step.rule


SCHEMA = pa.schema(
    [
        ("respondent", pa.string()),
        ("promise", pa.string()),
        ("column", pa.string()),
        ("since", pa.int64()),
        ("chain", pa.string()),
    ]
)


def private_list_of_draft(made: Release | Refusal, plan: Plan, ledger: Ledger, view: View) -> pa.Table:
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
        before = history if made.number is None else replace(history, releases=history.releases[:-1])
        rows += _changed(view, rule.name, before)
        if made.number is None:
            history = history.with_draft(made.draft.own_tables.get(rule.name, made.draft), rule.name)
        rows += _breached(history, AdversaryPlan(priors=policy.adversary.priors), rule.name)
    rows += _taken_as_known(made.draft, rows)
    for column, draft in made.draft.tables.items():
        promises = plan.promises if column is None else plan.own_tables[column].promises
        found = _in_broken_classes(draft, promises)
        rows += [{**row, "column": row["column"] or column} for row in found]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def private_list_of_changes(view: View, policy: Policy, ledger: Ledger) -> pa.Table:
    """Return who holds another value than when they were last published, for a draft that could not be made."""
    rows = [
        row for rule in policy.sensitive for row in _changed(view, rule.name, ledger.history(policy.series, rule.name))
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _changed(view: View, column: str, history: History) -> list[dict[str, object]]:
    """Return a row for each person whose value is another one now; the release that published the old one is named."""
    if view.respondent is None:
        return []
    last, number = (np.full(len(history.respondents), -1, dtype=np.int64) for _ in range(2))
    for past in history:
        real = past.person >= 0
        last[past.person[real]], number[past.person[real]] = past.value[real], past.number
    who, values = texts_of(view, view.respondent), texts_of(view, column)
    place = pc.index_in(who, value_set=pc.cast(history.respondents, pa.string()), skip_nulls=True)
    now = pc.index_in(values, value_set=pc.cast(history.values, pa.string())).fill_null(len(history.values))
    before = np.where(place.is_valid(), last[place.fill_null(0).to_numpy()], -1) if len(last) else np.full(len(who), -1)
    rows = np.flatnonzero((before >= 0) & (before != now.to_numpy()))
    chain = "another value than when last published: --corrections FILE if that one was wrong"
    return [
        {
            "respondent": who[int(row)].as_py(),
            "promise": "changed",
            "column": column,
            "since": int(number[place[int(row)].as_py()]),
            "chain": chain,
        }
        for row in rows
    ]


def _breached(history: History, plan: AdversaryPlan, column: str) -> list[dict[str, object]]:
    try:
        found = private_list(history, plan)
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
