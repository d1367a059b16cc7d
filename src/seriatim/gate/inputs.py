"""What callers hand to the gate, checked before anything is computed; messages carry no value."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, InputError

FloatArray = npt.NDArray[np.float64]
LongArray = npt.NDArray[np.int64]

TESTS = ("mis", "kld", "cst", "dqt", "wdt")
MERGES = ("smallest", "forward", "none")
SUM_TOLERANCE = 1e-6
LARGEST_COUNT = 1 << 50


def input_probabilities(baseline: Any, where: str = "baseline", least: int = 2) -> FloatArray:
    """Return the baseline as probabilities that sum to one."""
    p = _numbers(where, baseline, "a list of probabilities")
    if p.ndim != 1 or len(p) < least:
        raise InputError(Fault(where, f"{p.ndim} dimensions, {p.size} entries", f"one dimension, {least} or more"))
    if not bool(np.isfinite(p).all()) or bool((p < 0).any()):
        raise InputError(Fault(where, "an entry that is negative or not finite", "probabilities"))
    if abs(float(p.sum()) - 1.0) > SUM_TOLERANCE:
        raise InputError(Fault(where, f"sums to {p.sum():.6g}", "1", "divide by the sum"))
    # what sums to one but for rounding stays as it is: a stored baseline is read back bit for bit
    return p if abs(float(p.sum()) - 1.0) <= 1e-12 else np.asarray(p / p.sum())


def input_counts(counts: Any, baseline: FloatArray) -> LongArray:
    """Return |X| x |Y| counts; none may be where the baseline is zero."""
    table = _numbers("counts", counts, "a table of counts")
    if table.ndim != 2 or table.shape[0] != len(baseline):
        shape = " x ".join(map(str, table.shape))
        raise InputError(Fault("counts", shape, f"{len(baseline)} x number of targets", "one row per value of X"))
    good = np.isfinite(table) & (table >= 0) & (table < LARGEST_COUNT) & (table == np.floor(table))
    if not bool(good.all()):
        raise InputError(Fault("counts", "an entry that is not a count", "whole numbers from 0"))
    whole = table.astype(np.int64)
    if bool(whole[baseline == 0].any()):
        raise InputError(Fault("counts", "records of a value whose baseline is zero", "none"))
    return whole


def input_level(alpha: Any, where: str = "alpha") -> float:
    """Return a significance level strictly between 0 and 1."""
    if isinstance(alpha, bool) or not isinstance(alpha, float | int | np.floating) or not 0 < float(alpha) < 1:
        raise InputError(Fault(where, "not a level", "a number between 0 and 1, e.g. 0.2"))
    return float(alpha)


def input_tests(tests: Any) -> tuple[str, ...]:
    """Return the chosen tests in the order of ``TESTS``; a single name counts as a list of one."""
    chosen = (tests,) if isinstance(tests, str) else tests
    try:
        names = set(chosen)
    except TypeError:
        names = {None}
    if not names or not names <= set(TESTS):
        raise InputError(Fault("tests", "an unknown test or none", ", ".join(TESTS)))
    return tuple(name for name in TESTS if name in names)


def input_choice(where: str, value: Any, allowed: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise InputError(Fault(where, "not an option", ", ".join(allowed)))
    return value


def _numbers(where: str, values: Any, what: str) -> FloatArray:
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "iuf":
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(Fault(where, f"a {type(values).__name__} that is not numeric", what)) from None
