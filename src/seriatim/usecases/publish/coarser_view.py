"""Coarser views for rehearsals: one quasi-identifier rounded, or at a higher level of its hierarchy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType

from seriatim.model import CodedColumn, ColumnRule, Kind, Policy

_PARTS = (20, 10, 5)
"""Into how many steps the range of a column is cut, mildest first."""
_ROUND = (1, 2, 5, 10)


def coarser_rules(column: CodedColumn, rule: ColumnRule) -> Iterator[tuple[str, ColumnRule]]:
    """Yield a column's rule made coarser, the mildest first, with the line to paste."""
    if rule.hierarchy is not None:
        for level in range((rule.level or 0) + 1, _levels(column, rule)):
            yield f"level = {level}", replace(rule, level=level)
    elif rule.order is None and rule.kind is not Kind.DATE and column.scale.form == "interval":
        for unit in _units(column, rule.rounding or 0.0):
            yield f"rounding = {unit:g}", replace(rule, rounding=unit)


def coarser_policy(policy: Policy, rule: ColumnRule) -> Policy:
    """Return the policy with this rule for its column."""
    return replace(policy, columns=MappingProxyType({**policy.columns, rule.name: rule}))


def _levels(column: CodedColumn, rule: ColumnRule) -> int:
    """Return how many levels a column's hierarchy has, the last being for all values."""
    assert rule.hierarchy is not None
    texts = [text for text in column.scale.texts[:1].to_pylist() if text is not None]
    paths = [path for path in rule.hierarchy.paths(texts) if path is not None]
    return len(paths[0]) + (rule.level or 0) if paths else 0


def _units(column: CodedColumn, above: float) -> Iterator[float]:
    """Yield round units that cut the column's range into fewer and fewer steps."""
    positions = column.scale.positions
    width = float(positions.max() - positions.min()) if len(positions) else 0.0
    last = above
    for parts in _PARTS if width > 0 else ():
        power = 10.0 ** _power(width / parts)
        unit = next(power * nice for nice in _ROUND if power * nice >= width / parts * (1 - 1e-9))
        if unit > last and unit > width / max(len(positions) - 1, 1):
            last = unit
            yield unit


def _power(value: float) -> int:
    from math import floor, log10

    return floor(log10(value))
