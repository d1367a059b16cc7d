"""Checks the arguments of a caller before anything is computed: a wrong type gets the same error as a wrong value."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from seriatim.errors import AdversaryError, Fault

_LARGEST = 1 << 31


def share_argument(where: str, value: Any) -> float:
    """Return a number from 0 to 1, or raise an error."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0.0 <= float(value) <= 1.0:
        raise AdversaryError(Fault(where, shown_argument(value), "0 to 1"))
    return float(value)


def whole_argument(where: str, value: Any, least: int = 1) -> int:
    """Return a whole number of at least ``least``, or raise an error."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) < _LARGEST:
        raise AdversaryError(Fault(where, shown_argument(value), f"a whole number, {least} or more"))
    return int(value)


def shown_argument(value: Any) -> str:
    """Write a number as it is and anything else by its type, since it may be a cell of a person's record."""
    if isinstance(value, Integral | float) and not isinstance(value, bool):
        return f"{value}" if not isinstance(value, float) or math.isfinite(value) else "not a finite number"
    return f"a {type(value).__name__}"
