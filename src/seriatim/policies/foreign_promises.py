"""Promises that other packages registered: a policy may name them like ours, in [promise] or for one column."""

from __future__ import annotations

from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

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
    """Remove the registered promises from the keys and return them; note and remove unknown keys, too."""
    unknown = [key for key in keys if key not in shape.model_fields]
    registered = foreign_promises() if unknown else ()
    found = {}
    for key in unknown:
        value = keys.pop(key)
        if key not in registered:
            faults.unknown((*path, key), [*shape.model_fields, *registered])
        elif not storable_shape(value):
            faults.add((*path, key), f"is {fault_value(value)}", "numbers that are finite, texts, lists and tables")
        else:
            found[key] = _frozen(value)
    return found


def _frozen(value: Any) -> Any:
    return MappingProxyType(value) if isinstance(value, dict) else value
