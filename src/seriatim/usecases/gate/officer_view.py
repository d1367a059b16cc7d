"""What the officer sees of a gate: exposure beside its critical value over the releases, and what waits where.

The charts are the paper's Figures 12 to 15, of the releases so far: one for all targets (mutual information, Dixon's
Q), or one for each target (Kullback-Leibler, chi-square, worst direction). Targets are numbered from 1 as in the
baseline; the page has counts and figures, never a person's value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.gate.rules import Asked
from seriatim.gate.standing import Standing, standing_of
from seriatim.gate.starvation import starvation_of
from seriatim.model.chart import Axis, Chart, Line, Lines
from seriatim.report import Banner, Cell, Charts, Grid, Note, Page, Points, Prose, Section, Tile, Tiles
from seriatim.report.filed import NO_ROWS
from seriatim.report.formats import format_count, format_number, format_percent
from seriatim.usecases.gate.desk import Desk

LongArray = npt.NDArray[np.int64]
POINTS = 48
"""So many points a curve has at most."""
TARGETS = 9
"""So many targets have charts of their own: those with most records waiting."""
NAMES = {
    "mis": "Mutual information", "kld": "Kullback-Leibler distance", "cst": "Chi-square statistic",
    "dqt": "Dixon's Q", "wdt": "Worst direction (Pearson's statistic, not merged)",
}  # fmt: skip
TELL_NOBODY = (
    "A record waits because its target differs from the baseline. Do not tell anyone which records wait, how many "
    "do, or how many a target has: that alone names the targets that deviate."
)


@dataclass(frozen=True, slots=True, eq=False)
class OfficerView:
    """A copy of what a desk holds, so that it can be drawn while the desk goes on."""

    title: str
    asked: Asked
    version: str
    frozen: bool
    xs: LongArray
    ys: LongArray
    left: LongArray
    """Numbers of released requests, in order."""
    waiting: LongArray
    gone: LongArray
    """Numbers of requests that were withdrawn or expired."""
    n_expired: int
    n_refused: int
    oldest: float
    """Days that the oldest waiting request has waited."""
    expire_days: float

    def at_targets(self, numbers: LongArray) -> LongArray:
        return np.bincount(self.ys[numbers], minlength=self.asked.n_targets)


def officer_view(desk: Desk, title: str, version: str, now: int, expire: int) -> OfficerView:
    """Copy what the page needs; quick, because requests wait meanwhile."""
    from seriatim.kernels.gate.board import GONE

    intake = desk.intake
    n, statuses, waiting = len(desk), intake.statuses, intake.waiting
    gone = np.flatnonzero(statuses == GONE)
    oldest = max(0, now - int(desk.book["at"][waiting[0]])) / 86_400_000 if len(waiting) else 0.0
    return OfficerView(
        title, intake.asked, version, desk.frozen, intake.xs[:n].astype(np.int64), intake.ys[:n].astype(np.int64),
        intake.left().astype(np.int64), waiting, gone, len(desk.expired),
        n - intake.n_out - len(waiting) - len(gone), oldest, expire / 86_400_000,
    )  # fmt: skip


def officer_page(view: OfficerView) -> Page:
    """Return the page."""
    marks, standings = exposure_over_releases(view)
    sections = [_summary(view), *_exposures(view, marks, standings), _targets(view), _starvation(view)]
    banner = Banner("FROZEN", "Nothing leaves. Requests are taken and wait.", "warn") if view.frozen else None
    return Page(view.title, tuple(sections), kicker="Record gate", banner=banner, footer=NO_ROWS)


def exposure_over_releases(view: OfficerView) -> tuple[LongArray, list[tuple[Standing, ...]]]:
    """Return numbers of releases, and how every test stood after so many."""
    n = len(view.left)
    marks = np.unique(np.round(np.geomspace(1, n, POINTS)).astype(np.int64)) if n else np.empty(0, np.int64)
    width, height = len(view.asked.p), view.asked.n_targets
    cells = view.xs[view.left] * height + view.ys[view.left]
    counts, before, standings = np.zeros(width * height, np.int64), 0, []
    for mark in marks.tolist():
        counts += np.bincount(cells[before:mark], minlength=width * height)
        standings.append(standing_of(counts.reshape(width, height), view.asked))
        before = mark
    return marks, standings


def _summary(view: OfficerView) -> Section:
    n = len(view.xs)
    tiles = (
        Tile("Requests", format_count(n)),
        Tile("Released", format_count(len(view.left)), format_percent(len(view.left) / n) if n else ""),
        Tile("Waiting", format_count(len(view.waiting)), f"oldest: {format_number(view.oldest)} days"),
        Tile("Withdrawn", format_count(len(view.gone) - view.n_expired)),
        Tile("Expired", format_count(view.n_expired), f"after {format_number(view.expire_days)} days"),
        Tile("Refused", format_count(view.n_refused), "not in the baseline"),
    )
    story = (
        f"Tests {', '.join(view.asked.tests)} at {format_percent(view.asked.alpha)}, baseline version {view.version}.",
        TELL_NOBODY,
    )
    return Section("Now", (Tiles(tiles), Prose(story)))


def _exposures(view: OfficerView, marks: LongArray, standings: list[tuple[Standing, ...]]) -> list[Section]:
    sections = []
    for place, test in enumerate(view.asked.tests):
        figures = [standing[place] for standing in standings]
        one = test in ("mis", "dqt")
        targets = [0] if one else _charted(view)
        charts = {
            f"{test}-{target}": _chart("All targets" if one else f"Target {target + 1}", test, marks, figures, target)
            for target in targets
        }
        lead = "Released records stay below the critical value after every release. The lower axis is logarithmic."
        blocks = (Charts(charts),) if standings else (Prose(("Nothing has been released yet.",)),)
        sections.append(Section(f"{NAMES[test]} and its critical value", blocks, lead))
    return sections


def _chart(title: str, test: str, marks: LongArray, figures: list[Standing], target: int) -> Chart:
    statistic = np.array([one.statistic[target] for one in figures])
    critical = np.array([one.critical[target] for one in figures])
    shown = np.isfinite(statistic) & np.isfinite(critical)
    x = tuple(float(power) for power in np.log10(marks[shown]))
    lines = (
        Line("exposure", x, tuple(float(v) for v in statistic[shown])),
        Line("critical value", x, tuple(float(v) for v in critical[shown])),
    )
    unit = "bits" if test in ("mis", "kld") else "statistic"
    return Chart(
        title, Lines(lines), x=Axis("records released (power of ten)"), y=Axis(unit, log=test in ("mis", "kld"))
    )


def _charted(view: OfficerView) -> list[int]:
    """Return the targets that have charts: most waiting first, then most released."""
    waiting, left = view.at_targets(view.waiting), view.at_targets(view.left)
    return [int(y) for y in np.lexsort((-left, -waiting))[:TARGETS]]


def _targets(view: OfficerView) -> Section:
    left, waiting, gone = (view.at_targets(numbers) for numbers in (view.left, view.waiting, view.gone))
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
    return Section("By target", (Grid(caption, head, tuple(rows), frozenset({1, 2, 3, 4})),))


def _starvation(view: OfficerView) -> Section:
    width, height = len(view.asked.p), view.asked.n_targets
    counts, waiting = (_table(view, numbers, width, height) for numbers in (view.left, view.waiting))
    found = starvation_of(counts, waiting, view.asked, 10)
    if not found:
        return Section("Why records wait", (Prose(("Nothing waits.",)),))
    lines = tuple(
        (
            f"Target {one.target + 1}, value {one.value + 1}",
            f"{format_count(one.n_waiting)} wait because of {', '.join(one.tests) or 'the order of requests'}"
            + (f"; {one.helpers} more records of value {one.helper_value + 1} there would free one"
               if one.helper_value is not None else "; no single value would free them"),
        )
        for one in found
    )  # fmt: skip
    never = tuple(
        f"Target {y + 1} has had nothing released so far."
        for y in np.flatnonzero((waiting.sum(axis=0) >= 20) & (counts.sum(axis=0) == 0))[:10]
    )
    notes: tuple[Any, ...] = (Note("Starved targets", never, "warn"),) if never else ()
    lead = "Values and targets are numbered from 1 as in the baseline. For the officer only."
    return Section("Why records wait", (*notes, Points(lines)), lead)


def _table(view: OfficerView, numbers: LongArray, width: int, height: int) -> LongArray:
    cells = view.xs[numbers] * height + view.ys[numbers]
    return np.bincount(cells, minlength=width * height).reshape(width, height)
