"""Translates a policy's thresholds into the tests that every class must pass during a search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from seriatim.kernels.single import acceptance, likeness
from seriatim.kernels.single.acceptance import ClassTests
from seriatim.model import CodedColumn, Thresholds
from seriatim.model.nearness import Nearness, has_distances, window_of, window_reach

_L_KINDS = {
    "distinct": acceptance.L_DISTINCT,
    "entropy": acceptance.L_ENTROPY,
    "recursive": acceptance.L_RECURSIVE,
}
_T_KINDS = {
    "equal": acceptance.T_EQUAL,
    "ordered": acceptance.T_ORDERED,
    "hierarchical": acceptance.T_HIERARCHICAL,
}


def class_tests(
    sensitive: tuple[CodedColumn, ...], per_column: Mapping[str, Thresholds], rows: npt.NDArray[np.bool_] | None = None
) -> ClassTests:
    """Return the tests every class must pass; the prior is the margin of ``rows``, those that will be published."""
    found: list[tuple[int, int, float, float]] = []
    windows = _Windows()
    for index, column in enumerate(sensitive):
        asked = per_column.get(column.name, Thresholds())
        if asked.l is not None:
            found.append((_L_KINDS[asked.l_kind], index, float(asked.l), float(asked.l_c or 0.0)))
        if asked.t is not None:
            declared = acceptance.DECLARED if column.scale.form == "set" else 0.0
            found.append((_T_KINDS[asked.t_distance], index, float(asked.t), declared))
        found.extend((kind, index, limit, second) for kind, limit, second in _further(column, asked))
        if has_distances(column.scale):
            found.extend((kind, index, limit, second) for kind, limit, second in windows.tests(column, asked))
    counts = [column.counts(rows) for column in sensitive]
    starts = [column.scale.starts.ravel() for column in sensitive]
    return ClassTests(
        np.array([test[0] for test in found], dtype=np.int64),
        np.array([test[1] for test in found], dtype=np.int64),
        np.array([test[2] for test in found], dtype=np.float64),
        np.array([test[3] for test in found], dtype=np.float64),
        _offsets([len(c) for c in counts]),
        np.concatenate(counts) if counts else np.zeros(0, dtype=np.int64),
        np.concatenate(starts) if starts else np.zeros(0, dtype=np.int32),
        _offsets([len(s) for s in starts]),
        np.array([column.scale.top for column in sensitive], dtype=np.int64),
        np.concatenate(windows.reach) if windows.reach else np.zeros(0, dtype=np.int64),
    )


class _Windows:
    """Tests about numbers: their windows, laid out flat for the kernel."""

    def __init__(self) -> None:
        self.reach: list[npt.NDArray[np.int64]] = []

    def tests(self, column: CodedColumn, asked: Thresholds) -> Iterator[tuple[int, float, float]]:
        """Yield kind, limit and the place of the windows in ``reach``."""
        hit = likeness.HIT_CHANCE if asked.hit_chance_kind == "chance" else likeness.HIT_LIFT
        for kind, limits in ((hit, asked.max_hit_chance_at), (likeness.ENTROPY_AT, asked.min_entropy_at)):
            for text, limit in (limits or {}).items():
                yield kind, float(limit), float(self._place(window_of(text), column))

    def _place(self, near: Nearness, column: CodedColumn) -> int:
        place = sum(len(part) for part in self.reach)
        self.reach.append(window_reach(column.scale, near))
        return place


def _further(column: CodedColumn, asked: Thresholds) -> Iterator[tuple[int, float, float]]:
    """Yield kind, limit and second parameter of the tests beyond l and t."""
    beta = likeness.BETA_ENHANCED if asked.beta_kind == "enhanced" else likeness.BETA_BASIC
    limits = (
        (likeness.ALPHA, asked.alpha_k),
        (beta, asked.beta),
        (likeness.DELTA, asked.delta),
        (likeness.DISTRIBUTION_LEAKAGE, asked.distribution_leakage),
        (likeness.ENTROPY_LEAKAGE, asked.entropy_leakage),
    )
    for kind, limit in limits:
        if limit is not None:
            yield kind, float(limit), 0.0
    for value, (low, high) in (asked.value_bounds or {}).items():
        code = column.scale.texts.index(value).as_py()
        if code >= 0:  # the promise reports a value that does not occur
            yield likeness.AT_LEAST, float(low), float(code)
            yield likeness.AT_MOST, float(high), float(code)


def only_those(tests: ClassTests, which: npt.NDArray[np.bool_]) -> ClassTests:
    """Return only these tests."""
    return tests._replace(
        kinds=tests.kinds[which],
        columns=tests.columns[which],
        limits=tests.limits[which],
        seconds=tests.seconds[which],
    )


def whole_passes(tests: ClassTests, counts: npt.NDArray[np.int64], size: int) -> bool:
    """Return whether all records together pass: if they do not, no grouping can."""
    scratch = np.empty(2 * int(tests.offsets[-1]) + 2, dtype=np.float64)
    return bool(acceptance.passes_tests(tests, counts, size, scratch)) if size else True


def _offsets(lengths: list[int]) -> npt.NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(np.asarray(lengths, dtype=np.int64)))).astype(np.int64)
