"""Writes figures for people and for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

UNMEASURED = "could not be measured"


def format_count(value: int) -> str:
    return f"{value:,}"


def format_people(value: int, one: str = "record", many: str = "records") -> str:
    return f"{value:,} {one if value == 1 else many}"


def format_percent(share: float) -> str:
    """Write a share as a percentage; a small one never becomes 0%, nor a nearly whole one 100%."""
    if not math.isfinite(share):
        return UNMEASURED
    if 0 < share < 0.0001:
        return "below 0.01%"
    if 0.9999 < share < 1:
        return "above 99.99%"
    digits = 0 if share in (0.0, 1.0) else 2 if share < 0.01 or share > 0.99 else 1
    text = f"{share * 100:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + "%"


def format_number(value: float) -> str:
    """Write whole numbers whole and others with three significant digits."""
    if math.isnan(value):
        return UNMEASURED
    if math.isinf(value):
        return "unbounded" if value > 0 else "minus unbounded"
    if value == math.floor(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def format_with_unit(value: float, unit: str) -> str:
    if unit in ("share", "percent", "%"):
        return format_percent(value)
    return f"{format_number(value)} {unit}".rstrip() if math.isfinite(value) else format_number(value)


def format_plain(value: Any) -> Any:
    """Return a value in types that JSON has; numbers that are not finite become "inf", "-inf" or "nan"."""
    if isinstance(value, (np.generic, np.ndarray)):
        return format_plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {str(key): format_plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [format_plain(entry) for entry in value]
    if isinstance(value, (set, frozenset)):
        return sorted((format_plain(entry) for entry in value), key=str)
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise TypeError(f"a report holds numbers, texts and lists of them, not {type(value).__name__}")
