"""A replay as a page and as JSON, for the officer."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from seriatim.model.chart import Chart, ChartAxis, Line, Lines, histogram_of
from seriatim.report import Banner, Cell, Charts, Grid, Note, Page, Points, Prose, Section, Tile, Tiles
from seriatim.report.html import NO_ROWS, FiledReport
from seriatim.report.page import Tone
from seriatim.report.words import format_count, format_number, format_percent, format_plain
from seriatim_gate.observer import PRIVATE
from seriatim_gate.usecases.replay import Replay

BLURS = (
    "A gate blurs, it does not hide. Waiting itself is revealing: a target whose records wait differs from the "
    "baseline. Share target sizes, requests per target and totals with the officer only; where target sizes are "
    "public, the gate cannot hide which targets deviate. Do not tell anyone which records wait."
)
HEAD = ("target", "requested", "released", "share", "never released", "deviates at 5%")
_SHOWN = 60


@dataclass(frozen=True, slots=True, eq=False)
class ReplayReport(FiledReport):
    """What a gate would have released: of each dependency the counts by target, of the whole the rest."""

    title: str
    version: str
    parts: tuple[Replay, ...]

    @property
    def found(self) -> Replay:
        """Return the replay of the first dependency; what concerns the whole is the same in all."""
        return self.parts[0]

    @property
    def warning(self) -> str:
        """Return a warning if most targets of a dependency deviate; else an empty text."""
        if len(self.parts) == 1:
            return self.found.warning
        return "; ".join(f"{one.dependency}: {one.warning}" for one in self.parts if one.warning)

    @property
    def advice(self) -> tuple[str, ...]:
        """Return what an officer should know before this gate serves."""
        if len(self.parts) == 1:
            return self.found.advice
        return tuple(f"{one.dependency}: {note}" for one in self.parts for note in one.advice)

    def record(self) -> dict[str, Any]:
        found = self.found
        whole = {
            "schema": "seriatim.gate.replay/1",
            "baseline": self.version,
            "question": format_plain(asdict(found.question)),
            "requests": found.n_requests,
            "refused": found.n_refused,
            "released": int(found.released.sum()),
            "share_released": found.share,
            "at_once": found.at_once,
            "longest_wait": found.longest_wait,
            "median_wait": found.median_wait,
            "never_released": int((found.requested - found.released).sum()),
            "warning": self.warning,
            "advice": list(self.advice),
        }
        if len(self.parts) == 1:
            return whole | _part_record(found)
        return whole | {"dependencies": [{"dependency": one.dependency} | _part_record(one) for one in self.parts]}

    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Return the targets as texts, least released first, in the order of ``HEAD``; dependency by dependency."""
        return tuple(
            (f"{one.dependency}, {name}" if len(self.parts) > 1 else name, *row)
            for one in self.parts
            for name, *row in _part_rows(one)
        )

    def page(self) -> Page:
        found = self.found
        sections = [self._summary()]
        for one in self.parts:
            sections += self._part_sections(one)
        sentence = self.warning or f"{format_percent(found.share)} of the requests would have been released."
        banner = Banner("REPLAY", sentence, "warn" if self.warning else "good")
        return Page(self.title, tuple(sections), kicker="Gate replay", banner=banner, footer=NO_ROWS)

    def _part_sections(self, one: Replay) -> list[Section]:
        before = f"{one.dependency}: " if len(self.parts) > 1 else ""
        sections = [_targets(one, before)]
        if one.starved:
            lines = tuple(("", str(each)) for each in one.starved)
            lead = "Values and targets are numbered from 1, in the order of the baseline. For the officer only."
            sections.append(Section(f"{before}Why records wait", (Points(lines),), lead))
        return [*sections, _observer(one, before)]

    def _summary(self) -> Section:
        found = self.found
        never = int((found.requested - found.released).sum())
        tiles = (
            Tile(
                "Released",
                format_percent(found.share),
                f"{format_count(int(found.released.sum()))} of {format_count(int(found.requested.sum()))}",
            ),
            Tile("At once", format_count(found.at_once)),
            Tile("Never", format_count(never), "they would still wait at the end"),
            Tile("Longest wait", format_count(found.longest_wait), "requests"),
            *(
                Tile("Targets that deviate", f"{one.n_deviating} of {one.n_targets}", f"at 5%{_of(one, self.parts)}")
                for one in self.parts
            ),
        )
        question = found.question
        read = "".join(f", {name} {value}" for name, value in question.unusual.items())
        level = format_percent(question.alpha)
        story = (
            f"Tests {', '.join(question.tests)} at {level}{read}, baseline version {self.version}. "
            f"{format_count(found.n_refused)} requests had an empty cell, or one that the baseline does not know.",
        )
        notes = (Note("Before this gate serves", self.advice, "warn"),) if self.advice else ()
        x = tuple(float(v) for v in np.linspace(0, found.n_requests - found.n_refused, len(found.curve)))
        curve = Chart(
            "Released over time",
            Lines((Line("requested", x, x), Line("released", x, tuple(float(v) for v in found.curve)))),
            x=ChartAxis("requests"),
            y=ChartAxis("records"),
            topic="usefulness",
        )
        return Section("What would have been released", (Prose(story), Tiles(tiles), *notes, Charts({"time": curve})))


def _of(one: Replay, parts: tuple[Replay, ...]) -> str:
    return f", {one.dependency}" if len(parts) > 1 else ""


def _part_record(found: Replay) -> dict[str, Any]:
    return {
        "targets": found.n_targets,
        "targets_deviating": found.n_deviating,
        "requested_by_target": format_plain(found.requested),
        "released_by_target": format_plain(found.released),
        "p_values": format_plain(found.p_values),
        "starved": [str(each) for each in found.starved],
        "observer": {name: [format_plain(asdict(one)) for one in named] for name, named in found.observed.items()},
    }


def _part_rows(found: Replay) -> tuple[tuple[str, ...], ...]:
    shares = found.released / np.maximum(found.requested, 1)
    order = [int(y) for y in np.argsort(shares, kind="stable") if found.requested[y]]
    return tuple(
        (
            f"target {y + 1}",
            format_count(int(found.requested[y])),
            format_count(int(found.released[y])),
            format_percent(float(shares[y])),
            format_count(int(found.requested[y] - found.released[y])),
            "yes" if found.p_values[y] < 0.05 else "no",
        )
        for y in order
    )


def _targets(found: Replay, before: str) -> Section:
    rows = _part_rows(found)
    shares = found.released / np.maximum(found.requested, 1)
    chart = Chart(
        "How much of each target leaves",
        histogram_of(shares[found.requested > 0]),
        x=ChartAxis("share released", "percent"),
        y=ChartAxis("targets"),
    )
    caption = f"Targets, least released first (numbered as in the baseline; {min(_SHOWN, len(rows))} shown)"
    grid = Grid(caption, HEAD, rows[:_SHOWN], frozenset({1, 2, 3, 4}))
    return Section(
        f"{before}By target" if before else "By target", (grid, Charts({f"targets {before}".strip(): chart}))
    )


def _observer(found: Replay, before: str) -> Section:
    heads = ("statistic", *found.observed)
    by_name = {name: {one.statistic: one for one in named} for name, named in found.observed.items()}
    statistics = list(dict.fromkeys(one.statistic for named in found.observed.values() for one in named))
    rows = []
    for statistic in statistics:
        cells: list[str | Cell] = [Cell(statistic, note="needs sizes or times" if statistic in PRIVATE else "")]
        for name in found.observed:
            one = by_name[name].get(statistic)
            if one is None:
                cells.append("")
                continue
            word = f"first {format_percent(one.first)}, top 3 {format_percent(one.top_3)}"
            tone: Tone = "bad" if one.first >= 0.5 else "warn" if one.top_3 >= 0.5 else "good"
            held = f"{format_percent(one.deficit)} of the suspected target's records withheld"
            cells.append(Cell(word, tone, f"Spearman {format_number(one.spearman)}, {held}"))
        rows.append(tuple(cells))
    runs = max((one.runs for named in found.observed.values() for one in named), default=0)
    caption = f"How often an observer names the target that deviates most ({runs} orders of the requests)"
    grid = Grid(caption, heads, tuple(rows))
    return Section(f"{before}What an observer finds", (Prose((BLURS,)), grid))
