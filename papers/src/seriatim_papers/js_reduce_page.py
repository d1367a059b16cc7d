"""The study of JS-reduce as a page and as JSON: examples, Figures 3 to 8, Table 5, and its claims judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pacsv

from seriatim.model.chart import Chart, ChartAxis, Line, Lines
from seriatim.report import Charts, FiledReport, Grid, Page, Section
from seriatim.report.words import format_plain
from seriatim_papers.claims import Claim, Spread, claims_grid
from seriatim_papers.js_reduce import (
    JS_REDUCE_METHODS,
    JsReduceGains,
    JsReduceOutcome,
    WorldSize,
    js_reduce_world,
    mean_width,
)
from seriatim_papers.js_reduce_claims import gain_at, js_reduce_claims, most_gained
from seriatim_papers.js_reduce_examples import example_beliefs, example_grids
from seriatim_papers.js_reduce_figures import (
    BT,
    DEFENDERS,
    EXACT,
    GREEDY,
    JS,
    METHODS,
    OPTIMAL,
    SHARES,
    MethodFound,
    PairingFound,
    SweepAsked,
    SweepFound,
    method_found,
    pairing_found,
    sweep_found,
    table_5,
)
from seriatim_papers.js_reduce_panels import PanelOutcome, js_reduce_on_panels, js_reduce_panel_grid
from seriatim_papers.study_run import KEEPS_NOTHING, StudyRun
from seriatim_papers.worlds.patients import World, patients_weeks

PAPER = "after Riboni, Pareschi and Bettini"
SEEDS = (1, 2, 3)
OURS = (GREEDY, OPTIMAL)
PANEL_WORDS = (
    "The product's own methods on real people, attacked by someone who knows the steps between values by class."
)
PAIRS = tuple((method, defender) for method in OURS for defender in DEFENDERS)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JsReduceStudy(FiledReport):
    """Everything that was found; every figure has one number for each seed, in their order."""

    n_weeks: int
    n_rows: int
    seeds: tuple[int, ...]
    worlds: tuple[World, ...]
    found: Mapping[str, Any]
    """The parts of the run, by name."""
    panels: tuple[PanelOutcome, ...] = ()

    def method(self, name: str) -> tuple[MethodFound, ...]:
        return tuple(self.found[_part(name, seed)] for seed in self.seeds)

    def pairing(self, method: str, defender: str) -> tuple[PairingFound, ...]:
        return tuple(self.found[_part(_pair(method, defender), seed)] for seed in self.seeds)

    def sweep(self, asked: SweepAsked) -> tuple[SweepFound, ...]:
        return tuple(self.found[_part(str(asked), seed)] for seed in self.seeds)

    def outcomes(self, world: str) -> tuple[dict[str, JsReduceOutcome], ...]:
        """Return what every method gave away in a world, seed by seed."""
        return tuple({one.method: one for one in self.found[_part(f"world {world}", seed)]} for seed in self.seeds)

    def outcomes_of(self, method: str) -> tuple[tuple[JsReduceOutcome, ...], ...]:
        """Return one method's outcomes in all worlds, seed by seed."""
        return tuple(
            tuple(runs[method] for runs in worlds) for worlds in zip(*map(self.outcomes, self.worlds), strict=True)
        )

    def claims(self) -> tuple[Claim, ...]:
        return js_reduce_claims(self)

    def record(self) -> dict[str, Any]:
        return {
            "schema": "seriatim.study.js-reduce/2",
            "weeks": self.n_weeks,
            "rows": self.n_rows,
            "seeds": list(self.seeds),
            "claims": [format_plain(asdict(one)) for one in self.claims()],
            "example": [format_plain(asdict(one)) for one in example_beliefs()],
            "outcomes": [
                format_plain(asdict(one)) for world in self.worlds for runs in self.outcomes(world)
                for one in runs.values()
            ],
            "methods": {name: [format_plain(asdict(one)) for one in self.method(name)] for name in METHODS},
            "pairings": [
                {"method": method, "defender": defender,
                 "seeds": [format_plain(asdict(one)) for one in self.pairing(method, defender)]}
                for method, defender in PAIRS
            ],
            "swept": [
                {**format_plain(asdict(asked)), "seeds": [format_plain(asdict(one)) for one in self.sweep(asked)]}
                for asked in table_5()
            ],
            "panels": [format_plain(asdict(one)) for one in self.panels],
        }  # fmt: skip

    def page(self) -> Page:
        figures, pairs = "Knowledge of the world on both sides, unless a line says otherwise.", self._pairings()
        sections = (
            Section("The paper's claims, and where they hold here", (claims_grid(self.claims()),), self._run()),
            Section("The running example: Tables 1 to 4, Examples 1 to 3", example_grids()),
            Section("Every method in every world", (*map(self._outcomes, self.worlds), Charts(self._gains("omega")))),
            Section("Looking back", (Charts(self._gains("back")),), "The same releases, with later ones as evidence."),
            Section("Figures 3 and 4: kinds of knowledge", (Charts(self._knowledge()),), figures),
            Section("Figure 5: pairs of knowledge, Algorithm 4 and ours", (Charts(self._pairs()), pairs)),
            Section("Figure 6: confidence", (Charts({"confidence": self._confidence()}),), figures),
            Section("Figure 7 and Table 5: thresholds", (Charts(self._thresholds()), self._table_5()), figures),
            Section("Figure 8: what is lost, and how long it takes", (self._lost(),), figures),
            Section("Leaks of the method itself", (self._leaks(),)),
            *([Section("Real panels", (js_reduce_panel_grid(self.panels),), PANEL_WORDS)] if self.panels else []),
        )
        return Page("Sequential knowledge and JS-reduce", sections, kicker="Study", subtitle=PAPER)

    def _run(self) -> str:
        n = len(self.seeds)
        return (
            f"{n} made-up worlds of each kind ({' and '.join(self.worlds)}; seeds {', '.join(map(str, self.seeds))}), "
            f"{self.n_weeks} weekly views of {self.n_rows:,} records; figures are means with 95 % intervals over the "
            f"{n} seeds, and a claim holds where its whole interval does. The figures of the paper are of world "
            f"{self.worlds[0]}. The paper's data is not at hand."
        )

    def _outcomes(self, world: str) -> Grid:
        runs = self.outcomes(world)

        def spread(method: str, figure: Callable[[JsReduceOutcome], float]) -> str:
            return str(Spread(tuple(figure(one[method]) for one in runs)))

        head = (
            "method", "gain omega, last release", "most", "exact, most", "looking back, mean", "people sure",
            "hit rate", "GCP of groups", "dropped a view, median", "most",
        )  # fmt: skip
        rows = tuple(
            (
                name,
                spread(name, lambda one: one.omega.gain[-1]),
                spread(name, lambda one: max(one.omega.gain)),
                spread(name, lambda one: max(one.forward.gain)),
                spread(name, lambda one: float(np.mean(one.back.gain))),
                spread(name, lambda one: one.sure_people),
                spread(name, lambda one: one.hit_rate),
                spread(name, lambda one: one.loss),
                f"{int(np.median([n for one in runs for n in one[name].suppressed]))}",
                f"{max(n for one in runs for n in one[name].suppressed)}",
            )
            for name in runs[0]
        )
        return Grid(f"World {world}: gain, certainty and loss", head, rows, frozenset(range(1, 10)))

    def _gains(self, kind: str) -> dict[str, Chart]:
        found = {}
        for world in self.worlds:
            runs = self.outcomes(world)
            lines = {name: [getattr(one[name], kind) for one in runs] for name in runs[0]}
            found[f"{kind}-{world}"] = _chart(f"World {world}", lines)
        return found

    def _knowledge(self) -> dict[str, Chart]:
        return {f"knowledge-{name}": _chart(name, _by_kind(self.method(name))) for name in METHODS}

    def _confidence(self) -> Chart:
        lines = {name: [one.gains[EXACT] for one in self.method(name)] for name in METHODS}
        return _chart("Mean belief in the truth", lines, "confidence")

    def _pairs(self) -> dict[str, Chart]:
        return {
            f"pairs-{method}-{defender}": _chart(
                f"{method}: defender's knowledge {defender}", _by_kind(self.pairing(method, defender))
            )
            for method, defender in PAIRS
        }

    def _pairings(self) -> Grid:
        rows = []
        for method, defender in PAIRS:
            found = self.pairing(method, defender)
            out = str(Spread(tuple(one.suppressed for one in found)))
            rows += [
                (method, defender, kind, str(gain_at(found, kind, 8)), str(most_gained(found, kind)), out)
                for kind in found[0].gains
            ]
        head = ("method", "defender knows", "adversary knows", "release 8", "most", "share dropped")
        return Grid("Gain (omega)", head, tuple(rows), frozenset({3, 4, 5}))

    def _thresholds(self) -> dict[str, Chart]:
        curves = {
            f"j-{method}": _lines(
                method,
                "gain",
                {f"j = {j:g}": [one.gain for one in self.sweep(SweepAsked(method, t=0.5, j=j))] for j in JS},
            )
            for method in OURS
        }
        most = {
            method: [
                tuple(max(self.sweep(SweepAsked(method, t=0.5, j=j))[at].gain) for j in JS)
                for at in range(len(self.seeds))
            ]
            for method in OURS
        }
        return {**curves, "j-most": _lines("Largest gain by j (nats; ours in bits)", "gain", most, JS, "j")}

    def _table_5(self) -> Grid:
        rows = tuple(
            (
                str(asked),
                *(
                    str(Spread(numbers))
                    for numbers in zip(*((max(o.gain), o.gain[-1], o.loss, o.suppressed) for o in self.sweep(asked)),
                                       strict=True)
                ),
            )
            for asked in table_5()
        )  # fmt: skip
        head = ("method and thresholds", "largest gain", "last gain", "GCP of groups", "share dropped")
        words = (
            "Table 5: printed ranges, all views; k = 20 for both cuts, j in nats for Algorithm 4 and in bits for ours"
        )
        return Grid(words, head, rows, frozenset({1, 2, 3, 4}))

    def _lost(self) -> Grid:
        rows = []
        for name in METHODS:
            found = self.method(name)
            width = Spread(tuple(mean_width(one.losses) for one in found))
            out, taken = [n for one in found for n in one.dropped], [s for one in found for s in one.seconds]
            errors = (str(Spread(numbers)) for numbers in zip(*(one.errors for one in found), strict=True))
            rows.append((name, str(width), f"{int(np.median(out))}", f"{max(out)}", *errors,
                         f"{np.median(taken):.3g}", f"{max(taken):.3g}"))  # fmt: skip
        head = ("method", "GCP of groups", "dropped a view, median", "most", *(f"error at {s:.0%}" for s in SHARES),
                "seconds a view, median", "most")  # fmt: skip
        caption = (
            "GCP, people dropped, median error of counts over all views (ranges of that share of the domain), time"
        )
        return Grid(caption, head, tuple(rows), frozenset(range(1, len(head))))

    def _leaks(self) -> Grid:
        cuts, apart = [one.cut_points for one in self.method(GREEDY)], [one.suppression for one in self.method(GREEDY)]
        rows = (
            ("cut points: share of groups exposed", str(Spread(tuple(one.exposed for one in cuts)))),
            ("confidence in the last person there, by the counts", str(Spread(tuple(one.before for one in cuts)))),
            ("knowing that the group did not close earlier", str(Spread(tuple(one.after for one in cuts)))),
            ("values of dropped people, distance from the others", str(Spread(tuple(apart)))),
        )
        return Grid("Algorithm 4", ("leak", "found"), rows, frozenset({1}))


def study_js_reduce_page(
    worlds: tuple[World, ...] = ("A", "B"),
    n_weeks: int | None = None,
    n_rows: int | None = None,
    run: StudyRun = KEEPS_NOTHING,
    *,
    quick: bool = False,
    panels: tuple[str, ...] = (),
    seed: int = 1,
) -> JsReduceStudy:
    """Run everything for three seeds, ``seed`` and the two after it: 24 weeks of 5,000 records, or a quick look."""
    n_weeks, n_rows = _js_reduce_size(n_weeks, n_rows, quick)
    seeds = tuple(seed + at for at in range(len(SEEDS)))
    tasks: dict[str, Callable[[], Any]] = {}
    for one in seeds:
        size = WorldSize(worlds[0], n_weeks, n_rows, one)
        tasks |= {_part(f"world {world}", one): partial(js_reduce_world, replace(size, world=world), _ATTACKED)
                  for world in worlds}  # fmt: skip
        tasks |= {_part(name, one): partial(method_found, size, name) for name in METHODS}
        tasks |= {_part(_pair(*pair), one): partial(pairing_found, size, *pair) for pair in PAIRS}
        tasks |= {_part(str(asked), one): partial(sweep_found, size, asked) for asked in table_5()}
    found = run.parts(tasks, 0.0, 0.7 if panels else 1.0)
    of_panels = {}
    if panels:
        of_panels = run.parts(
            {f"panel {name}": partial(js_reduce_on_panels, (name,), seed=seed) for name in panels}, 0.7
        )
    return JsReduceStudy(
        n_weeks=n_weeks,
        n_rows=n_rows,
        seeds=seeds,
        worlds=worlds,
        found=found,
        panels=tuple(one for outcomes in of_panels.values() for one in outcomes),
    )


_ATTACKED = {**JS_REDUCE_METHODS, BT: SweepAsked(BT, b=0.5, t=0.8).grouper()}
"""The methods that are also attacked looking back."""


def _js_reduce_size(n_weeks: int | None, n_rows: int | None, quick: bool) -> tuple[int, int]:
    """Return how many weeks of how many records: as given, else a quick look or the paper's."""
    weeks, rows = (8, 600) if quick else (24, 5_000)
    return n_weeks or weeks, n_rows or rows


def write_js_reduce_page_data(
    data: Path,
    worlds: tuple[World, ...] = ("A", "B"),
    n_weeks: int | None = None,
    n_rows: int | None = None,
    *,
    quick: bool = False,
    seed: int = 1,
) -> None:
    """Write the weekly views to CSV files in the folder ``data``."""
    n_weeks, n_rows = _js_reduce_size(n_weeks, n_rows, quick)
    for world in worlds:
        weeks, _ = patients_weeks(world, n_weeks, n_rows, seed)
        (data / world).mkdir(parents=True, exist_ok=True)
        for number, week in enumerate(weeks, 1):
            pacsv.write_csv(week.table(), data / world / f"week-{number:02}.csv")


def _part(name: str, seed: int) -> str:
    return f"seed {seed}: {name}"


def _pair(method: str, defender: str) -> str:
    return f"{method}, the defender knows: {defender}"


def _by_kind(found: Sequence[MethodFound] | Sequence[PairingFound]) -> dict[str, list[JsReduceGains]]:
    return {kind: [one.gains[kind] for one in found] for kind in found[0].gains}


def _chart(title: str, found: Mapping[str, Iterable[JsReduceGains]], what: str = "gain") -> Chart:
    return _lines(title, what, {name: [getattr(one, what) for one in runs] for name, runs in found.items()})


def _lines(
    title: str,
    what: str,
    found: Mapping[str, Sequence[tuple[float, ...]]],
    at: tuple[float, ...] = (),
    axis: str = "release",
) -> Chart:
    """Chart curves with their intervals over seeds."""
    lines = []
    for name, runs in found.items():
        curve = [Spread(numbers) for numbers in zip(*runs, strict=True)]
        x = at or tuple(float(number) for number in range(1, len(curve) + 1))
        ends = [tuple(getattr(one, end) for one in curve) if len(runs) > 1 else () for end in ("low", "high")]
        lines.append(Line(name, x, tuple(one.mean for one in curve), low=ends[0], high=ends[1]))
    return Chart(title, Lines(tuple(lines)), x=ChartAxis(axis), y=ChartAxis("adversary's " + what))
