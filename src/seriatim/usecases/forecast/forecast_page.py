"""Writes a forecast as a page and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seriatim.model.methods import installed_rows, names_looking_back
from seriatim.report import Banner, Cell, Charts, Definitions, FiledReport, Grid, Page, Prose, Section
from seriatim.report.words import format_percent
from seriatim.usecases.attack import attack_words
from seriatim.usecases.forecast.forecast import Forecast, FutureCourse, breaks

HEAD = ("way to continue", "first person breached", "breached at the end", "withheld", "counterfeits", "")
_WORDS = (
    ("m", "How many values stay possible for everyone: [promise] m."),
    ("every second time", "Publish half as often; twice as many people join and leave in between."),
    (
        "a new series",
        "The method cannot continue this series. For people in both, the two together were not attacked.",
    ),
    (
        "as now",
        "The series goes on as it is published now. A method that looks at each release alone is imitated: groups as "
        "large and as varied as the smallest and least varied of the last release.",
    ),
    (
        "an episode per value",
        "Values change between releases, which the method cannot follow: a changed value counts as another respondent, "
        "such as id and episode number. What two episodes of one person reveal together was not attacked.",
    ),
    ("withheld", "Share of people withheld, over all releases of the forecast."),
    ("counterfeits", "Share of published rows that belong to nobody; their number in each group is published."),
)


@dataclass(frozen=True, slots=True)
class OutlookReport(FiledReport):
    """How long each method keeps a series safe."""

    title: str
    forecast: Forecast

    def record(self) -> dict[str, Any]:
        courses = [
            {
                "method": course.method,
                "as_now": course.way.now,
                "m": course.way.rules.m if course.way.alone is None else None,
                "n": course.way.rules.n if course.way.row.seeks_n else None,
                "every": course.way.every,
                "new_series": course.way.anew,
                "releases": list(course.numbers),
                "breached": [estimate.share for estimate in course.estimates],
                "first_break": course.first_break,
                "withheld": course.withheld,
                "counterfeits": course.counterfeits,
                "stopped": course.stopped,
            }
            for course in self.forecast.courses
        ]
        today = self.forecast.today
        return {
            "schema": "seriatim.forecast/1",
            "leaving": self.forecast.leaving,
            "joining": self.forecast.joining,
            "changing": self.forecast.changing,
            "today": None if today is None else today.share,
            "advice": self.advice,
            "courses": courses,
            "unfollowed": self.forecast.n_unfollowed,
            "breach_share": self.forecast.breach_share,
            "sure_share": self.forecast.sure_share,
            "sure": [
                {"k": one.k, "releases": list(one.numbers), "shares": list(one.shares), "today": one.before}
                for one in self.forecast.sure
            ],
        }

    def _sure_section(self) -> tuple[Section, ...]:
        return (Section("People whose values change", (Prose(tuple(self.sure)),)),) if self.sure else ()

    @property
    def sure(self) -> list[str]:
        """Say how many people would be inferred with certainty where values change, by size of groups."""
        found, allowed = [], self.forecast.sure_share
        if self.forecast.n_unfollowed:
            found.append(attack_words.about_unfollowed(self.forecast.n_unfollowed))
        share = format_percent(allowed)
        if self.forecast.sure and self.forecast.sure[0].before > allowed:
            today = format_percent(self.forecast.sure[0].before)
            found.append(f"already {today} after the releases so far: no k brings that below {share} again")
        for one in self.forecast.sure:
            breaks = one.breaks(allowed)
            when = f"more than {share} from release {breaks}" if breaks else f"at most {share}"
            found.append(f"groups of {one.k}: {when}, {one.shares[-1]:.2%} at the end")
        return found

    @property
    def advice(self) -> str:
        """Say in a sentence what lasts longest."""
        until = f"release {self.forecast.until}"
        if self.judged_by_certainty:
            return self._advice_on_certainty(until)
        lasting = [course for course in self.forecast.courses if course.lasts]
        if lasting:
            ways = " and ".join(course.way.label for course in lasting[:2])
            unlinked = self.forecast.sure and any(course.way.episodes for course in lasting[:2])
            linked = " Episodes of one person are attacked separately; anyone who links them learns more."
            apart = linked if unlinked else ""
            allowed = self.forecast.breach_share
            who = f"At most {format_percent(allowed)} of people" if allowed else "Nobody"
            return f"{who} would be breached until {until} with {ways}.{apart}"
        breached = [course for course in self.forecast.courses if course.first_break]
        if not breached:
            return "No way to continue was found: see why each stopped."
        best = max(breached, key=lambda course: (course.first_break or 0, -course.estimates[-1].share))
        first = "more people than allowed" if self.forecast.breach_share else "the first person"
        return f"{best.way.label} lasts longest: {first} would be breached at release {best.first_break}."

    @property
    def judged_by_certainty(self) -> bool:
        """Return whether a verdict bounds beliefs alone, since values change: then that is the bound of the series."""
        return self.forecast.breach_share is None and bool(self.forecast.sure)

    def _advice_on_certainty(self, until: str) -> str:
        allowed, usual = self.forecast.sure_share, self.forecast.sure[0]
        share = format_percent(allowed)
        if usual.before > allowed:
            return f"More than {share} of people are inferred with certainty already, as sure_share counts them."
        holds = next((one for one in self.forecast.sure if one.breaks(allowed) is None), None)
        broken = f"As it is, the series would break its sure_share of {share} at release {usual.breaks(allowed)}"
        if holds is usual:
            return f"The series would keep its sure_share of {share} until {until}."
        if holds is None:
            return f"{broken}; so it would in groups of {self.forecast.sure[-1].k}."
        return f"{broken}; in groups of {holds.k} it would keep it until {until}."

    @property
    def stays_safe(self) -> bool:
        """Return whether the series can go on under its own bounds."""
        found = self.forecast
        if self.judged_by_certainty:
            return found.sure[0].before <= found.sure_share and found.sure[0].breaks(found.sure_share) is None
        return any(course.lasts and not course.way.anew for course in found.courses) and not self.broken_today

    @property
    def broken_today(self) -> bool:
        """Return whether the releases so far breach more people than the bound of the series allows."""
        found = self.forecast
        return found.today is not None and not self.judged_by_certainty and breaks(found.today, found.breach_share or 0)

    @property
    def changes(self) -> str:
        """Say how many values change, if any do."""
        share = self.forecast.changing
        return f", and the values of {format_percent(share)} of those who stayed changed" if share else ""

    @property
    def today(self) -> str:
        share = self.forecast.today.share if self.forecast.today else 0.0
        if not share:
            return ""
        bounded = (
            "; its policy does not bound that ([adversary] breach_share would)" if self.judged_by_certainty else ""
        )
        return f"{format_percent(share)} of people are breached by the releases so far{bounded}."

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row for each course, with the columns of ``HEAD``."""
        return [_row(course, self.forecast.until) for course in self.forecast.courses]

    def page(self) -> Page:
        found = self.forecast
        story = (
            f"Between two releases {format_percent(found.leaving)} of people left and {format_percent(found.joining)} "
            f"joined{self.changes}. "
            "Each method continues the series with made-up people who join and leave at that rate. After each release, "
            "an adversary who has them all builds on each finding until nothing new follows. Where someone would be "
            "breached, the forecast also tries what lasts longer.",
        )
        rows = tuple(
            (cells[0], Cell(cells[1], "good" if course.lasts else "bad") if course.estimates else cells[1], *cells[2:])
            for course, cells in zip(found.courses, self.rows(), strict=True)
        )
        grid = Grid("How long each way lasts", HEAD, rows, frozenset({2, 3, 4}))
        methods = tuple((name, installed_rows()[name].summary) for name in names_looking_back())
        return Page(
            self.title,
            (
                Section("The next releases", (Prose(story), grid, Charts(found.charts))),
                *self._sure_section(),
                Section("How to read this", (Definitions((*methods, *_WORDS)),)),
            ),
            kicker="Forecast",
            banner=Banner("Can stay safe", self.advice, "good")
            if self.stays_safe
            else Banner("Not safe as it is", self.advice, "warn", (self.today,) if self.today else ()),
            footer="A simulation with made-up people, not a promise: every release is judged before it is published.",
        )


def _row(course: FutureCourse, until: int) -> tuple[str, ...]:
    first = (
        f"release {course.first_break}" if course.first_break else (f"none until {until}" if course.lasts else "none")
    )
    if not course.estimates:
        return course.way.label, "", "", "", "", course.stopped
    end = format_percent(course.estimates[-1].share)
    stopped = f"stopped after release {course.numbers[-1]}: {course.stopped}" if course.stopped else ""
    return course.way.label, first, end, format_percent(course.withheld), format_percent(course.counterfeits), stopped
