"""The study of the record gate as a page and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from seriatim.model.chart import Bars, Chart, ChartAxis, Line, Lines
from seriatim.report import Cell, Charts, FiledReport, Grid, Page, Points, Prose, Section
from seriatim.report.words import format_percent, format_plain
from seriatim_gate.engine.results import Result, results
from seriatim_papers.claims import Claim, claims_grid, claims_record
from seriatim_papers.safe_release import (
    FIGURE_16,
    FIGURE_16_TOTALS,
    FIGURE_19,
    LEVELS,
    PAPER_TESTS,
    TESTS,
    SafeReleaseCounts,
    SafeReleaseExample,
    StoppedRuns,
    safe_release_examples,
    safe_release_figure_16,
    safe_release_figure_19,
    safe_release_fitting,
    safe_release_rules,
    stopped_runs,
)
from seriatim_papers.safe_release_claims import PRINTED_18, safe_release_claims
from seriatim_papers.safe_release_counts import AGES, FIGURE_2, LOCATIONS, PRINTED_SHARES, SAFE_TABLES
from seriatim_papers.safe_release_figures import (
    FIGURE_10,
    PATHS,
    LongArray,
    SafeReleaseApproximation,
    SafeReleaseEvolution,
    safe_release_figure_2,
    safe_release_figure_10,
    safe_release_figure_17,
    safe_release_figures_5_and_7,
    safe_release_figures_over_time,
    shares_of,
)
from seriatim_papers.study_run import KEEPS_NOTHING, StudyRun

OVER_TIME = 5
"""Sequences by which Figures 12 to 15 are judged."""
PAPER = "after Bezzi, De Capitani di Vimercati, Foresti, Livraga, Samarati and Sassi"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SafeReleaseStudy(FiledReport):
    """Printed beside found."""

    n_sequences: int
    examples: tuple[SafeReleaseExample, ...]
    released: tuple[SafeReleaseCounts, ...]
    also_safe: dict[str, tuple[float, ...]]
    evolutions: tuple[tuple[SafeReleaseEvolution, ...], ...]
    """Of several sequences; the first is drawn."""
    approximations: tuple[SafeReleaseApproximation, ...]
    stopped: tuple[StoppedRuns, ...]

    @property
    def claims(self) -> tuple[Claim, ...]:
        return safe_release_claims(self.released, self.also_safe, self.evolutions, self.approximations, self.stopped)

    def record(self) -> dict[str, Any]:
        return {
            "schema": "seriatim.study.safe-release/2",
            "run": self._run(),
            "sequences": self.n_sequences,
            "claims": claims_record(self.claims),
            "examples": [format_plain(asdict(one)) for one in self.examples],
            "figure_2": [format_plain(one) for one in safe_release_figure_2()],
            "figures_5_and_7": [format_plain(asdict(one)) for one in self.approximations],
            "figure_10": {str(alpha): format_plain(found) for alpha, found in safe_release_figure_10().items()},
            "figure_16": [_counted(one) for one in self.released],
            "figure_17": [format_plain(one) for one in safe_release_figure_17()],
            "figure_18": format_plain(safe_release_fitting()),
            "figure_19": format_plain(self.also_safe),
            "evolutions": [format_plain(asdict(one)) for one in self.evolutions[0]],
            "stopped": [format_plain(asdict(one)) for one in self.stopped],
            "deviations": [" ".join(each) for each in deviations()],
        }

    def page(self) -> Page:
        sections = (
            Section("Claims", (claims_grid(self.claims),), self._run()),
            Section("Where print and definitions differ", (Points(deviations()),)),
            Section("Examples", (self._examples(),)),
            Section("Figure 2", _figure_2(), "Counts as printed; shares computed from them."),
            Section("Figure 3", (Charts(_figure_3()),), "Shares by age: of all, and at each location."),
            Section("Figure 4", (_figure_4(),)),
            Section("Figure 5", (Charts(self._densities(range(1))),), f"{PATHS:,} samples of 5,000 records."),
            Section("Figures 6, 8, 9 and 11", _safe_tables(), _limits_told()),
            Section("Figure 7", (Charts(self._densities(range(1, 6))),), f"{PATHS:,} samples for each location."),
            Section("Figure 10", (_figure_10(),), "Critical values of Dixon's Q: found, and printed beneath."),
            Section("Figures 12 to 15", (Charts(self._charts()),), "One sequence of 10,000 requests at 20%."),
            Section("Critical values as printed", (self._stops(),), PLAIN),
            Section(
                "Figure 16", (self._figure_16(),), f"Mean of {self.n_sequences} sequences, with its 95 % interval."
            ),
            Section("Figure 17", (Charts({"fit": _figure_17()}),), "L2, and as much of the baseline as fits into it."),
            Section("Figure 18", (_figure_18(),), "What exact fitting would release."),
            Section("Figure 19", (self._figure_19(), Prose((self._restrictive(),)))),
        )
        return Page("Safe release of single records", sections, kicker="Study", subtitle=PAPER)

    def _run(self) -> str:
        """Say what was run."""
        n, size, few = self.n_sequences, f"{FIGURE_2.sum():,}", self.stopped[0].n_sequences
        return (
            f"Run: {n} random sequences of {size} requests under each of {len(self.released)} tests and levels; "
            f"{max(n // 2, 1)} of 5,000 for Figure 19 (seed 2), {OVER_TIME} for Figures 12 to 15 (seed 3), {PATHS:,} "
            f"samples for Figures 5 and 7 (seed 4), {few} of 2,000 for critical values as printed (seed 5)."
        )

    def _stops(self) -> Grid:
        rows = tuple(
            (one.table, one.test, "as printed" if one.plain else "ours", f"{one.stopped} of {one.n_sequences}")
            for one in self.stopped
        )
        return Grid("Sequences without a release once simulation ends", ("X", "test", "values", "stopped"), rows)

    def _examples(self) -> Grid:
        rows = tuple((one.name, f"{one.printed:.6f}", f"{one.found:.6f}", one.remark) for one in self.examples)
        return Grid("Printed and found", ("example", "printed", "found", "remark"), rows, frozenset({1, 2}))

    def _figure_16(self) -> Grid:
        rows: list[tuple[str | Cell, ...]] = []
        for one in self.released:
            cells = [
                Cell(f"{own.mean:.0f} ± {own.half:.0f}", note=f"printed {one.printed[i]:.0f}" if one.printed else "")
                for i, own in enumerate(one.left)
            ]
            total = one.total.mean / FIGURE_2.sum()
            rows.append((f"{one.test} at {format_percent(one.alpha)}", *cells, format_percent(float(total))))
        return Grid("Records released by location", ("test", *LOCATIONS, "of all"), tuple(rows), frozenset(range(1, 7)))

    def _figure_19(self) -> Grid:
        rows: list[tuple[str | Cell, ...]] = []
        for test in PAPER_TESTS:
            pairs = zip(self.also_safe[test], FIGURE_19[test], strict=True)
            rows.append((test, *(Cell(f"{found:.0f}", note=f"printed {printed}") for found, printed in pairs)))
        return Grid("Of 100 releases, safe also by", ("released by", *PAPER_TESTS), tuple(rows), frozenset(range(1, 5)))

    def _restrictive(self) -> str:
        others = [(self.also_safe[a][i], a, b) for a in PAPER_TESTS for i, b in enumerate(PAPER_TESTS) if a != b]
        (least, by, not_by), (most, also, too) = min(others), max(others)
        return (
            f"Of 100 releases that are safe by one test, {least:.0f} ({by}, then {not_by}) to {most:.0f} ({also}, then "
            f"{too}) are safe by another."
        )

    def _charts(self) -> dict[str, Chart]:
        return {f"{one.test} {one.location or ''}".strip(): _chart(one) for one in self.evolutions[0]}

    def _densities(self, which: range) -> dict[str, Chart]:
        return {f"density {one.name}": _density(one) for one in (self.approximations[at] for at in which)}


def study_safe_release_page(sequences: int = 200, run: StudyRun = KEEPS_NOTHING) -> SafeReleaseStudy:
    """Run everything; ``sequences`` for Figure 16, half as many for Figure 19."""
    asked = {f"{test} at {alpha:.0%}": partial(safe_release_figure_16, test, alpha, sequences)
             for alpha in LEVELS for test in TESTS}  # fmt: skip
    released = run.parts(asked, 0.0, 0.7)
    (also_safe,) = run.parts({"Figure 19": partial(safe_release_figure_19, max(sequences // 2, 1))}, 0.7, 0.9).values()
    (stopped,) = run.parts({"as printed": partial(stopped_runs, min(sequences, 20))}, 0.9, 1.0).values()
    return SafeReleaseStudy(
        n_sequences=sequences,
        examples=safe_release_examples(),
        released=tuple(released.values()),
        also_safe=also_safe,
        evolutions=tuple(safe_release_figures_over_time(number=number) for number in range(OVER_TIME)),
        approximations=safe_release_figures_5_and_7(),
        stopped=stopped,
    )


PLAIN = (
    "As printed, critical values are simulated for the first 2 |X| |Y| records and chi-square from there on; ours are "
    "corrected so that none drops. X and Y are independent here."
)


def deviations() -> tuple[tuple[str, str], ...]:
    """Say where print and definitions differ, by the printed figures themselves."""
    wrong = {number: _last_digits(number) for number in PRINTED_SHARES}
    of_all = sum(shares.size + len(weights) for shares, weights in PRINTED_SHARES.values())
    sums = {key: sum(cells) - FIGURE_16_TOTALS[key] for key, cells in FIGURE_16.items()}
    apart = ", ".join(f"{test} {100 * alpha:.0f}% {gap:+.2f}" for (test, alpha), gap in sums.items() if abs(gap) > 0.02)
    short = ", ".join(
        f"{test} at {LOCATIONS[at]} ({100 * alpha:.0f}%)"
        for (test, alpha), cells in FIGURE_16.items()
        for at, cell in enumerate(cells)
        if cell < PRINTED_18[at]
    )
    return (
        ("Degrees of freedom", "come from the domain, not from what was released."),
        ("Monte Carlo", "the (1 - alpha) quantile; “alpha-th percentile” is a slip."),
        ("Figures 2, 6, 8, 9 and 11", f"{sum(wrong.values())} of {of_all} percentages differ from the counts in the "
         f"last digit ({', '.join(f'Figure {number}: {n}' for number, n in wrong.items())}): the counts are used."),
        ("Figure 16", f"sums of the locations minus the printed totals: {apart}."),
        ("Section 7.2", f"by Figures 16 and 18 the exceptions to “more than fitting” are {short}, in the text CST at "
         f"L4 and at L3; “140 tuples” are {FIGURE_2[3, 1]}."),
        ("wdt", "is our own test: no linear score of X separates a target at the level."),
    )  # fmt: skip


def _last_digits(number: int) -> int:
    """Count the printed percentages of a figure that are not those of its counts."""
    shares, weights = PRINTED_SHARES[number]
    found, found_weights = shares_of(_COUNTS[number])
    apart = int((np.abs(shares - 100 * found) > 0.00501).sum())
    return apart + int((np.abs(np.array(weights) - 100 * found_weights) > 0.00501).sum())


_COUNTS = {2: FIGURE_2, **{number: counts for number, (_, counts) in SAFE_TABLES.items()}}


def _counted(one: SafeReleaseCounts) -> dict[str, Any]:
    means = [own.mean for own in one.left]
    half, printed = [own.half for own in one.left], list(one.printed)
    return {"test": one.test, "alpha": one.alpha, **format_plain({"mean": means, "half": half, "printed": printed})}


def _chart(one: SafeReleaseEvolution) -> Chart:
    lines = (
        Line("statistic", one.releases, one.statistic),
        Line("critical value", one.releases, one.critical),
    )
    place = f", {one.location}" if one.location else ""
    bits = one.test in ("mis", "kld")
    y = ChartAxis("bits" if bits else "statistic", log=bits)
    return Chart(f"{one.test} over releases{place}", Lines(lines), x=ChartAxis("released records", log=True), y=y)


def _density(one: SafeReleaseApproximation) -> Chart:
    lines = (Line("samples", one.middles, one.found), Line("chi-square", one.middles, one.expected))
    title = f"{one.name}: {one.freedom} degrees of freedom, {format_percent(one.above)} above the 20% value"
    return Chart(title, Lines(lines), x=ChartAxis("rescaled statistic"), y=ChartAxis("density"))


def _figure_2() -> tuple[Grid, ...]:
    counts = np.column_stack([FIGURE_2, FIGURE_2.sum(axis=1)])
    rows = [(age, *(f"{n:,}" for n in row)) for age, row in zip(AGES, counts, strict=True)]
    rows.append(("total", *(f"{n:,}" for n in counts.sum(axis=0))))
    whole = Grid("(a) Records", ("age", *LOCATIONS, "total"), tuple(rows), frozenset(range(1, 7)))
    return (whole, *_share_grids(2))


def _share_grids(number: int) -> tuple[Grid, Grid]:
    """Return parts (b) and (c) of a figure, with the print where it differs."""
    of_age, of_place = shares_of(_COUNTS[number])
    printed, printed_place = PRINTED_SHARES[number]
    rows: list[tuple[str | Cell, ...]] = [
        (age, *map(_percentage, row, told)) for age, row, told in zip(AGES, of_age, printed, strict=True)
    ]
    places = tuple((name, _percentage(p, t)) for name, p, t in zip(LOCATIONS, of_place, printed_place, strict=True))
    name = "P" if number == 2 else "Pr"
    head = ("age", *LOCATIONS, f"{name}(Age)")
    return (
        Grid(f"Figure {number} (b) {name}(Age | L), %", head, tuple(rows), frozenset(range(1, 7))),
        Grid(f"Figure {number} (c) {name}(L), %", ("location", "share"), places, frozenset({1})),
    )


def _percentage(share: float, printed: float) -> Cell:
    return Cell(f"{100 * share:.2f}", note=f"printed {printed:.2f}" if abs(100 * share - printed) > 0.00501 else "")


def _figure_3() -> dict[str, Chart]:
    shares, _ = safe_release_figure_2()
    titles = (*(f"P(Age | {name})" for name in LOCATIONS), "P(Age)")
    return {
        title: Chart(
            title, Bars(AGES, tuple(map(float, shares[:, at]))), x=ChartAxis("age"), y=ChartAxis("share", "percent")
        )
        for at, title in sorted(enumerate(titles), key=lambda pair: pair[0] != len(LOCATIONS))
    }


def _figure_4() -> Grid:
    rows = (
        ("mis", "statistical independence", "mutual information of all released records is below its limit"),
        ("kld", "absolute distance", "the divergence of every location is below its limit"),
        ("cst", "absolute distance", "Pearson's statistic of every location is below its limit"),
        ("dqt", "relative distance", "Dixon's Q of the locations' distances is below its limit"),
    )
    return Grid("Tests and what they demand", ("test", "kind", "safe if"), rows)


def _safe_tables() -> tuple[Grid, ...]:
    made: list[Grid] = []
    for number, (test, counts) in SAFE_TABLES.items():
        printed, ours = _limits(test, counts)
        rows = [(age, *map(str, row)) for age, row in zip(AGES, counts.tolist(), strict=True)]
        rows.append(("total", *map(str, counts.sum(axis=0).tolist())))
        whole = len(ours.statistic) == 1
        told = (("statistic", ours.statistic), ("limit, as printed", printed.critical), ("limit, ours", ours.critical))
        for name, values in told:
            cells = [f"{value:.6f}" for value in values]
            rows.append((f"{name}, all" if whole else name, *cells, *([""] * 4 if whole else [])))
        made.append(Grid(f"Figure {number} (a): by {test}", ("age", *LOCATIONS), tuple(rows), frozenset(range(1, 6))))
        made += _share_grids(number)
    return tuple(made)


def _limits(test: str, counts: LongArray) -> tuple[Result, Result]:
    """Return statistics with the critical values as printed, and with ours."""
    (printed,), (ours,) = (results(counts, safe_release_rules((test,), 0.2, plain)) for plain in (True, False))
    return printed, ours


def _limits_told() -> str:
    """Say how far our limits are from the printed ones, since none may drop where simulation ends."""
    printed, ours = _limits(*SAFE_TABLES[8])
    return (
        f"Limits at 20%. Ours are corrected by 1 + (r - 1) s / n beyond the simulation: in Figure 8 that of L1 is "
        f"{ours.critical[0]:.6f} where {printed.critical[0]:.6f} is printed."
    )


def _figure_10() -> Grid:
    rows: list[tuple[str | Cell, ...]] = [
        (
            format_percent(alpha),
            *(Cell(f"{q:.3f}", note=f"printed {p:.3f}") for q, p in zip(found, FIGURE_10[alpha], strict=True)),
        )
        for alpha, found in safe_release_figure_10().items()
    ]
    return Grid("Dixon's critical values", ("level", *map(str, range(3, 11))), tuple(rows), frozenset(range(1, 9)))


def _figure_17() -> Chart:
    column, fitted = safe_release_figure_17()
    x = tuple(map(float, range(1, len(AGES) + 1)))
    lines = (Line("L2", x, tuple(map(float, column))), Line("fitted baseline", x, tuple(map(float, fitted))))
    return Chart(
        "Fitting the baseline into L2", Lines(lines), x=ChartAxis("age band, youngest first"), y=ChartAxis("records")
    )


def _figure_18() -> Grid:
    rows = tuple(
        (name, f"{int(total):,}", f"{found:.2f}", str(printed))
        for name, total, found, printed in zip(
            LOCATIONS, FIGURE_2.sum(axis=0), safe_release_fitting(), PRINTED_18, strict=True
        )
    )
    return Grid("Fitting the baseline", ("location", "records", "found", "printed"), rows, frozenset({1, 2, 3}))
