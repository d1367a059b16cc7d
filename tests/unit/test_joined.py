"""The joined reader against plain twins: cells left out one by one, persons summed one by one."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from support.mixed_cells import Coded, mixed_cells

from seriatim.errors import TableError
from seriatim.reading import Axis, PublishedRelease
from seriatim.reading.joined import RIDGES, Cells, distinct_cells, joined, value_features
from seriatim.reading.relation import spread_labels


def world(n: int, least: int, stay: float, seed: int) -> tuple[tuple[Coded, ...], np.ndarray, np.ndarray]:
    """People with a sex, an age and a school; more of the old and of the men are ill."""
    chance = np.random.default_rng(seed)
    sex, age, school = chance.integers(0, 2, n), chance.integers(0, 12, n), chance.integers(0, 3, n)
    ill = (chance.random(n) < 0.1 + 0.2 * sex + 0.04 * age).astype(np.int64)
    columns = (
        Coded("sex", sex, ["f", "m"]),
        Coded("age", age, [str(20 + one) for one in range(12)]),
        Coded("school", school, ["a", "b", "c"]),
    )
    return columns, ill, mixed_cells(columns, least, stay, chance)


def cells_of(columns: tuple[Coded, ...], ill: np.ndarray, cell: np.ndarray) -> Cells:
    n, held = len(ill), np.bincount(cell * 2 + ill, minlength=2 * (cell.max() + 1)).reshape(-1, 2)
    return Cells(
        cell=cell.astype(np.int32),
        box=np.arange(n, dtype=np.int32),
        people=np.ones(n),
        labels=tuple(column.codes.astype(np.int32) for column in columns),
        chances=tuple(np.eye(len(column.values)) for column in columns),
        ranked=(False, True, False),
        outcomes=held * 1.0,
        slots=held.sum(axis=1) * 1.0,
        variances=np.full(2, ill.mean() * (1 - ill.mean())),
    )


def test_the_ridge_is_the_one_that_predicts_cells_left_out() -> None:
    columns, ill, cell = world(3000, 100, 0.3, 1)
    cells = cells_of(columns, ill, cell)
    x, y, n = cells.shares @ value_features(cells), cells.means[:, 1], cells.sizes

    def predicted(kept: np.ndarray, penalty: float, left: int) -> float:
        weight = n[kept] / n[kept].sum()
        middle, mean = weight @ x[kept], weight @ y[kept]
        a, b = (x[kept] - middle) * np.sqrt(n[kept])[:, None], (y[kept] - mean) * np.sqrt(n[kept])
        effects = np.linalg.solve(a.T @ a + penalty * np.eye(a.shape[1]), a.T @ b)
        return float(mean + (x[left] - middle) @ effects)

    lost = []
    for penalty in RIDGES * 3:
        errors = [
            n[at] * (y[at] - predicted(np.delete(np.arange(len(n)), at), penalty, at)) ** 2 for at in range(len(n))
        ]
        lost.append(sum(errors))
    assert joined([cells]).ridge.penalty == pytest.approx(RIDGES[int(np.argmin(lost))] * 3)


def test_sums_are_those_of_single_people() -> None:
    """Each person is believed what the fit says, moved so that the people of a cell add up to its counts."""
    columns, ill, cell = world(2000, 100, 0.3, 2)
    cells = cells_of(columns, ill, cell)
    read = joined([cells])
    each = np.hstack([np.eye(len(column.values))[column.codes] for column in columns])
    fitted = each @ read.ridge.features @ read.ridge.effects
    off = np.stack([(ill == 0) - 0.0, ill - 0.0], axis=1) - fitted
    moved = fitted + np.stack([np.bincount(cell, off[:, at]) / np.bincount(cell) for at in range(2)], axis=1)[cell]
    assert read.sums(np.eye(each.shape[1]))[0] == pytest.approx(each.T @ moved)
    assert moved.sum(axis=0) == pytest.approx(np.bincount(ill))


def test_a_cell_counts_once_in_a_series() -> None:
    columns, ill, cell = world(2000, 100, 0.3, 3)
    cells = cells_of(columns, ill, cell)
    twice = distinct_cells([cells, cells])
    assert [len(one.slots) for one in twice] == [len(cells.slots), 0]
    again, once = joined([cells, cells]), joined([cells])
    assert again.ridge.effects == pytest.approx(once.ridge.effects)
    assert again.ridge.spread == pytest.approx(once.ridge.spread)


def published(columns: tuple[Coded, ...], ill: np.ndarray, cell: np.ndarray | None, wide: bool = False) -> pa.Table:
    """Write the table as a release would be: ages in steps of three if wide, values shuffled inside each cell."""
    names = {column.name: np.array(column.values, dtype=object)[column.codes] for column in columns}
    if wide:
        low = columns[1].codes // 3 * 3 + 20
        names["age"] = np.array([f"[{one},{one + 2}]" for one in low], dtype=object)
    if cell is None:
        return pa.table({**names, "ill": ill})
    chance, shown = np.random.default_rng(0), np.empty_like(ill)
    shown[np.lexsort((chance.random(len(ill)), cell))] = ill[np.argsort(cell, kind="stable")]
    return pa.table({"group": cell, **names, "ill": shown})


def release(table: pa.Table) -> PublishedRelease:
    names = ("sex", "age", "school")
    return PublishedRelease(table, None, {name: Axis.of_labels(table[name].to_pylist()) for name in names})


@pytest.mark.parametrize("wide", [False, True])
def test_intervals_hold_the_truth(wide: bool) -> None:
    inside = {"share": 0, "mean": 0, "regression": 0, "two-way": 0}
    for seed in range(12):
        columns, ill, cell = world(6000, 120, 0.2, seed)
        read = release(published(columns, ill, cell, wide)).relation("ill")
        men_over = (columns[0].codes == 1) & (columns[1].codes >= 6)
        told = read.share(1, {"sex": "m", "age": (26, 31)})
        inside["share"] += told.low <= ill[men_over].mean() <= told.high
        told = read.mean({"sex": "m"})
        inside["mean"] += told.low <= ill[columns[0].codes == 1].mean() <= told.high
        design = np.column_stack([np.ones(len(ill)), columns[0].codes == 1, columns[1].codes])
        truth = np.linalg.lstsq(design, ill * 1.0, rcond=None)[0][1:]
        lines = read.regression(["sex", "age"], numbers={"sex": {"f": 0, "m": 1}})
        off = np.abs(lines["estimate"].to_numpy()[1:] - truth) / lines["error"].to_numpy()[1:]
        inside["regression"] += (off < 1.96).mean()
        table = read.two_way("sex").to_pylist()
        cells = {(one["sex"], one["ill"]): one for one in table}
        count = int((columns[0].codes * ill).sum())
        inside["two-way"] += abs(cells["m", "1"]["people"] - count) < 1.96 * cells["m", "1"]["error"]
    assert min(inside.values()) >= 10


def test_a_reader_of_cells_alone_knows_less() -> None:
    columns, ill, cell = world(6000, 120, 0.2, 4)
    asked = release(published(columns, ill, cell))
    truth = ill[columns[0].codes == 1].mean() - ill[columns[0].codes == 0].mean()
    alone = [asked.count({"sex": sex}, {"ill": 1}) / asked.count({"sex": sex}) for sex in "mf"]
    joint = [asked.relation("ill").share(1, {"sex": sex}).value for sex in "mf"]
    assert abs(joint[0] - joint[1] - truth) < 0.3 * truth
    assert alone[0] - alone[1] < 0.2 * truth


def test_without_groups_classes_are_cells() -> None:
    columns, ill, _ = world(4000, 120, 0.2, 5)
    read = release(published(columns, ill, None, wide=True)).relation("ill")
    told = read.regression(["age"], numbers={"age": {str(one): one for one in range(20, 32)}}).to_pylist()
    assert told[1]["estimate"] == pytest.approx(0.04, abs=2.5 * told[1]["error"])
    assert told[1]["error"] < 0.01
    people = {(one["sex"], one["ill"]): one for one in read.two_way("sex").to_pylist()}
    assert people["m", "1"]["people"] == pytest.approx((columns[0].codes * ill).sum())  # nothing to estimate
    assert people["m", "1"]["error"] < 1


def test_quantiles_of_a_number() -> None:
    chance = np.random.default_rng(6)
    columns, _, cell = world(6000, 120, 0.3, 6)
    pay = 1000 + 400 * columns[0].codes + 10 * chance.integers(0, 60, 6000)
    read = release(published(columns, pay, cell)).relation("ill")
    men = columns[0].codes == 1
    for share in (0.25, 0.5, 0.75):
        told = read.quantile(share, {"sex": "m"})
        assert told.low <= np.quantile(pay[men], share) <= told.high
        assert told.high - told.low < 600
    assert read.mean({"sex": "m"}).value == pytest.approx(pay[men].mean(), rel=0.05)


def test_what_cannot_be_asked() -> None:
    columns, ill, cell = world(600, 120, 0.2, 7)
    table = published(columns, ill, cell)
    read = release(table).relation("ill")
    with pytest.raises(TableError, match="not a quasi column"):
        read.two_way("height")
    with pytest.raises(TableError, match="nobody has the value"):
        read.share("measles")
    with pytest.raises(TableError, match="not on its axis"):
        read.mean({"age": (90, 99)})
    with pytest.raises(TableError, match="no number for 1"):
        read.regression(["school"], numbers={"school": {"a": 1, "b": 2}})
    words = table.set_column(4, "ill", pa.array(["yes" if one else "no" for one in ill]))
    with pytest.raises(TableError, match="2 values are no numbers"):
        release(words).relation("ill").mean()


def test_axes_of_labels() -> None:
    assert Axis.of_labels(["[20,23]", "25", "*", None]).values == ["20", "21", "22", "23", "24", "25"]
    assert Axis.of_labels(["[0.5,2.25]", "1"]).values == ["0.5", "1", "2.25"]
    assert Axis.of_labels(["{b,c}", "a"]).values == ["a", "b", "c"]
    assert Axis.of_labels(["{low,mid}", "high"], order=["low", "mid", "high"]).values == ["low", "mid", "high"]
    assert Axis.of_labels(["[2024-01-30,2024-02-02]", "2024-02-03"]).values[-1] == str(date(2024, 2, 3))
    assert Axis.of_labels(["10701", "10702", "1070*", "2****"]).values == ["10701", "10702", "2****"]
    assert [Axis.of_labels(one).ranked for one in (["1", "2"], ["a", "b"])] == [True, False]


def test_a_set_lists_values_that_somebody_has() -> None:
    """Four people in {a,b}, ten known as a: at least one has b; two more are shared out as the others are."""
    chances = spread_labels(
        np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([4.0, 10.0]), 50
    )
    assert chances[1].tolist() == [1.0, 0.0]
    assert 0.25 < chances[0, 1] < 0.35
