"""The Cor-Split study as one page: what m-invariance, Cor-Split and later methods reveal and cost, and its claims."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from seriatim.report import Cell, Charts, Grid, Page, Points, Prose, Section
from seriatim.report.html import FiledReport
from seriatim.report.words import format_percent, format_plain
from seriatim_papers.claims import Claim, Spread, claims_grid, shown_percent
from seriatim_papers.cor_split import METHODS, CorSplitSetting, Order
from seriatim_papers.cor_split_charts import (
    cor_split_chart_label,
    cor_split_closed_form_charts,
    cor_split_course_charts,
    cor_split_headline_chart,
    cor_split_swept_charts,
)
from seriatim_papers.cor_split_claims import (
    closed_form_claims,
    example_claims,
    printed_claims,
    scenario_claims,
    swept_claims,
)
from seriatim_papers.cor_split_example import cor_split_example_grid
from seriatim_papers.cor_split_parts import (
    COMPROMISED,
    DRAWS,
    MS,
    NS,
    SEEDS,
    CorSplitRuns,
    DegreeSweep,
    cor_split_part_degrees,
    cor_split_part_mean_seconds,
    cor_split_part_outcome,
    cor_split_part_record,
    cor_split_part_shrunk,
)
from seriatim_papers.cor_split_printed import (
    CHURNS,
    DEGREES,
    PrintedPartition,
    cor_split_printed,
    cor_split_printed_grid,
)
from seriatim_papers.cor_split_reasons import QueryReason, Reason, reasons, reasons_asked
from seriatim_papers.study_run import KEEPS_NOTHING, StudyRun
from seriatim_papers.worlds.census import FAST_CHURN, SLOW_CHURN, CensusChurn
from seriatim_papers.worlds.own_table import IPUMS, census_from_table, churn_of_table

PARTS = ("closed-form", "printed", "fast", "slow", "sweep", "reasons")
MADE_UP = ("printed", "sweep", "reasons")
"""Parts that only the made-up census can be asked."""
SCENARIOS = {"fast": CorSplitSetting(FAST_CHURN, query_every=12), "slow": CorSplitSetting(SLOW_CHURN, query_every=10)}
READ_BY: tuple[tuple[CensusChurn, tuple[Order, ...]], ...] = (
    (CensusChurn(20_000, 0.10, 10), ("shuffled", "by id")),
    (FAST_CHURN, ("shuffled", "by id")),
    (CensusChurn(200_000, 0.10, 10), ("shuffled",)),
)
SWEEP_SIZE = 10_000
QUICK_SCALE = 0.02


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CorSplitStudy(FiledReport):
    """Every method in every scenario, and the curves of the closed form; parts that were not run are empty."""

    scale: float
    people: str = "a made-up census"
    scenarios: Mapping[str, tuple[CorSplitRuns, ...]] = field(default_factory=dict)
    swept: tuple[DegreeSweep, ...] = ()
    printed: tuple[PrintedPartition, ...] = ()
    printed_size: int = 0
    reasons: tuple[Reason, ...] = ()
    closed_form: bool = True
    n_queries: int = 10_000
    asked: tuple[QueryReason, ...] = ()

    def record(self) -> dict[str, Any]:
        return {
            "schema": "seriatim.study.cor-split/1",
            "scale": self.scale,
            "people": self.people,
            "queries": self.n_queries,
            "seeds": list(SEEDS),
            "claims": [format_plain(asdict(one)) for one in self.claims()],
            "scenarios": {
                name: [
                    {**cor_split_part_record(outcome), "seed": seed}
                    for run in found
                    for seed, outcome in zip(SEEDS, run.seeds, strict=True)
                ]
                for name, found in self.scenarios.items()
            },
            "sweep": [asdict(one) for one in self.swept],
            "printed": [asdict(one) for one in self.printed],
            "reasons": [asdict(one) for one in self.reasons],
            "asked": [asdict(one) for one in self.asked],
        }

    def claims(self) -> tuple[Claim, ...]:
        """Judge the paper's sentences by the parts that were run."""
        return (
            *(chain(closed_form_claims(), example_claims()) if self.closed_form else ()),
            *printed_claims(self.printed),
            *scenario_claims(self.scenarios),
            *swept_claims(self.swept),
        )

    def page(self) -> Page:
        sections = [
            Section("What this is", (Prose((self._story(),)), Points(_METHODS))),
            Section("The paper's claims, and where they hold here", (claims_grid(self.claims()),), _JUDGED),
        ]
        if self.closed_form:
            sections.append(Section("Example 1", (cor_split_example_grid(),)))
            sections.append(Section("Fig. 2: the closed form", (Charts(cor_split_closed_form_charts()),), _CLOSED))
        for name, runs in self.scenarios.items():
            charts = {f"{name}, {key}": chart for key, chart in cor_split_course_charts(runs, self.n_queries).items()}
            blocks: tuple[Charts | Grid | Points, ...] = (
                Charts({f"{name}, breached": cor_split_headline_chart(runs)}),
                _breached(runs),
                _costs(runs),
                Charts(charts),
            )
            sections.append(Section(name, blocks, _in_short(runs)))
        if self.printed:
            grid = cor_split_printed_grid(self.printed, self.printed_size)
            sections.append(Section("Figures 5 and 6 word by word", (grid,), _PRINTED))
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
            subtitle=f"Serial publication of {self.people}{size}",
        )

    def _story(self) -> str:
        runs = "; ".join(self.scenarios) or "no scenario"
        return (
            f"Riboni and Bettini publish a census table again and again while people join and leave. Run here on "
            f"{self.people}: {runs}, with m = 6 and n = 3; {len(SEEDS)} series each (seeds "
            f"{', '.join(map(str, SEEDS))}), {len(DRAWS)} draws of {COMPROMISED:.0%} compromised people in each, "
            f"{self.n_queries:,} queries a point. Figures are means with 95 % intervals over the series."
        )


_JUDGED = "A claim holds where its whole interval does."
_METHODS = (
    ("m-invariance:", "Xiao and Tao's buckets, halved at medians."),
    ("Cor-Split, check mended:", "the paper's greedy partition, with its safety check made symmetric, and no merging."),
    ("Cor-Split as printed:", "Figures 5 and 6 word by word."),
    ("repair:", "m-invariance's halves, with people of equal value swapped until groups are safe, in unions too."),
    ("sticky repair:", "the same, and groups whose members all remain are republished as they were."),
    ("cohort:", "nobody ever changes group. Its adversary even knows that a counterfeit is the person who left."),
)
_CLOSED = (
    "What the paper expects, before any data: the chance of losing one candidate value, and of losing all but one."
)
_PRINTED = "The printed check looks at the new group alone; the mended one at the smaller of two groups."
_SWEEP = "The paper mentions m = 4 to 10 and n = 1 to 5 without figures. The charts omit n = m."
_MOVED = (
    "One series each, under choices that the paper leaves open, one changed at a time. Shares are of people who were "
    "not compromised; the small print is the range over draws of compromised people."
)
_REASONS = (
    ("Ties.", "In a census many people tie in a quasi-identifier, and groups follow the order in which a cut leaves "
     "them. A stable sort keeps those together whom the cut before had put together, release after release; the "
     "product's selection leaves ties in no order."),
    ("Order.", "How a view is ordered: shuffled, or by id. By id, the same neighbours meet again and again; the "
     "product therefore shuffles with the series' secret."),
    ("One round.", "Side by side: both printed rules from what is known beforehand, as Lemma 2 counts. One after the "
     "other: the second from what the first left."),
    ("Queries.", "Ranges of a given volume around people, of that volume anywhere, or meant to hold that share of "
     "people."),
    ("To the end.", "Printed rules: repeated until nothing moves. All rules: with counting, which the print lacks."),
)  # fmt: skip


def study_cor_split_page(
    parts: Collection[str] = PARTS,
    scale: float | None = None,
    n_queries: int | None = None,
    run: StudyRun = KEEPS_NOTHING,
    *,
    quick: bool = False,
    data: Path | None = None,
    columns: str = IPUMS,
) -> CorSplitStudy:
    """Run the chosen parts; ``scale`` shrinks the tables, ``quick`` both tables and queries unless they are given.

    With ``data`` the scenarios are of the people of that table; what only made-up people can show is left out.
    """
    scale = scale if scale is not None else QUICK_SCALE if quick else 1.0
    n_queries = n_queries if n_queries is not None else 500 if quick else 10_000
    asked = [part for part in PARTS if part in parts and (data is None or part not in MADE_UP)]
    settings = _settings(asked, scale, n_queries, data, columns)
    tasks: dict[str, Callable[[], Any]] = {
        f"{name}, seed {seed}, {method.name}": partial(cor_split_part_outcome, replace(setting, seed=seed), method)
        for name, setting in settings.items()
        for seed in SEEDS
        for method in METHODS
    }
    size = max(round(SWEEP_SIZE * scale), 300)
    ms, ns = ((4, 7, 10), (1, 3, 5)) if scale < 1 else (MS, NS)
    pairs = [(m, n) for m in ms for n in ns if n <= m] if "sweep" in asked else []
    degrees: dict[str, Callable[[], Any]] = {
        f"m = {m}, n = {n}, seed {seed}": partial(cor_split_part_degrees, size, m, n, n_queries, seed)
        for m, n in pairs
        for seed in SEEDS
    }
    printed_size = max(round(CHURNS[0].size * min(4 * scale, 1)), 300)
    words: dict[str, Callable[[], Any]] = {
        f"as printed, {churn.share:.0%}, n = {n}, seed {seed}": partial(
            cor_split_printed, replace(churn, size=printed_size), n, seed
        )
        for churn in (CHURNS if "printed" in asked else ())
        for n in DEGREES
        for seed in SEEDS
    }
    worlds = [(cor_split_part_shrunk(CorSplitSetting(churn), scale).churn, orders) for churn, orders in READ_BY]
    moved: dict[str, Callable[[], Any]] = {
        f"choices {at}: {churn.size:,} people, {order}": partial(reasons, [(churn, (order,))])
        for at, (churn, orders) in enumerate(worlds if "reasons" in asked else [], start=1)
        for order in orders
    }
    if moved:
        moved["choices: queries"] = partial(reasons_asked, worlds[-1][0], n_queries)
    found: dict[str, Any] = run.parts({**words, **tasks, **degrees, **moved})
    return CorSplitStudy(
        scale=scale,
        people=f"the table {data.name}" if data is not None else "a made-up census",
        scenarios={
            name: tuple(
                CorSplitRuns(method.name, tuple(found[f"{name}, seed {seed}, {method.name}"] for seed in SEEDS))
                for method in METHODS
            )
            for name in settings
        },
        swept=tuple(chain(*(found[name] for name in degrees))),
        printed=tuple(chain(*(found[name] for name in words))),
        printed_size=printed_size,
        reasons=tuple(chain(*(found[name] for name in moved if name != "choices: queries"))),
        closed_form="closed-form" in asked,
        n_queries=n_queries,
        asked=found.get("choices: queries", ()),
    )


def _settings(
    asked: Collection[str], scale: float, n_queries: int, data: Path | None, columns: str
) -> dict[str, CorSplitSetting]:
    """Return the scenarios by what they are called."""
    found = {}
    own = None if data is None else census_from_table(data, columns)
    if own is not None and scale < 1:
        own = census_from_table(data, columns, max(round(len(own) * scale), 200)) if data is not None else None
    for part in (part for part in asked if part in SCENARIOS):
        setting = cor_split_part_shrunk(replace(SCENARIOS[part], n_queries=n_queries), scale)
        if own is not None:
            setting = replace(setting, own=own, churn=churn_of_table(own, SCENARIOS[part].churn))
        churn = setting.churn
        found[f"{churn.size:,} people, {churn.share:.0%} churn, {churn.releases} releases"] = setting
    return found


def _in_short(runs: Sequence[CorSplitRuns]) -> str:
    """Write the outcome in a sentence."""
    told = ", ".join(
        f"{cor_split_chart_label(one.method)} {shown_percent(one.breached)}" for one in runs if one.breached.mean
    )
    none = [cor_split_chart_label(one.method) for one in runs if not one.breached.mean]
    nobody = f" Nobody under {' or '.join(none)}." if none else ""
    return f"Breached in the end: {told}.{nobody}" if told else f"Nobody is breached under {', '.join(none)}."


def _breached(runs: Sequence[CorSplitRuns]) -> Grid:
    head = ("method", "unsafe groups, all releases", "twins", "breached, one round", "breached to the end",
            "lose values, are not breached")  # fmt: skip
    rows = tuple(
        (
            cor_split_chart_label(one.method),
            "does not apply" if one.unsafe is None else f"{one.unsafe.mean:,.0f}",
            f"{one.spread(lambda o: o.n_twins).mean:,.0f}",
            shown_percent(one.once),
            Cell(shown_percent(one.breached), note=_people(one)),
            shown_percent(one.spread(lambda o: o.iterated.detail["narrowed"] / max(o.iterated.n_people, 1))),
        )
        for one in runs
    )
    return Grid("What the whole series reveals", head, rows, frozenset(range(1, len(head))))


def _people(run: CorSplitRuns) -> str:
    """Write how many people were breached, where they are too few for a share."""
    drawn = [n for one in run.seeds for n in one.iterated.detail["breached"]]
    return f"{sum(drawn):,} in {len(drawn)} draws together" if 0 < run.breached.mean < 0.0001 else ""


def _costs(runs: Sequence[CorSplitRuns]) -> Grid:
    shares = (0.01, 0.05, 0.10)
    head = ("method", "counterfeits", "withheld", *(f"error at {share:.0%}" for share in shares), "width of boxes",
            "seconds per release")  # fmt: skip
    rows = tuple(
        (
            cor_split_chart_label(one.method),
            shown_percent(one.spread(lambda o: o.played.share("counterfeits"))),
            shown_percent(one.spread(lambda o: o.played.share("withheld"))),
            *(shown_percent(one.error(share)) for share in shares),
            shown_percent(one.spread(lambda o: float(np.mean([figures.gcp for figures in o.played.figures])))),
            f"{one.spread(lambda o: cor_split_part_mean_seconds(o.played)).mean:.3g}",
        )
        for one in runs
    )
    return Grid("What it costs, as shares of person-releases; errors are medians", head, rows,
                frozenset(range(1, len(head))))  # fmt: skip


def _swept(swept: Sequence[DegreeSweep]) -> tuple[Grid, ...]:
    """Return the unsafe groups over all m and n, and what n = m leads to."""
    methods = list(dict.fromkeys(one.method for one in swept))
    rows = tuple(
        (cor_split_chart_label(method), f"{len(own):,}", f"{sum(one.unsafe for one in own):,}",
         shown_percent(Spread(tuple(one.withheld for one in own if one.n == one.m) or (float("nan"),))))
        for method in methods
        if (own := [one for one in swept if one.method == method])
    )  # fmt: skip
    head = ("method", "series", "unsafe groups", "withheld where n = m")
    return (Grid("Over all m, n and seeds", head, rows, frozenset({1, 2, 3})),)


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
