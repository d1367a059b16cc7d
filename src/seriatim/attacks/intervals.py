"""Intervals of shares that an attack estimates. ``scipy.stats`` has them too, but takes a second to load."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

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
