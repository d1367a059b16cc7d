"""Invariant groups: in every release a person is among the same set of values.

m-invariance (Xiao and Tao, SIGMOD 2007): each group has m or more tuples, all with different values, and all groups a
person is ever in have the same set of values. Counterfeits keep a signature alive when people leave. It does not stop
an adversary who compares groups of different releases: see the historical and cohort defences.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seriatim.defences.series.boxes import number_groups
from seriatim.defences.series.contract import (
    BoolArray,
    SerialDraw,
    SerialGrouping,
    SerialRules,
    SerialView,
    WithheldReason,
)
from seriatim.defences.series.memory import RememberedRows
from seriatim.ports import Workers
from seriatim_papers.buckets import Buckets, fill_buckets
from seriatim_papers.halves import HalvesCut, cut_into_halves
from seriatim_papers.memory import Memory


def invariant(
    view: SerialView, rules: SerialRules, pasts: Sequence[RememberedRows], draw: SerialDraw, workers: Workers
) -> SerialGrouping:
    """Group a view so that people keep their set of values (m-invariance, Xiao and Tao 2007)."""
    return invariant_groups(view, rules, Memory.of(pasts, view.person), draw, workers)


def invariant_groups(
    view: SerialView, rules: SerialRules, memory: Memory, draw: SerialDraw, workers: Workers
) -> SerialGrouping:
    """Divide, balance and assign, then halve every bucket recursively."""
    view.check(rules)
    view.check_values(memory.value)
    active = invariant_lifespan(view, rules, memory)
    buckets = fill_buckets(view, rules, memory, active, draw.chance("assignment"))
    cut = cut_into_halves(view, buckets, draw.chance("counterfeits"), workers)
    return invariant_grouping(view, rules, active, buckets, cut)


def invariant_lifespan(view: SerialView, rules: SerialRules, memory: Memory) -> BoolArray:
    """Return who has not yet been published as often as allowed."""
    if rules.lifespan is None:
        return np.ones(len(view), dtype=np.bool_)
    return np.asarray(memory.publications < rules.lifespan)


def invariant_grouping(
    view: SerialView, rules: SerialRules, active: BoolArray, buckets: Buckets, cut: HalvesCut
) -> SerialGrouping:
    """Return the cut as a grouping, with a reason for everyone without a group."""
    group = cut.group_of_id[: len(view)]
    withheld = np.zeros(len(view), dtype=np.int8)
    withheld[group < 0] = rules.leftover
    withheld[~active] = WithheldReason.LIFESPAN
    counters = {"buckets": len(buckets.steps), "groups": cut.n_groups, "counterfeits": len(cut.counterfeit_value)}
    return SerialGrouping(
        group=group,
        withheld=withheld,
        n_groups=cut.n_groups,
        counterfeit_group=cut.group_of_id[len(view) :],
        counterfeit_value=cut.counterfeit_value,
        box=number_groups(view, group, cut.place, rules.m),
        counters=counters,
    )
