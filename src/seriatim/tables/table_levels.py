"""Replaces the values of a quasi-identifier by their labels at a level of its hierarchy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from seriatim.errors import Fault
from seriatim.model import ColumnRule, Kind
from seriatim.model.hierarchies import path_hierarchy
from seriatim.tables.codes import UnreadableColumn, codes_of


def table_column_at_level(column: pa.ChunkedArray, rule: ColumnRule, where: str) -> tuple[pa.Array, ColumnRule]:
    """Return the column with its labels at ``rule.level``, and the rule that reads them: the levels above remain.

    A value that the hierarchy does not know stays, and is unseen by what remains of it.
    """
    assert rule.hierarchy is not None
    assert rule.level is not None
    cells = codes_of(column, rule.kind, where)
    texts = cells.texts().to_pylist()
    paths = rule.hierarchy.paths(texts)
    known = [path for path in paths if path is not None]
    if known and rule.level >= len(known[0]):
        found = f"its hierarchy has {len(known[0])} levels, the last of them for all values"
        raise UnreadableColumn(Fault(f"{where}, level", found, f"at most {len(known[0]) - 1}", "choose a lower level"))
    labels = [text if path is None else path[rule.level - 1] for text, path in zip(texts, paths, strict=True)]
    rows = {path[rule.level - 1]: path[rule.level :] for path in known}
    shown = pa.array(labels, pa.string()).take(
        pa.array(np.maximum(cells.codes, 0), pa.int64(), mask=np.asarray(cells.codes) < 0)
    )
    if not rows:
        return shown, replace(rule, level=None, kind=Kind.CATEGORY)
    above = path_hierarchy(f"{rule.hierarchy.source}, from level {rule.level}", rows)
    return shown, replace(rule, level=None, kind=Kind.CATEGORY, hierarchy=above, order=None)
