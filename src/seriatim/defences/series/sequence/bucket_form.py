"""Buckets instead of boxes: quasi-identifiers as they are, and the values of each group in a table of their own.

Xiao and Tao's anatomy, which JS-reduce's section 6 names as another form of its output. Anyone who joins both tables by
group sees every value of the group beside every member, so a draft keeps the joined table with the values of each group
shuffled, and a release writes the two.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from seriatim.kernels.arrays import Longs
from seriatim.model import CodedColumn, Draft, Grouping, View
from seriatim.model.classes import GROUP
from seriatim.model.draft import TABLE


def bucket_form(draft: Draft, view: View, chance: np.random.Generator) -> Draft:
    """Return the draft with exact quasi-identifiers, random group numbers, and values shuffled within groups."""
    number = chance.permutation(draft.grouping.n_groups).astype(np.int32)
    group = draft.grouping.group
    shown = np.where(group >= 0, number[np.maximum(group, 0)], -1).astype(np.int32) if len(number) else group
    rows = chance.permutation(np.flatnonzero(group >= 0))
    partner = _partners(group, rows, chance)
    coded = {column.name: column.scale.texts.take(pa.array(column.codes[rows])) for column in view.quasi}
    values = {column.name: view.cells(column.name, partner) for column in view.sensitive}
    names = list(view.published_names())
    others = {name: view.cells(name, rows) for name in names if name not in coded}
    table = pa.table({GROUP: pa.array(shown[rows]), **{name: (coded | others | values)[name] for name in names}})
    back = np.argsort(number).astype(np.int32)
    place = draft.groups.column_names.index(GROUP)
    return replace(
        draft,
        files={**draft.files, TABLE: table},
        sensitive={c.name: CodedColumn(c.name, c.codes[partner], c.scale) for c in view.sensitive},
        grouping=Grouping(shown, draft.grouping.n_groups),
        generalised=tuple(column.of_groups(back) for column in draft.generalised),
        groups=draft.groups.set_column(place, GROUP, pa.array(shown, mask=shown < 0)),
        buckets=True,
    )


def _partners(group: np.ndarray, rows: Longs, chance: np.random.Generator) -> Longs:
    """Return for each published row a row of the same group, each once."""
    others = chance.permutation(rows)
    partner = np.empty(len(rows), dtype=np.int64)
    partner[np.argsort(group[rows], kind="stable")] = others[np.argsort(group[others], kind="stable")]
    return partner
