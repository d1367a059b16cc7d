"""What a reader who joins all cells knows about Adult: the table of the spec, and intervals that hold the truth."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from support.mixed_cells import QUASI, Coded, adult, mixed_cells, relation_kept, two_way

from seriatim.reading.joined import Cells, Joined, joined, own_part

NUMBERS = ("sex", "age", "education")
"""The regression of the spec: men or women, years, years of school."""


def cells_of(columns: tuple[Coded, ...], values: Coded, cell: np.ndarray) -> Cells:
    n, n_values, n_cells = len(cell), len(values.values), int(cell.max()) + 1
    shares = np.bincount(values.codes, minlength=n_values) / n
    return Cells(
        cell=cell.astype(np.int32),
        box=np.arange(n, dtype=np.int32),
        people=np.ones(n),
        labels=tuple(column.codes.astype(np.int32) for column in columns),
        chances=tuple(np.eye(len(column.values)) for column in columns),
        ranked=tuple(column.name in ("age", "education") for column in columns),
        outcomes=np.bincount(cell * n_values + values.codes, minlength=n_cells * n_values).reshape(-1, n_values) * 1.0,
        slots=np.bincount(cell) * 1.0,
        variances=shares * (1 - shares),
    )


def blocks(columns: tuple[Coded, ...]) -> list[slice]:
    ends = np.cumsum([0, *(len(column.values) for column in columns)])
    return [slice(first, end) for first, end in pairwise(ends)]


def kept_by(read: Joined, columns: tuple[Coded, ...], values: Coded) -> float:
    people = np.maximum(read.sums(np.eye(len(read.together)))[0], 0)
    told = [
        relation_kept(people[at], two_way(column, values)) for at, column in zip(blocks(columns), columns, strict=True)
    ]
    return float(np.mean(told))


def worlds(values: str, least: int, stay: float, seeds: range) -> list[tuple[tuple[Coded, ...], Coded, Cells]]:
    quasi = [name if name != values else "salary-class" for name in QUASI]
    *columns, outcome = adult(*quasi, values)
    found = []
    for seed in seeds:
        cell = mixed_cells(tuple(columns), least, stay, np.random.default_rng(seed))
        found.append((tuple(columns), outcome, cells_of(tuple(columns), outcome, cell)))
    return found


@pytest.mark.parametrize(
    ("values", "least", "stay", "least_kept"),
    [
        ("salary-class", 720, 0.05, 0.45),
        ("salary-class", 720, 0.13, 0.64),
        ("salary-class", 180, 0.20, 0.74),
        ("salary-class", 180, 0.0, 0.48),
        ("occupation", 720, 0.13, 0.33),
    ],
)
def test_relation_kept(values: str, least: int, stay: float, least_kept: float) -> None:
    """The spec has .56, .68, .79; .62 where all are dealt, and half of occupation with softer cuts: means of draws."""
    kept, naive = [], []
    for columns, outcome, cells in worlds(values, least, stay, range(3)):
        kept.append(kept_by(joined([cells]), columns, outcome))
        counts = cells.counts()
        pairs = zip(blocks(columns), columns, strict=True)
        naive.append(np.mean([relation_kept(counts[at], two_way(column, outcome)) for at, column in pairs]))
    assert np.mean(kept) > least_kept
    assert np.mean(naive) < 0.1


def test_standard_errors_of_two_way_tables_are_honest() -> None:
    off, near = [], []
    for columns, outcome, cells in worlds("salary-class", 720, 0.13, range(3)):
        people, error = joined([cells]).sums(np.eye(sum(len(column.values) for column in columns)))
        for at, column in zip(blocks(columns), columns, strict=True):
            truth = two_way(column, outcome)
            many = truth.sum(axis=1) >= 30
            off.append((np.abs(people[at] - truth) > 1.96 * error[at])[many].mean())
            near.append(np.mean(error[at][many] < truth[many].sum(axis=1, keepdims=True)))
    assert np.mean(off) < 0.1
    assert np.mean(near) > 0.9  # and an error is less than all there are


def test_regressions_have_no_bias_and_honest_errors() -> None:
    """Truth: .182 for men, .0070 a year of age, .055 a year of school; a ridge alone says .030 for the last."""
    found, errors = [], []
    for columns, _, cells in worlds("salary-class", 180, 0.20, range(6)):
        numbers = [np.arange(len(column.values), dtype=np.float64)[:, None] for column in columns]
        asked = [
            one if column.name in NUMBERS else np.zeros((len(one), 0))
            for column, one in zip(columns, numbers, strict=True)
        ]
        outcomes = cells.outcomes[:, 1:]
        cells = Cells(**{**cells.__dict__, "outcomes": outcomes, "variances": cells.variances[1:]})
        read = joined([cells], asked)
        places = dict(zip([column.name for column in columns], blocks(columns), strict=True))
        rows = np.zeros((4, len(read.together)))
        rows[0, places["sex"]] = 1.0
        for row, name in enumerate(NUMBERS, start=1):
            rows[row, places[name]] = np.arange(places[name].stop - places[name].start)
        weights = np.linalg.inv(rows @ read.together @ rows.T) @ rows
        told, error = read.sums(weights)
        found.append(told[1:, 0])
        errors.append(error[1:, 0])
    design = np.column_stack([np.ones(len(cells.cell)), *(adult(name)[0].codes for name in NUMBERS)])
    truth = np.linalg.lstsq(design, adult("salary-class")[0].codes * 1.0, rcond=None)[0][1:]
    assert truth == pytest.approx([0.182, 0.0070, 0.0551], rel=0.01)
    assert np.mean(found, axis=0) == pytest.approx(truth, rel=0.2)
    off = np.abs(np.array(found) - truth) / np.array(errors)
    assert (off > 1.96).mean() <= 0.2
    assert np.sqrt((off**2).mean()) > 0.4  # nor are they much too wide


def test_own_part_grows_with_smaller_cells() -> None:
    """A cell of 720 adds half to some odds, one of 180 doubles some: the spec's 1.8 and 2.7 at most."""

    def own(cells: Cells) -> float:
        return float(np.quantile(own_part(cells, joined([cells]).ridge), 0.99))

    large, small = (
        np.mean([own(cells) for _, _, cells in worlds("salary-class", least, stay, range(2))])
        for least, stay in ((720, 0.13), (180, 0.20))
    )
    assert 1.1 < large < 1.8
    assert large < small < 2.7
