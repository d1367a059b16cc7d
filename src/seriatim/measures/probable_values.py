"""The values an attacker holds possible, on a grid, with their probabilities: checked, sorted, merged."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, InputError
from seriatim.model.nearness import LongArray, ValueGrid, value_grid
from seriatim.model.scale import FloatArray

SUM_WITHIN = 1e-6
ROUNDING = 1e-12
"""Probabilities as far below 0 as this are rounding errors and count as 0."""
_ALLOWED = "numbers, dates or times"
_RANKS = "categories have no differences; pass ranks with ordered=True if they have an order"


@dataclass(frozen=True, slots=True, eq=False)
class ProbableValues:
    """Values with positive probability, rising."""

    grid: ValueGrid
    steps: LongArray
    shares: FloatArray
    unit: str


def candidates(values: Any, probabilities: Any, *, ordered: bool) -> ProbableValues:
    """Return the values that are possible; equal values are merged, and those of probability 0 are dropped."""
    numbers, unit = numbers_with_unit(values, ordered=ordered)
    shares = shares_that_add_up(probabilities)
    if shares.ndim != 1 or len(shares) != len(numbers):
        found = f"{shares.size} probabilities of {len(numbers)} values"
        raise InputError(Fault("probabilities", found, "one for each value"))
    possible = shares > 0.0
    grid = value_grid(numbers[possible])
    steps, which = np.unique(grid.steps, return_inverse=True)
    merged: FloatArray = np.bincount(which.reshape(-1), weights=shares[possible]).astype(np.float64)
    return ProbableValues(grid, steps, merged, unit)


def shares_that_add_up(probabilities: Any) -> FloatArray:
    """Return probabilities that sum to 1 (each row, if there are rows); rounding errors are cleared."""
    try:
        shares: FloatArray = np.array(probabilities, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(Fault("probabilities", "not all are numbers", "numbers from 0 to 1")) from None
    if not shares.size:
        raise InputError(Fault("probabilities", "there are none", "at least one"))
    if not np.isfinite(shares).all():
        raise InputError(Fault("probabilities", "some are missing or infinite", "numbers from 0 to 1"))
    if (shares < -ROUNDING).any():
        raise InputError(Fault("probabilities", "some are below 0", "numbers from 0 to 1"))
    shares = np.maximum(shares, 0.0)
    total = shares.sum(axis=-1, keepdims=True)
    off = np.abs(total - 1.0) > SUM_WITHIN
    if off.any():
        found = f"a sum of {float(total[off][0]):.6g}"
        raise InputError(Fault("probabilities", found, "a sum of 1", "divide counts by their sum"))
    return np.asarray(shares / total)


def numbers_with_unit(values: Any, *, ordered: bool) -> tuple[npt.NDArray[np.generic], str]:
    """Return values as numbers, with the unit of their differences: days, seconds, or none."""
    kind: Any = getattr(values, "dtype", None)
    if hasattr(kind, "categories"):  # a pandas categorical
        if not (ordered or kind.ordered):
            raise InputError(Fault("values", "categories without an order", _ALLOWED, _RANKS))
        values = values.cat.codes if hasattr(values, "cat") else values.codes
    found = np.asarray(values)
    if found.ndim != 1 or not len(found):
        raise InputError(Fault("values", f"{found.ndim} dimensions, {found.size} values", "a list of values"))
    if found.dtype.kind == "O":
        found = _from_objects(found)
    if found.dtype.kind == "M":
        return _from_times(found)
    if found.dtype.kind not in "iuf":
        what = "texts" if found.dtype.kind in "US" else f"values of the type {found.dtype}"
        raise InputError(Fault("values", what, _ALLOWED, _RANKS))
    if not np.isfinite(found).all():
        raise InputError(Fault("values", "some are missing or infinite", _ALLOWED, "leave them out"))
    if found.dtype.kind in "iu" and int(np.abs(found.astype(object)).max()) > 2**61:
        raise InputError(Fault("values", "whole numbers beyond 2^61", "smaller numbers", "subtract the least of them"))
    return found, ""


def _from_objects(found: npt.NDArray[np.object_]) -> npt.NDArray[np.generic]:
    """Return Python objects as numbers or days; a category of texts is none of them."""
    if all(isinstance(value, datetime.datetime) for value in found):
        return _instants(found)
    if all(isinstance(value, datetime.date) for value in found):
        return np.array(list(found), dtype="datetime64[D]")
    if all(isinstance(value, int | float | Decimal | Fraction) and not isinstance(value, bool) for value in found):
        return np.array([float(value) for value in found], dtype=np.float64)
    raise InputError(Fault("values", "not all are numbers or dates", _ALLOWED, _RANKS))


def _instants(found: npt.NDArray[np.object_]) -> npt.NDArray[np.generic]:
    """Return Python's times; those with a zone as UTC, so that equal instants are equal."""
    zoned = [value.tzinfo is not None for value in found]
    if any(zoned) and not all(zoned):
        mixed = "times with and without a time zone"
        raise InputError(Fault("values", mixed, _ALLOWED, "add a time zone to all of them"))
    utc = [value.astimezone(datetime.UTC).replace(tzinfo=None) if zoned[0] else value for value in found]
    return np.array(utc, dtype="datetime64[us]")


def _from_times(found: npt.NDArray[np.generic]) -> tuple[npt.NDArray[np.generic], str]:
    if np.isnat(found).any():
        raise InputError(Fault("values", "some are missing", _ALLOWED, "leave them out"))
    days, seconds = found.astype("datetime64[D]"), found.astype("datetime64[s]")
    if (days == found).all():
        return days.astype(np.int64), "days"
    if (seconds == found).all():
        return seconds.astype(np.int64), "seconds"
    since = found - seconds.min()
    return np.asarray(since / np.timedelta64(1, "s"), dtype=np.float64), "seconds"
