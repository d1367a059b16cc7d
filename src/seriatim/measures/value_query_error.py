"""How well users can still count people with a value: random ranges of quasi columns, crossed with a frequent value.

The estimate spreads every record evenly over its label, and the values of a group evenly over its records, as a reader
of the release must.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.kernels.check.box_counts import count_inside, expected_inside
from seriatim.measures.margin import has_made_up_numbers
from seriatim.measures.query_error import MOST_ROWS, SEED, draw_queries, fit_queries, label_boxes, order_by_codes
from seriatim.model import Draft, Measure, View
from seriatim.model.chance import open_chance

QUERIES = 120
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
    for number, query in enumerate(fit_queries(codes, sizes, SHARE, draw_queries(codes, sizes, QUERIES, chance))):
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
