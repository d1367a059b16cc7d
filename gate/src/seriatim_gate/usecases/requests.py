"""A list of requests as columns: who is X, who is Y, and the baselines they are judged against."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, InputError
from seriatim.model.doors import limited_argument
from seriatim.model.policy_keys import ARGUMENT_LIMITS
from seriatim_gate.engine.attribute import Attribute, equal_bands, listed, numbers_of
from seriatim_gate.engine.baseline import baseline_from, target_column
from seriatim_gate.engine.decision import Outcome
from seriatim_gate.engine.dependencies import Dependencies
from seriatim_gate.engine.inputs import Places
from seriatim_gate.engine.intake import decided
from seriatim_gate.engine.rules import Rules
from seriatim_gate.ports import JournalRecord

LongArray = npt.NDArray[np.int64]
Columns = Mapping[str, Sequence[Any]]
LONGEST = 200
"""Letters of a respondent's name."""
Pair = tuple[Sequence[str], Sequence[str]]
"""The columns of X, in their order, and those of Y."""


@dataclass(frozen=True, slots=True)
class Question:
    """How a gate is to judge: any set of tests, all at one level."""

    tests: tuple[str, ...] = ("kld",)
    alpha: float = 0.2
    _: KW_ONLY
    merge: str = "smallest"
    few: str = "simulated"
    distance: str = "kl"
    queue: bool = True
    """False denies an unsafe request for good."""
    joint: bool = False
    """Whether a set of waiting records may leave together where none is safe alone."""

    @property
    def unusual(self) -> dict[str, str]:
        """Return the readings of tests that are not the usual ones."""
        usual = Question()
        chosen = {name: str(getattr(self, name)) for name in ("merge", "distance", "few")}
        return {name: value for name, value in chosen.items() if value != getattr(usual, name)}

    def rules(self, baseline: Dependencies, tables: Sequence[Any] | None = None) -> tuple[Rules, ...]:
        """Return the rules for each dependency; P(Y) is its baseline's."""
        return tuple(
            Rules.of(
                one, None, self.tests, self.alpha, self.merge, self.few, None, None if tables is None else tables[at],
                self.distance, self.queue, self.joint,
            )
            for at, one in enumerate(baseline.baselines)
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Requests:
    """Requests in the order of the table, as places of X and Y for each dependency; -1 where one is unknown."""

    places: Places
    baseline: Dependencies

    def __len__(self) -> int:
        return len(self.places[0][0])

    def rules(self, question: Question) -> tuple[Rules, ...]:
        return question.rules(self.baseline)

    def known(self) -> Requests:
        """Return the requests that a gate can answer."""
        used = np.ones(len(self), bool)
        for (x, y), one in zip(self.places, self.baseline.baselines, strict=True):
            used &= (x >= 0) & (y >= 0)
            used[used] = one.probabilities[x[used]] > 0
        return self.taken(used)

    def taken(self, rows: npt.NDArray[Any]) -> Requests:
        """Return some of the requests, or all in another order."""
        return Requests([(x[rows], y[rows]) for x, y in self.places], self.baseline)

    def shuffled(self, order: LongArray) -> Requests:
        """Return the requests with other targets: those of the requests in another order."""
        return Requests([(x, y[order]) for x, y in self.places], self.baseline)

    def decide(self, rules: Sequence[Rules]) -> tuple[Outcome, ...]:
        """Answer the requests; what became of them is the same for every dependency, the counts are its own."""
        return decided(rules, self.places)


def asked_of(columns: Columns, pairs: Sequence[Pair], baseline: Dependencies | None = None) -> Requests:
    """Read requests from a table's columns; without a baseline the table is its own."""
    for x, y in pairs:
        _must_have(columns, x, y)
    if baseline is None:
        baseline = counted_baseline(columns, pairs)
    else:
        _must_agree(baseline, pairs)
    baseline.must_serve()
    return Requests(baseline.places(columns), baseline)


def counted_baseline(
    columns: Columns,
    pairs: Sequence[Pair],
    bands: int = 10,
    ranges: Mapping[str, Attribute] | None = None,
    others: str = "",
) -> Dependencies:
    """Count a baseline on a table. ``others`` names the target that targets unknown to it will count as.

    Columns in ``ranges`` are cut as declared there, other numbers into ``bands`` of equal share.
    """
    limited_argument("bands", bands, ARGUMENT_LIMITS["bands"], InputError)
    ranges = ranges or {}
    for x, y in pairs:
        _must_have(columns, x, y)
    if not pairs:
        raise InputError(Fault("x, y", "no columns", "columns of the table, or a baseline"))
    unused = set(ranges) - {name for x, _ in pairs for name in x}
    if unused:
        raise InputError(Fault("ranges", f"{min(unused)!r} is not a column of X", "columns of X"))
    made = Dependencies(
        tuple(
            baseline_from(
                columns,
                [ranges.get(name) or requested_attribute(name, columns[name], bands) for name in x],
                ", ".join(y),
                target_column(y, columns),
                others=others,
                together=y if len(y) > 1 else (),
            )
            for x, y in pairs
        )
    )
    made.must_serve()
    return made


def recounted_baseline(
    baseline: Dependencies, columns: Columns, pairs: Sequence[Pair], ranges: Mapping[str, Attribute], others: str
) -> Dependencies:
    """Return a baseline's next version: the same values, ranges and targets, counted on another table."""
    _must_agree(baseline, pairs)
    if ranges:
        raise InputError(Fault("ranges", "the baseline has ranges of its own", "as in the baseline", "leave it out"))
    if others and any(others != one.others for one in baseline.baselines):
        raise InputError(Fault("others", "the baseline says otherwise", "as in the baseline", "leave it out"))
    made = baseline.recounted(columns)
    made.must_serve()
    return made


def _must_have(columns: Columns, x: Sequence[str], y: Sequence[str]) -> None:
    both = (*x, *y)
    missing = [name for name in both if name not in columns]
    if missing or not x or not y or len(set(both)) != len(both):
        found = f"no column {missing[0]!r}" if missing else "X and Y are not different columns"
        raise InputError(Fault("x, y", found, "columns of the table: one or more for X, and others for Y"))


def _must_agree(baseline: Dependencies, pairs: Sequence[Pair]) -> None:
    """Refuse columns that were asked for beside a baseline and differ from its own."""
    own = [([attribute.name for attribute in one.attributes], list(one.target_columns)) for one in baseline.baselines]
    if pairs and own != [(list(x), list(y)) for x, y in pairs]:
        raise InputError(
            Fault("x, y", "other columns than those of the baseline", "as in the baseline", "leave them out")
        )


def requested_attribute(name: str, column: Sequence[Any], bands: int) -> Attribute:
    """Cut numbers with more values than bands into bands of equal shares; list the values of anything else."""
    values = {entry for entry in column if entry is not None}
    if len(values) <= bands or not _numeric(name, column):
        return listed(name, column)
    return equal_bands(name, column, bands)


def _numeric(name: str, column: Sequence[Any]) -> bool:
    try:
        return bool(np.isfinite(numbers_of(name, column)).any())
    except InputError:
        return False


def held_records(
    columns: Mapping[str, Sequence[Any]], respondent: str, baseline: Dependencies
) -> Iterator[tuple[str, JournalRecord]]:
    """Return a record per respondent: only the columns of X and Y leave. A person with two records is an error."""
    missing = [name for name in (respondent, *baseline.columns) if name not in columns]
    if missing:
        raise InputError(Fault(f"column {missing[0]!r}", "missing", "the respondent, and the columns of X and Y"))
    people = [None if entry is None else str(entry) for entry in columns[respondent]]
    if any(not who or len(who) > LONGEST for who in people):
        raise InputError(Fault(f"column {respondent!r}", "an entry that is missing or too long", f"1 to {LONGEST}"))
    if len(set(people)) != len(people):
        twice = len(people) - len(set(people))
        raise InputError(Fault(f"column {respondent!r}", f"{twice} records too many", "one record per person"))
    xs, ys = (column.tolist() for column in baseline.cells(columns))
    for row, who in enumerate(people):
        body = json.dumps({name: columns[name][row] for name in baseline.columns}, default=str)
        yield str(who), JournalRecord(xs[row], ys[row], body)
