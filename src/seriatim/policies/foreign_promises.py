"""Promises without a key in the policy's shape: those of other packages, and rows of ours that need none.

A policy names them like any other, in [promise] or for one column. A key of ours needs a field in a shape only if more
than its own promise reads it, or if it is no number.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

from seriatim.model.number_limits import NumberLimits
from seriatim.model.promises import PROMISES, PromiseSection
from seriatim.policies.faults import Faults, fault_value
from seriatim.policies.positions import KeyPath
from seriatim.policies.shapes import storable_shape

GROUP = "seriatim.promises"


def foreign_promises() -> tuple[str, ...]:
    """Return their names, without loading any of them."""
    return tuple(sorted(entry_points(group=GROUP).names))


def take_foreign_promises(
    keys: dict[str, Any], shape: type[BaseModel], path: KeyPath, faults: Faults
) -> dict[str, Any]:
    """Remove the promises without a field from the keys and return them; also note and remove unknown keys."""
    unknown = [key for key in keys if key not in shape.model_fields]
    registered = foreign_promises() if unknown else ()
    found = {}
    for key in unknown:
        value, limits = keys.pop(key), _limits_of_row(key)
        if limits is not None and not limits.allow(value):
            faults.add((*path, key), f"is {fault_value(value)}", limits.words)
            faults.faulty.add((*path, key))
        elif limits is None and key not in registered:
            faults.unknown((*path, key), [*shape.model_fields, *registered])
        elif not storable_shape(value):
            faults.add((*path, key), f"is {fault_value(value)}", "numbers that are finite, texts, lists and tables")
        else:
            found[key] = _frozen(value)
    return found


def _limits_of_row(key: str) -> NumberLimits | None:
    """Return the limits of a number that [promise] may have by its row alone."""
    row = PROMISES.get(key)
    return row.limits if row is not None and row.section is PromiseSection.PROMISE else None


def _frozen(value: Any) -> Any:
    return MappingProxyType(value) if isinstance(value, dict) else value
