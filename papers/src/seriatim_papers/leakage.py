"""Repeats Ren and Li, "Privacy-Preserving Characterization and Data Publishing": examples, Adult, Figs. 1 to 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

import seriatim
from seriatim.errors import Fault, InputError
from seriatim.model.chart import Chart, ChartAxis, Line, Lines
from seriatim.model.class_counts import ValueCounts
from seriatim.model.scale import FloatArray
from seriatim.report import FiledReport, chart_views
from seriatim.report.page import Cell, Charts, Grid, Page, Prose, Section
from seriatim.report.words import format_number, format_plain
from seriatim_papers.adult import Adult, read_adult
from seriatim_papers.claims import Claim, DrawnAgain, claims_grid, claims_record
from seriatim_papers.leakage_adult import (
    AnonymisedAdult,
    LeakageTerms,
    adult_known_growth,
    adult_minimal_tables,
    adult_published_growth,
    leakage_adult_class_figures,
)
from seriatim_papers.leakage_claims import (
    EIGHTH,
    TENTH,
    adult_claims,
    adult_printed,
    example_claims,
    independence_claim,
    nearest_class,
    printed_grid,
    table_iv,
)
from seriatim_papers.leakage_examples import ExampleRow, example_rows, table_grids
from seriatim_papers.leakage_metrics import (
    FAMILIES,
    STEPS,
    apart_from_others,
    metric_correlation_chart,
    metric_family_charts,
    metric_rank_correlations,
    metric_ranks,
)
from seriatim_papers.study_run import KEEPS_NOTHING, StudyRun

TABLES = (((1, 2), LeakageTerms(6, 6, 0.5)), ((1, 2), LeakageTerms(13, 13, 0.1)), ((1, 2, 3), LeakageTerms(7, 7, 0.5)))
CHOICES = ((1, 2), (2, 3), (2, 4), (3, 4))
GROWN = LeakageTerms(6, 6, 0.5)
TITLE = "Leakage: what tables that keep k, l and t reveal"
PAPER = "after Ren and Li, Privacy-Preserving Characterization and Data Publishing"
EXAMPLES_LEAD = "Every printed figure beside what the definitions give; errors in the paper are named."
FIG_1_LEAD = "Distances and entropy along three families of beliefs, and over the classes of a table."
FIG_4_LEAD = "The same thresholds over other quasi-identifiers, class by class."
GROWTH_LEAD = "One to seven columns published, every table at the same (k, l, t)."
HOW = (
    "Trees have the printed heights; the paper does not print their levels. Ages in steps of 5, 25, then 50; work "
    "class government or other; t is total variation; the prior is the published margin."
)


@dataclass(frozen=True, slots=True, eq=False)
class ComparedMetrics:
    """How distances order the classes of one table: their rank correlations, and those of the entropy distance."""

    name: str
    n_classes: int
    correlations: FloatArray
    apart: dict[str, DrawnAgain]

    @classmethod
    def of(cls, name: str, seen: ValueCounts) -> ComparedMetrics:
        ranks = metric_ranks(seen)
        return cls(name, ranks.shape[1], metric_rank_correlations(ranks), apart_from_others(ranks))

    def claim(self) -> Claim:
        return independence_claim(self.name, self.apart, self.n_classes)

    def chart(self) -> Chart:
        return metric_correlation_chart(self.correlations, self.n_classes, self.name)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AdultFound:
    """What the Adult file gives."""

    n_records: int
    table_iv: Grid
    tables: tuple[AnonymisedAdult, ...]
    choices: tuple[AnonymisedAdult, ...]
    growth: tuple[AnonymisedAdult, ...]
    known: list[tuple[int, float, float, float, float, float]]
    printed: dict[str, DrawnAgain]

    @property
    def gentle(self) -> AnonymisedAdult:
        return next(table for table in self.tables if str(table.asked) == "(13, 13, 0.1)")

    @property
    def thirds(self) -> tuple[AnonymisedAdult, ...]:
        return tuple(table for table in self.tables if len(table.quasi) == 3)

    def charts(self) -> dict[str, Chart]:
        near, c = nearest_class(self.thirds)
        return {
            "fig2a": _class_chart("Fig. 2a", self.tables[0]),
            "fig2b": _shares_chart("Fig. 2b", self.tables[0], self.tables[0].worst),
            "fig2_gentle": _class_chart("The table of section V.B", self.gentle),
            "fig3a": _class_chart("Fig. 3a", near),
            "fig3b": _shares_chart("Fig. 3b", near, c),
            "fig4_distribution": _choice_chart(self.choices, "distribution leakage", bits=False),
            "fig4_entropy": _choice_chart(self.choices, "entropy leakage, bits", bits=True),
            "growth_known": _known_chart(self.known),
            "growth_published": _published_chart(self.growth),
        }


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LeakageStudy(FiledReport):
    """What was printed and what was found. ``adult`` is None without that file."""

    examples: tuple[ExampleRow, ...]
    adult: AdultFound | None
    compared: tuple[ComparedMetrics, ...]

    @property
    def charts(self) -> dict[str, Chart]:
        compared = {f"fig1_ranks_{at}": one.chart() for at, one in enumerate(self.compared)}
        return {**metric_family_charts(), **compared, **(self.adult.charts() if self.adult else {})}

    @property
    def claims(self) -> tuple[Claim, ...]:
        of_adult = adult_claims(self.adult.tables, self.adult.choices) if self.adult else ()
        return (*example_claims(self.examples), *(one.claim() for one in self.compared), *of_adult)

    def record(self) -> dict[str, Any]:
        adult = self.adult
        return {
            "schema": "seriatim.study.leakage/2",
            "run": self._run(),
            "claims": claims_record(self.claims),
            "examples": [format_plain(asdict(row)) for row in self.examples],
            "tables": [_record(table) for table in adult.tables] if adult else [],
            "printed": {name: str(one) for name, one in adult.printed.items()} if adult else {},
            "qid_choices": [_record(table) for table in adult.choices] if adult else [],
            "growth": [_record(table) for table in adult.growth] if adult else [],
            "charts": {name: chart_views.drawing(chart) for name, chart in self.charts.items()},
        }

    def page(self) -> Page:
        of_fig_1 = {name: chart for name, chart in self.charts.items() if name.startswith("fig1")}
        grids = (_example_grid(self.examples), *table_grids())
        sections = [
            Section("Claims", (claims_grid(self.claims),), self._run()),
            Section("Examples, and Tables I to III", grids, EXAMPLES_LEAD),
            Section("Fig. 1: distances compared", (Charts(of_fig_1),), FIG_1_LEAD),
        ]
        if self.adult:
            sections += _adult_sections(self.adult, self.charts)
        return Page(TITLE, tuple(sections), kicker="Study", subtitle=PAPER)

    def _run(self) -> str:
        """Say what was run."""
        n = len(FAMILIES)
        ran = [f"{len(self.examples)} printed figures of examples, {n} families of {STEPS} steps"]
        if self.adult:
            again = len(next(iter(self.adult.printed.values())).again)
            ran.append(
                f"{self.adult.n_records:,} records of Adult, and {again} tables of as many drawn again from them"
            )
        ran += [f"{one.n_classes:,} classes of {one.name}" for one in self.compared]
        return f"Run: {'; '.join(ran)}. Intervals: the middle 95 % of what was drawn again."


def study_leakage(
    adult: Path | None = None,
    run: StudyRun = KEEPS_NOTHING,
    *,
    table: Path | None = None,
    policy: Path | None = None,
) -> LeakageStudy:
    """Run the study: examples and Fig. 1; the Adult section with that file; Fig. 1 for a table of one's own."""
    if (table is None) != (policy is None):
        raise InputError(Fault("table, policy", "one without the other", "both"))
    compared: list[ComparedMetrics] = []
    found = None
    if adult is not None:
        data = read_adult(adult)
        found = _adult_found(data, run)
        compared.append(ComparedMetrics.of("Adult", leakage_adult_class_figures(data)))
    if table is not None and policy is not None:
        blocks = seriatim.audit(table, seriatim.Policy.load(policy)).blocks
        compared += [ComparedMetrics.of(f"{table.stem}, {block.column}", block.counts) for block in blocks]
    return LeakageStudy(examples=tuple(example_rows()), adult=found, compared=tuple(compared))


def _adult_found(data: Adult, run: StudyRun) -> AdultFound:
    made = run.parts({
        **{f"Adult, {one} at {terms}": partial(adult_minimal_tables, data, one, terms) for one, terms in TABLES},
        **{f"Adult, Fig. 4, {chosen}": partial(_best_table, data, chosen) for chosen in CHOICES},
        "Adult, growth": partial(adult_published_growth, data, GROWN),
    }, 0.0, 0.7)  # fmt: skip
    lists = list(made.values())
    tables = tuple(chain(*lists[: len(TABLES)]))
    gentle = lists[1][0]
    (printed,) = run.parts({"Adult, drawn again": partial(adult_printed, data, gentle, lists[2])}, 0.7, 1.0).values()
    return AdultFound(
        n_records=data.n_records,
        table_iv=table_iv(data),
        tables=tables,
        choices=tuple(chain(*lists[len(TABLES) : -1])),
        growth=tuple(lists[-1]),
        known=adult_known_growth(data),
        printed=printed,
    )


def _best_table(data: Adult, chosen: tuple[int, int]) -> list[AnonymisedAdult]:
    return adult_minimal_tables(data, chosen, GROWN)[:1]


def _adult_sections(adult: AdultFound, charts: Mapping[str, Chart]) -> list[Section]:
    def drawn(start: str) -> Charts:
        return Charts({name: chart for name, chart in charts.items() if name.startswith(start)})

    near, c = nearest_class(adult.thirds)
    told = (
        f"The paper does not say which class its C6 is. Of {sum(len(t.sizes) for t in adult.thirds)} classes over "
        f"{len(adult.thirds)} minimal tables “{near.names[c]}” of {near.sizes[c]:,} people is nearest to the two "
        f"shares printed: {near.shares[c, EIGHTH]:.4f} and {near.shares[c, TENTH]:.4f}. It is drawn in Fig. 3b."
    )
    choices = _table_grid(f"Pairs of quasi-identifiers at {GROWN}", adult.choices)
    grown = _table_grid(f"One to seven quasi-identifiers at {GROWN}", adult.growth)
    return [
        Section("Table IV", (adult.table_iv,), HOW),
        Section("Figs. 2 and 3", (
            printed_grid(adult.printed), _table_grid("Tables that keep (k, l, t)", adult.tables), drawn("fig2"),
            Prose((told,)), drawn("fig3"),
        )),
        Section("Fig. 4: which quasi-identifiers", (choices, drawn("fig4")), FIG_4_LEAD),
        Section("Growth", (grown, drawn("growth")), GROWTH_LEAD),
    ]  # fmt: skip


def _class_chart(figure: str, table: AnonymisedAdult) -> Chart:
    x = tuple(float(c) for c in range(1, len(table.sizes) + 1))
    lines = (
        Line("distribution leakage", x, tuple(float(v) for v in table.l_d)),
        Line("entropy leakage, bits", x, tuple(abs(float(v)) for v in table.l_e)),
    )
    title = f"{figure}: leakage of the classes of a table that keeps {table.asked}"
    caption = "Classes in the order of their first records."
    return Chart(title, Lines(lines), x=ChartAxis("class"), y=ChartAxis("leakage"), caption=caption)


def _shares_chart(figure: str, table: AnonymisedAdult, c: int) -> Chart:
    x = tuple(float(v) for v in range(1, len(table.margin) + 1))
    lines = (
        Line("whole table", x, tuple(float(v) for v in table.margin)),
        Line(table.names[c], x, tuple(float(v) for v in table.shares[c])),
    )
    title = f"{figure}: a class of a table that keeps {table.asked}"
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


def _example_grid(rows: Sequence[ExampleRow]) -> Grid:
    """Return a row per class, with what was printed and what was found in each cell."""
    figures = list(dict.fromkeys(row.figure for row in rows))
    of_class: dict[str, dict[str, ExampleRow]] = {}
    for row in rows:
        of_class.setdefault(f"Example {row.example}, {row.group}", {})[row.figure] = row
    lines: list[tuple[str | Cell, ...]] = []
    for name, own in of_class.items():
        cells = [
            Cell(format_number(own[f].found), note=f"printed {own[f].printed:.4g}") if f in own else "" for f in figures
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
