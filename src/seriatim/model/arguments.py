"""What a caller hands in, checked before anything is computed from it: a wrong type is told like a wrong value."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from seriatim.errors import AdversaryError, Fault

_LARGEST = 1 << 31


def share_of(where: str, value: Any) -> float:
    """A number from 0 to 1."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0.0 <= float(value) <= 1.0:
        raise AdversaryError(Fault(where, shown(value), "0 to 1"))
    return float(value)


def whole_of(where: str, value: Any, least: int = 1) -> int:
    """A whole number from ``least`` up."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) < _LARGEST:
        raise AdversaryError(Fault(where, shown(value), f"a whole number, {least} or more"))
    return int(value)


def shown(value: Any) -> str:
    """A number as it is, of anything else its type: it may be a cell of somebody's table."""
    if isinstance(value, Integral | float) and not isinstance(value, bool):
        return f"{value}" if not isinstance(value, float) or math.isfinite(value) else "not a finite number"
    return f"a {type(value).__name__}"
