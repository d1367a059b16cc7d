"""A chart in three forms: data to draw it, a table of its numbers, and a sentence for screen readers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from seriatim.model.chart import Bars, Chart, ChartAxis, Heatmap, Histogram, Line, Lines
from seriatim.report.page import Grid
from seriatim.report.words import format_number, format_percent, format_plain


def drawing(chart: Chart) -> dict[str, Any]:
    """Return everything needed to draw a chart, ready for JSON."""
    limit = chart.threshold
    return {
        "kind": chart.kind,
        "title": chart.title,
        "caption": chart.caption,
        "topic": chart.topic,
        "x": _axis(chart.x),
        "y": _axis(chart.y),
        "value": _axis(chart.value) if chart.value else None,
        "threshold": {"value": format_plain(limit.value), "label": limit.label, "side": limit.side} if limit else None,
        "data": _numbers(chart),
    }


def table(chart: Chart) -> Grid:
    """Return the numbers of a chart as a table."""
    match chart.data:
        case Histogram() as data:
            rows = tuple(_bin(chart, data, i) for i in range(len(data.counts)))
            return Grid(chart.title, (chart.x.label, chart.y.label), rows, frozenset({1}))
        case Bars(labels, values):
            rows = tuple((label, _write(chart.y)(v)) for label, v in zip(labels, values, strict=True))
            return Grid(chart.title, (chart.x.label, chart.y.label), rows, frozenset({1}))
        case Lines(lines):
            return _line_table(chart, lines)
        case Heatmap(row_names, columns, cells):
            write = _write(chart.value or ChartAxis(""))
            grid = tuple((name, *map(write, line)) for name, line in zip(row_names, cells, strict=True))
            numeric = frozenset(range(1, len(columns) + 1))
            return Grid(chart.title, (f"{chart.y.label} / {chart.x.label}", *columns), grid, numeric)


def sentence(chart: Chart) -> str:
    """Describe a chart to readers who cannot see it."""
    limit = f" The limit is marked: {chart.threshold.label}." if chart.threshold else ""
    return f"{chart.title}. {_shown(chart)}{limit}"


def is_empty(chart: Chart) -> bool:
    match chart.data:
        case Histogram(counts=numbers) | Bars(labels=numbers):
            return not numbers
        case Lines(lines):
            return not any(line.x for line in lines)
        case Heatmap(row_names, columns, _):
            return not (row_names and columns)


def _shown(chart: Chart) -> str:
    if is_empty(chart):
        return "There is nothing to show."
    match chart.data:
        case Histogram() as data:
            most = max(range(len(data.counts)), key=lambda i: data.counts[i])
            span, amount = _bin(chart, data, most)
            return (
                f"Histogram of {chart.y.label} by {chart.x.label}: {format_number(sum(data.counts))} in all, "
                f"most of them ({amount}) at {span}."
            )
        case Bars(labels, values):
            pairs = zip(labels, values, strict=True)
            return f"Bars of {chart.y.label}: " + ", ".join(f"{a} {_write(chart.y)(v)}" for a, v in pairs) + "."
        case Lines(lines):
            return f"{chart.y.label} by {chart.x.label}: " + "; ".join(_course(chart, line) for line in lines) + "."
        case Heatmap(row_names, columns, cells):
            known = [v for line in cells for v in line if math.isfinite(v)]
            write = _write(chart.value or ChartAxis(""))
            span = f", from {write(min(known))} to {write(max(known))}" if known else ""
            return f"Heat map of {len(row_names)} by {len(columns)} cells{span}."


def _course(chart: Chart, line: Line) -> str:
    if not line.x:
        return f"{line.name} has no points"
    return f"{line.name} goes from {_write(chart.y)(line.y[0])} to {_write(chart.y)(line.y[-1])}"


def _numbers(chart: Chart) -> Any:
    match chart.data:
        case Histogram(edges, counts):
            return {"edges": format_plain(edges), "counts": format_plain(counts)}
        case Bars(labels, values):
            return {"labels": list(labels), "values": format_plain(values)}
        case Lines(lines):
            return [
                {
                    "name": a.name,
                    "x": format_plain(a.x),
                    "y": format_plain(a.y),
                    "low": format_plain(a.low),
                    "high": format_plain(a.high),
                    **({"labels": list(a.labels)} if a.labels else {}),
                }
                for a in lines
            ]
        case Heatmap(row_names, columns, cells):
            return {"rows": list(row_names), "columns": list(columns), "cells": format_plain(cells)}


def _axis(axis: ChartAxis) -> dict[str, Any]:
    return {"label": axis.label, "form": axis.form, "log": axis.log}


def _write(axis: ChartAxis) -> Callable[[float], str]:
    return format_percent if axis.form == "percent" else format_number


def _bin(chart: Chart, data: Histogram, i: int) -> tuple[str, str]:
    write = _write(chart.x)
    low, high = data.edges[i], data.edges[i + 1]
    if math.isinf(high):
        span = f"{write(low)} and more"
    elif high - low == 1 and low == math.floor(low):
        span = write(low)
    elif all(edge == math.floor(edge) for edge in data.edges if math.isfinite(edge)):
        span = f"{write(low)} to {write(high - 1)}"
    else:
        span = f"{write(low)} to {write(high)}"
    return span, format_number(data.counts[i])


def _line_table(chart: Chart, lines: tuple[Line, ...]) -> Grid:
    """Return a row for each x; a line without a point there has an empty cell."""
    points = [dict(zip(line.x, range(len(line.x)), strict=True)) for line in lines]
    rows = []
    for x in sorted({x for line in lines for x in line.x}):
        cells = [_point(chart, line, where.get(x)) for line, where in zip(lines, points, strict=True)]
        rows.append((_write(chart.x)(x), *cells))
    heads = (chart.x.label, *(line.name or chart.y.label for line in lines))
    return Grid(chart.title, heads, tuple(rows), frozenset(range(len(heads))))


def _point(chart: Chart, line: Line, i: int | None) -> str:
    if i is None:
        return ""
    write = _write(chart.y)
    interval = f" ({write(line.low[i])} to {write(line.high[i])})" if line.low else ""
    return write(line.y[i]) + interval
