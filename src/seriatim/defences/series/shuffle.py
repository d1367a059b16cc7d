"""Makes a draft of a serial grouping: boxes as labels, and counterfeits among the rows that nothing tells apart.

Inside a group the sensitive values are shuffled against the rest of the row, so that a row's box says nothing about its
value beyond the group. Every release draws new group ids. A counterfeit gets a box of its group, and the plain
cells of a real row there. A second table says how many counterfeits each box has.

Boxes of cohorts cross groups, and most people are alone with their box and group together. Plain columns
therefore stand in a table of their own, beside the boxes and without groups, its rows in an order of their own.

The scale of its values holds those of the view and of earlier releases together. Promises about numbers need their
distances, and values that only earlier releases had may come back as counterfeits. Serial methods themselves see values
as names without an order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.defences.labels import LabelPieces, column_labels, label_column
from seriatim.defences.series.contract import (
    LongArray,
    SerialDraw,
    SerialGrouping,
    SerialPriors,
    SerialView,
    WithheldReason,
)
from seriatim.errors import Fault, PolicyError
from seriatim.kernels.arrays import rows_by_key
from seriatim.model import CodedColumn, Draft, Generalised, Grouping, Scale, View, scale_of
from seriatim.model.draft import COUNTERFEITS, PLAIN, TABLE
from seriatim.model.scale import FloatArray, IntArray
from seriatim.ports import Workers


def value_scale(column: CodedColumn, domain: pa.Array) -> tuple[Scale, IntArray]:
    """Return the scale of the domain, and the place on it of each of the domain's values."""
    texts = domain.cast(pa.string())
    positions = _positions(column.scale, domain, texts)
    if positions is None:
        n = len(domain)
        return scale_of("set", texts, np.arange(n, dtype=np.float64)), np.arange(n, dtype=np.int32)
    order = np.argsort(positions, kind="stable")
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    known = len(domain) - domain.null_count
    # a missing value is near to no other
    beyond = np.arange(1, domain.null_count + 1) + np.nanmax(positions, initial=0.0)
    rising = np.append(positions[order][:known], beyond)
    scale = scale_of(column.scale.form, texts.take(pa.array(order)), rising)
    return replace(scale, ranked=column.scale.ranked, dated=column.scale.dated), place


def _positions(scale: Scale, domain: pa.Array, texts: pa.StringArray) -> FloatArray | None:
    """Return the number, day or declared rank of each value, nan for a missing one; None if they have no distances."""
    if scale.form == "interval":
        try:
            if scale.dated:
                return _floats(domain.cast(pa.date32()).cast(pa.int32()))
            return _floats(domain.cast(pa.float64()))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # codes of earlier releases that are no numbers
            return None
    ranks = pc.index_in(texts, value_set=scale.texts)
    # one value of an earlier release that the order lacks, and the ranks mean nothing
    return _floats(ranks) if scale.ranked and ranks.null_count == 0 else None


def _floats(numbers: pa.Array) -> FloatArray:
    return np.asarray(numbers.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


GROUP = "group"


@dataclass(frozen=True, slots=True, eq=False)
class ShuffledView:
    """A view prepared for a serial defence."""

    codes: SerialView
    rows: LongArray
    """The records of the view that take part: all but those the policy suppresses."""
    domain: pa.Array
    """The sensitive values: those of the history first, in its order, then new ones of the view.

    In the view's type, or as texts if some values of the history do not have it.
    """


def code_view(
    view: View,
    person: LongArray,
    past_values: pa.Array,
    priors: SerialPriors | None = None,
    chance: np.random.Generator | None = None,
) -> ShuffledView:
    """Code a view for a series; ``person`` and ``priors`` have an entry per record, ``past_values`` is History.values.

    With ``chance`` the records are shuffled. If quasi-identifiers tie, groups follow the order of the records, and
    extracts come sorted by id: the same people would be neighbours in every release. Sensitive codes are positions in
    the history's values, so a value that nobody has at present keeps its code.
    """
    if not view.sensitive:
        remedy = 'give the column to protect the role "sensitive"'
        raise PolicyError(Fault("[columns]", "no sensitive column", "at least one for a serial method", remedy))
    if len(view.sensitive) > 1:
        found, remedy = f"{len(view.sensitive)} sensitive columns", "publish makes a table for each: use it"
        raise PolicyError(Fault("[columns]", found, "one for each table of a serial method", remedy))
    rows = np.flatnonzero(~view.suppressed)
    rows = rows if chance is None else chance.permutation(rows)
    cells = _plain(view.cells(view.sensitive[0].name, rows))
    past = _in_type(past_values, cells.type)
    cells = cells if past.type == cells.type else pc.cast(cells, past.type)
    # those of the history come first, so that their codes are positions in it
    domain = pc.unique(pa.chunked_array([past, cells]))
    sensitive = pc.index_in(cells, value_set=domain).to_numpy(zero_copy_only=False).astype(np.int32)
    quasi = np.empty((len(rows), len(view.quasi)), dtype=np.int32)
    for d, column in enumerate(view.quasi):
        quasi[:, d] = column.codes[rows]
    own = replace(priors, of_record=priors.of_record[rows]) if priors else None
    scales = tuple(column.scale for column in view.quasi)
    codes = SerialView(
        quasi=quasi,
        scales=scales,
        sensitive=sensitive,
        n_values=len(domain),
        person=person[rows],
        priors=own,
        plain=bool(view.plain),
    )
    return ShuffledView(codes, rows, domain)


def _in_type(past_values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return the history's values, which a ledger keeps as texts, in the view's type; as texts if some do not have it.

    Codes with a letter are text one month, and whole numbers the next if nobody with a letter remains.
    """
    try:
        past = pc.cast(past_values, kind)
    except pa.ArrowInvalid:
        return pc.cast(past_values, pa.string())
    return past if len(pc.unique(past)) == len(past) else pc.cast(past_values, pa.string())


def _plain(column: pa.ChunkedArray) -> pa.Array:
    """Return one array without a dictionary."""
    column = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    merged = column.combine_chunks()
    return pa.concat_arrays(merged.chunks) if isinstance(merged, pa.ChunkedArray) else merged


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The published rows, real ones first."""

    record: LongArray
    """The record of the view whose quasi labels and plain cells a row carries."""
    box: LongArray
    group: LongArray
    value: IntArray


def shuffled_draft(view: View, stage: ShuffledView, made: SerialGrouping, draw: SerialDraw, workers: Workers) -> Draft:
    """Return the draft of a grouping of the staged view."""
    published = _with_counterfeits(stage, made, draw)
    pieces = _boxes(stage.rows, made)
    chance = draw.chance("shuffle")
    tasks: list[Callable[[], Any]] = [
        lambda: _shuffled_inside(published.group, published.value, made.n_groups, chance),
        *(partial(column_labels, column, pieces) for column in view.quasi),
    ]
    value, *labels = workers.map(lambda task: task(), tasks)
    generalised: tuple[Generalised, ...] = tuple(labels)
    order = chance.permutation(len(published.record))
    number = draw.chance("group ids").permutation(made.n_groups)
    mixed = _Rows(published.record[order], published.box[order], published.group[order], value[order])
    # records that the policy suppressed are in no box
    box_of_record = np.full(len(view), -1, dtype=np.int32)
    box_of_record[stage.rows] = made.box
    name = view.sensitive[0].name
    scale, place = value_scale(view.sensitive[0], stage.domain)
    # groups of cohorts last: plain cells beside them could be followed from release to release
    apart = bool(view.plain) and made.slots is not None
    inside = replace(view, plain=()) if apart else view
    files = {
        TABLE: _table(inside, stage, mixed, generalised, number),
        COUNTERFEITS: _side_table(published, made, generalised, number),
    }
    if apart:
        files[PLAIN] = _plain_table(view, box_of_record, generalised, draw.chance("plain rows"))
    return Draft(
        files=files,
        quasi=tuple(column.name for column in view.quasi),
        sensitive={name: CodedColumn(name, place[mixed.value], scale)},
        grouping=Grouping(box_of_record, pieces.n_groups),
        generalised=generalised,
        groups=_shuffled_groups(view, stage, made, number),
        serial=True,
        counters={**made.counters, **_withheld(made)},
    )


def _withheld(made: SerialGrouping) -> dict[str, int]:
    """Count the people withheld by reason, for the reasons that occur."""
    found = {f"withheld, {reason.name.lower().replace('_', ' ')}": made.n_withheld(reason) for reason in WithheldReason}
    return {name: count for name, count in found.items() if count and not name.endswith(", no")}


def _boxes(rows: LongArray, made: SerialGrouping) -> LabelPieces:
    bounds, order = rows_by_key(made.box, int(made.box.max(initial=-1)) + 1)
    return LabelPieces(rows[order], bounds)


def _with_counterfeits(stage: ShuffledView, made: SerialGrouping, draw: SerialDraw) -> _Rows:
    """Let each counterfeit copy the box and plain cells of a random real row of its group."""
    real = np.flatnonzero(made.group >= 0)
    starts, members = rows_by_key(made.group, made.n_groups)
    size = np.diff(starts)[made.counterfeit_group]
    # a box and plain cells of its own would show that a row is nobody's
    pick = (draw.chance("counterfeit rows").random(len(size)) * size).astype(np.int64)
    at = np.concatenate((real, members[starts[made.counterfeit_group] + pick]))
    value = np.concatenate((stage.codes.sensitive[real], made.counterfeit_value))
    group = np.concatenate((made.group[real], made.counterfeit_group))
    return _Rows(stage.rows[at], made.box[at].astype(np.int64), group.astype(np.int64), value)


def _shuffled_inside(group: LongArray, value: IntArray, n_groups: int, chance: np.random.Generator) -> IntArray:
    """Shuffle the values inside every group."""
    # two orders of the same rows by group, one of them shuffled before: the n-th here takes the value of the n-th there
    key: IntArray = group.astype(np.int32)
    mixed = np.argsort(chance.random(len(key)), kind="stable")
    out = np.empty_like(value)
    out[rows_by_key(key, n_groups)[1]] = value[mixed[rows_by_key(key[mixed], n_groups)[1]]]
    return out


def _table(
    view: View, stage: ShuffledView, rows: _Rows, generalised: Sequence[Generalised], number: LongArray
) -> pa.Table:
    names = list(view.published_names())
    if GROUP in names:
        raise PolicyError(Fault(f"[columns.{GROUP}]", "serial methods publish a column of this name", "", "rename it"))
    columns: dict[str, Any] = {name: view.cells(name, rows.record) for name in view.plain}
    columns |= {g.name: label_column(g, rows.box) for g in generalised}
    columns[view.sensitive[0].name] = stage.domain.take(pa.array(rows.value))
    return pa.table({GROUP: pa.array(number[rows.group]), **{name: columns[name] for name in names}})


def _side_table(
    published: _Rows, made: SerialGrouping, generalised: Sequence[Generalised], number: LongArray
) -> pa.Table:
    """Count the counterfeits of each box and group that have any, in order of the published ids."""
    made_up = slice(len(published.box) - made.n_counterfeits, None)
    n_groups = max(made.n_groups, 1)
    both, count = np.unique(published.box[made_up] * n_groups + published.group[made_up], return_counts=True)
    box, group = both // n_groups, both % n_groups
    shown = number[group]
    # groups as they are numbered inside come in the order in which they were made
    order = np.argsort(shown, kind="stable")
    columns = {GROUP: pa.array(shown[order])}
    columns |= {g.name: label_column(g, box[order]) for g in generalised}
    return pa.table({**columns, COUNTERFEITS: pa.array(count[order].astype(np.int64))})


def _plain_table(
    view: View, box: IntArray, generalised: Sequence[Generalised], chance: np.random.Generator
) -> pa.Table:
    """Return a row for each real person published: their box and plain cells, in an order that says nothing."""
    rows = chance.permutation(np.flatnonzero(box >= 0))
    columns: dict[str, Any] = {name: view.cells(name, rows) for name in view.plain}
    columns |= {g.name: label_column(g, box[rows].astype(np.int64)) for g in generalised}
    return pa.table({name: columns[name] for name in view.published_names() if name in columns})


def _shuffled_groups(view: View, stage: ShuffledView, made: SerialGrouping, number: LongArray) -> pa.Table:
    """Return release.groups: every record of the view, then the counterfeits; cohorts add
    ``lineage``, ``slot`` and ``baseline``.

    Groups have their published ids, so that the publisher finds everyone's rows in the table.
    """
    n, n_made_up = len(view), made.n_counterfeits
    group = np.full(n + n_made_up, -1, dtype=np.int64)
    group[stage.rows], group[n:] = made.group, made.counterfeit_group
    hidden = group < 0
    # any number will do for them: they are masked
    shown = np.where(hidden, 0, number[group]) if made.n_groups else group
    sensitive = view.sensitive[0].name
    who = _plain(view.cells(view.respondent)) if view.respondent else pa.nulls(n, pa.string())
    made_up = stage.domain.take(pa.array(made.counterfeit_value))
    columns = {
        "respondent": pa.concat_arrays([who, pa.nulls(n_made_up, who.type)]),
        "group": pa.array(shown.astype(np.int32), mask=hidden),
        sensitive: pa.concat_arrays([pc.cast(_plain(view.cells(sensitive)), made_up.type), made_up]),
        "counterfeit": pa.array(np.arange(n + n_made_up) >= n),
        "suppressed": pa.array(hidden),
    }
    if made.slots is not None:
        slot = np.full(n + n_made_up, -1, dtype=np.int64)
        slot[stage.rows], slot[n:] = made.slots.slot_of_record, made.slots.slot_of_counterfeit
        lineage = made.slots.cohort_of_group[group] if made.n_groups else group
        columns |= {"lineage": pa.array(lineage, mask=hidden), "slot": pa.array(slot, mask=hidden)}
        if made.slots.baseline is not None:
            value = np.zeros(n + n_made_up, dtype=np.int64)
            value[stage.rows], value[n:] = stage.codes.sensitive, made.counterfeit_value
            columns["baseline"] = pa.array(made.slots.baseline[value], mask=hidden)
            columns["blind"] = pa.array(np.ones(n + n_made_up, dtype=np.int8), mask=hidden)  # not cut by values
    return pa.table(columns)
