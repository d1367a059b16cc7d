"""Writes comparisons as pages and as JSON: one of methods, and the map of techniques."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from seriatim.model.chart import Bars, Chart, ChartAxis, Line, Lines
from seriatim.report import Cell, Charts, Grid, Page, Prose, Section, chart_views
from seriatim.report.html import FiledReport
from seriatim.report.words import format_number, format_percent, format_plain
from seriatim.usecases.compare.compare import ComparedMethod
from seriatim.usecases.compare.risk_map import MapWish, TriedTechnique

HEAD = (
    "method",
    "verdict",
    "promises kept",
    "certainty lost",
    "relation kept",
    "class size",
    "withheld",
    "query error",
    "seconds",
)
_TOGETHER = ("releases", "people breached")


@dataclass(frozen=True, slots=True)
class Comparison(FiledReport):
    """What each method makes of the same views."""

    title: str
    methods: tuple[ComparedMethod, ...]
    n_views: int = 1

    @property
    def head(self) -> tuple[str, ...]:
        """Return the column heads; several views add those of all releases together."""
        return HEAD if self.n_views == 1 else (*HEAD[:3], *_TOGETHER, *HEAD[3:])

    def record(self) -> dict[str, Any]:
        return {"schema": "seriatim.comparison/1", "methods": [format_plain(asdict(found)) for found in self.methods]}

    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Return the table as texts, in the order of ``head``."""
        return tuple(_row(found, self.n_views) for found in self.methods)

    def page(self) -> Page:
        what = (
            "The same table under each method, as its first release."
            if self.n_views == 1
            else f"The same {self.n_views} tables under each method, published in order. Every method is "
            "judged by its own promises; the attack and the queries are the same for all."
        )
        story = (
            f"{what} These were dry runs: nothing was recorded or published. "
            "The query error is the median over random range counts of about 5% of the people. "
            "The first use of a method on a machine includes the seconds to compile it.",
        )
        made = [found for found in self.methods if found.gcp is not None]
        chart = Chart(
            "What each method costs",
            Bars(tuple(found.method for found in made), tuple(found.gcp or 0.0 for found in made)),
            x=ChartAxis("method"),
            y=ChartAxis("certainty lost", "percent"),
            caption="0% keeps every cell as it was, 100% keeps nothing.",
            topic="usefulness",
        )
        rows: tuple[tuple[str | Cell, ...], ...] = tuple(
            (Cell(row[0], note=found.promises), Cell(row[1], "good" if found.released else "bad", found.why), *row[2:])
            for row, found in zip(self.rows(), self.methods, strict=True)
        )
        grid = Grid("Side by side", self.head, rows, frozenset(range(2, len(self.head))))
        charts = (Charts({"cost": chart}),) if made else ()
        section = Section("Which method suits this table", (Prose(story), grid, *charts))
        footer = "This page has counts and shares only: no row and no value of a person."
        return Page(self.title, (section,), kicker="Comparison", footer=footer)


def _row(found: ComparedMethod, n_views: int) -> tuple[str, ...]:
    together: tuple[str, ...] = ()
    if n_views > 1:
        breached = "" if found.breached is None else format_percent(found.breached)
        together = (f"{found.releases} of {n_views}", breached)
    if found.gcp is None:
        return (found.method, "cannot", "", *together, *[""] * 6)
    return (
        found.method,
        "would be released" if found.released else "cannot go on" if found.stopped else "would be refused",
        f"{found.kept} of {found.asked}",
        *together,
        format_percent(found.gcp),
        "" if found.relation is None else f"{max(found.relation, 0.0):.0%}",
        f"{found.class_size:.1f}",
        format_percent(found.suppressed or 0.0),
        "" if found.query_error is None else format_percent(found.query_error),
        f"{found.seconds:.2f}",
    )


RISK_WORDS = {
    "hit_chance": "how often the best guess comes near",
    "area": "share of the area below H(eps) that is gone",
    "leakage": "distance of belief before and after",
    "gain": "largest relative gain of a value",
}
COST_WORDS = {
    "statistics": "error of statistics",
    "loss": "detail lost",
    "query_error": "error of counts",
    "models": "loss of a classifier and a regression",
}


@dataclass(frozen=True, slots=True)
class RiskMap(FiledReport):
    """Techniques with their parameters, by risk and cost."""

    title: str
    points: tuple[TriedTechnique, ...]
    wish: MapWish

    @property
    def front(self) -> tuple[TriedTechnique, ...]:
        """Return the points that no other one beats in both, by rising risk."""
        return tuple(sorted((point for point in self.points if point.on_front), key=lambda point: point.risk))

    def record(self) -> dict[str, Any]:
        return {
            "schema": "seriatim.risk-map/1",
            "column": self.wish.column,
            "risk": self.wish.risk,
            "cost": self.wish.cost,
            "near": self.wish.near,
            "seed": self.wish.seed,
            "statistics": list(self.wish.statistics or ()),
            "points": [format_plain(asdict(point)) for point in self.points],
            "chart": chart_views.drawing(self.chart),
        }

    @property
    def chart(self) -> Chart:
        drawn = [point for point in self.points if np.isfinite(point.risk) and np.isfinite(point.cost)]
        lines = [
            _line(name, [point for point in drawn if point.technique == name])  # by parameter: a path
            for name in sorted(dict.fromkeys(point.technique for point in drawn), key="policy".__eq__)
        ]
        caption = "Lower and to the left is better. No other point beats those of the front on both axes."
        return Chart(
            "Risk against usefulness",
            Lines((_line("Pareto front", list(self.front)), *lines)),  # the policy's point last, on top of the others
            x=ChartAxis(f"risk: {RISK_WORDS[self.wish.risk]}"),
            y=ChartAxis(f"cost: {COST_WORDS[self.wish.cost]}"),
            caption=caption,
        )

    def _hit_words(self) -> str:
        if self.wish.risk != "hit_chance":
            return ""
        return f"Near is {self.wish.near}. " if self.wish.near else "Only the value itself is near. "

    def page(self) -> Page:
        about = f" of the column {self.wish.column}" if self.wish.column else ""
        risk = f"{'' if self.wish.risk == 'hit_chance' else 'the '}{RISK_WORDS[self.wish.risk]}"
        story = (
            f"Each technique with several parameters on the same table, as a first release. Risk{about} is the mean "
            f"over people of {risk}; beside it, that of the person most at risk. Cost is the "
            f"{COST_WORDS[self.wish.cost]}. {self._hit_words()}Nothing was published; the seed is {self.wish.seed}.",
            *(f"The policy's own point, marked: {own_point_told(point)}." for point in self.points if point.of_policy),
        )
        rows: tuple[tuple[str | Cell, ...], ...] = tuple(
            (
                Cell(point.technique, "good" if point.on_front else None, point.why),
                point.parameter,
                format_number(point.risk),
                format_number(point.worst),
                format_number(point.cost),
                "front" if point.on_front else "",
            )
            for point in self.points
        )
        heads = ("technique", "parameter", "risk", "worst", "cost", "")
        grid = Grid("Every point", heads, rows, frozenset({2, 3, 4}))
        section = Section("Which technique suits this table", (Prose(story), Charts({"map": self.chart}), grid))
        footer = "This page has counts and shares only: no row and no value of a person."
        return Page(self.title, (section,), kicker="Map of techniques", footer=footer)


def own_point_told(point: TriedTechnique) -> str:
    """Write the policy's own point in words."""
    if point.why:
        return f"{point.parameter} cannot be used here: {point.why}"
    where = "on the front" if point.on_front else "beaten by another point"
    return (
        f"{point.parameter}, risk {format_number(point.risk)} (worst {format_number(point.worst)}), "
        f"cost {format_number(point.cost)}, {where}"
    )


def _line(name: str, points: list[TriedTechnique]) -> Line:
    labels = tuple(f"{point.technique} {point.parameter}" for point in points)
    return Line(name, tuple(point.risk for point in points), tuple(point.cost for point in points), labels=labels)
