"""Checks the arguments of a caller before anything is computed: a wrong type gets the same error as a wrong value."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

from seriatim.errors import AdversaryError, Fault, InputError
from seriatim.model.number_limits import LARGEST_WORD, SHARE, NumberLimits, whole_from


def share_argument(where: str, value: Any) -> float:
    """Return a number from 0 to 1, or raise an error."""
    return float(limited_argument(where, value, SHARE))


def whole_argument(where: str, value: Any, least: int = 1) -> int:
    """Return a whole number of at least ``least``, or raise an error."""
    return int(limited_argument(where, value, whole_from(least, LARGEST_WORD)))


def limited_argument(where: str, value: Any, limits: NumberLimits, error: type[InputError] = AdversaryError) -> float:
    """Return a number within the limits, or raise an error."""
    if not limits.allow(value):
        raise error(Fault(where, shown_argument(value), limits.words))
    return int(value) if limits.whole else float(value)


def shown_argument(value: Any) -> str:
    """Write a number as it is and anything else by its type, since it may be a cell of a person's record."""
    if isinstance(value, Integral | float) and not isinstance(value, bool):
        return f"{value}" if not isinstance(value, float) or math.isfinite(value) else "not a finite number"
    return f"a {type(value).__name__}"
