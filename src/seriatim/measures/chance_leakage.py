"""The leakage that a class of random records would show: small classes look leaky by chance.

Under the null hypothesis, a class is a sample of k records, without replacement, of the N published. Then E[L_D^2] = (1
- sum a^2) / k * (N - k) / (N - 1), and a p-value says how often such a sample would leak as much as the class does. It
is simulated for small classes, where few outcomes are possible; for larger ones L_D^2 is close to a weighted sum of
chi-squares, matched in its first two moments (Satterthwaite).
"""

from __future__ import annotations

import numpy as np

from seriatim.kernels.check.random_classes import leakage_of_random_classes
from seriatim.model.chance import open_chance
from seriatim.model.classes import LongArray
from seriatim.model.scale import FloatArray

SIMULATED = 32
"""Classes up to this size have simulated p-values."""
DRAWS = 9_999
SEED = 20_000


def leakage_by_chance(totals: LongArray, sizes: FloatArray) -> FloatArray:
    """Return E[L_D^2] of a class of each size whose records are drawn at random from the table."""
    n = float(totals.sum())
    a = totals / max(n, 1.0)
    share_left = (n - sizes) / (n - 1) if n > 1 else np.zeros_like(sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((1.0 - (a * a).sum()) / sizes * share_left, dtype=np.float64)


def chance_leakage_p_values(totals: LongArray, sizes: FloatArray, l_d: FloatArray, seed: int = SEED) -> FloatArray:
    """Return how often a random class of the same size leaks at least as much; nan for an empty class."""
    chances = np.full(len(sizes), np.nan)
    large = sizes > SIMULATED
    chances[large] = _matched(totals, sizes[large], l_d[large])
    small = (sizes >= 1) & ~large
    if small.any():
        whole = sizes[small].astype(np.int64)
        lots = _simulated(totals, int(whole.max()), seed)
        chances[small] = _shares_above(lots, whole, l_d[small])
    return chances


def _matched(totals: LongArray, sizes: FloatArray, l_d: FloatArray) -> FloatArray:
    from scipy.special import gammaincc

    n = float(totals.sum())
    a = totals / n
    second, third = (a**2).sum(), (a**3).sum()
    mean, square = 1.0 - second, second - 2.0 * third + second**2
    if not len(sizes) or mean <= 0 or square <= 0:
        return np.ones(len(sizes))
    scale, freedom = square / mean, mean**2 / square
    left = np.maximum((n - sizes) / (n - 1), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(left > 0, sizes * l_d**2 / left / scale, 0.0)
    return np.asarray(gammaincc(freedom / 2, statistic / 2), dtype=np.float64)


def _simulated(totals: LongArray, largest: int, seed: int) -> FloatArray:
    """Simulate the leakage of random classes: row k - 1 has the sorted draws for size k."""
    chance = open_chance(seed, "leakage by luck")
    pool = np.repeat(np.arange(len(totals), dtype=np.int32), totals)
    uniforms = chance.random((DRAWS, largest))
    lots: FloatArray = np.sort(leakage_of_random_classes(pool, totals / len(pool), uniforms), axis=1)
    return lots


def _shares_above(lots: FloatArray, sizes: LongArray, l_d: FloatArray) -> FloatArray:
    chances = np.empty(len(sizes))
    for size in np.unique(sizes):
        mine = sizes == size
        below = np.searchsorted(lots[size - 1], l_d[mine] - 1e-9, side="left")
        chances[mine] = (DRAWS - below + 1) / (DRAWS + 1)
    return chances
