"""The Cor-Split study as one page: what m-invariance, Cor-Split and later methods reveal and cost."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from seriatim.ports import Progress, Workers, no_progress
from seriatim.report import Cell, Charts, Grid, Page, Points, Prose, Section
from seriatim.report.html import FiledReport
from seriatim.report.words import format_number, format_people, format_percent
from seriatim_papers.cor_split import CorSplitSetting, Order
from seriatim_papers.cor_split_charts import (
    cor_split_chart_label,
    cor_split_closed_form_charts,
    cor_split_course_charts,
    cor_split_headline_chart,
    cor_split_swept_charts,
)
from seriatim_papers.cor_split_parts import (
    MS,
    NS,
    CorSplitOutcome,
    DegreeSweep,
    cor_split_part_mean_error,
    cor_split_part_mean_seconds,
    cor_split_part_record,
    cor_split_part_scenario,
    cor_split_part_shrunk,
    cor_split_part_sweep,
)
from seriatim_papers.cor_split_reasons import QueryReason, Reason, reasons, reasons_asked
from seriatim_papers.worlds.census import FAST_CHURN, SLOW_CHURN, CensusChurn

PARTS = ("closed-form", "fast", "slow", "sweep", "reasons")
SCENARIOS = {"fast": CorSplitSetting(FAST_CHURN, query_every=12), "slow": CorSplitSetting(SLOW_CHURN, query_every=10)}
READ_BY: tuple[tuple[CensusChurn, tuple[Order, ...]], ...] = (
    (CensusChurn(20_000, 0.10, 10), ("shuffled", "by id")),
    (FAST_CHURN, ("shuffled", "by id")),
    (CensusChurn(200_000, 0.10, 10), ("shuffled",)),
)
SWEEP_SIZE = 20_000
QUICK_SCALE = 0.05


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CorSplitStudy(FiledReport):
    """Every method in every scenario, and the curves of the closed form; parts that were not run are empty."""

    scale: float
    scenarios: dict[str, tuple[CorSplitOutcome, ...]] = field(default_factory=dict)
    swept: tuple[DegreeSweep, ...] = ()
    reasons: tuple[Reason, ...] = ()
    closed_form: bool = True
    n_queries: int = 10_000
    asked: tuple[QueryReason, ...] = ()

    def record(self) -> dict[str, Any]:
        return {
            "scale": self.scale,
            "queries": self.n_queries,
            "scenarios": {name: [cor_split_part_record(o) for o in found] for name, found in self.scenarios.items()},
            "sweep": [asdict(one) for one in self.swept],
            "reasons": [asdict(one) for one in self.reasons],
            "asked": [asdict(one) for one in self.asked],
        }

    def page(self) -> Page:
        sections = [Section("What this is", (Prose(_STORY), Points(_METHODS)))]
        if self.closed_form:
            sections.append(Section("Fig. 2: the closed form", (Charts(cor_split_closed_form_charts()),), _CLOSED))
        for name, outcomes in self.scenarios.items():
            charts = {
                f"{name}, {key}": chart for key, chart in cor_split_course_charts(outcomes, self.n_queries).items()
            }
            blocks: tuple[Charts | Grid | Points, ...] = (
                Charts({f"{name}, breached": cor_split_headline_chart(outcomes)}),
                _breached(outcomes),
                _costs(outcomes),
                Charts(charts),
            )
            sections.append(Section(name, blocks, _in_short(outcomes)))
        if self.swept:
            sections.append(
                Section("Other m and n", (Charts(cor_split_swept_charts(self.swept)), *_swept(self.swept)), _SWEEP)
            )
        if self.reasons:
            blocks = (Points(_REASONS), *_reasons_grids(self.reasons), _asked_grid(self.asked))
            sections.append(Section("What moves the figures", blocks, _MOVED))
        size = "" if self.scale == 1 else f", at {format_percent(self.scale)} of the paper's size"
        return Page(
            "Cor-Split, run again",
            tuple(sections),
            kicker="Study",
            subtitle=f"Serial publication on a made-up census{size}",
        )


_STORY = (
    "Riboni and Bettini publish a census table again and again while people join and leave. m-invariance shows "
    "everyone among the same m values in all releases; Cor-Split also keeps groups of different releases apart by n "
    "people. Here the experiment runs again with m = 6, n = 3 and 4% of people compromised at random, five draws.",
    "The paper's adversary draws every conclusion once. One who builds on each finding gets much further: the tables "
    "show both. Every inference is compared with the truth; none was wrong.",
)
_METHODS = (
    ("m-invariance:", "Xiao and Tao's buckets, halved at medians."),
    ("Cor-Split:", "the paper's greedy partition, with its safety check made symmetric."),
    ("repair:", "m-invariance's halves, with people of equal value swapped until groups are safe, in unions too."),
    ("sticky repair:", "the same, and groups whose members all remain are republished as they were."),
    ("cohort:", "nobody ever changes group. Its adversary even knows that a counterfeit is the person who left."),
)
_CLOSED = (
    "What the paper expects, before any data: the chance of losing one candidate value, and of losing all but one."
)
_SWEEP = (
    "The paper mentions m = 4 to 10 and n = 1 to 5 without figures. A larger m costs accuracy and slows the cascade. "
    "A larger n costs counterfeits and does not help against an adversary who iterates. With n = m hardly anyone can "
    "be published, so the charts omit it."
)
_MOVED = (
    "The same series under choices that the paper leaves open, one changed at a time. Shares are of people who were "
    "not compromised; the small print is the range over draws of compromised people."
)
_REASONS = (
    ("Ties.", "In a census many people tie in a quasi-identifier, and groups follow the order in which a cut leaves "
     "them. A stable sort keeps those together whom the cut before had put together, release after release; the "
     "product's selection leaves ties in no order. With stable ties two to four times as many groups are unsafe."),
    ("Order.", "How a view is ordered: shuffled, or by id. By id, the same neighbours meet again and again; the "
     "product therefore shuffles with the series' secret."),
    ("One round.", "Side by side: both printed rules from what is known beforehand, as Lemma 2 counts. One after the "
     "other: the second from what the first left."),
    ("Queries.", "Ranges of a given volume around people hold more of them than their share of the domain and are "
     "answered best; ranges meant to hold that share of people are narrow where people are many, and answered "
     "less well."),
    ("To the end.", "Printed rules: repeated until nothing moves. All rules: with counting, which the print lacks."),
)  # fmt: skip


def study_cor_split_page(
    workers: Workers,
    scale: float | None = None,
    parts: Collection[str] = PARTS,
    n_queries: int | None = None,
    progress: Progress = no_progress,
    *,
    quick: bool = False,
) -> CorSplitStudy:
    """Run the chosen parts; ``scale`` shrinks the tables, ``quick`` both tables and queries unless they are given."""
    scale = scale if scale is not None else QUICK_SCALE if quick else 1.0
    n_queries = n_queries if n_queries is not None else 1_000 if quick else 10_000
    run = [part for part in PARTS if part in parts]
    scenarios: dict[str, tuple[CorSplitOutcome, ...]] = {}
    swept: tuple[DegreeSweep, ...] = ()
    why: tuple[Reason, ...] = ()
    drawn: tuple[QueryReason, ...] = ()
    for done, part in enumerate(run):
        step = _within(progress, part, done, len(run))
        if part in SCENARIOS:
            setting = cor_split_part_shrunk(replace(SCENARIOS[part], n_queries=n_queries), scale)
            churn = setting.churn
            name = f"{churn.size:,} people, {churn.share:.0%} churn, {churn.releases} releases"
            scenarios[name] = cor_split_part_scenario(setting, workers, progress=step)
        elif part == "sweep":
            ms, ns = ((4, 7, 10), (1, 3, 5)) if scale < 1 else (MS, NS)
            swept = cor_split_part_sweep(max(round(SWEEP_SIZE * scale), 300), workers, ms, ns, n_queries, step)
        elif part == "reasons":
            worlds = [(cor_split_part_shrunk(CorSplitSetting(churn), scale).churn, orders) for churn, orders in READ_BY]
            why = reasons(worlds, workers, progress=step)
            drawn = reasons_asked(worlds[-1][0], workers, n_queries)
    progress("done", 1.0)
    return CorSplitStudy(
        scale=scale,
        scenarios=scenarios,
        swept=swept,
        reasons=why,
        closed_form="closed-form" in run,
        n_queries=n_queries,
        asked=drawn,
    )


def _within(progress: Progress, part: str, done: int, total: int) -> Progress:
    """Report progress within one part."""

    def step(label: str, share: float) -> None:
        progress(f"{part}: {label}", (done + share) / total)

    return step


def _in_short(outcomes: Sequence[CorSplitOutcome]) -> str:
    """Write the outcome in a sentence."""
    share = {o.played.method: o.iterated.share for o in outcomes}
    told = ", ".join(
        f"{cor_split_chart_label(method)} {format_percent(found)}" for method, found in share.items() if found
    )
    none = [cor_split_chart_label(method) for method, found in share.items() if not found]
    nobody = f" Nobody under {' or '.join(none)}." if none else ""
    return f"Breached in the end: {told}.{nobody}" if told else f"Nobody is breached under {', '.join(none)}."


def _breached(outcomes: Sequence[CorSplitOutcome]) -> Grid:
    head = ("method", "unsafe groups, all releases", "twins", "breached, one round", "breached to the end")
    rows = tuple(
        (
            cor_split_chart_label(outcome.played.method),
            _unsafe(outcome),
            f"{outcome.n_twins:,}",
            format_percent(outcome.once.share),
            Cell(format_percent(outcome.iterated.share), note=_interval(outcome)),
        )
        for outcome in outcomes
    )
    return Grid("What the whole series reveals", head, rows, frozenset(range(1, len(head))))


def _interval(outcome: CorSplitOutcome) -> str:
    """Write the interval over the draws; if hardly anyone is breached, write how many."""
    found = outcome.iterated
    if 0 < found.share < 0.0001:
        drawn: list[int] = found.detail["breached"]
        return f"{format_people(sum(drawn), 'person', 'people')} in {len(drawn)} draws together"
    return f"{format_percent(found.low)} to {format_percent(found.high)}" if found.share else ""


def _unsafe(outcome: CorSplitOutcome) -> str:
    """Count unsafe groups. Cohorts are safe in another way, so the degree does not apply to them."""
    found = [figures.unsafe for figures in outcome.played.figures if figures.unsafe is not None]
    return f"{sum(found):,}" if found else "does not apply"


def _costs(outcomes: Sequence[CorSplitOutcome]) -> Grid:
    shares = (0.01, 0.05, 0.10)
    head = ("method", "counterfeits", "withheld", *(f"error at {share:.0%}" for share in shares), "width of boxes",
            "seconds per release")  # fmt: skip
    rows = tuple(
        (
            cor_split_chart_label(outcome.played.method),
            format_percent(outcome.played.share("counterfeits")),
            format_percent(outcome.played.share("withheld")),
            *(format_percent(cor_split_part_mean_error(outcome.played, share)) for share in shares),
            format_percent(float(np.mean([figures.gcp for figures in outcome.played.figures]))),
            format_number(cor_split_part_mean_seconds(outcome.played)),
        )
        for outcome in outcomes
    )
    return Grid("What it costs, as shares of person-releases; errors are medians", head, rows,
                frozenset(range(1, len(head))))  # fmt: skip


def _swept(swept: Sequence[DegreeSweep]) -> tuple[Grid, ...]:
    """Return the unsafe groups over all m and n, and what n = m leads to."""
    methods = list(dict.fromkeys(one.method for one in swept))
    rows = tuple(
        (cor_split_chart_label(method), f"{len(own):,}", f"{sum(one.unsafe for one in own):,}")
        for method in methods
        if (own := [one for one in swept if one.method == method])
    )
    return (Grid("Over all m and n", ("method", "pairs of m and n", "unsafe groups"), rows, frozenset({1, 2})),)


def _reasons_grids(found: Sequence[Reason]) -> tuple[Grid, ...]:
    head = ("method", "records", "unsafe groups, second / last release", "counterfeits per release",
            "one round, side by side", "one after the other", "printed rules to the end",
            "all rules to the end")  # fmt: skip
    grids = []
    for setting in dict.fromkeys(one.setting for one in found):
        rows = tuple(
            (
                cor_split_chart_label(one.method),
                one.order,
                f"{one.unsafe[0]:,} / {one.unsafe[1]:,}",
                f"{one.counterfeits[0]:,} to {one.counterfeits[1]:,}" if one.counterfeits[1] else "none",
                format_percent(one.side_by_side),
                format_percent(one.one_after_the_other),
                format_percent(one.printed_rules),
                Cell(
                    format_percent(float(np.mean(one.all_rules))),
                    note=f"{format_percent(min(one.all_rules))} to {format_percent(max(one.all_rules))}",
                ),
            )
            for one in found
            if one.setting == setting
        )
        grids.append(Grid(f"People breached: {setting}", head, rows, frozenset(range(2, len(head)))))
    return tuple(grids)


def _asked_grid(found: Sequence[QueryReason]) -> Grid:
    shares = sorted({one.selectivity for one in found})
    at = {(one.drawn, one.method, one.selectivity): one for one in found}

    def cell(one: QueryReason) -> Cell:
        return Cell(format_percent(one.error), note=f"of {format_percent(one.held)} of the people")

    rows: tuple[tuple[str | Cell, ...], ...] = tuple(
        (drawn, cor_split_chart_label(method), *(cell(at[drawn, method, share]) for share in shares))
        for drawn, method in dict.fromkeys((one.drawn, one.method) for one in found)
    )
    head = ("queries", "method", *(f"error at {share:.0%}" for share in shares))
    caption = "Median relative error of the first release by how queries are drawn, and the people in the median query"
    return Grid(caption, head, rows, frozenset(range(2, len(head))))
