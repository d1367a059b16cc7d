"""What one column reveals about another: leakage of a target when any set of columns is known, in every direction.

Ren and Li: an attribute becomes sensitive in combination with others. So any column may be the target, and any set of
the others may be known.

Small classes look leaky by chance. Under the null hypothesis, a class is a sample of k records, without replacement, of
the N published. Then E[L_D^2] = (1 - sum a^2) / k * (N - k) / (N - 1), and a p-value says how often such a sample would
leak as much as the class does. It is simulated for small classes, where few outcomes are possible; for larger ones
L_D^2 is close to a weighted sum of chi-squares, matched in its first two moments (Satterthwaite).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from seriatim.kernels.check.class_figures import leakage_of_random_classes
from seriatim.measures._leakage import figures_by_class
from seriatim.model.chance import open_chance
from seriatim.model.class_counts import ValueCounts
from seriatim.model.classes import LongArray, numbered_alike
from seriatim.model.scale import FloatArray, IntArray

SIMULATED = 32
"""Classes up to this size have simulated p-values."""
DRAWS = 9_999
SEED = 20_000


def expected_by_chance(totals: LongArray, sizes: FloatArray) -> FloatArray:
    """Return E[L_D^2] of a class of each size whose records are drawn at random from the table."""
    n = float(totals.sum())
    a = totals / max(n, 1.0)
    share_left = (n - sizes) / (n - 1) if n > 1 else np.zeros_like(sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((1.0 - (a * a).sum()) / sizes * share_left, dtype=np.float64)


def chance_p_values(totals: LongArray, sizes: FloatArray, l_d: FloatArray, seed: int = SEED) -> FloatArray:
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
    # moments of a sum of chi-squares: one chi-square with the same mean and variance stands for it (Satterthwaite)
    second, third = (a**2).sum(), (a**3).sum()
    mean, square = 1.0 - second, second - 2.0 * third + second**2
    if not len(sizes) or mean <= 0 or square <= 0:
        return np.ones(len(sizes))
    scale, freedom = square / mean, mean**2 / square
    # drawn without putting back: a class of nearly everyone cannot differ much
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
        # ties count as above, or classes that leak as little as can be would look rare
        below = np.searchsorted(lots[size - 1], l_d[mine] - 1e-9, side="left")
        # the class itself is one of the draws: no p-value is 0
        chances[mine] = (DRAWS - below + 1) / (DRAWS + 1)
    return chances


@dataclass(frozen=True, slots=True, eq=False)
class KnownAttribute:
    """A column as codes 0 .. ``n_values`` - 1; -1 is no value."""

    name: str
    codes: IntArray
    n_values: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BeliefMoved:
    """How far knowing ``given`` moves the belief about ``target``; means are over records, the prior is the margin."""

    target: str
    given: tuple[str, ...]
    n_classes: int
    mean_l_d: float
    max_l_d: float
    mean_l_e: float
    """Bits: the mutual information of target and class."""
    max_l_e: float
    """The largest gain or loss of certainty in any class, with its sign."""
    null_l_d: float
    """Root of the mean square that random classes of the same sizes would show."""
    l_d: FloatArray
    """Distribution leakage by class."""
    l_e: FloatArray
    worst_class: int


def leakage_given(target: KnownAttribute, given: Sequence[KnownAttribute]) -> BeliefMoved:
    """Return the leakage of one column when the others are known."""
    classes = numbered_alike([_whole(g.codes) for g in given], [g.n_values + 1 for g in given], len(target.codes))
    seen = ValueCounts.of(classes, target.codes, target.n_values)
    found = figures_by_class(seen)
    l_d, l_e, sizes = found["l_d"], found["l_e"], found["n_valued"]
    weight = sizes / max(sizes.sum(), 1.0)
    null = np.nan_to_num(expected_by_chance(seen.totals, sizes), posinf=0.0)
    shape, bits = np.nan_to_num(l_d), np.nan_to_num(l_e)
    return BeliefMoved(
        target=target.name,
        given=tuple(g.name for g in given),
        n_classes=len(classes),
        mean_l_d=float((weight * shape).sum()),
        max_l_d=float(shape.max(initial=0.0)),
        mean_l_e=float((weight * bits).sum()),
        max_l_e=float(bits[np.abs(bits).argmax()]) if len(bits) else 0.0,
        null_l_d=float(np.sqrt((weight * null).sum())),
        l_d=l_d,
        l_e=l_e,
        worst_class=int(shape.argmax()) if len(shape) else -1,
    )


def all_column_pairs(attributes: Sequence[KnownAttribute]) -> list[BeliefMoved]:
    """Return both directions of every pair: every column as target, every other one known."""
    return [leakage_given(t, [g]) for t in attributes for g in attributes if g is not t]


def all_column_sets(target: KnownAttribute, given: Sequence[KnownAttribute], up_to: int = 3) -> Iterator[BeliefMoved]:
    """Return the leakage for every set of at most ``up_to`` known columns, smaller sets first."""
    for size in range(1, min(up_to, len(given)) + 1):
        for chosen in combinations(given, size):
            yield leakage_given(target, chosen)


def column_by_column(target: KnownAttribute, given: Sequence[KnownAttribute]) -> list[BeliefMoved]:
    """Return the leakage as one more column is known at each step, in the given order."""
    return [leakage_given(target, given[:n]) for n in range(1, len(given) + 1)]


@dataclass(frozen=True, slots=True, eq=False)
class WorstOfRecords:
    """The set of columns that reveals most about each record."""

    sets: tuple[tuple[str, ...], ...]
    which: IntArray
    """Index into ``sets``: the first, and so the smallest, of those that leak most."""
    l_d: FloatArray


def worst_of_records(target: KnownAttribute, given: Sequence[KnownAttribute], up_to: int = 3) -> WorstOfRecords:
    """Return the worst class of each record over every set of at most ``up_to`` known columns."""
    leaks = np.full(len(target.codes), -1.0)
    which = np.zeros(len(target.codes), dtype=np.int32)
    sets: list[tuple[str, ...]] = []
    for size in range(1, min(up_to, len(given)) + 1):
        for chosen in combinations(given, size):
            classes = numbered_alike([_whole(g.codes) for g in chosen], [g.n_values + 1 for g in chosen], len(leaks))
            found = figures_by_class(ValueCounts.of(classes, target.codes, target.n_values))["l_d"]
            own = np.nan_to_num(found)[classes.of_record]
            # on a tie the smaller set stays, which is met first
            worse = own > leaks + 1e-12
            leaks[worse], which[worse] = own[worse], len(sets)
            sets.append(tuple(g.name for g in chosen))
    return WorstOfRecords(tuple(sets), which, leaks)


def _whole(codes: IntArray) -> IntArray:
    """Return codes in which no value is a label too: the first one."""
    return codes + np.int32(1)
