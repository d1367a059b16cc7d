"""Intervals of shares that an attack estimates. ``scipy.stats`` has them too, but takes a second to load."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Shares = npt.NDArray[np.float64]
"""By person, how probably a guess is right."""

CONFIDENCE = 0.95


def exact_interval(hits: int, of: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson for a share."""
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    low = float(betaincinv(hits, of - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, of - hits, 1 - tail)) if hits < of else 1.0
    return low, high


def interval_of_repetitions(
    hits: Sequence[int], of: Sequence[int], confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Return Student's interval of the mean share over repetitions; for a single repetition the exact one."""
    if len(hits) == 1:
        return exact_interval(hits[0], max(of[0], 1), confidence)
    from scipy.special import stdtrit

    shares = np.asarray(hits) / np.maximum(of, 1)
    half = stdtrit(len(shares) - 1, (1 + confidence) / 2) * shares.std(ddof=1) / np.sqrt(len(shares))
    return max(0.0, float(shares.mean() - half)), min(1.0, float(shares.mean() + half))


_Z = 1.959964


def risk_beyond(hits: Shares, control: Shares) -> tuple[float, float, float]:
    """Return (rate - control) / (1 - control) with its 95% interval; the two are about different people.

    One right and one wrong guess are added to each, so that a rate of 0 or 1 has an interval too.
    """
    if not len(hits) or not len(control):
        return 0.0, 0.0, 1.0
    (rate, varies), (base, base_varies) = _mean(hits), _mean(control)
    left = 1 - base
    half = _Z * math.sqrt(varies / left**2 + base_varies * ((1 - rate) / left**2) ** 2)
    risk = _beyond(float(hits.mean()), float(control.mean()))
    return risk, risk - half, min(1.0, risk + half)


def difference_interval(hits: Shares, control: Shares) -> tuple[float, float, float]:
    """Return the same for two attackers who guess about the same people; nobody learns in order to know less."""
    if not len(hits):
        return 0.0, 0.0, 1.0
    base, gained = float(control.mean()), hits - control
    half = _Z * float(gained.std()) / math.sqrt(len(hits)) / max(1 - base, 1 / len(hits))
    gain = _beyond(float(hits.mean()), base)
    return max(0.0, gain), gain - half, min(1.0, max(0.0, gain + half))


def _beyond(rate: float, control: float) -> float:
    return (rate - control) / (1 - control) if control < 1 else 0.0


def _mean(hits: Shares) -> tuple[float, float]:
    mean = (float(hits.sum()) + 1) / (len(hits) + 2)
    return mean, mean * (1 - mean) / (len(hits) + 2)
