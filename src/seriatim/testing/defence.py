"""A defence at work on a series of tables: one draft per table, each remembered by a ledger as if it were released."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from seriatim.errors import Fault, InputError
from seriatim.model import Draft, Policy, SeriesState, Table, View
from seriatim.ports import Defence, Workers
from seriatim.tables.reader import read_table
from seriatim.tables.views import view_of
from seriatim.testing.clauses import check_contract
from seriatim.testing.ledger import SECRET, Wish, publish_wish
from seriatim.usecases.publish.plan import settled_policy
from seriatim.wiring import wired_ledger

T = TypeVar("T")
R = TypeVar("R")


def check_defence(defence: Defence, tables: Sequence[Any], policy: Policy) -> None:
    """Raise ``ContractBroken`` with a line for each clause of ``ports.Defence`` that the defence breaks.

    ``tables`` are views of one series, one after another, as ``sr.publish`` takes them: two or more for a method that
    looks back. A few hundred rows are enough; a plain column that differs in every row finds most.
    """
    from seriatim.testing.defence_contract import DEFENCE_CONTRACT

    trial = Trial.of(defence, tables, policy)
    check_contract(DEFENCE_CONTRACT, lambda: trial)


@dataclass(frozen=True, slots=True)
class OneByOne:
    """``ports.Workers`` without threads, which says how many it is."""

    count: int = 1

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> list[R]:
        return [work(item) for item in items]


@dataclass(frozen=True, slots=True, eq=False)
class TrialStep:
    """One release: what the defence was handed, and what it made of it."""

    view: View
    state: SeriesState
    draft: Draft


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A defence, a settled policy, and its drafts of a series."""

    defence: Defence
    policy: Policy
    steps: tuple[TrialStep, ...]

    @classmethod
    def of(cls, defence: Defence, tables: Sequence[Any], policy: Policy) -> Trial:
        """Run a defence over a series; each draft counts as released before the next table comes."""
        if not tables:
            raise InputError(Fault("check_defence", "no table", "at least one", "hand in a table"))
        ready, steps = settled_policy(policy), []
        with tempfile.TemporaryDirectory(prefix="seriatim-contract-") as folder:
            ledger = wired_ledger(Path(folder) / "ledger.db")
            for table in tables:
                view, state = view_of(read_table(table), ready), ledger.state(policy.series)
                if policy.respondent is not None and policy.sensitive:
                    recalled, memory = ledger.history(policy.series), ledger.memory(policy.series)
                    state = replace(state, history=recalled, memory=memory)
                state = replace(state, secret=SECRET)
                draft = defence(view, ready, state, OneByOne())
                steps.append(TrialStep(view, state, draft))
                publish_wish(ledger, Wish(policy=policy, groups=draft.groups, memory=draft.memory))
        return cls(defence, ready, tuple(steps))

    def again(self, step: TrialStep, secret: bytes = SECRET, workers: Workers | None = None) -> Draft:
        """Draft a step once more, with another secret or other workers."""
        return self.defence(step.view, self.policy, replace(step.state, secret=secret), workers or OneByOne())

    def with_values(self, other: Mapping[Any, Any]) -> Trial:
        """Run the same series with other values of some respondents, in the first sensitive column."""
        column, respondent = self.policy.sensitive[0].name, self.policy.respondent
        tables = []
        for step in self.steps:
            data = step.view.source.data
            at, who = data.column_names.index(column), data.column(respondent).to_pylist()
            cells = [other.get(one, cell) for one, cell in zip(who, data.column(column).to_pylist(), strict=True)]
            tables.append(data.set_column(at, column, pa.array(cells, data.schema.field(column).type)))
        return type(self).of(self.defence, tables, self.policy)

    def with_rows(self, step: TrialStep, rows: Sequence[int]) -> Draft:
        """Draft a step from some rows of its table only, or from all of them in another order."""
        source = step.view.source
        table = Table(source.data.take(pa.array(rows, pa.int64())), name=source.name)
        return self.defence(view_of(table, self.policy), self.policy, step.state, OneByOne())
