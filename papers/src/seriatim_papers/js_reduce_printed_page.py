"""The page of ``study js-reduce --as-printed``: Figures 4 and 8 of JS-Reduce beside ours, and its claims judged."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from seriatim.model import Chart, ChartAxis, Line, Lines
from seriatim.report import Charts, FiledReport, Grid, Page, Section
from seriatim.report.words import format_plain
from seriatim_papers.claims import Spread, claims_grid
from seriatim_papers.js_reduce_printed import (
    ASKED,
    KNOWLEDGE,
    OURS,
    PLAIN,
    PRINTED,
    SEEDS,
    SHARES,
    PrintedFindings,
    printed_findings,
)
from seriatim_papers.observers import AS_OURS, AS_PRINTED
from seriatim_papers.study_run import KEEPS_NOTHING, StudyRun
from seriatim_papers.worlds.patients import MOVES

METHODS = (PLAIN, PRINTED, OURS)


@dataclass(frozen=True, slots=True, eq=False)
class PrintedStudy(FiledReport):
    """What was found."""

    found: PrintedFindings

    def record(self) -> dict[str, Any]:
        found = self.found
        return {
            "schema": "seriatim.study.js-reduce-printed/1",
            "weeks": found.n_weeks,
            "rows": found.n_rows,
            "seeds": list(found.seeds),
            "claims": [format_plain(asdict(one)) for one in found.claims()],
            "gains": [
                {"method": method, "attack": attack, "knowledge": kind, "seeds": _by_seed(found, method, attack, kind)}
                for method in METHODS
                for attack, kind in ASKED
            ],
            "dropped": {method: list(found.dropped(method)) for method in METHODS},
            "loss": {method: list(found.loss(method).numbers) for method in METHODS},
            "query_error": {
                name: [list(one.numbers) for one in errors] for name in METHODS for errors in (found.errors(name),)
            },
        }

    def page(self) -> Page:
        found = self.found
        seeds = ", ".join(map(str, found.seeds))
        left = ", ".join(f"{move:.0%}" for move in MOVES)
        run = (
            f"{len(found.seeds)} made-up worlds (seeds {seeds}) of {found.n_weeks} weekly views of {found.n_rows:,} "
            "records; figures are means with 95 % intervals over them. Its people remember: a stage is left with a "
            f"chance of {left} after one, two, and three weeks or more in it. The paper's data is not at hand."
        )
        sections = (
            Section("The paper's claims", (claims_grid(found.claims()),), run),
            Section("Figure 4: knowledge of one, two and three steps", (Charts(self._curves()), self._gains())),
            Section("Figure 8: what is lost", (self._lost(),)),
        )
        return Page(
            "JS-reduce as printed, and ours", sections, kicker="Study", subtitle="after Riboni, Pareschi and Bettini"
        )

    def _curves(self) -> dict[str, Chart]:
        return {
            f"{attack}-{at}": _chart(f"{method}, attacked by {attack}", self.found, method, attack)
            for attack in (AS_PRINTED, AS_OURS)
            for at, method in enumerate(METHODS)
        }

    def _gains(self) -> Grid:
        rows = tuple(
            (method, attack, kind, str(self.found.gain(method, attack, kind)))
            for method in METHODS
            for attack, kind in ASKED
        )
        return Grid("Gain at the last release", ("method", "attack", "knowledge", "gain"), rows, frozenset({3}))

    def _lost(self) -> Grid:
        rows = tuple(
            (
                method, str(self.found.loss(method)), f"{int(np.median(self.found.dropped(method)))}",
                f"{max(self.found.dropped(method))}", *map(str, self.found.errors(method)),
            )
            for method in METHODS
        )  # fmt: skip
        head = ("method", "GCP of the groups", "dropped a view, median", "most", *(f"error at {s:.0%}" for s in SHARES))
        return Grid("GCP, people dropped, and median error of counts, all releases", head, rows, frozenset(range(1, 8)))


def _by_seed(found: PrintedFindings, method: str, attack: str, kind: str) -> list[list[float]]:
    return [list(world[method].gains[attack, kind]) for world in found.worlds]


def _chart(title: str, found: PrintedFindings, method: str, attack: str) -> Chart:
    releases = tuple(float(at + 1) for at in range(found.n_weeks))
    lines = tuple(_line(kind, releases, found.curve(method, attack, kind)) for kind in KNOWLEDGE)
    return Chart(title, Lines(lines), x=ChartAxis("release"), y=ChartAxis("adversary's gain"))


def _line(name: str, releases: tuple[float, ...], curve: tuple[Spread, ...]) -> Line:
    low, high = (tuple(getattr(one, end) for one in curve) for end in ("low", "high"))
    told = all(map(np.isfinite, (*low, *high)))  # one seed has no interval
    return Line(name, releases, tuple(one.mean for one in curve), low=low if told else (), high=high if told else ())


def study_js_reduce_printed(
    n_weeks: int = 24,
    n_rows: int = 5_000,
    seeds: tuple[int, ...] = SEEDS,
    run: StudyRun = KEEPS_NOTHING,
    *,
    quick: bool = False,
) -> PrintedStudy:
    """Run everything as printed, and ours beside it; ``quick`` runs 8 weeks of 600 records."""
    n_weeks, n_rows = (8, 600) if quick else (n_weeks, n_rows)
    return PrintedStudy(printed_findings(n_weeks, n_rows, seeds, run))
