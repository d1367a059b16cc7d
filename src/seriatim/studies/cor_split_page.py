"""The Cor-Split study as one page: what m-invariance, Cor-Split and what came after it give away and cost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from seriatim.knowledge.breach import breach_probability
from seriatim.model import Axis, Chart, Heatmap, Line, Lines
from seriatim.ports import Engine, Progress, no_progress
from seriatim.report import Grid, Page, Pictures, Prose, Section
from seriatim.report.figures import number, percent
from seriatim.report.filing import Filed
from seriatim.studies.cor_split import SELECTIVITIES, ReleaseFigures, Setting
from seriatim.studies.cor_split_parts import (
    COMPROMISED,
    MS,
    NS,
    Outcome,
    Reason,
    Swept,
    mean_error,
    mean_seconds,
    reasons,
    record_of,
    scenario,
    shrunk,
    sweep,
)
from seriatim.studies.worlds.census import FAST_CHURN, SLOW_CHURN, Churn

PARTS = ("closed-form", "fast", "slow", "sweep", "reasons")
SCENARIOS = {"fast": Setting(FAST_CHURN, query_every=12), "slow": Setting(SLOW_CHURN, query_every=10)}
READ_BY = (Churn(20_000, 0.10, 10), FAST_CHURN, Churn(200_000, 0.10, 10))
SWEEP_SIZE = 20_000
QUICK_SCALE = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class CorSplitStudy(Filed):
    """Every method in every scenario, and the closed form's curves; parts that were not run are empty."""

    scale: float
    scenarios: dict[str, tuple[Outcome, ...]] = field(default_factory=dict)
    swept: tuple[Swept, ...] = ()
    reasons: tuple[Reason, ...] = ()
    closed_form: bool = True

    def record(self) -> dict[str, Any]:
        return {
            "scale": self.scale,
            "scenarios": {name: [record_of(o) for o in found] for name, found in self.scenarios.items()},
            "sweep": [asdict(one) for one in self.swept],
            "reasons": [asdict(one) for one in self.reasons],
        }

    def page(self) -> Page:
        sections = [Section("What this is", (Prose(_STORY),))]
        if self.closed_form:
            sections.append(Section("Fig. 2: the closed form", (Pictures(_closed_form()),)))
        for name, outcomes in self.scenarios.items():
            charts = {f"{name}, {key}": chart for key, chart in _courses(outcomes).items()}
            sections.append(Section(name, (_given_away(outcomes), _costs(outcomes), Pictures(charts))))
        if self.swept:
            sections.append(Section("Other m and n", (Prose(_SWEEP), *_sweep_blocks(self.swept))))
        if self.reasons:
            sections.append(Section("What moves the figures", (Prose(_REASONS), _reasons_grid(self.reasons))))
        scaled = "" if self.scale == 1 else f"at {percent(self.scale)} of the paper's size"
        return Page("Cor-Split, run again", tuple(sections), kicker="Study", subtitle=scaled)


_STORY = (
    "Riboni and Bettini's experiment on a made-up census: m-invariance, Cor-Split as printed and repaired, "
    "sticky groups, and closed lineages. m = 6, n = 3, 4% of people compromised at random, five draws.",
    "The paper's adversary reasons once. One who goes on from every value found gets much further; the tables "
    "show both. Lineages face an adversary who is even told that a counterfeit is the leaver.",
    "Whom a breach reaches at 33% churn is a matter of luck: the cascade is at its threshold, it catches some "
    "signatures and dies out in others. The interval says how much single draws differ.",
)
_SWEEP = (
    "The paper mentions m = 4 to 10 and n = 1 to 5 without figures. A larger m costs accuracy and slows the cascade. A "
    "larger n costs counterfeits and does not help against an adversary who goes on; with n = m next to nobody can "
    "be published at all.",
)
_REASONS = (
    "The share of people breached depends on choices the paper leaves open. Order: how records stand in a view; where "
    "quasi-identifiers tie, groups follow it. By id, the same neighbours meet again and again; the product therefore "
    "shuffles with the series' secret. Side by side: both printed rules from what is known beforehand, as Lemma 2 "
    "counts; one after the other: the second from what the first left. Printed rules: repeated until nothing moves. "
    "All rules: with counting, which the print lacks; the range is over draws of compromised people.",
)


def study_cor_split(
    engine: Engine,
    scale: float = 1.0,
    parts: Collection[str] = PARTS,
    n_queries: int = 10_000,
    progress: Progress = no_progress,
) -> CorSplitStudy:
    """The chosen parts; ``scale`` shrinks the tables for a quick look."""
    run = [part for part in PARTS if part in parts]
    scenarios: dict[str, tuple[Outcome, ...]] = {}
    swept: tuple[Swept, ...] = ()
    why: tuple[Reason, ...] = ()
    for done, part in enumerate(run):
        step = _within(progress, part, done, len(run))
        if part in SCENARIOS:
            asked = shrunk(replace(SCENARIOS[part], n_queries=n_queries), scale)
            churn = asked.churn
            name = f"{churn.size:,} people, {churn.share:.0%} churn, {churn.releases} releases"
            scenarios[name] = scenario(asked, engine, progress=step)
        elif part == "sweep":
            ms, ns = ((4, 7, 10), (1, 3, 5)) if scale < 1 else (MS, NS)
            swept = sweep(max(round(SWEEP_SIZE * scale), 300), engine, ms, ns, n_queries, step)
        elif part == "reasons":
            sizes = [shrunk(Setting(churn), scale).churn for churn in READ_BY]
            why = reasons(sizes, engine, progress=step)
    progress("done", 1.0)
    return CorSplitStudy(scale, scenarios, swept, why, "closed-form" in run)


def _within(progress: Progress, part: str, done: int, total: int) -> Progress:
    """Progress inside one part."""

    def step(label: str, share: float) -> None:
        progress(f"{part}: {label}", (done + share) / total)

    return step


def _given_away(outcomes: Sequence[Outcome]) -> Grid:
    head = ("method", "unsafe groups", "twins", "breached, one round", "breached to the end", "interval")
    rows = tuple(
        (
            outcome.played.method,
            _unsafe(outcome),
            f"{outcome.n_twins:,}",
            percent(outcome.once.share),
            percent(outcome.iterated.share),
            f"{percent(outcome.iterated.low)} to {percent(outcome.iterated.high)}",
        )
        for outcome in outcomes
    )
    return Grid("What the whole series gives away", head, rows, frozenset(range(1, len(head))))


def _unsafe(outcome: Outcome) -> str:
    """Lineages are safe in another way: the degree is not asked of them."""
    found = [figures.unsafe for figures in outcome.played.figures if figures.unsafe is not None]
    return f"{sum(found):,}" if found else "not asked"


def _costs(outcomes: Sequence[Outcome]) -> Grid:
    shares = (0.01, 0.05, 0.10)
    head = ("method", "counterfeits", "withheld", *(f"error at {share:.0%}" for share in shares), "GCP", "s a release")
    rows = tuple(
        (
            outcome.played.method,
            percent(outcome.played.share("counterfeits")),
            percent(outcome.played.share("withheld")),
            *(percent(mean_error(outcome.played, share)) for share in shares),
            percent(float(np.mean([figures.gcp for figures in outcome.played.figures]))),
            number(mean_seconds(outcome.played)),
        )
        for outcome in outcomes
    )
    return Grid("What it costs", head, rows, frozenset(range(1, len(head))))


def _courses(outcomes: Sequence[Outcome]) -> dict[str, Chart]:
    """Figures 7, 8 and 9, with the methods that came after."""

    def chart(title: str, axis: Axis, figure: Callable[[ReleaseFigures], float | None]) -> Chart:
        lines = []
        for outcome in outcomes:
            shown = [(f.release, figure(f)) for f in outcome.played.figures]
            points = [(float(release), float(y)) for release, y in shown if y is not None]
            if points:
                x, y = zip(*points, strict=True)
                lines.append(Line(outcome.played.method, x, y))
        return Chart(title, Lines(tuple(lines)), x=Axis("release"), y=axis, topic="series")

    by_selectivity = tuple(
        Line(o.played.method, SELECTIVITIES, tuple(mean_error(o.played, share) for share in SELECTIVITIES))
        for o in outcomes
    )
    return {
        "unsafe": chart("Fig. 7: groups open to historical correlation", Axis("groups"), lambda f: f.unsafe),
        "counterfeits": chart("Fig. 8: counterfeits", Axis("rows"), lambda f: f.counterfeits),
        "error": Chart("Fig. 9: error of counts", Lines(by_selectivity),
                       x=Axis("share of people asked for", "percent"), y=Axis("median relative error", "percent")),
        "gcp": chart("How wide the boxes are", Axis("global certainty penalty", "percent"), lambda f: f.gcp),
    }  # fmt: skip


def _closed_form() -> dict[str, Chart]:
    """Figures 2(a), (b) and (c)."""
    releases = tuple(float(lifespan) for lifespan in range(1, 41))

    def curve(name: str, p: float, n: int, part: str) -> Line:
        return Line(name, releases, tuple(getattr(breach_probability(p, int(x), 6, n), part) for x in releases))

    chances = (0.01, 0.02, 0.04, 0.06, 0.08, 0.10)
    x, y = Axis("releases a person stays"), Axis("probability", "percent")
    garbled = "m = 6, 4% compromised. Theorem 2 is garbled in print; this is Figure 3's formula."
    return {
        "2a": Chart("Fig. 2(a): one value excluded by compromised people",
                    Lines(tuple(curve(f"p = {p:g}", p, 1, "ct") for p in chances)), x, y),
        "2b": Chart("Fig. 2(b): one value excluded by historical correlation",
                    Lines(tuple(curve(f"n = {n}", COMPROMISED, n, "hc") for n in range(1, 7))), x, y),
        "2c": Chart("Fig. 2(c): one person breached, reasoning once",
                    Lines(tuple(curve(f"n = {n}", COMPROMISED, n, "total") for n in range(1, 7))), x, y,
                    caption=garbled),
    }  # fmt: skip


def _sweep_blocks(swept: Sequence[Swept]) -> tuple[Pictures | Grid, ...]:
    ms, ns = sorted({one.m for one in swept}), sorted({one.n for one in swept})
    methods = list(dict.fromkeys(one.method for one in swept))
    at = {(one.method, one.m, one.n): one for one in swept}

    def heat(method: str, what: str, title: str) -> Chart:
        cells = tuple(
            tuple(float(getattr(at[method, m, n], what)) if (method, m, n) in at else float("nan") for n in ns)
            for m in ms
        )
        data = Heatmap(tuple(f"m = {m}" for m in ms), tuple(f"n = {n}" for n in ns), cells)
        return Chart(f"{title}, {method}", data, x=Axis("n"), y=Axis("m"), value=Axis(title, "percent"))

    figures = {"error": "error of counts", "counterfeits": "counterfeits", "breached": "breached to the end"}
    charts = {
        f"{method} {what}": heat(method, what, title) for what, title in figures.items() for method in methods
    }  # fmt: skip
    unsafe = tuple((method, f"{sum(one.unsafe for one in swept if one.method == method):,}") for method in methods)
    return Pictures(charts), Grid("Over all m and n", ("method", "unsafe groups"), unsafe, frozenset({1}))


def _reasons_grid(found: Sequence[Reason]) -> Grid:
    head = ("people x churn x releases", "order", "method", "unsafe, 2nd / last", "counterfeits", "side by side",
            "one after the other", "printed rules", "all rules", "range")  # fmt: skip
    rows = tuple(
        (
            one.setting,
            one.order,
            one.method,
            f"{one.unsafe[0]:,} / {one.unsafe[1]:,}",
            f"{one.counterfeits[0]:,} to {one.counterfeits[1]:,}",
            percent(one.side_by_side),
            percent(one.one_after_the_other),
            percent(one.printed_rules),
            percent(float(np.mean(one.all_rules))),
            f"{percent(min(one.all_rules))} to {percent(max(one.all_rules))}",
        )
        for one in found
    )
    return Grid("Share of people breached", head, rows, frozenset(range(3, len(head))))
