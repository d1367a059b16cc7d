"""The ``hierarchy`` of a column: a file, or a builder's table."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from seriatim.errors import PolicyError
from seriatim.model.hierarchies.dates import DATE_PARTS, DateHierarchy
from seriatim.model.hierarchies.numbers import IntervalHierarchy
from seriatim.model.hierarchies.paths import Hierarchy
from seriatim.model.hierarchies.texts import PrefixHierarchy, text_runs, text_sets
from seriatim.policies.arx import read_arx
from seriatim.policies.faults import Faults, fault_value
from seriatim.policies.positions import KeyPath
from seriatim.policies.shapes import BuilderShape, ColumnShape

_BUILDERS = ("interval", "prefix", "group", "groups", "date")


def build_hierarchy(column: ColumnShape, base: Path | None, path: KeyPath, faults: Faults) -> Hierarchy | None:
    """Return the column's hierarchy; None if it has none or a fault was noted."""
    given = column.hierarchy
    if given is None:
        return None
    if isinstance(given, str | Path):
        return _from_file(given, base, path, faults)
    if not isinstance(given, Mapping):
        allowed = ColumnShape.model_fields["hierarchy"].description or ""
        faults.add(path, f"is {fault_value(given)}", allowed)
        return None
    shape = faults.check(BuilderShape, given, path)
    return None if shape is None else _built(shape, column, path, faults)


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


def _built(shape: BuilderShape, column: ColumnShape, path: KeyPath, faults: Faults) -> Hierarchy | None:
    asked = [name for name in _BUILDERS if getattr(shape, name) is not None]
    if len(asked) != 1:
        allowed = f"exactly one of {', '.join(_BUILDERS)}"
        faults.add(path, f"names {len(asked)} builders", allowed, "keep one")
        return None
    name = asked[0]
    inner = (*path, name)
    if shape.origin is not None and name != "interval":
        faults.add((*path, "origin"), "is allowed beside interval only", remedy="remove origin")
    if name == "group" and not column.order:
        faults.add(inner, "needs the column's order", "order = [...]", "add the order, low to high")
        return None
    misfit = {"interval": ("date", "category"), "date": ("number",)}.get(name, ())
    if column.kind in misfit:
        faults.add(inner, f"cannot read the kind {column.kind}", remedy="correct kind or the builder")
    try:
        return _make(name, shape, column)
    except ValueError as error:
        allowed = BuilderShape.model_fields[name].description or ""
        faults.add(inner, f"is {fault_value(getattr(shape, name))}", allowed, str(error))
        return None


def _make(name: str, shape: BuilderShape, column: ColumnShape) -> Hierarchy:
    chosen: Any = getattr(shape, name)
    if name == "interval":
        return IntervalHierarchy(
            tuple(_builder_decimal(width) for width in chosen), _builder_decimal(shape.origin or 0)
        )
    if name == "prefix":
        return PrefixHierarchy(tuple(chosen))
    if name == "group":
        return text_runs(column.order or (), chosen)
    if name == "groups":
        return text_sets(chosen)
    return DateHierarchy(tuple(part for part in chosen if part in DATE_PARTS))


def _builder_decimal(number: float) -> Fraction:
    """Return the decimal that was written: 0.1 is a tenth here, not the float nearest to it."""
    return Fraction(Decimal(repr(number)))
