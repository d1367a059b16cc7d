"""Slots that stay because people whom earlier releases have narrowed down need their values to remain possible."""

from __future__ import annotations

import numpy as np

from seriatim.defences.series.contract import BoolArray
from seriatim.defences.series.inherited import narrowed_inherited
from seriatim.defences.series.lineage.workbench import Workbench

SPARE = 2
"""Anyone with at most this many values more than they must keep needs all of them."""


def needed_slots(making: Workbench) -> BoolArray:
    """Return one slot for each value of a lineage that somebody in it needs: taken by a person, if one is."""
    table, inherited, view = making.table, making.view.inherited, making.view
    out = np.zeros(len(table.slot), dtype=np.bool_)
    if inherited is None or not len(out):
        return out
    standing = making.standing
    shown, real = standing.values_shown(view.n_values), np.flatnonzero(table.record >= 0)
    group, record = standing.group[real], table.record[real]
    left = inherited.possible[inherited.of_record[record]] & shown[group]
    tight = left.sum(axis=1) <= inherited.wanted(making.rules.m)[record] + SPARE
    tight &= ~inherited.known(view.person[record])
    needed = np.zeros_like(shown)
    np.logical_or.at(needed, group[tight], left[tight])
    order = np.argsort(table.record < 0, kind="stable")
    keys, first = np.unique((standing.group * view.n_values + table.value)[order], return_index=True)
    out[order[first]] = needed.reshape(-1)[keys]
    return out


def keep_needed_slots(making: Workbench, dropped: BoolArray) -> None:
    """Undo the drops of lineages in which somebody would keep too few possible values."""
    if making.view.inherited is not None and dropped.any():
        kept = narrowed_inherited(making.view, making.standing, dropped, making.rules.m)
        dropped[kept[making.standing.group]] = False
