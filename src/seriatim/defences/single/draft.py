"""Makes a draft of groups: labels replace quasi-identifiers, and the order of rows says nothing."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from seriatim.defences.labels import LabelPieces, column_labels, label_column
from seriatim.model import CodedColumn, Draft, Generalised, Grouping, View
from seriatim.model.draft import TABLE
from seriatim.model.scale import IntArray
from seriatim.ports import Workers


def draft_of(
    view: View,
    pieces: LabelPieces,
    chance: np.random.Generator,
    workers: Workers,
    labelled: tuple[Generalised, ...] | None = None,
) -> Draft:
    """Return the draft in which the pieces are the groups and every record outside them is suppressed.

    A group is labelled by its values, unless the defence brings its own labels. Groups with equal labels are one group:
    no reader can tell them apart, and a history that kept them apart would know more than any reader.
    """
    group = np.full(len(view), -1, dtype=np.int32)
    group[pieces.order] = np.repeat(np.arange(pieces.n_groups, dtype=np.int32), np.diff(pieces.bounds))
    if labelled is None:
        labelled = tuple(workers.map(lambda column: column_labels(column, pieces), view.quasi))
    generalised, class_of = _alike(labelled, pieces.n_groups)
    group[pieces.order] = class_of[group[pieces.order]]
    rows = chance.permutation(np.flatnonzero(group >= 0))
    shown = {one.name: one for one in generalised}

    def column_of(name: str) -> pa.Array | pa.ChunkedArray:
        return label_column(shown[name], group[rows]) if name in shown else view.cells(name, rows)

    names = list(view.published_names())
    columns = workers.map(column_of, names)
    return Draft(
        files={TABLE: pa.table(columns, names=names)},
        quasi=tuple(column.name for column in view.quasi),
        sensitive={c.name: CodedColumn(c.name, c.codes[rows], c.scale) for c in view.sensitive},
        grouping=Grouping(group, int(class_of.max(initial=-1)) + 1),
        generalised=generalised,
        groups=_draft_groups(view, group),
    )


def _alike(generalised: tuple[Generalised, ...], n_groups: int) -> tuple[tuple[Generalised, ...], IntArray]:
    """Return the labels of the distinct boxes in order of appearance, and the box of each group."""
    if not n_groups or not generalised:
        return generalised, np.arange(n_groups, dtype=np.int32)
    number = _texts(generalised[0]).astype(np.int64)
    for column in generalised[1:]:  # one column after the other: sorting whole rows takes four times as long
        texts = _texts(column).astype(np.int64)
        number = np.unique(number * (texts.max(initial=0) + 1) + texts, return_inverse=True)[1]
    _, first, number = np.unique(number, return_index=True, return_inverse=True)
    if len(first) == n_groups:
        return generalised, np.arange(n_groups, dtype=np.int32)
    order = np.argsort(first)
    rank = np.empty(len(first), dtype=np.int32)
    rank[order] = np.arange(len(first), dtype=np.int32)
    kept = first[order].astype(np.int32)
    return tuple(g.of_groups(kept) for g in generalised), rank[number]


def _texts(column: Generalised) -> IntArray:
    """Return for each group the number of its label's text: two labels may have the same text."""
    number = pa.array(column.labels, pa.string()).dictionary_encode(null_encoding="encode").indices.to_numpy()
    return np.asarray(number[column.label_of_group])


def _draft_groups(view: View, group: np.ndarray) -> pa.Table:
    """Return release.groups: one row per record of the view, for the publisher's eyes only."""
    n = len(view)
    suppressed = group < 0
    respondent = view.cells(view.respondent) if view.respondent else pa.nulls(n, pa.string())
    columns = {
        "respondent": respondent,
        "group": pa.array(group, mask=suppressed),
        **{column.name: _typed(view.cells(column.name)) for column in view.sensitive},
        "counterfeit": pa.array(np.zeros(n, dtype=bool)),
        "suppressed": pa.array(suppressed),
    }
    return pa.table(columns)


def _typed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give a column without any value the type text, which the ledger can keep."""
    return column.cast(pa.string()) if pa.types.is_null(column.type) else column
