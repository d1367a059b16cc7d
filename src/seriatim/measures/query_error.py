"""How wrong users are: about everyone by a column, and in counts of people by random ranges, with a value too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.kernels.check.box_counts import count_inside, expected_inside, fit_box
from seriatim.kernels.check.classes import rows_by_class
from seriatim.model import CodedColumn, Draft, Measure, View
from seriatim.model.chance import open_chance
from seriatim.model.classes import LongArray
from seriatim.model.scale import IntArray
from seriatim.ports import Workers

ENOUGH = 0.01
"""Values that fewer people share have no ratio: a single person would make it."""


def worst_shares(view: View, draft: Draft) -> tuple[Measure, ...]:
    """Return the worst column's total variation between published and true shares, and its worst value's ratio.

    No value is named. Records that the policy suppresses belong to neither. Noise publishes numbers that nobody has, so
    that shares of single numbers say nothing: a column with such numbers is left out.
    """
    chosen = [at for at, column in enumerate(view.sensitive) if not has_made_up_numbers(column, draft)]
    found = [_margin_errors(view, draft, at) for at in chosen]
    if not found or not draft.table.num_rows:
        return ()
    distance, ratio, name = max(found)
    about = {"column": name}
    return (
        Measure("margin_error", distance, "share", about),
        Measure("margin_worst_ratio", ratio, "times", {**about, "values": f"with {ENOUGH:.0%} of the people or more"}),
    )


def has_made_up_numbers(column: CodedColumn, draft: Draft) -> bool:
    """Return whether numbers are published that nobody has."""
    shown = draft.sensitive[column.name].scale
    if shown is column.scale or column.scale.form != "interval":
        return False
    return not set(shown.texts.to_pylist()) <= set(column.scale.texts.to_pylist())


def _margin_errors(view: View, draft: Draft, at: int) -> tuple[float, float, str]:
    column = view.sensitive[at]
    shown = draft.sensitive[column.name]
    true, told = column.counts(~view.suppressed), np.bincount(shown.codes, minlength=len(shown.scale))
    number = {text: code for code, text in enumerate(column.scale.texts.to_pylist())}
    published = np.zeros(len(true), dtype=np.int64)
    strange = 0
    for text, count in zip(shown.scale.texts.to_pylist(), told.tolist(), strict=True):
        if text in number:
            published[number[text]] += count
        else:
            strange += count
    p, q = true / max(int(true.sum()), 1), published / max(int(told.sum()), 1)
    distance = (float(np.abs(p - q).sum()) + strange / max(int(told.sum()), 1)) / 2
    common = p >= ENOUGH
    with np.errstate(divide="ignore"):
        ratios = np.maximum(p[common] / q[common], q[common] / p[common])
    return distance, float(ratios.max(initial=1.0)), column.name


SEED = 20_261
QUERIES = 200
SELECTIVITIES = (0.01, 0.05, 0.10)
MOST_ROWS = 200_000
"""Above this many records, the truth and the estimate come from one random sample of them."""
TRIES = 24
"""So many places are tried until the ranges around one match the wanted share."""
NEAR = 0.1
"""A query matches the wanted share if it is off by less than this part of it."""
FITTED_ROWS = 10_000
"""The width of ranges is found on at most so many records; what a query matches is counted on all."""
_PARTS = 2
"""Pieces of work that the queries of one selectivity are shared out in."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelBoxes:
    """Every group's label in every quasi column as a range of codes: what a user reads from the release."""

    low: IntArray
    high: IntArray
    weight: npt.NDArray[np.float64]
    """Records in each group."""


class DrawnTry(NamedTuple):
    """What a query may become, by try: the columns it asks for, a record, and the part of its ranges before that."""

    asked: tuple[LongArray, ...]
    around: IntArray
    split: npt.NDArray[np.float64]


class CodeRanges(NamedTuple):
    """A range of codes in each of the asked columns."""

    asked: IntArray
    low: IntArray
    high: IntArray


def query_error(view: View, draft: Draft, workers: Workers, seed: int = SEED, rate: float = 1.0) -> tuple[Measure, ...]:
    """Return the median relative error of random range counts, one measure per selectivity.

    ``rate`` is the share of a sample: its users divide their counts by it.
    """
    if not len(view.quasi) or not (draft.grouping.group >= 0).any():
        return ()
    chance = open_chance(seed, "queries")
    n = len(view)
    rows = np.arange(n) if n <= MOST_ROWS else np.sort(chance.choice(n, MOST_ROWS, replace=False))
    boxes = label_boxes(view.quasi, draft.grouping.group[rows], draft)
    boxes = LabelBoxes(boxes.low, boxes.high, boxes.weight / rate)
    codes = _in_any_order(np.stack([column.codes[rows] for column in view.quasi]))
    sizes = np.array([len(column.scale) for column in view.quasi], dtype=np.int64)
    return errors_by_share(codes, boxes, sizes, seed, workers)


def errors_of_boxes(quasi: tuple[CodedColumn, ...], boxes: LabelBoxes, seed: int = SEED) -> tuple[Measure, ...]:
    """Return the same for a table of any tool, its labels read as ranges; ``quasi`` is the original."""
    n = len(quasi[0].codes)
    chance = open_chance(seed, "queries")
    rows = np.arange(n) if n <= MOST_ROWS else np.sort(chance.choice(n, MOST_ROWS, replace=False))
    codes = _in_any_order(np.stack([column.codes[rows] for column in quasi]))
    sizes = np.array([len(column.scale) for column in quasi], dtype=np.int64)
    shrunk = LabelBoxes(boxes.low, boxes.high, boxes.weight * (len(rows) / n))
    return errors_by_share(codes, shrunk, sizes, seed, None)


def _in_any_order(codes: IntArray) -> IntArray:
    """Return the records sorted, so that the queries drawn around them do not depend on the order of the table."""
    return np.ascontiguousarray(codes[:, order_by_codes(codes)])


def order_by_codes(codes: IntArray) -> npt.NDArray[np.intp]:
    """Return an order of the records by their codes, the last column first; equal records may be in any order.

    If all columns fit into one number, it is sorted in a sixth of the time.
    """
    sizes = [int(column.max(initial=0)) + 1 for column in codes]
    if prod(sizes) >= 2**63:
        return np.lexsort(codes)
    key = np.zeros(codes.shape[1], dtype=np.int64)
    for column, size in zip(codes[::-1], sizes[::-1], strict=True):
        key = key * size + column
    return np.argsort(key)


def label_boxes(quasi: tuple[CodedColumn, ...], group: IntArray, draft: Draft) -> LabelBoxes:
    """Return the range that each published label covers; weights count the sampled records."""
    labels = {shown.name: shown for shown in draft.generalised}
    whole = draft.grouping.group
    starts, order = _rows_by_group(whole, draft.grouping.n_groups)
    low = np.empty((len(quasi), draft.grouping.n_groups), dtype=np.int32)
    high = np.empty_like(low)
    for index, column in enumerate(quasi):
        shown = labels.get(column.name)
        if shown is not None and shown.low is not None and shown.high is not None:
            low[index], high[index] = shown.low, shown.high
        else:  # a set: the range of its values
            codes = column.codes[order]
            low[index] = np.minimum.reduceat(codes, starts[:-1])
            high[index] = np.maximum.reduceat(codes, starts[:-1])
    weight = np.bincount(group[group >= 0], minlength=draft.grouping.n_groups).astype(np.float64)
    return LabelBoxes(low, high, weight)


def _rows_by_group(group: IntArray, n_groups: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.signedinteger]]:
    """Return where each group starts among the published records, and these records group by group."""
    inside = np.flatnonzero(group >= 0) if (group < 0).any() else None
    starts, rows = rows_by_class(group if inside is None else group[inside], n_groups)
    return starts, rows if inside is None else inside[rows]


def errors_by_share(
    codes: IntArray, boxes: LabelBoxes, sizes: LongArray, seed: int, workers: Workers | None
) -> tuple[Measure, ...]:
    """Return the error by share. All queries are drawn before any is answered: workers change nothing about them."""
    chance = open_chance(seed, "queries of people")
    drawn = {share: draw_queries(codes, sizes, QUERIES, chance) for share in SELECTIVITIES}
    parts = [(share, queries[part::_PARTS]) for share, queries in drawn.items() for part in range(_PARTS)]

    def answer(part: tuple[float, list[DrawnTry]]) -> list[tuple[float, float]]:
        return _answers(codes, boxes, sizes, *part)

    found = iter(workers.map(answer, parts) if workers else map(answer, parts))
    return tuple(_measure(share, [one for _ in range(_PARTS) for one in next(found)], seed) for share in drawn)


def _answers(
    codes: IntArray, boxes: LabelBoxes, sizes: LongArray, share: float, drawn: Sequence[DrawnTry]
) -> list[tuple[float, float]]:
    """Return for every query the share of people it matches, and the relative error of its estimate."""
    answers = []
    for query in fit_queries(codes, sizes, share, drawn):
        truth = count_inside(codes, *query)
        if truth > 0:
            estimate = expected_inside(boxes.low, boxes.high, boxes.weight, *query)
            answers.append((truth / codes.shape[1], abs(estimate - truth) / truth))
    return answers


def _measure(share: float, answers: Sequence[tuple[float, float]], seed: int) -> Measure:
    matched, error = np.median(np.array(answers), axis=0).tolist() if answers else (float("nan"), float("nan"))
    detail = {"selectivity": share, "matched": matched, "queries": len(answers), "seed": seed}
    return Measure(f"query_error_{share:.0%}", error, "share", detail)


def draw_queries(codes: IntArray, sizes: LongArray, count: int, chance: np.random.Generator) -> list[DrawnTry]:
    """Draw for each query a few records, each with one to three columns and how much of a range lies before it."""
    wide = np.flatnonzero(sizes > 1)
    if not len(wide):
        return [DrawnTry((wide,), np.zeros((1, len(sizes)), codes.dtype), np.zeros((1, 0)))] * count
    shape = (count, TRIES)
    # where few columns hold no small enough cell, the later tries ask for more
    asked = np.minimum(chance.integers(1, 4, count)[:, None] + np.arange(TRIES) // 2, len(wide))
    most = int(asked.max())
    chosen = wide[_different(len(wide), most, count * TRIES, chance)].reshape(*shape, most)
    around = codes[:, chance.integers(codes.shape[1], size=shape)]
    split = chance.random((*shape, most))
    return [
        DrawnTry(tuple(chosen[at, one, : asked[at, one]] for one in range(TRIES)), around[:, at].T, split[at])
        for at in range(count)
    ]


def fit_queries(codes: IntArray, sizes: LongArray, share: float, drawn: Sequence[DrawnTry]) -> Iterator[CodeRanges]:
    """Widen each query until it matches about ``share`` of the records: the first try that can, else the nearest."""
    step = -(-codes.shape[1] // FITTED_ROWS)
    some = np.ascontiguousarray(codes[:, ::step])  # they are sorted: every step-th record stands for all
    wanted = share * some.shape[1]
    for query in drawn:
        best, off = None, np.inf
        for asked, around, split in zip(query.asked, query.around, query.split, strict=True):
            low, high = np.zeros(len(sizes), dtype=np.int32), (sizes - 1).astype(np.int32)
            columns = asked.astype(np.int32)
            low[asked], high[asked] = fit_box(some, sizes, columns, around[asked], split, wanted)
            away = abs(count_inside(some, columns, low, high) - wanted)
            if away < off:
                best, off = CodeRanges(columns, low, high), away
            if off <= NEAR * wanted:
                break
        assert best is not None
        yield best


def _different(below: int, most: int, count: int, chance: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw ``count`` times ``most`` different numbers below ``below``."""
    drawn = chance.integers(below - np.arange(most), size=(count, most))
    for at in range(1, most):
        for earlier in np.sort(drawn[:, :at], axis=1).T:  # a number counts those that were not drawn before it
            drawn[:, at] += drawn[:, at] >= earlier
    return drawn


VALUE_QUERIES = 120
VALUES = 6
SHARE = 0.05


def value_query_error(view: View, draft: Draft, seed: int = SEED) -> tuple[Measure, ...]:
    """Return the median relative error of counts of a frequent value in ranges of about 5 % of the people.

    Empty where noise made all numbers up: nobody can count people with one of them.
    """
    inside = draft.grouping.group >= 0
    if not view.quasi or not view.sensitive or not inside.any() or len(view) > MOST_ROWS:
        return ()
    chance = open_chance(seed, "queries with values")
    column = view.sensitive[0]
    if has_made_up_numbers(column, draft):
        return ()
    counts = column.counts(~view.suppressed)
    values = np.argsort(-counts, kind="stable")[:VALUES]
    values = values[counts[values] > 0]
    boxes = label_boxes(view.quasi, draft.grouping.group, draft)
    weights = _weights(draft, column.name, [column.scale.texts[int(v)].as_py() for v in values])
    order = order_by_codes(np.stack([one.codes for one in view.quasi]))
    codes = np.ascontiguousarray(np.stack([one.codes[order] for one in view.quasi]))
    held = [np.ascontiguousarray(codes[:, column.codes[order] == v]) for v in values]
    sizes = np.array([len(one.scale) for one in view.quasi], dtype=np.int64)
    errors, matched = [], []
    for number, query in enumerate(fit_queries(codes, sizes, SHARE, draw_queries(codes, sizes, VALUE_QUERIES, chance))):
        which = number % len(values)
        truth = count_inside(held[which], *query)
        matched.append(count_inside(codes, *query) / codes.shape[1])
        if truth > 0:
            estimate = expected_inside(boxes.low, boxes.high, weights[which], *query)
            errors.append(abs(estimate - truth) / truth)
    value = float(np.median(errors)) if errors else float("nan")
    detail = {"selectivity": SHARE, "matched": float(np.median(matched)), "queries": len(errors), "seed": seed}
    return (Measure(f"value_query_error_{SHARE:.0%}", value, "share", detail),)


def _weights(draft: Draft, name: str, values: list[str | None]) -> list[npt.NDArray[np.float64]]:
    """Return for each value how many of its holders a reader expects under each label."""
    box, shown = draft.grouping.group, draft.groups
    which = pc.index_in(shown.column(name).cast(pa.string()), value_set=pa.array(values, pa.string())).fill_null(-1)
    value = which.to_numpy()
    group = (
        shown.column("group").fill_null(-1).to_numpy().astype(np.int64)
        if draft.serial
        else np.append(box, np.full(len(shown) - len(box), -1))
    )
    published = group >= 0
    n_groups = int(group.max(initial=-1)) + 1
    size = np.maximum(np.bincount(group[published], minlength=n_groups), 1)
    real = np.flatnonzero(box >= 0)
    out = []
    for number in range(len(values)):
        share = np.bincount(group[published & (value == number)], minlength=n_groups) / size
        expected = np.bincount(box[real], weights=share[group[real]], minlength=draft.grouping.n_groups)
        out.append(expected.astype(np.float64))
    return out
