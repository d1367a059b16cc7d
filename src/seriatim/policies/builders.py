"""The ``hierarchy`` of a column: a file, or a builder's table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from seriatim.errors import PolicyError
from seriatim.model.hierarchies import (
    DATE_PARTS,
    DateHierarchy,
    Hierarchy,
    IntervalHierarchy,
    PrefixHierarchy,
    text_runs,
    text_sets,
)
from seriatim.model.policy_keys import PolicySection
from seriatim.policies.arx import read_arx
from seriatim.policies.faults import Faults, fault_value
from seriatim.policies.positions import KeyPath
from seriatim.policies.shapes import rows_of


def build_hierarchy(column: Mapping[str, Any], base: Path | None, path: KeyPath, faults: Faults) -> Hierarchy | None:
    """Return the column's hierarchy; None if it has none or a fault was noted."""
    given = column.get("hierarchy")
    if given is None:
        return None
    if isinstance(given, str | Path):
        return _from_file(given, base, path, faults)
    if not isinstance(given, Mapping):
        faults.add(path, f"is {fault_value(given)}", rows_of(PolicySection.COLUMNS)["hierarchy"].allowed)
        return None
    stated = faults.check(rows_of(PolicySection.HIERARCHY), given, path)
    return None if stated is None else _built(stated, column, path, faults)


def _from_file(given: str | Path, base: Path | None, path: KeyPath, faults: Faults) -> Hierarchy | None:
    if not str(given).strip():
        faults.add(path, "is empty", "the path of a hierarchy file", "name the file")
        return None
    try:
        return read_arx((base or Path()) / given)
    except PolicyError as error:
        faults.add(path, "cannot be used", remedy="see the lines about the file")
        faults.extend(path, error.faults)
        return None


def _built(stated: dict[str, Any], column: Mapping[str, Any], path: KeyPath, faults: Faults) -> Hierarchy | None:
    builders = [name for name in rows_of(PolicySection.HIERARCHY) if name != "origin"]
    asked = [name for name in builders if name in stated]
    if len(asked) != 1:
        allowed = f"exactly one of {', '.join(builders)}"
        faults.add(path, f"names {len(asked)} builders", allowed, "keep one")
        return None
    name = asked[0]
    inner = (*path, name)
    if "origin" in stated and name != "interval":
        faults.add((*path, "origin"), "is allowed beside interval only", remedy="remove origin")
    if name == "group" and all(isinstance(size, int) for size in stated[name]) and not column.get("order"):
        faults.add(inner, "needs the column's order", "order = [...]", "add the order, low to high")
        return None
    misfit = {"interval": ("date", "category"), "date": ("number",)}.get(name, ())
    if column.get("kind") in misfit:
        faults.add(inner, f"cannot read the kind {column['kind']}", remedy="correct kind or the builder")
    try:
        return _make(name, stated, column.get("order") or ())
    except ValueError as error:
        allowed = rows_of(PolicySection.HIERARCHY)[name].allowed
        faults.add(inner, f"is {fault_value(stated[name])}", allowed, str(error))
        return None


def _make(name: str, stated: Mapping[str, Any], order: Sequence[str]) -> Hierarchy:
    chosen = stated[name]
    if name == "interval":
        return IntervalHierarchy(
            tuple(_builder_decimal(width) for width in chosen), _builder_decimal(stated.get("origin", 0))
        )
    if name == "prefix":
        return PrefixHierarchy(tuple(chosen))
    if name == "group":
        return text_sets(chosen) if chosen and isinstance(chosen[0], list) else text_runs(order, chosen)
    return DateHierarchy(tuple(part for part in chosen if part in DATE_PARTS))


def _builder_decimal(number: float) -> Fraction:
    """Return the decimal that was written: 0.1 is a tenth here, not the float nearest to it."""
    return Fraction(Decimal(repr(number)))
