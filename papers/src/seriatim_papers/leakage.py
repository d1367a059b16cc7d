"""Repeats Ren and Li, "Privacy-Preserving Characterization and Data Publishing": examples, Adult, Figs. 1 to 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seriatim.model.chart import Chart, ChartAxis, Line, Lines
from seriatim.report import FiledReport, chart_views
from seriatim.report.page import Cell, Charts, Grid, Page, Prose, Section, Tile, Tiles
from seriatim.report.words import format_number, format_plain
from seriatim_papers.adult import read_adult
from seriatim_papers.leakage_adult import (
    AnonymisedAdult,
    LeakageTerms,
    adult_known_growth,
    adult_minimal_tables,
    adult_published_growth,
    leakage_adult_class_figures,
)
from seriatim_papers.leakage_examples import ExampleRow, example_rows
from seriatim_papers.leakage_metrics import metric_correlation_chart, metric_family_charts, metric_rank_correlations

TABLES = (((1, 2), LeakageTerms(6, 6, 0.5)), ((1, 2), LeakageTerms(13, 13, 0.1)), ((1, 2, 3), LeakageTerms(7, 7, 0.5)))
CHOICES = ((1, 2), (2, 3), (2, 4), (3, 4))
TITLE = "Leakage: what tables that keep k, l and t reveal"
PAPER = "after Ren and Li, Privacy-Preserving Characterization and Data Publishing"
EXAMPLES_LEAD = "Every printed figure with what the definitions give; errors in the paper are named."
FIG_1_LEAD = "How distances and entropy order the same classes."
FIG_4_LEAD = "What the same thresholds over different quasi-identifiers reveal, class by class."
GROWTH_LEAD = "What more columns reveal, while every table keeps the same (k, l, t)."
NOT_FROM_PUBLIC = (
    "The public file does not give the exact figures of the paper's Adult section, but their structure. "
    "Ages in steps of 25, then 50; work class government or other; t is total variation; the prior is the published "
    "margin; every node of the lattice was tried."
)


@dataclass(frozen=True, slots=True, eq=False)
class LeakageStudy(FiledReport):
    """What was printed, what was found, and the charts. The Adult parts are empty without the file."""

    examples: tuple[ExampleRow, ...]
    tables: tuple[AnonymisedAdult, ...]
    choices: tuple[AnonymisedAdult, ...]
    growth: tuple[AnonymisedAdult, ...]
    charts: dict[str, Chart]

    def record(self) -> dict[str, Any]:
        return {
            "schema": "seriatim.study.leakage/1",
            "examples": [format_plain(asdict(row)) for row in self.examples],
            "tables": [_record(table) for table in self.tables],
            "qid_choices": [_record(table) for table in self.choices],
            "growth": [_record(table) for table in self.growth],
            "charts": {name: chart_views.drawing(chart) for name, chart in self.charts.items()},
        }

    def page(self) -> Page:
        sections = [
            *([_in_short(self.tables, self.growth)] if self.tables else []),
            Section("Examples", (_example_grid(self.examples),), EXAMPLES_LEAD),
            Section("Fig. 1: distances compared", (Charts(self._charts("fig1")),), FIG_1_LEAD),
        ]
        if self.tables:
            grids = (_table_grid("Tables that keep (k, l, t)", self.tables), Charts(self._charts("fig2", "fig3")))
            sections.append(Section("Adult", (Prose((NOT_FROM_PUBLIC,)), *grids)))
            choices = _table_grid("Pairs of quasi-identifiers at (6, 6, 0.5)", self.choices)
            charts = Charts(self._charts("fig4"))
            sections.append(Section("Fig. 4: which quasi-identifiers", (choices, charts), FIG_4_LEAD))
            grown = _table_grid("One to seven quasi-identifiers at (6, 6, 0.5)", self.growth)
            sections.append(Section("Growth", (grown, Charts(self._charts("growth"))), GROWTH_LEAD))
        return Page(TITLE, tuple(sections), kicker="Study", subtitle=PAPER)

    def _charts(self, *starts: str) -> dict[str, Chart]:
        return {name: chart for name, chart in self.charts.items() if name.startswith(starts)}


def study_leakage(adult: Path | None = None) -> LeakageStudy:
    """Run the study; without the Adult file only the examples and Fig. 1."""
    charts = metric_family_charts()
    if adult is None:
        return LeakageStudy(tuple(example_rows()), (), (), (), charts)
    data = read_adult(adult)
    tables = tuple(table for chosen, asked in TABLES for table in adult_minimal_tables(data, chosen, asked))
    choices = tuple(adult_minimal_tables(data, chosen, LeakageTerms(6, 6, 0.5))[0] for chosen in CHOICES)
    grown = tuple(adult_published_growth(data, LeakageTerms(6, 6, 0.5)))
    seen = leakage_adult_class_figures(data)
    charts["fig1_rank_correlations"] = metric_correlation_chart(
        metric_rank_correlations(seen), int((seen.sizes > 0).sum())
    )
    first = tables[0]
    third = next(table for table in tables if len(table.quasi) == 3)
    charts["fig2a"] = _class_chart("Fig. 2a", first)
    charts["fig2b"] = _shares_chart("Fig. 2b", first)
    charts["fig3a"] = _class_chart("Fig. 3a", third)
    charts["fig3b"] = _shares_chart("Fig. 3b", third)
    charts["fig4_distribution"] = _choice_chart(choices, "distribution leakage", bits=False)
    charts["fig4_entropy"] = _choice_chart(choices, "entropy leakage, bits", bits=True)
    charts["growth_known"] = _known_chart(adult_known_growth(data, raw=True))
    charts["growth_published"] = _published_chart(grown)
    return LeakageStudy(tuple(example_rows()), tables, choices, grown, charts)


def _class_chart(figure: str, table: AnonymisedAdult) -> Chart:
    x = tuple(float(c) for c in range(1, len(table.sizes) + 1))
    lines = (
        Line("distribution leakage", x, tuple(float(v) for v in table.l_d)),
        Line("entropy leakage, bits", x, tuple(abs(float(v)) for v in table.l_e)),
    )
    title = f"{figure}: leakage of the classes of a table that keeps {table.asked}"
    caption = "Classes in the order of their first records."
    return Chart(title, Lines(lines), x=ChartAxis("class"), y=ChartAxis("leakage"), caption=caption)


def _shares_chart(figure: str, table: AnonymisedAdult) -> Chart:
    x = tuple(float(v) for v in range(1, len(table.margin) + 1))
    lines = (
        Line("whole table", x, tuple(float(v) for v in table.margin)),
        Line(table.names[table.worst], x, tuple(float(v) for v in table.shares[table.worst])),
    )
    title = f"{figure}: the class of {table.asked} that leaks most"
    caption = "Values of the occupation in alphabetical order."
    return Chart(title, Lines(lines), x=ChartAxis("value"), y=ChartAxis("share", "percent"), caption=caption)


def _choice_chart(choices: Sequence[AnonymisedAdult], label: str, bits: bool) -> Chart:
    lines = []
    for table in choices:
        leaks = np.sort(np.abs(table.l_e if bits else table.l_d))[::-1]
        name = f"{' + '.join(table.quasi)} ({len(leaks)} classes)"
        lines.append(Line(name, tuple(float(i + 1) for i in range(len(leaks))), tuple(float(v) for v in leaks)))
    title = f"Fig. 4: {label} at different quasi-identifiers"
    return Chart(title, Lines(tuple(lines)), x=ChartAxis("class, worst first"), y=ChartAxis(label))


def _known_chart(steps: Sequence[tuple[int, float, float, float, float, float]]) -> Chart:
    x = tuple(float(n) for n in range(1, len(steps) + 1))
    names = {1: "mean L_D", 2: "largest L_D", 5: "L_D by chance", 3: "mean L_E, bits", 4: "largest |L_E|, bits"}
    lines = tuple(Line(name, x, tuple(step[i] for step in steps)) for i, name in names.items())
    title = "Growth: leakage of the original table as more attributes are known"
    caption = _by_chance_words(steps)
    return Chart(title, Lines(lines), x=ChartAxis("attributes known"), y=ChartAxis("leakage"), caption=caption)


def _by_chance_words(steps: Sequence[tuple[int, float, float, float, float, float]]) -> str:
    """Say from how many attributes on the mean distance is what random classes of the same sizes show."""
    apart = [n for n, step in enumerate(steps, 1) if step[1] > 1.1 * step[5]]
    first, last = max(apart, default=0) + 1, steps[-1]
    ends = f"Mean distance at the end {last[1]:.3f}, of random classes of the same sizes {last[5]:.3f}"
    return f"{ends}: within a tenth of it from {first} attributes on." if first <= len(steps) else f"{ends}."


def _published_chart(grown: Sequence[AnonymisedAdult]) -> Chart:
    x = tuple(float(n) for n in range(1, len(grown) + 1))
    lines = (
        Line("largest L_D", x, tuple(float(t.l_d.max()) for t in grown)),
        Line("largest |L_E|, bits", x, tuple(float(np.abs(t.l_e).max()) for t in grown)),
    )
    title = "Growth: leakage of tables that keep (6, 6, 0.5)"
    return Chart(title, Lines(lines), x=ChartAxis("quasi-identifiers"), y=ChartAxis("leakage of the worst class"))


def _record(table: AnonymisedAdult) -> dict[str, Any]:
    return {
        "asked": str(table.asked),
        "quasi": list(table.quasi),
        "node": list(table.node),
        "sizes": list(table.sizes),
        "l_d": format_plain(table.l_d),
        "l_e": format_plain(table.l_e),
        "n_missing": format_plain(table.n_missing),
        "worst_class": table.worst,
    }


def _in_short(tables: Sequence[AnonymisedAdult], grown: Sequence[AnonymisedAdult]) -> Section:
    first, worst = tables[0], tables[0].worst
    story = (
        f"A table of Adult that keeps (k, l, t) = {first.asked} is safe by all three numbers. Its class "
        f"“{first.names[worst]}” of {first.sizes[worst]} people still rules out {int(first.n_missing[worst])} of "
        f"{len(first.margin)} occupations and makes an adversary {format_number(float(first.l_e[worst]))} bits more "
        "certain. "
        "No single threshold shows that; distribution and entropy leakage, class by class, do."
    )
    gentle = next(table for table in tables if str(table.asked) == "(13, 13, 0.1)")
    tiles = (
        Tile(f"Largest L_D at {first.asked}", format_number(float(first.l_d.max())), f"{len(first.sizes)} classes"),
        Tile(f"Largest L_D at {gentle.asked}", format_number(float(gentle.l_d.max())), f"{len(gentle.sizes)} classes"),
        Tile("Largest L_D, one attribute", format_number(float(grown[0].l_d.max())), f"{len(grown[0].sizes)} classes"),
        Tile(
            "Largest L_D, seven attributes",
            format_number(float(grown[-1].l_d.max())),
            f"{len(grown[-1].sizes)} classes",
        ),
    )
    return Section("In short", (Prose((story,)), Tiles(tiles)))


def _example_grid(rows: Sequence[ExampleRow]) -> Grid:
    """Return a row per class, with what was printed and what was found in each cell."""
    figures = list(dict.fromkeys(row.figure for row in rows))
    of_class: dict[str, dict[str, ExampleRow]] = {}
    for row in rows:
        of_class.setdefault(f"Example {row.example}, {row.group}", {})[row.figure] = row
    lines: list[tuple[str | Cell, ...]] = []
    for name, own in of_class.items():
        cells = [
            Cell(format_number(own[f].found), note=f"printed {own[f].printed:g}") if f in own else "" for f in figures
        ]
        remarks = dict.fromkeys(f"{f}: {own[f].remark}" for f in own if own[f].remark)
        lines.append((name, *cells, "; ".join(remarks)))
    heads = ("class", *figures, "remark")
    return Grid(
        "What the definitions give, and what is printed", heads, tuple(lines), frozenset(range(1, len(figures) + 1))
    )


def _table_grid(caption: str, tables: Sequence[AnonymisedAdult]) -> Grid:
    rows = tuple(
        (
            f"{t.asked}: {', '.join(t.quasi)}",
            ", ".join(str(level) for level in t.node),
            str(len(t.sizes)),
            f"{min(t.sizes):,}",
            format_number(float(t.l_d.max())),
            format_number(float(np.abs(t.l_e).max())),
            t.names[t.worst],
        )
        for t in tables
    )
    columns = ("table", "levels", "classes", "smallest", "largest L_D", "largest |L_E|", "class that leaks most")
    return Grid(caption, columns, rows, frozenset({2, 3, 4, 5}))
