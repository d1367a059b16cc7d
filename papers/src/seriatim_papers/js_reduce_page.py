"""The study of JS-reduce as a page and as JSON: Figures 3 to 8 with our adversaries beside the paper's."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pacsv

from seriatim.knowledge.sequence_model import SequenceModel
from seriatim.model.chart import Chart, ChartAxis, Line, Lines
from seriatim.model.policy import Thresholds
from seriatim.ports import Progress, no_progress
from seriatim.report import Charts, FiledReport, Grid, Page, Section
from seriatim.report.words import format_plain
from seriatim_papers.claims import Claim, claims_grid
from seriatim_papers.js_reduce import (
    JS_REDUCE_METHODS,
    JsReduceGains,
    JsReduceOutcome,
    JsReduceRun,
    js_reduce_attacked,
    js_reduce_by_mondrian,
    js_reduce_by_segments,
    js_reduce_gains,
    js_reduce_run,
)
from seriatim_papers.js_reduce_panels import PanelOutcome, js_reduce_on_panels, js_reduce_panel_grid
from seriatim_papers.js_reduce_parts import (
    CutPoints,
    js_reduce_part_by_bt,
    js_reduce_part_corpus,
    js_reduce_part_cut_points,
    js_reduce_part_query_error,
    js_reduce_part_snapshot,
    js_reduce_part_suppression,
)
from seriatim_papers.worlds.patients import World, patients_knowledge_of_one_step, patients_weeks

PAPER = "after Riboni, Pareschi and Bettini"
GREEDY, OPTIMAL = "greedy k 20, t 0.5, j 0.6 nats", "optimal k 20, t 0.5, j 0.6 bits"
SELECTIVITIES = (0.01, 0.05, 0.1, 0.2)
PLAIN, BT, SIZE_ALONE = "Mondrian l = 2", "(B, t) = (0.5, 0.8)", "Hilbert k 20 alone"
PANEL_WORDS = (
    "The product's own methods on real people, attacked by someone who knows the steps between values by class."
)


@dataclass(frozen=True, slots=True)
class KnowledgePairing:
    """What an adversary gains whose knowledge differs from the defender's (Figure 5)."""

    defender: str
    adversary: str
    gains: JsReduceGains
    suppressed: float
    """The share of records that the defender dropped."""


@dataclass(frozen=True, slots=True)
class ThresholdSweep:
    """One threshold of one method (Figure 7, and the sweeps of l, t and B)."""

    method: str
    threshold: float
    gain: float
    """The largest over releases, of the omega adversary."""
    loss: float
    suppressed: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JsReduceStudy(FiledReport):
    """Everything that was found."""

    n_weeks: int
    n_rows: int
    seed: int
    outcomes: tuple[JsReduceOutcome, ...]
    knowledge: dict[str, dict[str, JsReduceGains]]
    """By method, then by kind of knowledge (Figures 3 and 4)."""
    pairings: tuple[KnowledgePairing, ...]
    swept: tuple[ThresholdSweep, ...]
    query_error: dict[str, tuple[float, ...]]
    cut_points: CutPoints
    suppression: float
    panels: tuple[PanelOutcome, ...] = ()

    def record(self) -> dict[str, Any]:
        return {
            "schema": "seriatim.study.js-reduce/1",
            "weeks": self.n_weeks,
            "rows": self.n_rows,
            "seed": self.seed,
            "outcomes": [format_plain(asdict(one)) for one in self.outcomes],
            "knowledge": {
                method: {kind: format_plain(asdict(gains)) for kind, gains in found.items()}
                for method, found in self.knowledge.items()
            },
            "pairings": [format_plain(asdict(one)) for one in self.pairings],
            "swept": [format_plain(asdict(one)) for one in self.swept],
            "query_error": {name: list(found) for name, found in self.query_error.items()},
            "cut_points": format_plain(asdict(self.cut_points)),
            "suppression_leak": self.suppression,
            "panels": [format_plain(asdict(one)) for one in self.panels],
            "claims": [format_plain(asdict(one)) for one in self.claims()],
        }

    def page(self) -> Page:
        sections = (
            Section("Where the paper's claims hold and where not", (claims_grid(self.claims()),), self._run()),
            Section("Every method in every world", (self._outcomes(), Charts(self._gains("omega")))),
            Section("Looking back", (Charts(self._gains("back")),), "The same releases, with later ones as evidence."),
            Section("Figures 3 and 4: kinds of knowledge", (Charts(self._knowledge()),)),
            Section("Figure 5: pairs of knowledge", (self._pairings(),)),
            Section("Figure 6: confidence", (Charts(self._confidence()),)),
            Section("Figure 7 and other thresholds", (self._sweeps(),)),
            Section("Figure 8: what is lost", (self._queries(),), "Median relative error of random range counts."),
            Section("Leaks of the method itself", (self._leaks(),)),
            *([Section("Real panels", (js_reduce_panel_grid(self.panels),), PANEL_WORDS)] if self.panels else []),
        )
        return Page("Sequential knowledge and JS-reduce", sections, kicker="Study", subtitle=PAPER)

    def _run(self) -> str:
        worlds = " and ".join(dict.fromkeys(one.world for one in self.outcomes))
        return (
            f"One made-up world of each kind ({worlds}), {self.n_weeks} weekly views of {self.n_rows:,} records, seed "
            f"{self.seed}; the paper's data is not at hand. `--as-printed` has intervals over three seeds."
        )

    def claims(self) -> tuple[Claim, ...]:
        """Judge the paper's sentences, and what it leaves out, by what was run."""
        greedy, best, alone = (self._of(name) for name in (GREEDY, OPTIMAL, SIZE_ALONE))
        blind = max(abs(gain) for kinds in self.knowledge.values() for gain in kinds["snapshot"].gain)
        grown = [self.knowledge[name]["one step"].gain for name in (PLAIN, BT)]
        most, back = max(max(one.omega.gain) for one in greedy), max(float(np.mean(one.back.gain)) for one in greedy)
        out, cut = [n for one in greedy for n in one.suppressed], self.cut_points
        ours, size = (max(max(one.omega.gain) for one in runs) for runs in (best, alone))
        return (
            Claim("snapshot adversaries gain less than .1", "< .1", f"at most {blind:.3f}", blind < 0.1),
            Claim("without JS-reduce the gain grows with the releases", "grows",
                  "; ".join(f"{gain[0]:.3f} to {gain[-1]:.3f}" for gain in grown), all(g[-1] > g[0] for g in grown)),
            Claim("JS-reduce (Algorithm 4) keeps the gain below .12", "< .12", f"at most {most:.3f}", most < 0.12),
            Claim("an adversary gains no more than the forward one", "one attack",
                  f"looking back {back:.3f} in the mean, forward {most:.3f} at most", back <= most),
            Claim("at most 12 tuples of a view are suppressed", "12",
                  f"median {int(np.median(out))}, most {max(out)} of {self.n_rows:,}", max(out) <= 12),
            Claim("j protects, not the size of groups alone (ours)", "not compared",
                  f"best cut with j and t {ours:.3f}, groups of 20 without {size:.3f}", ours < size - 0.05),
            Claim("where groups end says nothing (ours)", "not mentioned",
                  f"{cut.exposed:.1%} of groups exposed; confidence {cut.before:.3f}, knowing it {cut.after:.3f}",
                  cut.exposed < 0.01),
        )  # fmt: skip

    def _of(self, method: str) -> list[JsReduceOutcome]:
        return [one for one in self.outcomes if one.method == method]

    def _outcomes(self) -> Grid:
        head = (
            "world", "method", "gain omega, release 8", "last", "most", "exact, most", "looking back, mean",
            "people sure", "hit rate", "loss", "suppressed, median", "most",
        )  # fmt: skip
        rows = tuple(
            (
                one.world, one.method, _at(one.omega.gain, 7), _at(one.omega.gain, -1), f"{max(one.omega.gain):.3f}",
                f"{max(one.forward.gain):.3f}", f"{np.mean(one.back.gain):.3f}", f"{one.sure_people:.1%}",
                f"{one.hit_rate:.1%}", f"{one.loss:.3f}", f"{int(np.median(one.suppressed))}", f"{max(one.suppressed)}",
            )
            for one in self.outcomes
        )  # fmt: skip
        return Grid("Gain, certainty and loss", head, rows, frozenset(range(2, 12)))

    def _gains(self, kind: str) -> dict[str, Chart]:
        worlds = dict.fromkeys(one.world for one in self.outcomes)
        return {
            f"{kind}-{world}": _chart(
                f"World {world}", {one.method: getattr(one, kind) for one in self.outcomes if one.world == world}
            )
            for world in worlds
        }

    def _knowledge(self) -> dict[str, Chart]:
        return {f"knowledge-{at}": _chart(name, found) for at, (name, found) in enumerate(self.knowledge.items())}

    def _confidence(self) -> dict[str, Chart]:
        first = [one for one in self.outcomes if one.world == self.outcomes[0].world]
        return {
            "confidence": _chart("Mean belief in the truth", {one.method: one.omega for one in first}, "confidence")
        }

    def _pairings(self) -> Grid:
        rows = tuple(
            (one.defender, one.adversary, _at(one.gains.gain, 7), f"{max(one.gains.gain):.3f}", f"{one.suppressed:.1%}")
            for one in self.pairings
        )
        head = ("defender knows", "adversary knows", "release 8", "most", "suppressed")
        return Grid("Gain (omega)", head, rows, frozenset({2, 3, 4}))

    def _sweeps(self) -> Grid:
        rows = tuple(
            (one.method, f"{one.threshold:g}", f"{one.gain:.3f}", f"{one.loss:.3f}", f"{one.suppressed:.2%}")
            for one in self.swept
        )
        head = ("method", "threshold", "largest gain (omega)", "loss", "suppressed")
        return Grid("Thresholds", head, rows, frozenset({1, 2, 3, 4}))

    def _queries(self) -> Grid:
        rows = tuple((name, *(f"{error:.1%}" for error in found)) for name, found in self.query_error.items())
        head = ("method", *(f"selectivity {share:.0%}" for share in SELECTIVITIES))
        return Grid("All releases", head, rows, frozenset(range(1, len(head))))

    def _leaks(self) -> Grid:
        found = self.cut_points
        rows = (
            ("cut points (greedy): groups exposed", f"{found.exposed:.1%}"),
            ("confidence in the last person there, by the counts", f"{found.before:.3f}"),
            ("knowing that the group did not close earlier", f"{found.after:.3f}"),
            ("values of dropped people, distance from the others", f"{self.suppression:.3f}"),
        )
        return Grid("Measured", ("leak", "found"), rows, frozenset({1}))


def study_js_reduce_page(
    worlds: tuple[World, ...] = ("A", "B"),
    n_weeks: int | None = None,
    n_rows: int | None = None,
    progress: Progress = no_progress,
    *,
    quick: bool = False,
    panels: tuple[str, ...] = (),
    seed: int = 1,
) -> JsReduceStudy:
    """Run everything: 24 weeks of 5,000 records in both worlds, and all panels, take ten minutes of computing."""
    n_weeks, n_rows = _js_reduce_size(n_weeks, n_rows, quick)
    of_panels = js_reduce_on_panels(panels, progress, seed) if panels else ()
    outcomes = []
    for world in worlds:
        weeks, exact = patients_weeks(world, n_weeks, n_rows, seed)
        model = patients_knowledge_of_one_step(exact)
        for at, (method, grouper) in enumerate(JS_REDUCE_METHODS.items()):
            progress(f"{world}: {method}", 0.5 * at / len(JS_REDUCE_METHODS))
            outcomes.append(js_reduce_attacked(world, method, js_reduce_run(grouper, weeks, model), model))
    weeks, exact = patients_weeks(worlds[0], n_weeks, n_rows, seed)
    one = patients_knowledge_of_one_step(exact)
    progress("kinds of knowledge", 0.5)
    kinds = _kinds(worlds[0], n_weeks, n_rows, seed)
    runs = {
        "Mondrian l = 2": js_reduce_run(js_reduce_by_mondrian(2, Thresholds(l=2)), weeks, one),
        "Mondrian t = 0.8": js_reduce_run(js_reduce_by_mondrian(2, Thresholds(t=0.8)), weeks, one),
        "(B, t) = (0.5, 0.8)": js_reduce_run(js_reduce_part_by_bt(2, 0.5, 0.8), weeks, one),
        GREEDY: js_reduce_run(JS_REDUCE_METHODS[GREEDY], weeks, one),
        OPTIMAL: js_reduce_run(JS_REDUCE_METHODS[OPTIMAL], weeks, one),
    }
    found = {name: {kind: js_reduce_gains(run, model) for kind, model in kinds.items()} for name, run in runs.items()}
    progress("pairs and thresholds", 0.7)
    pairings = [
        KnowledgePairing(defender, adversary, js_reduce_gains(run, kinds[adversary]), _dropped(run))
        for defender in kinds
        for run in (js_reduce_run(JS_REDUCE_METHODS[OPTIMAL], weeks, kinds[defender]),)
        for adversary in kinds
    ]
    swept = [_swept(*asked, weeks, one) for asked in _sweeps()]
    progress("queries", 0.95)
    errors = {
        name: tuple(js_reduce_part_query_error(run, share) for share in SELECTIVITIES) for name, run in runs.items()
    }
    cut = js_reduce_part_cut_points(runs[GREEDY], 20, 0.5)
    leak = js_reduce_part_suppression(runs[GREEDY])
    sweeps, pairs = tuple(swept), tuple(pairings)
    return JsReduceStudy(
        n_weeks=n_weeks,
        n_rows=n_rows,
        seed=seed,
        outcomes=tuple(outcomes),
        knowledge=found,
        pairings=pairs,
        swept=sweeps,
        query_error=errors,
        cut_points=cut,
        suppression=leak,
        panels=of_panels,
    )


def _js_reduce_size(n_weeks: int | None, n_rows: int | None, quick: bool) -> tuple[int, int]:
    """Return how many weeks of how many records: as given, else a quick look or the paper's."""
    weeks, rows = (8, 1_000) if quick else (24, 5_000)
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


def _kinds(world: World, n_weeks: int, n_rows: int, seed: int) -> dict[str, SequenceModel]:
    weeks, exact = patients_weeks(world, n_weeks, n_rows, seed)
    other, _ = patients_weeks(world, n_weeks, n_rows, seed, people_seed=7)
    few, _ = patients_weeks(world, n_weeks, max(n_rows // 10, 50), seed, people_seed=8)
    fewest, _ = patients_weeks(world, n_weeks, max(n_rows // 100, 10), seed, people_seed=9)
    one = patients_knowledge_of_one_step(exact)
    return {
        "exact": exact,
        "one step": one,
        "mined from the data": js_reduce_part_corpus(weeks, 3),
        "mined from a corpus": js_reduce_part_corpus(other, 3),
        "mined from a tenth": js_reduce_part_corpus(few, 3),
        "mined from a hundredth": js_reduce_part_corpus(fewest, 3),
        "as printed (Algorithm 5)": js_reduce_part_corpus(other, 2, "zero"),
        "snapshot": js_reduce_part_snapshot(one),
    }


def _sweeps() -> list[tuple[str, float]]:
    return [
        *(("l", float(l)) for l in (2, 4, 6, 8)),  # noqa: E741 - the field's own name
        *(("t", t) for t in (0.5, 0.65, 0.8, 1.0)),
        *(("B, t = 0.8 bits", b) for b in (0.3, 0.5, 0.7)),
        *(("B, t = 0.5 bits", b) for b in (0.3, 0.5, 0.7)),
        *(("j, nats", j) for j in (0.2, 0.4, 0.6, 0.8)),
    ]


def _swept(name: str, threshold: float, weeks: list[Any], model: SequenceModel) -> ThresholdSweep:
    groupers = {
        "l": lambda: js_reduce_by_mondrian(2, Thresholds(l=threshold)),
        "t": lambda: js_reduce_by_mondrian(2, Thresholds(t=threshold)),
        "B, t = 0.8 bits": lambda: js_reduce_part_by_bt(2, threshold, 0.8),
        "B, t = 0.5 bits": lambda: js_reduce_part_by_bt(2, threshold, 0.5),
        "j, nats": lambda: js_reduce_by_segments(20, 0.5, threshold, True),
    }
    first = weeks[: min(len(weeks), 8)]
    run = js_reduce_run(groupers[name](), first, model)
    gains = js_reduce_gains(run, model)
    return ThresholdSweep(name, threshold, max(gains.gain), float(np.mean(run.losses)), _dropped(run))


def _dropped(run: JsReduceRun) -> float:
    return sum(run.dropped) / max(sum(len(week.person) for week in run.weeks), 1)


def _at(values: tuple[float, ...], place: int) -> str:
    return f"{values[min(place, len(values) - 1)]:.3f}"


def _chart(title: str, found: dict[str, JsReduceGains], what: str = "gain") -> Chart:
    lines = tuple(
        Line(name, tuple(float(i + 1) for i in range(len(one.gain))), tuple(getattr(one, what)))
        for name, one in found.items()
    )
    return Chart(title, Lines(lines), x=ChartAxis("release"), y=ChartAxis("adversary's " + what))
