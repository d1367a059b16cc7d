"""Repeats Alfalayleh and Brankovic, "Quantifying Privacy": sampling, query restriction and noise on one scale.

Corrections to the paper: Algorithm 3 (noise) is printed as a copy of Algorithm 2, so the method is ours, see
``equivocation_beliefs``; 1/(U - L + 1) counts candidates in the domain instead; the prior is an option, since a uniform
one overstates what is left to learn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from seriatim.measures._equivocation import equivocation
from seriatim.measures.supplementary_knowledge import Beliefs, UncertaintyLeft, supplementary_knowledge
from seriatim.model.chance import open_chance
from seriatim.model.chart import Chart, ChartAxis, Line, Lines
from seriatim.model.scale import FloatArray
from seriatim.report import FiledReport, chart_views
from seriatim.report.page import Charts, Grid, Page, Prose, Section
from seriatim.report.words import format_bits, format_plain
from seriatim.wiring import wired_workers
from seriatim_papers.claims import Claim, Spread, claims_grid, claims_record
from seriatim_papers.equivocation_beliefs import noise_beliefs, prior_beliefs, query_beliefs, sampling_beliefs
from seriatim_papers.equivocation_claims import APPENDIX, SALARIES, printed_claims, run_claims, table_2
from seriatim_papers.study_run import KEEPS_NOTHING, StudyRun
from seriatim_papers.worlds.pums import RECORDS, ColumnDescribed, PumsMicrodata, made_pums, pums_shipped, read_pums

Releasing = Callable[[PumsMicrodata, float, Sequence[FloatArray], np.random.Generator], list[Beliefs]]
"""Releases once, and returns what is believed under each prior."""
TECHNIQUES: dict[str, tuple[Releasing, tuple[float, ...], str]] = {
    "sampling": (sampling_beliefs, (0.05, 0.1, 0.2, 0.5), "{:.0%} of the records"),
    "queries": (query_beliefs, (2, 4, 8, 16, 32), "Q = {:.0f}"),
    "noise": (noise_beliefs, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0), "noise {:.0%}"),
}
PRIORS = ("uniform", "margin")
FIGURES = ("initial", "initial_by_record", "area", "area_by_record", "nothing_left")
LEVELS = (30.0, 45.0, 80.0, 130.0)
SEED = 20_265
TITLE = "Equivocation: what is left to learn about a salary"
PAPER = "after Alfalayleh and Brankovic, Quantifying Privacy: A Novel Entropy-Based Measure of Disclosure Risk"


@dataclass(frozen=True, slots=True)
class EquivocationStep:
    """One technique, parameter, prior and number of attributes known: the mean over replicates, and their spread."""

    data: str
    technique: str
    parameter: float
    prior: str
    known: UncertaintyLeft
    initial: Spread
    area: Spread
    initial_by_record: Spread
    area_by_record: Spread
    nothing_left: Spread


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EquivocationStudy(FiledReport):
    """Every figure, and the charts drawn from them."""

    steps: tuple[EquivocationStep, ...]
    levels: tuple[SalaryLevel, ...]
    replicates: int
    records: int
    described: tuple[ColumnDescribed, ...]
    left_out: str = ""
    """Which tables are missing, and why."""

    def record(self) -> dict[str, Any]:
        return {
            "schema": "seriatim.study.equivocation/2",
            "run": self._run(),
            "replicates": self.replicates,
            "left_out": self.left_out,
            "claims": claims_record(self.claims),
            "table_2": [asdict(one) for one in self.described],
            "steps": [format_plain(asdict(step)) for step in self.steps],
            "salary_levels": [format_plain(asdict(level)) for level in self.levels],
            "charts": {name: chart_views.drawing(chart) for name, chart in self.charts.items()},
        }

    @property
    def data(self) -> tuple[str, ...]:
        """Return the names of the tables, the one of Table 2 first."""
        return tuple(dict.fromkeys(step.data for step in self.steps))

    @property
    def claims(self) -> tuple[Claim, ...]:
        initial, area = (
            {name: self._curve(self.data[0], name, figure) for name in TECHNIQUES} for figure in ("initial", "area")
        )
        known = max(step.known.attributes for step in self.steps if step.data == self.data[0])
        return (*printed_claims(), *run_claims(initial, area, known))

    def _curve(self, data: str, technique: str, figure: str, prior: str = "uniform") -> dict[float, list[Spread]]:
        found: dict[float, list[Spread]] = {}
        for step in self.steps:
            if (step.data, step.technique, step.prior) == (data, technique, prior):
                found.setdefault(step.parameter, []).append(getattr(step, figure))
        return found

    @property
    def charts(self) -> dict[str, Chart]:
        found = {"fig1": _equivocation_salary_chart(), "fig3": _equivocation_appendix_chart()}
        for data, prior in dict.fromkeys((step.data, step.prior) for step in self.steps):
            for technique in TECHNIQUES:
                for figure in ("initial", "area"):
                    name = f"{'fig4' if technique == 'noise' else 'fig2'} {data} {technique} {figure} {prior}"
                    found[name] = _technique_chart(self.steps, data, technique, figure, prior)
            for figure in ("initial", "area"):
                by_noise = _by_noise_chart(self._curve(data, "noise", figure, prior), data, figure, prior)
                found[f"fig4 {data} by noise {figure} {prior}"] = by_noise
        return found

    def page(self) -> Page:
        charts = self.charts
        own = {key: chart for key, chart in charts.items() if key in ("fig1", "fig3")}
        sections = [
            Section("Claims", (claims_grid(self.claims),), self._run()),
            Section("Figs. 1 and 3: the measure", (Charts(own),)),
            Section("Table 2", (table_2(self.data[0], self.described),)),
            self._levels(),
        ]
        for data in self.data:
            drawn = {key: chart for key, chart in charts.items() if f" {data} " in key}
            grid = _grid(data, [step for step in self.steps if step.data == data])
            sections.append(Section(f"Figs. 2 and 4: {data}", (Charts(drawn), grid)))
        return Page(TITLE, tuple(sections), kicker="Study", subtitle=PAPER)

    def _run(self) -> str:
        """Say what was run."""
        of = f"{self.replicates} replicate{'' if self.replicates == 1 else 's'} of each setting (seed {SEED})"
        told = f"Run: {self.records:,} records of {', '.join(self.data)}; {of}. Behind a mean is its 95 % interval."
        return f"{told} {self.left_out}".strip()

    def _levels(self) -> Section:
        rows = tuple(
            (f"{one.level:g}", *(str(getattr(one, key)) for key in ("sampling", "queries")),
             *(str(getattr(one, key)) for key in ("area_sampling", "area_queries")))
            for one in self.levels
        )  # fmt: skip
        heads = ("median salary, K", "H0, sampling 50%", "H0, Q = 8", "area, sampling 50%", "area, Q = 8")
        apart = "; ".join(f"at {one.level:g} K by {one.sampling.less(one.queries)}" for one in self.levels)
        text = f"Sampling half and Q = 8 with nothing known, H0 of the first less the second in bits: {apart}."
        grid = Grid("Nothing known, uniform prior", heads, rows, frozenset(range(5)))
        return Section("By salary level", (Prose((text,)), grid))


@dataclass(frozen=True, slots=True)
class SalaryLevel:
    """What sampling half and queries of size 8 leave if nothing is known, at a median salary in thousands."""

    level: float
    sampling: Spread
    queries: Spread
    area_sampling: Spread
    area_queries: Spread


def study_equivocation(
    pums: Path | None = None,
    replicates: int = 30,
    records: int | None = None,
    run: StudyRun = KEEPS_NOTHING,
    *,
    quick: bool = False,
) -> EquivocationStudy:
    """Run the study; Wine and breast cancer only where scikit-learn is installed (the extra ``models``)."""
    if quick:
        replicates, records = 3, 200 if records is None else records
    n_records = RECORDS if records is None else records
    tables = [read_pums(pums) if pums is not None else made_pums(n_records)]
    left_out = "" if records is None else "Wine and breast cancer are left out of a quick run."
    if records is None and find_spec("sklearn") is None:
        left_out = "Wine and breast cancer are left out: they come with scikit-learn (install the extra models)."
    if not left_out:
        tables += [pums_shipped("wine"), pums_shipped("breast cancer")]
    tasks = {
        f"{data.name}, {name}, {by}": partial(_steps, data, name, by, replicates)
        for data in tables
        for name, by in _plans()
    }
    steps = run.parts(tasks, 0.0, 0.95)
    few = min(replicates, 3)
    at = {f"salary level {level}": partial(_at_level, level, n_records, few) for level in LEVELS}
    levels = tuple(run.parts(at, 0.95, 1.0).values())
    first = tables[0]
    return EquivocationStudy(
        steps=tuple(chain(*steps.values())),
        levels=levels,
        replicates=replicates,
        records=len(first.confidential),
        described=first.described,
        left_out=left_out,
    )


def _steps(data: PumsMicrodata, name: str, parameter: float, replicates: int) -> list[EquivocationStep]:
    runs = equivocation_runs(data, name, parameter, replicates)
    return [
        EquivocationStep(
            data=data.name,
            technique=name,
            parameter=parameter,
            prior=prior,
            known=_mean(over),
            **{name: Spread(tuple(getattr(one, name) for one in over)) for name in FIGURES},
        )
        for prior, sizes in runs.items()
        for over in sizes
    ]


def _plans() -> Iterator[tuple[str, float]]:
    for name, (_, parameters, _words) in TECHNIQUES.items():
        for parameter in parameters:
            yield name, parameter


def equivocation_technique_steps(
    data: PumsMicrodata, technique: str, parameter: float, prior: str, replicates: int
) -> list[UncertaintyLeft]:
    """Return what is left at each number of known attributes under one prior."""
    return equivocation_steps_by_prior(data, technique, parameter, replicates, (prior,))[prior]


def equivocation_steps_by_prior(
    data: PumsMicrodata, technique: str, parameter: float, replicates: int, priors: tuple[str, ...] = PRIORS
) -> dict[str, list[UncertaintyLeft]]:
    """Return what is left at each number of known attributes, the mean over replicates; the worst set of the first."""
    found = equivocation_runs(data, technique, parameter, replicates, priors)
    return {prior: [_mean(over) for over in sizes] for prior, sizes in found.items()}


def equivocation_runs(
    data: PumsMicrodata, technique: str, parameter: float, replicates: int, priors: tuple[str, ...] = PRIORS
) -> dict[str, list[list[UncertaintyLeft]]]:
    """Return for each prior and number of known attributes what is left in every replicate."""
    before = [prior_beliefs(data, prior) for prior in priors]

    def run(replicate: int) -> list[list[UncertaintyLeft]]:
        chance = open_chance(SEED, f"{technique}/{parameter}/{replicate}")
        beliefs = TECHNIQUES[technique][0](data, parameter, before, chance)
        return [supplementary_knowledge(data.attributes, data.domain, believed) for believed in beliefs]

    runs = wired_workers().map(run, range(replicates))
    return {
        prior: [[one[place][size] for one in runs] for size in range(len(runs[0][place]))]
        for place, prior in enumerate(priors)
    }


def _mean(known: list[UncertaintyLeft]) -> UncertaintyLeft:
    means: Any = {name: float(np.mean([getattr(one, name) for one in known])) for name in FIGURES}
    return replace(known[0], **means)


def _at_level(level: float, records: int, replicates: int) -> SalaryLevel:
    data = made_pums(records, level)
    bare = replace(data, attributes=data.attributes[:1])
    found = []
    for name, parameter in (("sampling", 0.5), ("queries", 8.0)):
        first = equivocation_runs(bare, name, parameter, replicates, ("uniform",))["uniform"][0]
        found.append([Spread(tuple(getattr(one, figure) for one in first)) for figure in ("initial", "area")])
    (sampling, area_sampling), (queries, area_queries) = found
    return SalaryLevel(level, sampling, queries, area_sampling, area_queries)


def _equivocation_salary_chart() -> Chart:
    """Return Fig. 1: two salaries, far apart or near, with the entropy and the area of each pair."""
    pairs = tuple(SALARIES.values())
    lines = tuple(_steps_line(f"{low:g}K or {high:g}K", [low, high], [0.5, 0.5]) for low, high in pairs)
    found = [equivocation(list(pair), [0.5, 0.5]) for pair in pairs]
    areas = " and ".join(f"{one.area:g}" for one in found)
    entropies = " and ".join(format_bits(one.initial) for one in found)
    caption = f"{entropies} at eps = 0, and areas of {areas} K x bits."
    return Chart(
        "Fig. 1: the same entropy, other areas",
        Lines(lines),
        x=ChartAxis("eps, K"),
        y=ChartAxis("H, bits"),
        caption=caption,
    )


def _equivocation_appendix_chart() -> Chart:
    """Return Fig. 3: the example of the appendix."""
    line = _steps_line("appendix", list(APPENDIX[0]), list(APPENDIX[1]))
    return Chart("Fig. 3: the example of the appendix", Lines((line,)), x=ChartAxis("eps"), y=ChartAxis("H, bits"))


def _steps_line(name: str, values: list[float], shares: list[float]) -> Line:
    """Return a step function as a line: every step twice."""
    widths, entropies = equivocation(values, shares).curve()
    return Line(name, _twice(widths)[1:], _twice(entropies)[:-1])


def _twice(numbers: FloatArray) -> tuple[float, ...]:
    return tuple(float(x) for x in np.repeat(numbers, 2))


def _technique_chart(steps: tuple[EquivocationStep, ...], data: str, technique: str, figure: str, prior: str) -> Chart:
    words = TECHNIQUES[technique][2]
    lines = []
    for parameter in TECHNIQUES[technique][1]:
        own = [
            s.known for s in steps if (s.data, s.technique, s.parameter, s.prior) == (data, technique, parameter, prior)
        ]
        if own:
            x, y = tuple(float(k.attributes) for k in own), tuple(float(getattr(k, figure)) for k in own)
            lines.append(Line(words.format(parameter), x, y))
    label = "H(0), bits" if figure == "initial" else "area, units x bits"
    title = f"{data}, {technique}: {'initial entropy' if figure == 'initial' else 'area'}, {prior} prior"
    caption = "Means over all combinations of all sets of attributes."
    return Chart(title, Lines(tuple(lines)), x=ChartAxis("attributes known"), y=ChartAxis(label), caption=caption)


def _by_noise_chart(curves: Mapping[float, Sequence[Spread]], data: str, figure: str, prior: str) -> Chart:
    """Return Fig. 4 (c) or (d): a line for each number of attributes known, over the amount of noise."""
    x = tuple(100 * share for share in curves)
    sizes = range(len(next(iter(curves.values()))))
    lines = tuple(Line(f"{size} known", x, tuple(own[size].mean for own in curves.values())) for size in sizes)
    label = "H(0), bits" if figure == "initial" else "area, units x bits"
    title = f"Fig. 4 {'(c)' if figure == 'initial' else '(d)'}: {data}, {label} by noise, {prior} prior"
    return Chart(title, Lines(lines), x=ChartAxis("noise, %"), y=ChartAxis(label))


def _grid(data: str, steps: list[EquivocationStep]) -> Grid:
    rows = tuple(
        (
            f"{step.technique}, {TECHNIQUES[step.technique][2].format(step.parameter)}",
            step.prior,
            str(step.known.attributes),
            str(step.initial),
            str(step.initial_by_record),
            str(step.area),
            str(step.area_by_record),
            str(step.nothing_left),
            " + ".join(step.known.worst),
        )
        for step in steps
    )
    heads = ("technique", "prior", "known", "H0 by combination", "H0 by record", "area by combination",
             "area by record", "share of records with H0 = 0", "worst set")  # fmt: skip
    return Grid(f"{data}: every figure", heads, rows, frozenset(range(2, 8)))
