"""What the officer sees of a gate: exposure beside its critical value over the releases, and what waits where.

The charts are the paper's Figures 12 to 15, of the releases so far: one for all targets (mutual information, Dixon's
Q), or one for each target (Kullback-Leibler, chi-square, worst direction). Targets are numbered from 1 as in the
baseline; the page has counts and figures, never a person's value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.model.chart import Chart, ChartAxis, Line, Lines
from seriatim.report import Banner, Cell, Charts, Grid, Note, Page, Points, Prose, Section, Tile, Tiles
from seriatim.report.html import NO_ROWS
from seriatim.report.words import format_count, format_number, format_percent
from seriatim_gate.engine.results import Result, results
from seriatim_gate.engine.rules import Rules
from seriatim_gate.engine.starvation import starved_cells, starved_targets
from seriatim_gate.usecases.request_book import RequestBook

LongArray = npt.NDArray[np.int64]
POINTS = 48
"""Most points of a curve."""
TARGETS = 12
"""Targets that have charts of their own unless more are asked for: those with most records waiting."""
NAMES = {
    "mis": "Mutual information", "kld": "Kullback-Leibler distance", "cst": "Chi-square statistic",
    "dqt": "Dixon's Q", "wdt": "Worst direction (Pearson's statistic, not merged)",
}  # fmt: skip
TELL_NOBODY = (
    "A record waits because its target differs from the baseline. Do not tell anyone which records wait, how many "
    "do, or how many a target has: that alone identifies the targets that deviate."
)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One dependency: its rules, and value and target of every request."""

    name: str
    """Its columns, where there are several dependencies."""
    asked: Rules
    xs: LongArray
    ys: LongArray

    def at_targets(self, numbers: LongArray) -> LongArray:
        return np.bincount(self.ys[numbers], minlength=self.asked.n_targets)

    def table(self, numbers: LongArray) -> LongArray:
        """Return |X| x |Y| of some requests."""
        width, height = len(self.asked.p), self.asked.n_targets
        cells = self.xs[numbers] * height + self.ys[numbers]
        return np.bincount(cells, minlength=width * height).reshape(width, height)

    @property
    def before(self) -> str:
        return f"{self.name}: " if self.name else ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OfficerView:
    """A copy of what a book holds, so that it can be drawn while the book goes on."""

    title: str
    parts: tuple[Part, ...]
    version: str
    frozen: bool
    frozen_for: int
    n_requests: int
    left: LongArray
    """Numbers of released requests, in order."""
    waiting: LongArray
    gone: LongArray
    """Numbers of requests that were withdrawn or expired."""
    n_expired: int
    n_refused: int
    n_repeated: int
    """Requests for a record that somebody had asked for already."""
    oldest: float
    """Days that the oldest waiting request has waited."""
    expire_days: float
    advice: tuple[str, ...] = ()
    """What the baseline says about itself before it is relied on."""
    charted: int = TARGETS
    """Number of targets that have charts of their own."""


def officer_view(
    book: RequestBook,
    title: str,
    version: str,
    now: int,
    expire: int,
    names: Sequence[str] = (),
    advice: Sequence[str] = (),
) -> OfficerView:
    """Copy what the page needs; quick, because requests wait meanwhile. ``names`` are those of the dependencies."""
    from seriatim_gate.kernels.lines import GONE

    intake = book.intake
    n, statuses, waiting = len(book), intake.statuses, intake.waiting
    gone = np.flatnonzero(statuses == GONE)
    oldest = max(0, now - int(book.rows["at"][waiting[0]])) / 86_400_000 if len(waiting) else 0.0
    places = intake.codes.unpack(intake.xs[:n], intake.ys[:n])
    shown = names if len(places) > 1 else ("",)
    return OfficerView(
        title=title,
        parts=tuple(Part(name, asked, x, y) for name, asked, (x, y) in zip(shown, intake.rules, places, strict=True)),
        version=version,
        frozen=book.frozen,
        frozen_for=book.frozen_for,
        n_requests=n,
        left=intake.left().astype(np.int64),
        waiting=waiting,
        gone=gone,
        n_expired=len(book.expired),
        n_refused=n - len(book.repeats) - intake.n_out - len(waiting) - len(gone),
        n_repeated=len(book.repeats),
        oldest=oldest,
        expire_days=expire / 86_400_000,
        advice=tuple(advice),
    )


def drawn_page(view: OfficerView) -> Page:
    """Return the page."""
    sections = [_summary(view)]
    for part in view.parts:
        marks, standings = exposure_curves(view, part)
        sections += [*_exposures(view, part, marks, standings), _targets(view, part), _starvation(view, part)]
    because = f" Frozen because of version {view.frozen_for} of the baseline." if view.frozen_for > 0 else ""
    said = f"Nothing leaves. Requests are taken and wait.{because}"
    banner = Banner("FROZEN", said, "warn") if view.frozen else None
    return Page(view.title, tuple(sections), kicker="Record gate", banner=banner, footer=NO_ROWS)


def exposure_curves(view: OfficerView, part: Part) -> tuple[LongArray, list[tuple[Result, ...]]]:
    """Return numbers of releases, and every test of a dependency after each."""
    n = len(view.left)
    marks = np.unique(np.round(np.geomspace(1, n, POINTS)).astype(np.int64)) if n else np.empty(0, np.int64)
    width, height = len(part.asked.p), part.asked.n_targets
    cells = part.xs[view.left] * height + part.ys[view.left]
    counts, before, standings = np.zeros(width * height, np.int64), 0, []
    for mark in marks.tolist():
        counts += np.bincount(cells[before:mark], minlength=width * height)
        standings.append(results(counts.reshape(width, height), part.asked))
        before = mark
    return marks, standings


def _summary(view: OfficerView) -> Section:
    n, asked = view.n_requests, view.parts[0].asked
    tiles = (
        Tile("Requests", format_count(n), _repeated(view.n_repeated)),
        Tile("Released", format_count(len(view.left)), format_percent(len(view.left) / n) if n else ""),
        Tile("Waiting", format_count(len(view.waiting)), f"oldest: {_waited(view.oldest)}"),
        Tile("Withdrawn", format_count(len(view.gone) - view.n_expired)),
        Tile("Expired", format_count(view.n_expired), f"after {format_number(view.expire_days)} days"),
        Tile("Refused", format_count(view.n_refused), "not in the baseline"),
    )
    story = (
        f"Tests {', '.join(asked.tests)} at {format_percent(asked.alpha)}, baseline version {view.version}.",
        *([f"{len(view.parts)} dependencies, of which all must hold."] if len(view.parts) > 1 else []),
        TELL_NOBODY,
    )
    notes = (Note("What limits this gate", view.advice, "warn"),) if view.advice else ()
    return Section("Now", (Tiles(tiles), Prose(story), *notes))


def _exposures(view: OfficerView, part: Part, marks: LongArray, standings: list[tuple[Result, ...]]) -> list[Section]:
    sections = []
    for place, test in enumerate(part.asked.tests):
        figures = [standing[place] for standing in standings]
        one = test in ("mis", "dqt")
        targets = [0] if one else _charted(view, part)
        charts = {
            f"{part.before}{test}-{target}": _chart(
                "All targets" if one else f"Target {target + 1}", test, marks, figures, target
            )
            for target in targets
        }
        lead = "Exposure stays below the critical value after every release. The lower axis is logarithmic."
        if not one and len(targets) < part.asked.n_targets:
            lead += (
                f" Of {part.asked.n_targets} targets the {len(targets)} with most records waiting are drawn; "
                f"/officer?targets={part.asked.n_targets} draws all."
            )
        blocks = (Charts(charts),) if standings else (Prose(("Nothing has been released yet.",)),)
        sections.append(Section(f"{part.before}{NAMES[test]} and its critical value", blocks, lead))
    return sections


def _chart(title: str, test: str, marks: LongArray, figures: list[Result], target: int) -> Chart:
    statistic = np.array([one.statistic[target] for one in figures])
    critical = np.array([one.critical[target] for one in figures])
    shown = np.isfinite(statistic) & np.isfinite(critical)
    x = tuple(float(mark) for mark in marks[shown])
    lines = (
        Line("exposure", x, tuple(float(v) for v in statistic[shown])),
        Line("critical value", x, tuple(float(v) for v in critical[shown])),
    )
    unit = "bits" if test in ("mis", "kld") else "statistic"
    return Chart(
        title, Lines(lines), x=ChartAxis("records released", log=True), y=ChartAxis(unit, log=test in ("mis", "kld"))
    )


def _charted(view: OfficerView, part: Part) -> list[int]:
    """Return the targets that have charts: most waiting first, then most released."""
    waiting, left = part.at_targets(view.waiting), part.at_targets(view.left)
    return [int(y) for y in np.lexsort((-left, -waiting))[: view.charted]]


def _targets(view: OfficerView, part: Part) -> Section:
    left, waiting, gone = (part.at_targets(numbers) for numbers in (view.left, view.waiting, view.gone))
    asked = left + waiting + gone
    order = [int(y) for y in np.lexsort((-asked, -waiting)) if asked[y]]
    rows: list[tuple[str | Cell, ...]] = [
        (
            f"target {y + 1}", format_count(int(left[y])), format_count(int(waiting[y])), format_count(int(gone[y])),
            format_percent(left[y] / asked[y]),
        )
        for y in order[:60]
    ]  # fmt: skip
    head = ("target", "released", "waiting", "withdrawn or expired", "share released")
    caption = f"Targets, most waiting first ({len(rows)} of {len(order)} shown; numbered as in the baseline)"
    return Section(f"{part.before}By target", (Grid(caption, head, tuple(rows), frozenset({1, 2, 3, 4})),))


def _repeated(n: int) -> str:
    return f"{format_count(n)} for a record asked for before" if n else ""


def _waited(days: float) -> str:
    """Return a time in the largest unit of which it holds one."""
    for unit, least in (("days", 1.0), ("hours", 1 / 24), ("minutes", 1 / 1_440)):
        if days >= least:
            return f"{days / least:.1f} {unit}"
    return "less than a minute"


def _starvation(view: OfficerView, part: Part) -> Section:
    title = f"{part.before}Why records wait"
    counts, waiting = part.table(view.left), part.table(view.waiting)
    found = starved_cells(counts, waiting, part.asked, 10)
    if not found:
        return Section(title, (Prose(("Nothing waits.",)),))
    otherwise = "another dependency" if len(view.parts) > 1 else "the order of requests"
    lines = tuple(
        (
            f"Target {one.target + 1}, value {one.value + 1}",
            f"{format_count(one.n_waiting)} wait because of {', '.join(one.tests) or otherwise}"
            + (f"; {one.helpers} more {'record' if one.helpers == 1 else 'records'} of value {one.helper_value + 1} "
               "there would free one"
               if one.helper_value is not None else "; no single value would free them" if one.tests else ""),
        )
        for one in found
    )  # fmt: skip
    never = tuple(
        f"Target {y + 1} has had nothing released so far."
        for y in np.flatnonzero((waiting.sum(axis=0) >= 20) & (counts.sum(axis=0) == 0))[:10]
    )
    never += tuple(
        f"Target {y + 1} is deadlocked: no record of any value could leave there now."
        for y in starved_targets(counts, waiting, part.asked)
    )
    notes: tuple[Any, ...] = (Note("Starved targets", never, "warn"),) if never else ()
    lead = "Values and targets are numbered as seriatim gate show lists them. For the officer only."
    return Section(title, (*notes, Points(lines)), lead)
