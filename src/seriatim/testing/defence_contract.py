"""What everyone relies on in ``ports.Defence``: nobody is lost, nothing undeclared leaves, chance is the secret's."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import Fault, InputError, SeriatimError
from seriatim.model import Draft, Policy, SeriesState, Table, View
from seriatim.model.draft import PLAIN
from seriatim.ports import Defence, Workers
from seriatim.tables.reader import read_table
from seriatim.tables.views import view_of
from seriatim.testing.clauses import ContractBroken, check_contract, require_clause
from seriatim.testing.ledger import SECRET, Wish, publish_wish
from seriatim.usecases.publish.plan import settled_policy
from seriatim.wiring import wired_ledger

GROUP = "group"
_OTHER_SECRET = bytes(reversed(range(32)))
_EXCHANGES = 4
_DISTINCT = 20
"""This many different rows do not fall into the same order twice."""


def _every_record_is_accounted_for(trial: Trial) -> None:
    """release.groups holds every record of the view once, and beside them counterfeits only."""
    for step in trial.steps:
        real = step.draft.groups.filter(pc.invert(step.draft.groups["counterfeit"]))
        require_clause(real.num_rows == len(step.view), f"{real.num_rows} rows for {len(step.view)} records")
        if step.view.respondent is not None:
            expected = _texts(step.view.data[step.view.respondent])
            require_clause(_texts(real["respondent"]) == expected, "other people than those of the view")
        counterfeits = step.draft.groups.filter(step.draft.groups["counterfeit"])
        require_clause(
            counterfeits["respondent"].null_count == counterfeits.num_rows, "a counterfeit with a respondent"
        )


def _a_record_is_in_a_group_or_suppressed(trial: Trial) -> None:
    """A record has a group exactly when it is not suppressed, and the grouping says the same, record by record."""
    for step in trial.steps:
        groups, grouping = step.draft.groups, step.draft.grouping
        require_clause(groups["suppressed"].null_count == 0, "neither suppressed nor not")
        require_clause(pc.is_null(groups[GROUP]).equals(groups["suppressed"]), "a group that is there or missing")
        require_clause(len(grouping.group) == len(step.view), f"a grouping of {len(grouping.group)} records")
        suppressed = int(pc.sum(groups["suppressed"]).as_py() or 0)
        require_clause(grouping.n_suppressed == suppressed, f"{grouping.n_suppressed} and {suppressed} suppressed")
        used = np.unique(grouping.group[grouping.group >= 0])
        require_clause(used.tolist() == list(range(grouping.n_groups)), "groups that are not numbered 0, 1, 2 ...")


def _what_the_policy_suppresses_stays_out(trial: Trial) -> None:
    """A record that the view withholds (a missing or unseen value) is in no group."""
    for step in trial.steps:
        require_clause(
            bool((step.draft.grouping.group[step.view.suppressed] < 0).all()), "a withheld record in a group"
        )


def _suppressed_records_are_absent(trial: Trial) -> None:
    """The table has a row for every record and counterfeit that is not suppressed, with their values and no others."""
    for step in trial.steps:
        shown = step.draft.groups.filter(pc.invert(step.draft.groups["suppressed"]))
        rows = step.draft.table.num_rows
        require_clause(rows == shown.num_rows, f"{rows} rows for {shown.num_rows} published records")
        for name in step.draft.sensitive:
            require_clause(_texts(step.draft.table[name]) == _texts(shown[name]), f"other values in column {name!r}")


def _only_declared_columns_leave(trial: Trial) -> None:
    """The table has the quasi, sensitive and plain columns of the policy, and ``group`` if the draft is serial.

    Plain columns may stand in a file of their own, ``plain``; then no file has them beside ``group``.
    """
    for step in trial.steps:
        expected = [*step.view.published_names()]
        found = step.draft.table.column_names
        require_clause(step.view.respondent not in found, "the respondent's column")
        inside = [name for name in expected if name not in _apart(step)]
        wanted = [GROUP, *inside] if step.draft.serial else inside
        require_clause(sorted(found) == sorted(wanted), f"{len(found)} columns, not those of the policy")
        for name, file in step.draft.files.items():
            strange = set(file.column_names) - set(expected) - {GROUP, name}
            require_clause(not strange, f"{len(strange)} undeclared columns in the file {name!r}")
            beside = GROUP in file.column_names and set(file.column_names) & _apart(step)
            require_clause(not beside, f"plain columns beside groups in the file {name!r}")


def _apart(step: TrialStep) -> set[str]:
    """Return the plain columns that stand in a file of their own."""
    return set(step.view.plain) if PLAIN in step.draft.files else set()


def _respondents_are_not_published(trial: Trial) -> None:
    """No cell of any file is a respondent's id, unless a published column held that text before."""
    for step in trial.steps:
        if step.view.respondent is None:
            continue
        data = step.view.data
        before = set().union(*(_texts(data[name]) for name in step.view.published_names()))
        ids = {one for one in _texts(data[step.view.respondent]) if one is not None and not one.isdigit()} - before
        for name, file in step.draft.files.items():
            shown = set().union(*(_texts(column) for column in file.columns))
            require_clause(not ids & shown, f"{len(ids & shown)} ids in the file {name!r}")


def _kept_columns_keep_their_type(trial: Trial) -> None:
    """Plain and sensitive columns keep their type; a generalised column is text."""
    for step in trial.steps:
        data, table = step.view.data, step.draft.table
        aside = step.draft.files.get(PLAIN, table)
        for name in (*step.view.plain, *step.draft.sensitive):
            shown = (aside if name in step.view.plain else table)[name]
            require_clause(_kind(shown) == _kind(data[name]), f"another type in column {name!r}")
        for name in step.draft.quasi:
            require_clause(_kind(table[name]) in (pa.string(), pa.large_string()), f"column {name!r} is not text")


def _a_group_shows_one_label(trial: Trial) -> None:
    """Every group has one label for each quasi column, and the table shows no other label."""
    for step in trial.steps:
        for column in step.draft.generalised:
            require_clause(
                len(column.label_of_group) == step.draft.grouping.n_groups, f"labels of {column.name!r} per group"
            )
            last = int(column.label_of_group.max(initial=-1))
            require_clause(last < len(column.labels), f"a group without a label in {column.name!r}")
            unknown = set(_texts(step.draft.table[column.name])) - set(column.labels)
            require_clause(not unknown, f"{len(unknown)} labels of {column.name!r} that no group has")


def _equal_secrets_make_equal_drafts(trial: Trial) -> None:
    """The same view, policy, state and secret make the same files and the same groups."""
    for step in trial.steps:
        _require_same(step.draft, trial.again(step), "a second draft differs")


def _the_number_of_workers_changes_nothing(trial: Trial) -> None:
    """The draft is the same whatever the number of workers."""
    for step in trial.steps:
        _require_same(step.draft, trial.again(step, workers=OneByOne(3)), "a draft by three workers differs")


def _row_order_comes_from_the_secret(trial: Trial) -> None:
    """With another secret the rows stand in another order: the order of the view is not published."""
    for step in trial.steps:
        rows = step.draft.table.to_pylist()
        if len({tuple(row.items()) for row in rows}) >= _DISTINCT:
            other = trial.again(step, secret=_OTHER_SECRET).table.to_pylist()
            require_clause(rows != other, "the same rows in the same order")


def _the_order_of_the_view_changes_no_count(trial: Trial) -> None:
    """Rows that come in another order leave as many records of each value, and as many are suppressed."""
    for step in trial.steps:
        turned = trial.with_rows(step, range(len(step.view) - 1, -1, -1))
        require_clause(_counts(turned) == _counts(step.draft), "other counts for the view turned round")


def _the_input_stays_as_it_was(trial: Trial) -> None:
    """The defence changes neither the view nor the state it is handed."""
    for step in trial.steps:
        before = _contents(step)
        trial.again(step)
        require_clause(_contents(step) == before, "a changed view or state")


def _a_small_view_is_no_accident(trial: Trial) -> None:
    """An empty view and a view of one record end in a draft or in bad input, not in another error."""
    step = trial.steps[0]
    for n in (0, 1):
        try:
            draft = trial.with_rows(step, range(min(n, len(step.view))))
        except SeriatimError:
            continue
        except Exception as error:
            raise ContractBroken(f"{type(error).__name__} for a view of {n} records") from error
        require_clause(draft.table.num_rows <= draft.groups.num_rows, f"rows from nowhere for a view of {n} records")


def _memory_is_about_respondents(trial: Trial) -> None:
    """What is remembered of people has a column ``respondent`` without gaps, and nobody else's."""
    for step in trial.steps:
        known = set(_texts(step.view.data[step.view.respondent])) if step.view.respondent else set()
        earlier = set(step.state.history.respondents.cast(pa.string()).to_pylist()) if step.state.history else set()
        for name, table in step.draft.memory.items():
            require_clause("respondent" in table.column_names, f"no respondent in the memory {name!r}")
            require_clause(table["respondent"].null_count == 0, f"gaps in the memory {name!r}")
            strange = set(_texts(table["respondent"])) - known - earlier
            require_clause(not strange, f"{len(strange)} people in the memory {name!r} who were never in a view")


def _values_move_nobody(trial: Trial) -> None:
    """Where its row says that it looks at no values: two people exchange theirs, and nobody's group or row moves.

    Up to the first release in which the table shows other values (one of the two was given up), others are withheld or
    other slots given up: how often values are published may decide that.
    """
    defence = trial.policy.defence
    if defence is None or defence.looks or trial.policy.respondent is None or len(trial.policy.sensitive) != 1:
        return
    for exchanged in _exchanges(trial):
        for step, again in zip(trial.steps, trial.with_values(exchanged).steps, strict=True):
            if not _alike_but_for_who(step, again):
                break
            for name, file in step.draft.files.items():
                kept = [one for one in file.column_names if one not in step.draft.sensitive]
                same = file.select(kept).equals(again.draft.files[name].select(kept))
                require_clause(same, f"other rows in the file {name!r} after two people exchanged their values")
            groups = step.draft.grouping.group
            require_clause(np.array_equal(groups, again.draft.grouping.group), "other groups after an exchange")


def _exchanges(trial: Trial) -> Iterator[dict[Any, Any]]:
    """Yield the new values of some pairs of people of the first view, pairs of different values."""
    data = trial.steps[0].view.data
    column = trial.policy.sensitive[0].name
    held = list(zip(data[trial.policy.respondent].to_pylist(), data[column].to_pylist(), strict=True))
    chance = np.random.default_rng(len(held))
    for _ in range(_EXCHANGES):
        one, other = (held[at] for at in chance.integers(0, len(held), 2))
        if one[1] != other[1] and None not in (one[1], other[1]):
            yield {one[0]: other[1], other[0]: one[1]}


def _alike_but_for_who(step: TrialStep, again: TrialStep) -> bool:
    one, other = step.draft, again.draft
    name = step.view.sensitive[0].name
    same = _texts(one.table[name]) == _texts(other.table[name]) and one.counters == other.counters
    return same and all(one.groups[column].equals(other.groups[column]) for column in ("suppressed", "counterfeit"))


def _texts(column: pa.ChunkedArray) -> Counter[str | None]:
    column = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    return Counter(pc.cast(column, pa.string()).to_pylist())


def _kind(column: pa.ChunkedArray) -> pa.DataType:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return pa.string() if pa.types.is_null(kind) else kind


def _require_same(one: Draft, other: Draft, found: str) -> None:
    require_clause({*one.files} == {*other.files}, found)
    require_clause(all(one.files[name].equals(other.files[name]) for name in one.files), found)
    require_clause(one.groups.equals(other.groups), found)


def _counts(draft: Draft) -> tuple[int, int, dict[str, Counter[str | None]]]:
    values = {name: _texts(draft.table[name]) for name in draft.sensitive}
    return draft.grouping.n_suppressed, draft.table.num_rows, values


def _contents(step: TrialStep) -> list[Any]:
    coded = [(column.name, column.codes.tobytes()) for column in (*step.view.quasi, *step.view.sensitive)]
    past = [[(p.person.tobytes(), p.group.tobytes(), p.value.tobytes()) for p in step.state.history or ()]]
    rows = [column.to_pylist() for column in step.view.data.columns]
    return [coded, past, rows, step.view.suppressed.tobytes(), step.state.secret, step.state.n_releases]


DEFENCE_CONTRACT = (
    _every_record_is_accounted_for,
    _a_record_is_in_a_group_or_suppressed,
    _what_the_policy_suppresses_stays_out,
    _suppressed_records_are_absent,
    _only_declared_columns_leave,
    _respondents_are_not_published,
    _kept_columns_keep_their_type,
    _a_group_shows_one_label,
    _equal_secrets_make_equal_drafts,
    _the_number_of_workers_changes_nothing,
    _row_order_comes_from_the_secret,
    _the_order_of_the_view_changes_no_count,
    _the_input_stays_as_it_was,
    _a_small_view_is_no_accident,
    _memory_is_about_respondents,
    _values_move_nobody,
)


T = TypeVar("T")
R = TypeVar("R")


def check_defence(defence: Defence, tables: Sequence[Any], policy: Policy) -> None:
    """Raise ``ContractBroken`` with a line for each clause of ``ports.Defence`` that the defence breaks.

    ``tables`` are views of one series, one after another, as ``sr.publish`` takes them: two or more for a method that
    looks back. A few hundred rows are enough; a plain column that differs in every row finds most.
    """
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
