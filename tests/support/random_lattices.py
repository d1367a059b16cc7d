"""Small random lattices for hypothesis, and every node of them judged in plain Python."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from seriatim.model import CodedColumn, Scale, scale_of


@st.composite
def coded_columns(draw: Any, n: int, name: str, most: int = 6) -> CodedColumn:
    """A column on a random hierarchy: levels are coarsenings of runs of neighbours."""
    size = draw(st.integers(1, most))
    levels: list[tuple[str, ...]] = []
    cuts = set(range(1, size))
    for height in range(draw(st.integers(0, 2))):
        cuts = {cut for cut in sorted(cuts) if draw(st.booleans())}
        edges = sorted(cuts)
        levels.append(tuple(f"h{height}r{sum(edge <= code for edge in edges)}" for code in range(size)))
    levels.append(tuple("*" for _ in range(size)))
    codes = np.frombuffer(draw(st.binary(min_size=n, max_size=n)), dtype=np.uint8).astype(np.int32) % size
    texts = pa.array([f"v{code}" for code in range(size)], pa.string())
    return CodedColumn(name, codes, scale_of("node", texts, np.arange(size, dtype=np.float64), levels))


def all_nodes(columns: list[CodedColumn]) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(column.scale.top + 1) for column in columns)))


def plain_classes(columns: list[CodedColumn], heights: tuple[int, ...]) -> list[list[int]]:
    """Records by class, one by one."""
    found: dict[tuple[int, ...], list[int]] = {}
    pairs = zip(columns, heights, strict=True)
    shown = [column.scale.starts[height][column.codes].tolist() for column, height in pairs]
    for row, key in enumerate(zip(*shown, strict=True)):
        found.setdefault(key, []).append(row)
    return list(found.values())


def plain_penalty(scale: Scale, height: int, code: int) -> float:
    wide = int(scale.ends[height][code]) - int(scale.starts[height][code])
    return (wide - 1) / max(len(scale) - 1, 1)


def plain_ncp(columns: list[CodedColumn], heights: tuple[int, ...], suppressed: set[int]) -> float:
    total = 0.0
    for row in range(len(columns[0].codes)):
        for column, height in zip(columns, heights, strict=True):
            total += 1.0 if row in suppressed else plain_penalty(column.scale, height, int(column.codes[row]))
    return total / max(len(columns) * len(columns[0].codes), 1)


def plain_precision(columns: list[CodedColumn], heights: tuple[int, ...], suppressed: set[int]) -> float:
    n = len(columns[0].codes)
    published = sum(h / c.scale.top for h, c in zip(heights, columns, strict=True))
    return ((n - len(suppressed)) * published + len(suppressed) * len(columns)) / max(n * len(columns), 1)


def plain_entropy_loss(columns: list[CodedColumn], heights: tuple[int, ...], suppressed: set[int]) -> float:
    """Non-uniform entropy, each column over its own entropy."""
    n, total = len(columns[0].codes), 0.0
    for column, height in zip(columns, heights, strict=True):
        counts = Counter(column.codes.tolist())
        entropy = sum(c / n * math.log2(n / c) for c in counts.values())
        if entropy == 0:
            continue
        for row, code in enumerate(column.codes.tolist()):
            low, high = int(column.scale.starts[height][code]), int(column.scale.ends[height][code])
            shown = n if row in suppressed else sum(counts[other] for other in range(low, high))
            total += math.log2(shown / counts[code]) / entropy
    return total / max(n * len(columns), 1)


def below(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))
