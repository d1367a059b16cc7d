"""The Cor-Split study as one page: what m-invariance, Cor-Split and what came after it give away and cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seriatim.attacks.equality import twins
from seriatim.attacks.excluding import estimate_once, estimate_share, prepare
from seriatim.knowledge.breach import breach_probability
from seriatim.model import Axis, Chart, Estimate, Line, Lines
from seriatim.ports import Engine, Progress, no_progress
from seriatim.report import Grid, Page, Pictures, Prose, Section
from seriatim.report.figures import number, percent
from seriatim.report.record import canonical
from seriatim.studies.cor_split import METHODS, SELECTIVITIES, Played, Setting, play
from seriatim.studies.worlds.census import Churn

SCENARIOS = {"60,000 people, 33% churn, 24 releases": (60_000, 0.33, 24), "200,000, 10%, 21": (200_000, 0.10, 21)}
COMPROMISED = 0.04


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """One method in one scenario."""

    played: Played
    once: Estimate
    iterated: Estimate
    n_twins: int


@dataclass(frozen=True, slots=True, eq=False)
class CorSplitStudy:
    """Every method in every scenario, and the closed form's curves."""

    scenarios: dict[str, tuple[Outcome, ...]]
    scale: float

    def to_json(self) -> str:
        return canonical(
            {"scale": self.scale, "scenarios": {k: [_record(o) for o in v] for k, v in self.scenarios.items()}}
        )

    def to_html(self) -> str:
        from seriatim.report.rendering import render

        return render(self.page())

    def page(self) -> Page:
        story = (
            "Riboni and Bettini's experiment on a made-up census: m-invariance, Cor-Split as printed and repaired, "
            "sticky groups, and closed lineages. m = 6, n = 3, 4% of people compromised at random.",
            "The paper's adversary reasons once. One who goes on from every value found gets much further; the last "
            "columns show both. Lineages face an adversary who is even told that a counterfeit is the leaver.",
        )
        sections = [
            Section("What this is", (Prose(story),)),
            Section("Fig. 2: the closed form", (Pictures(_closed_form()),)),
        ]
        for name, outcomes in self.scenarios.items():
            charts = {f"{name}, {key}": chart for key, chart in _courses(outcomes).items()}
            sections.append(Section(name, (_grid(outcomes), Pictures(charts))))
        scaled = "" if self.scale == 1 else f"at {percent(self.scale)} of the paper's size"
        return Page("Cor-Split, run again", tuple(sections), kicker="Study", subtitle=scaled)


def study_cor_split(
    engine: Engine, scale: float = 1.0, seeds: Sequence[int] = (1, 2, 3, 4, 5), progress: Progress = no_progress
) -> CorSplitStudy:
    """Both scenarios of the paper under every method; ``scale`` shrinks the tables for a quick look."""
    found: dict[str, tuple[Outcome, ...]] = {}
    total, done = len(SCENARIOS) * len(METHODS), 0
    for name, (size, churn, releases) in SCENARIOS.items():
        setting = Setting(Churn(max(round(size * scale), 200), churn, releases), query_every=8)
        outcomes = []
        for method in METHODS:
            progress(f"{method.name}: {name}", done / total)
            outcomes.append(_outcome(play(method, setting, engine), tuple(seeds)))
            done += 1
        found[name] = tuple(outcomes)
    progress("done", 1.0)
    return CorSplitStudy(found, scale)


def _outcome(played: Played, seeds: tuple[int, ...]) -> Outcome:
    history = played.history_with_leavers() if played.method == "lineage" else played.history()
    ground = prepare(history)
    pairs = twins(played.history())
    return Outcome(
        played,
        estimate_once(ground, COMPROMISED, seeds),
        estimate_share(ground, COMPROMISED, seeds),
        sum(len(pair) for pair in pairs),
    )


def _record(outcome: Outcome) -> dict[str, Any]:
    played = outcome.played
    return {
        "method": played.method,
        "unsafe": [figures.unsafe for figures in played.figures],
        "counterfeits": played.share("counterfeits"),
        "withheld": played.share("withheld"),
        "error": {f"{share:.0%}": _error(played, share) for share in SELECTIVITIES},
        "seconds": float(np.mean([figures.seconds for figures in played.figures])),
        "breached_once": outcome.once.share,
        "breached": outcome.iterated.share,
        "breached_high": outcome.iterated.high,
        "wrong": outcome.once.wrong + outcome.iterated.wrong,
        "twins": outcome.n_twins,
    }


def _error(played: Played, share: float) -> float:
    return float(np.mean([figures.errors[share] for figures in played.figures if figures.errors]))


def _grid(outcomes: Sequence[Outcome]) -> Grid:
    head = ("method", "unsafe groups", "counterfeits", "withheld", "error 1% / 5% / 10%", "s a release",
            "breached once", "to the end", "twins")  # fmt: skip
    rows = tuple(
        (
            outcome.played.method,
            str(sum(figures.unsafe or 0 for figures in outcome.played.figures)),
            percent(outcome.played.share("counterfeits")),
            percent(outcome.played.share("withheld")),
            " / ".join(number(_error(outcome.played, share)) for share in SELECTIVITIES),
            number(float(np.mean([figures.seconds for figures in outcome.played.figures]))),
            percent(outcome.once.share),
            percent(outcome.iterated.share),
            f"{outcome.n_twins:,}",
        )
        for outcome in outcomes
    )
    return Grid("Over the whole series", head, rows, frozenset(range(1, 9)))


def _courses(outcomes: Sequence[Outcome]) -> dict[str, Chart]:
    def chart(title: str, axis: Axis, figure: Any) -> Chart:
        lines = []
        for outcome in outcomes:
            points = [(f.release, figure(f)) for f in outcome.played.figures if figure(f) is not None]
            if points:
                x, y = zip(*points, strict=True)
                lines.append(Line(outcome.played.method, tuple(map(float, x)), tuple(map(float, y))))
        return Chart(title, Lines(tuple(lines)), x=Axis("release"), y=axis, topic="series")

    return {
        "unsafe": chart("Groups open to historical correlation", Axis("groups"), lambda f: f.unsafe),
        "counterfeits": chart("Counterfeits", Axis("rows"), lambda f: f.counterfeits),
        "error": chart("Error of counts, 5% of people asked for", Axis("median relative error", "percent"),
                       lambda f: f.errors.get(0.05)),
    }  # fmt: skip


def _closed_form() -> dict[str, Chart]:
    releases = tuple(range(1, 41))
    lines = tuple(
        Line(f"n = {n}", tuple(map(float, releases)),
             tuple(breach_probability(COMPROMISED, lifespan, 6, n).total for lifespan in releases))
        for n in range(1, 7)
    )  # fmt: skip
    return {
        "closed form": Chart(
            "Chance that one person is breached, reasoning once",
            Lines(lines),
            x=Axis("releases a person stays"),
            y=Axis("probability", "percent"),
            caption="m = 6, 4% compromised. Theorem 2 is garbled in print; this is Figure 3's formula.",
        )
    }
