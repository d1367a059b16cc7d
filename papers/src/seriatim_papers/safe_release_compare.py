"""All tests at several levels on the same requests, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np

from seriatim.ports import Progress, no_progress
from seriatim.report import Grid, Note, Page, Prose, Section
from seriatim.report.html import NO_ROWS, FiledReport
from seriatim.report.words import format_count, format_percent, format_plain
from seriatim_gate.engine.decision import Outcome
from seriatim_gate.engine.inputs import TESTS, FloatArray, LongArray
from seriatim_gate.engine.results import results
from seriatim_gate.usecases.requests import Question, Requests
from seriatim_papers.safe_release import plain_tables

LEVELS = (0.2, 0.05)
SHOWN = 60
HEAD = ("test", "level", "released", "targets at zero", "least served target", "longest wait", "requests/s")
PLAIN = (
    "They drop where simulation ends if bands have equal shares, and what has left by then may never fit below: a gate "
    "that serves with them can stop for ever."
)
PROTECTS = (
    "A level says how sure an observer must be before the gate stops them. 15 to 20% protects against curiosity: "
    "somebody who guesses cheaply. 5% protects only against somebody for whom a wrong guess is costly."
    ,
    "kld is the one to serve with: what it releases hardly depends on the order of requests. wdt is the strict option, "
    "for up to 12 values of X and targets of 100 records or more. mis, cst and dqt depend on the order of requests and "
    "are here for comparison; dqt releases most of an outlier.",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCompared:
    """One test at one level. ``also_safe`` names the tests that its releases pass at the same level.

    ``released_by_target`` has the counts of each dependency's targets, numbered as in the baseline.
    """

    test: str
    alpha: float
    released: int
    requested: int
    targets_at_zero: int
    least_served: float
    longest_wait: int
    seconds: float
    also_safe: tuple[str, ...]
    released_by_target: tuple[tuple[int, ...], ...]
    plain: bool = False
    """Whether critical values are chi-square, as printed, from where simulation ends."""

    @property
    def name(self) -> str:
        return f"{self.test}, as printed," if self.plain else self.test

    @property
    def share(self) -> float:
        return self.released / max(self.requested, 1)


@dataclass(frozen=True, slots=True)
class GateComparison(FiledReport):
    """Every test at every level."""

    title: str
    found: tuple[GateCompared, ...]
    dependencies: tuple[str, ...]
    requested_by_target: tuple[tuple[int, ...], ...]

    def record(self) -> dict[str, Any]:
        return {
            "schema": "seriatim.gate.comparison/1",
            "dependencies": list(self.dependencies),
            "requested_by_target": format_plain(self.requested_by_target),
            "tests": [format_plain(asdict(one)) for one in self.found],
        }

    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Return the table as texts, in the order of ``HEAD``."""
        return tuple(
            (
                one.name.rstrip(","),
                format_percent(one.alpha),
                format_percent(one.share),
                format_count(one.targets_at_zero),
                format_percent(one.least_served),
                format_count(one.longest_wait),
                format_count(int(one.requested / max(one.seconds, 1e-9))),
            )
            for one in self.found
        )

    def page(self) -> Page:
        grid = Grid("Side by side", HEAD, self.rows(), frozenset(range(1, len(HEAD))))
        names = tuple(dict.fromkeys(one.test for one in self.found))
        cross = tuple(
            (f"{one.name} at {format_percent(one.alpha)}", *("safe" if name in one.also_safe else "" for name in names))
            for one in self.found
        )
        also = Grid("What each test releases, judged by the others", ("released by", *names), cross)
        warned = tuple(self._warnings())
        notes = (Note("Critical values as printed", (PLAIN, *warned), "warn"),) if warned else ()
        section = Section("Which test suits these requests", (Prose(PROTECTS), *notes, grid, also))
        targets = Section("Released by target", tuple(map(self._by_target, range(len(self.dependencies)))))
        return Page(self.title, (section, targets), kicker="Gate comparison", footer=NO_ROWS)

    def _warnings(self) -> Iterator[str]:
        ours = {(one.test, one.alpha): one for one in self.found if not one.plain}
        for one in self.found:
            if one.plain:
                other = ours[one.test, one.alpha]
                yield (
                    f"{one.test} at {format_percent(one.alpha)}: {format_percent(one.share)} released, "
                    f"{format_percent(other.share)} with corrected values."
                )

    def _by_target(self, at: int) -> Grid:
        """Return the targets of one dependency, those with most requests first."""
        requested = np.array(self.requested_by_target[at])
        order = [int(y) for y in np.argsort(-requested, kind="stable") if requested[y]]
        rows = tuple(
            (
                f"target {y + 1}",
                format_count(int(requested[y])),
                *(format_percent(one.released_by_target[at][y] / requested[y]) for one in self.found),
            )
            for y in order[:SHOWN]
        )
        head = ("target", "requested", *(f"{one.name} at {format_percent(one.alpha)}" for one in self.found))
        before = f"{self.dependencies[at]}: share" if len(self.dependencies) > 1 else "Share"
        shown = f"{len(rows)} of {len(order)} shown, numbered as in the baseline"
        caption = f"{before} of each target's requests that leaves ({shown})"
        return Grid(caption, head, rows, frozenset(range(1, len(head))))


def compare_tests(
    requests: Requests,
    tests: Sequence[str] = TESTS,
    levels: Sequence[float] = LEVELS,
    title: str = "requests",
    progress: Progress = no_progress,
    *,
    plain: bool = False,
) -> GateComparison:
    """Replay the requests under every test at every level; ``plain`` adds mis and kld with values as printed."""
    known, found = requests.known(), []
    kinds = [(test, False) for test in tests] + [(test, True) for test in tests if plain and test in ("mis", "kld")]
    for place, (alpha, (test, printed)) in enumerate((alpha, kind) for alpha in levels for kind in kinds):
        progress(f"{test} at {alpha:.0%}", place / (len(levels) * len(kinds)))
        found.append(_compared(known, test, alpha, printed))
    requested = tuple(
        tuple(np.bincount(y, minlength=len(one.targets)).tolist())
        for (_, y), one in zip(known.places, known.baseline.baselines, strict=True)
    )
    return GateComparison(title, tuple(found), known.baseline.names, requested)


def _compared(requests: Requests, test: str, alpha: float, plain: bool) -> GateCompared:
    baselines = requests.baseline.baselines
    tables = [plain_tables(one.probabilities, one.target_shares, alpha, (test,)) for one in baselines if plain]
    rules = Question((test,), alpha).rules(requests.baseline, tables or None)
    requests.taken(np.arange(min(1, len(requests)))).decide(rules)
    begin = perf_counter()
    outcomes = requests.decide(rules)
    seconds = perf_counter() - begin
    everything = requests.rules(Question(TESTS, alpha))
    judged = [results(one.counts, asked) for one, asked in zip(outcomes, everything, strict=True)]
    shares = np.concatenate([
        _shares(one, y, asked.n_targets)
        for one, (_, y), asked in zip(outcomes, requests.places, rules, strict=True)
    ])  # fmt: skip
    outcome = outcomes[0]
    return GateCompared(
        test=test,
        plain=plain,
        alpha=alpha,
        released=len(outcome.released),
        requested=len(requests),
        targets_at_zero=int((shares == 0).sum()),
        least_served=float(shares.min(initial=1.0)) if len(shares) else 0.0,
        longest_wait=int(outcome.delays.max()) if len(outcome.delays) else 0,
        seconds=seconds,
        also_safe=tuple(TESTS[at] for at in range(len(TESTS)) if all(standings[at].safe for standings in judged)),
        released_by_target=tuple(tuple(one.counts.sum(axis=0).tolist()) for one in outcomes),
    )


def _shares(outcome: Outcome, ys: LongArray, n_targets: int) -> FloatArray:
    """Return how much of each target that was asked for has left."""
    requested = np.bincount(ys, minlength=n_targets)
    return np.asarray((outcome.counts.sum(axis=0) / np.maximum(requested, 1))[requested > 0])
