"""From groups to a draft: labels in place of quasi-identifiers, rows in an order that says nothing."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from seriatim.defences.labels import Pieces, generalise, label_column
from seriatim.model import Coded, Draft, Generalised, Grouping, View


def draft_of(
    view: View, pieces: Pieces, chance: np.random.Generator, labelled: tuple[Generalised, ...] | None = None
) -> Draft:
    """The draft in which the pieces are the groups and every record outside them is suppressed.

    A group is labelled by what it holds, unless the defence brings its labels.
    """
    group = np.full(len(view), -1, dtype=np.int32)
    group[pieces.order] = np.repeat(np.arange(pieces.n_groups, dtype=np.int32), np.diff(pieces.bounds))
    generalised = labelled if labelled is not None else tuple(generalise(column, pieces) for column in view.quasi)
    rows = chance.permutation(np.flatnonzero(group >= 0))
    labels = {g.name: label_column(g, group[rows]) for g in generalised}
    names = list(view.published_names())
    take = pa.array(rows)
    columns = [labels[name] if name in labels else view.table.data.column(name).take(take) for name in names]
    return Draft(
        pa.table(columns, names=names),
        tuple(column.name for column in view.quasi),
        {c.name: Coded(c.name, c.codes[rows], c.scale) for c in view.sensitive},
        Grouping(group, pieces.n_groups),
        generalised,
        groups_table(view, group),
    )


def groups_table(view: View, group: np.ndarray) -> pa.Table:
    """release.groups: one row per record of the view, publisher's eyes only."""
    n = len(view)
    suppressed = group < 0
    data = view.table.data
    respondent = data.column(view.respondent) if view.respondent else pa.nulls(n, pa.string())
    columns = {
        "respondent": respondent,
        "group": pa.array(group, mask=suppressed),
        **{column.name: _typed(data.column(column.name)) for column in view.sensitive},
        "counterfeit": pa.array(np.zeros(n, dtype=bool)),
        "suppressed": pa.array(suppressed),
    }
    return pa.table(columns)


def _typed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column without any value has no type of its own; the ledger keeps it as text."""
    return column.cast(pa.string()) if pa.types.is_null(column.type) else column
