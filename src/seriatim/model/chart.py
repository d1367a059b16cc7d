"""A chart: numbers that a report draws, never a cell value of a person.

Any room may add one to ``Verdict.charts`` under a name of its own; the report draws it from its data alone,
with a table of the same numbers and a sentence for readers who cannot see it. The type of ``data`` is the kind
of the chart, so a chart that does not fit its numbers cannot be made.

    Chart("How large the classes are", histogram(sizes), x=Axis("records in a class"), y=Axis("classes"),
          threshold=Threshold(5, "required: at least 5", "at least"))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Kind = Literal["histogram", "bars", "lines", "heatmap"]
Topic = Literal["protection", "usefulness", "series", "attack"]
NumberForm = Literal["number", "percent"]
Numbers = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Histogram:
    """``counts[i]`` figures lie in [edges[i], edges[i + 1]); the last edge is included; infinity means 'and more'."""

    edges: Numbers
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        _require(len(self.edges) == len(self.counts) + 1 or not self.counts, "a histogram has one edge more than bins")
        _require(all(a < b for a, b in zip(self.edges, self.edges[1:], strict=False)), "edges of a histogram grow")


@dataclass(frozen=True, slots=True)
class Bars:
    """One bar per label; labels are column names, value positions or counts, never a person's value."""

    labels: tuple[str, ...]
    values: Numbers

    def __post_init__(self) -> None:
        _require(len(self.labels) == len(self.values), "every bar has a label")
        _require(len(set(self.labels)) == len(self.labels), "labels of bars differ")


@dataclass(frozen=True, slots=True)
class Line:
    """One curve; ``low`` and ``high``, if set, are the interval around each point."""

    name: str
    x: Numbers
    y: Numbers
    _: KW_ONLY
    low: Numbers = ()
    high: Numbers = ()
    labels: tuple[str, ...] = ()
    """What each point is, shown to anyone who points at it."""

    def __post_init__(self) -> None:
        _require(len(self.x) == len(self.y), "a line has one y for each x")
        _require(len(self.labels) in (0, len(self.x)), "a line has a label at every point or nowhere")
        _require(len(self.low) == len(self.high), "an interval has two ends")
        _require(len(self.low) in (0, len(self.x)), "a line has an interval at every point or nowhere")


@dataclass(frozen=True, slots=True)
class Lines:
    """One or more curves over the same axes."""

    lines: tuple[Line, ...]

    def __post_init__(self) -> None:
        _require(len({line.name for line in self.lines}) == len(self.lines), "names of lines differ")


@dataclass(frozen=True, slots=True)
class Heatmap:
    """``cells[r][c]`` belongs to ``rows[r]`` and ``columns[c]``; nan leaves a cell empty."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[Numbers, ...]

    def __post_init__(self) -> None:
        _require(len(self.cells) == len(self.rows), "a heat map has one line of cells for each row")
        _require(all(len(line) == len(self.columns) for line in self.cells), "a heat map has a cell for each column")


Data = Histogram | Bars | Lines | Heatmap
_KINDS: dict[type, Kind] = {Histogram: "histogram", Bars: "bars", Lines: "lines", Heatmap: "heatmap"}


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """What an axis shows. ``percent`` means that the numbers are shares, and 0.25 is written 25%."""

    label: str
    form: NumberForm = "number"
    log: bool = False


@dataclass(frozen=True, slots=True)
class Threshold:
    """A line across the chart: on x for a histogram, on the values for bars and lines."""

    value: float
    label: str
    side: Literal["at least", "at most", ""] = ""
    """Where the figures must lie to pass."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart. For bars ``x`` names the bars and ``y`` the values; for a heat map ``value`` names the cells."""

    title: str
    data: Data
    _: KW_ONLY
    x: ChartAxis
    y: ChartAxis
    caption: str = ""
    """What it shows and how to read it, in a sentence or two."""
    threshold: Threshold | None = None
    value: ChartAxis | None = None
    topic: Topic = "protection"
    """The part of the report it belongs to."""

    @property
    def kind(self) -> Kind:
        return _KINDS[type(self.data)]


def histogram_of(figures: npt.NDArray[Any] | Sequence[float], bins: int = 30) -> Histogram:
    """Bin the finite figures: round edges, whole ones for whole numbers, and an open bin for a long tail."""
    values = np.asarray(figures, dtype=np.float64)
    values = values[np.isfinite(values)]
    if not len(values):
        return Histogram((), ())
    low, high = float(values.min()), float(values.max())
    tail = low + 2.0 * (float(np.quantile(values, 0.95)) - low)
    cut = tail if low < tail < high else high
    edges = _whole_edges(low, cut, bins) if bool((values == np.floor(values)).all()) else _even_edges(low, cut, bins)
    if cut < high and edges[-1] <= high:
        edges = np.append(edges, math.inf)
    counts = np.histogram(values, edges)[0]
    return Histogram(tuple(float(edge) for edge in edges), tuple(int(count) for count in counts))


def _whole_edges(low: float, high: float, bins: int) -> npt.NDArray[np.float64]:
    width = max(1, math.ceil((high - low + 1) / bins))
    n_bins = math.ceil((math.floor(high) - low + 1) / width)
    return low + width * np.arange(n_bins + 1, dtype=np.float64)


def _even_edges(low: float, high: float, bins: int) -> npt.NDArray[np.float64]:
    if not low < high:
        half = 0.05 * (abs(low) or 1.0)
        return np.array([low - half, low + half])
    rough = (high - low) / bins
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * nice for nice in (1, 2, 2.5, 5, 10) if power * nice >= rough * (1 - 1e-9))
    first, last = math.floor(low / step), math.ceil(high / step)
    edges = np.unique(np.round(np.arange(first, last + 1) * step, 12))
    # figures closer than floats can tell apart, or rounded away: use their own ends
    return edges if len(edges) > 1 and edges[0] <= low and high <= edges[-1] else np.array([low, high])


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)
