"""A gate written from the definitions alone: everything is recomputed at every step, nothing is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from math import log, log2

import numpy as np
from scipy.special import gammaincinv  # scipy.stats takes a second to load

from seriatim_gate import dixon_critical

Counts = list[list[int]]
"""counts[y][x]"""


@dataclass
class PlainGate:
    p: Sequence[float]
    n_targets: int
    _: KW_ONLY
    tests: Sequence[str]
    alpha: float
    merge: str = "smallest"
    tables: dict[str, Sequence[float]] = field(default_factory=dict)
    distance: str = "kl"
    joint: bool = False

    def __post_init__(self) -> None:
        self.counts: Counts = [[0] * len(self.p) for _ in range(self.n_targets)]
        self.released: list[int] = []
        self.waiting: list[tuple[int, int, int]] = []
        self.n = 0

    def request(self, x: int, y: int) -> None:
        number = self.n
        self.n += 1
        if not 0 <= x < len(self.p) or not 0 <= y < self.n_targets or self.p[x] == 0:
            return
        self.waiting.append((number, x, y))
        while self.let_one_go() or self.let_block_go():
            pass

    def let_one_go(self) -> bool:
        for record in self.waiting:
            if self.safe(self.with_records([record])):
                self.let_go([record])
                return True
        return False

    def let_block_go(self) -> bool:
        if "wdt" not in self.tests and not self.joint:
            return False
        for y in range(self.n_targets):
            block = self.block_of(y)
            if block:
                self.let_go(block)
                return True
        return False

    def block_of(self, y: int) -> list[tuple[int, int, int]]:
        opening = sum(self.counts[y]) == 0 and "wdt" in self.tests
        block: list[tuple[int, int, int]] = []
        for size in range(1, max(100, 4 * len(self.p)) + 1):
            left = [record for record in self.waiting if record[2] == y and record not in block]
            if not left:
                return []
            column = self.with_records(block)[y]
            block.append(min(left, key=lambda record: (round(self.price(column[record[1]], record[1]), 9), record[1])))
            if size >= (20 if opening else 2) and self.safe(self.with_records(block)):
                return sorted(block)
        return []

    def price(self, count: int, x: int) -> float:
        if "wdt" in self.tests:
            return (2 * count + 1) / self.p[x]
        before, after = (float(n * np.log(max(n, 1))) for n in (count, count + 1))
        return after - before - float(np.log(self.p[x]))

    def let_go(self, block: Sequence[tuple[int, int, int]]) -> None:
        self.counts = self.with_records(block)
        self.released += [record[0] for record in block]
        self.waiting = [record for record in self.waiting if record not in block]

    def with_records(self, block: Sequence[tuple[int, int, int]]) -> Counts:
        counts = [list(column) for column in self.counts]
        for _, x, y in block:
            counts[y][x] += 1
        return counts

    def safe(self, counts: Counts) -> bool:
        return all(getattr(self, f"safe_{test}")(counts) for test in self.tests)

    def safe_mis(self, counts: Counts) -> bool:
        n = sum(map(sum, counts))
        found = sum(sum(column) / n * self.divergence(column) for column in counts if sum(column))
        return below(found, self.limit("mis", n, (len(self.p) - 1) * self.n_targets))

    def safe_kld(self, counts: Counts) -> bool:
        return all(
            below(self.divergence(column), self.limit("kld", sum(column), len(self.p) - 1))
            for column in counts
            if sum(column)
        )

    def safe_cst(self, counts: Counts) -> bool:
        for column in counts:
            cells = merged(list(zip(column, self.p, strict=True)), self.merge)
            if len(cells) > 1 and not below(pearson(cells), chi_square(self.alpha, len(cells) - 1)):
                return False
        return True

    def safe_dqt(self, counts: Counts) -> bool:
        distances = sorted(
            pearson(list(zip(column, self.p, strict=True))) if self.distance == "pearson" else self.divergence(column)
            for column in counts
            if sum(column)
        )
        different: list[float] = []
        for d in distances:
            if different and d - different[-1] <= 1e-12:
                different[-1] = d
            else:
                different.append(d)
        if len(different) < 3:
            return True
        q = (different[-1] - different[-2]) / (different[-1] - different[0])
        return below(q, dixon(len(different), self.alpha))

    def safe_wdt(self, counts: Counts) -> bool:
        limit = chi_square(self.alpha, 1)
        return all(below(pearson(list(zip(c, self.p, strict=True))), limit) for c in counts if sum(c))

    def divergence(self, column: Sequence[int]) -> float:
        n = sum(column)
        return sum(c / n * log2(c / n / p) for c, p in zip(column, self.p, strict=True) if c)

    def limit(self, test: str, n: int, freedom: int) -> float:
        """In bits."""
        asymptotic = chi_square(self.alpha, freedom) / (2 * n * log(2))
        table = self.tables.get(test)
        if table is None:
            return asymptotic
        last = len(table) - 1
        if n <= last:
            return table[n]
        ratio = table[last] * 2 * last * log(2) / chi_square(self.alpha, freedom)
        return asymptotic * (1 + (ratio - 1) * last / n)


@cache
def chi_square(alpha: float, freedom: int) -> float:
    return 2 * float(gammaincinv(freedom / 2, 1 - alpha))


dixon = cache(dixon_critical)


def below(statistic: float, critical: float) -> bool:
    return statistic < critical and abs(statistic - critical) > 1e-9 * max(1.0, critical)


def pearson(cells: Sequence[tuple[int, float]]) -> float:
    n = sum(count for count, _ in cells)
    return sum((count - n * p) ** 2 / (n * p) for count, p in cells if p)


def merged(cells: list[tuple[int, float]], rule: str) -> list[tuple[int, float]]:
    if rule == "forward":
        return forward(cells)
    while len(cells) > 1 and min(count for count, _ in cells) < 5:
        smallest = min(range(len(cells)), key=lambda i: (cells[i][0], i))
        beside = [i for i in (smallest - 1, smallest + 1) if 0 <= i < len(cells)]
        other = min(beside, key=lambda i: (cells[i][0], i))
        low, high = sorted((smallest, other))
        joined = (cells[low][0] + cells[high][0], cells[low][1] + cells[high][1])
        cells = [*cells[:low], joined, *cells[high + 1 :]]
    return cells


def forward(cells: list[tuple[int, float]]) -> list[tuple[int, float]]:
    full: list[tuple[int, float]] = []
    count, share = 0, 0.0
    for c, p in cells:
        count, share = count + c, share + p
        if count >= 5:
            full.append((count, share))
            count, share = 0, 0.0
    if share and full:
        full[-1] = (full[-1][0] + count, full[-1][1] + share)
    return full or [(count, share)]
