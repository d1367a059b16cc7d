"""Writes a comparison of methods as a page and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from seriatim.model.chart import Chart, ChartAxis, Line, Lines
from seriatim.report import Cell, Charts, Grid, Page, Prose, Section
from seriatim.report.html import FiledReport
from seriatim.report.words import format_percent, format_plain
from seriatim.usecases.compare.compare import ComparedMethod

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

    @property
    def chart(self) -> Chart:
        """Return the methods as dots: what each costs against what it keeps, or against whom a series breaches."""
        several = self.n_views > 1
        height = "people breached" if several else "relation kept"
        dots = [(found, found.breached if several else found.relation) for found in self.methods]
        return Chart(
            "The methods on a map",
            Lines(tuple(_dot(found, y) for found, y in dots if found.gcp is not None and y is not None)),
            x=ChartAxis("certainty lost", "percent"),
            y=ChartAxis(height, "percent"),
            caption=f"Further left, cells are nearer to what they were; {'lower' if several else 'higher'} is better.",
            topic="usefulness",
        )

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
        rows: tuple[tuple[str | Cell, ...], ...] = tuple(
            (Cell(row[0], note=found.promises), Cell(row[1], "good" if found.released else "bad", found.why), *row[2:])
            for row, found in zip(self.rows(), self.methods, strict=True)
        )
        grid = Grid("Side by side", self.head, rows, frozenset(range(2, len(self.head))))
        section = Section("Which method suits this table", (Prose(story), Charts({"map": self.chart}), grid))
        footer = "This page has counts and shares only: no row and no value of a person."
        return Page(self.title, (section,), kicker="Comparison", footer=footer)


def _dot(found: ComparedMethod, y: float) -> Line:
    return Line(found.method, (found.gcp or 0.0,), (y,), labels=(found.method,))


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
