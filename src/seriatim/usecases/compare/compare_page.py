"""Writes a comparison of methods as a page and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from seriatim.model.chart import Axis, Bars, Chart
from seriatim.report import Cell, Charts, Grid, Page, Prose, Section
from seriatim.report.filed import Filed
from seriatim.report.formats import percent, plain
from seriatim.usecases.compare.compare import Compared

HEAD = ("method", "verdict", "promises kept", "certainty lost", "class size", "withheld", "query error", "seconds")


@dataclass(frozen=True, slots=True)
class Comparison(Filed):
    """What each method makes of the same view."""

    title: str
    methods: tuple[Compared, ...]

    def record(self) -> dict[str, Any]:
        return {"schema": "seriatim.comparison/1", "methods": [plain(asdict(found)) for found in self.methods]}

    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Return the table as texts, in the order of ``HEAD``."""
        return tuple(_row(found) for found in self.methods)

    def page(self) -> Page:
        story = (
            "The same table under each method, as its first release. These were dry runs: nothing was recorded or "
            "published. The query error is the median over random range counts of about 5% of the people. "
            "The first use of a method on a machine includes the seconds to compile it.",
        )
        made = [found for found in self.methods if found.gcp is not None]
        chart = Chart(
            "What each method costs",
            Bars(tuple(found.method for found in made), tuple(found.gcp or 0.0 for found in made)),
            x=Axis("method"),
            y=Axis("certainty lost", "percent"),
            caption="0% keeps every cell as it was, 100% tells nothing.",
            topic="usefulness",
        )
        rows: tuple[tuple[str | Cell, ...], ...] = tuple(
            (row[0], Cell(row[1], "good" if found.released else "bad", found.why), *row[2:])
            for row, found in zip(self.rows(), self.methods, strict=True)
        )
        grid = Grid("Side by side", HEAD, rows, frozenset(range(2, len(HEAD))))
        charts = (Charts({"cost": chart}),) if made else ()
        section = Section("Which method suits this table", (Prose(story), grid, *charts))
        footer = "This page has counts and shares only: no row and no value of a person."
        return Page(self.title, (section,), kicker="Comparison", footer=footer)


def _row(found: Compared) -> tuple[str, ...]:
    if found.gcp is None:
        return (found.method, "cannot", "", "", "", "", "", "")
    return (
        found.method,
        "would be released" if found.released else "would be refused",
        f"{found.kept} of {found.asked}",
        percent(found.gcp),
        f"{found.class_size:.1f}",
        percent(found.suppressed or 0.0),
        "" if found.query_error is None else percent(found.query_error),
        f"{found.seconds:.2f}",
    )
