"""Which pairs X ~> Y of a table let X reveal something about Y, and so may need a gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.model.doors import limited_argument
from seriatim.model.policy_keys import ARGUMENT_LIMITS
from seriatim.model.table_faults import MOST_PAIRED
from seriatim.report import Grid, Page, Prose, Section
from seriatim.report.html import NO_ROWS, FiledReport
from seriatim.report.words import format_count, format_number, format_percent, format_plain
from seriatim_gate.engine.statistics import divergences, mutual_information
from seriatim_gate.usecases.requests import Columns, LongArray, requested_attribute

HEAD = ("X", "Y", "values", "targets", "I(X;Y), bits", "largest KL, bits", "J-measure, bits", "targets that deviate")
MOST_TARGETS = 500
STORY = (
    "For each pair: mutual information, the Kullback-Leibler distance of the target that differs most from the rest, "
    "and the largest J-measure (that distance times the target's share). A pair with one deviating target suits a "
    "gate; where most targets deviate, X and Y are simply related: a gate withholds much and hides little.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One pair of columns, by names and figures only."""

    x: str
    y: str
    n_values: int
    n_targets: int
    information: float
    largest: float
    j_measure: float
    deviating: float
    """Share of targets that deviate at 5 %."""


@dataclass(frozen=True, slots=True)
class Candidates(FiledReport):
    """Pairs, the most telling target first."""

    title: str
    found: tuple[Candidate, ...]

    def record(self) -> dict[str, Any]:
        return {"schema": "seriatim.gate.suggestions/1", "pairs": [format_plain(asdict(one)) for one in self.found]}

    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Return the pairs as texts, in the order of ``HEAD``."""
        return tuple(
            (
                one.x, one.y, *map(format_count, (one.n_values, one.n_targets)),
                *map(format_number, (one.information, one.largest, one.j_measure)), format_percent(one.deviating),
            )
            for one in self.found
        )  # fmt: skip

    def page(self) -> Page:
        grid = Grid("Pairs", HEAD, self.rows(), frozenset(range(2, len(HEAD))))
        return Page(
            self.title, (Section("Candidates for a gate", (Prose(STORY), grid)),), kicker="Gate", footer=NO_ROWS
        )


def ranked_pairs(columns: Columns, title: str, bands: int = 10, most: int = 20) -> Candidates:
    """Rank every ordered pair of columns by its largest J-measure."""
    for name, value in (("bands", bands), ("most", most)):
        limited_argument(name, value, ARGUMENT_LIMITS[name], InputError)
    usable = _usable(columns)
    if len(usable) > MOST_PAIRED:
        found = f"{len(usable):,} columns to pair"
        raise InputError(Fault(title, found, f"at most {MOST_PAIRED}", "leave out those that no gate will be about"))
    released = [_coded(name, columns[name], bands) for name in usable]
    targets = [_coded(name, columns[name], MOST_TARGETS) for name in usable]
    pairs = [_measure(x, y) for x, y in product(released, targets) if x.name != y.name]
    ranked = sorted((one for one in pairs if one is not None), key=lambda one: -one.j_measure)
    return Candidates(title, tuple(ranked[:most]))


def _usable(columns: Columns) -> list[str]:
    """Return the columns with two to ``MOST_TARGETS`` values, or numbers; names and ids have too many."""
    return [name for name, column in columns.items() if len(set(column)) >= 2 and not _is_id(column)]


def _is_id(column: Sequence[Any]) -> bool:
    texts = {entry for entry in column if entry is not None}
    return len(texts) > MOST_TARGETS and len(texts) > 0.5 * len(column)


class _Coded(NamedTuple):
    """A column as places among its values; none of a column with too many."""

    name: str
    n_values: int
    codes: LongArray | None


def _coded(name: str, column: Sequence[Any], bands: int) -> _Coded:
    attribute = requested_attribute(name, column, bands)
    few = len(attribute) <= MOST_TARGETS
    return _Coded(name, len(attribute), attribute.codes(column) if few else None)


def _measure(x: _Coded, y: _Coded) -> Candidate | None:
    from scipy.special import chdtrc

    if x.codes is None or y.codes is None:
        return None
    used = (x.codes >= 0) & (y.codes >= 0)
    if not used.any():
        return None
    cells = np.bincount(x.codes[used] * y.n_values + y.codes[used], minlength=x.n_values * y.n_values)
    counts = cells.reshape(x.n_values, y.n_values)
    p, sizes = counts.sum(axis=1) / counts.sum(), counts.sum(axis=0)
    far = np.nan_to_num(divergences(counts, p))
    deviating = chdtrc(max(int((p > 0).sum()) - 1, 1), 2 * np.log(2) * sizes * far) < 0.05
    return Candidate(
        x=x.name,
        y=y.name,
        n_values=x.n_values,
        n_targets=y.n_values,
        information=mutual_information(counts, p),
        largest=float(far.max()),
        j_measure=float((far * sizes / counts.sum()).max()),
        deviating=float(deviating[sizes > 0].mean()),
    )
