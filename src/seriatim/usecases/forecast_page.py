"""A forecast as a page and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seriatim.report import Filed, Grid, Page, Pictures, Prose, Section
from seriatim.report.figures import percent
from seriatim.usecases.forecasting import Forecast


@dataclass(frozen=True, slots=True)
class ForecastReport(Filed):
    """How long each method keeps a series safe."""

    title: str
    forecast: Forecast

    def record(self) -> dict[str, Any]:
        courses = [
            {
                "method": course.method,
                "releases": list(course.numbers),
                "breached": [estimate.share for estimate in course.estimates],
                "first_break": course.first_break,
                "stopped": course.stopped,
            }
            for course in self.forecast.courses
        ]
        return {"leaving": self.forecast.leaving, "joining": self.forecast.joining, "courses": courses}

    def page(self) -> Page:
        found = self.forecast
        story = (
            f"Between two releases {percent(found.leaving)} of people left and {percent(found.joining)} came. "
            "Each method continues the series with made-up people who come and leave at that rate. After every release "
            "an adversary who holds them all goes on until nothing new follows.",
        )
        rows = tuple(
            (
                course.method,
                str(course.first_break or "none"),
                percent(course.estimates[-1].share) if course.estimates else "",
                course.stopped,
            )
            for course in found.courses
        )
        grid = Grid("What lasts longer", ("method", "first person breached at", "breached at the end", ""), rows)
        blocks = (Prose(story), Pictures(found.charts), grid)
        return Page(self.title, (Section("The next releases", blocks),), kicker="Forecast")
