"""Forecasts how long a series stays safe if people join and leave as they did so far.

The ledger keeps who was in which group, not their quasi-identifiers, so the people of the forecast get made-up ones.
Who shares a group with whom, which decides what leaks, follows from values and churn. Each method continues the real
history, and the iterated exclusion attack runs after every made-up release. If someone would be breached, the forecast
also tries what lasts longer: publishing half as often, a larger m, a larger n, larger groups (k).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

import numpy as np

from seriatim.attacks.exclusion_rules import estimate_share, prepare
from seriatim.attacks.leavers import reveal_leavers
from seriatim.defences import loaded
from seriatim.defences.series.contract import SerialDraw, SerialMethod, SerialRules
from seriatim.defences.series.known_apart import known_apart
from seriatim.defences.series.memory import RememberedRows, kept_rows
from seriatim.errors import InputError
from seriatim.knowledge.sequential_adversary import SequentialAdversary
from seriatim.model import Chart, ChartAxis, Estimate, History, Line, Lines, PastRelease, PriorSets
from seriatim.model.chance import open_chance
from seriatim.model.history import JudgedHistory
from seriatim.model.methods import OF_IMPORTED, Method, method_named, names_looking_back
from seriatim.ports import Progress, Workers, no_progress
from seriatim.promises.series.kept_over_time import TermsOfM, rule_of_m
from seriatim.usecases.forecast import sure_people
from seriatim.usecases.forecast.made_up_people import (
    DrawnCrowd,
    DrawnWorld,
    drawn_changes,
    drawn_churn,
    drawn_crowd,
    drawn_world,
)
from seriatim.usecases.forecast.series_now import LatestGroups, SeriesNow, latest_groups, split_at_medians
from seriatim.usecases.forecast.sure_people import CertaintyCourse

SEED = 20_262
LARGER = (2, 4, 8)
"""How many times as large groups are tried, where each release is made alone."""
SURE_SHARE = 0.01
"""What a forecast of certain beliefs is held against if the policy bounds none."""


@dataclass(frozen=True, slots=True)
class OutlookQuestion:
    """What to forecast: how far, under which promise, against which adversary."""

    releases: int
    _: KW_ONLY
    rules: SerialRules
    compromised: float = 0.0
    methods: tuple[str, ...] = field(default_factory=names_looking_back)
    seeds: tuple[int, ...] = (1, 2, 3)
    priors: PriorSets | None = None
    """What the adversary holds possible beforehand; newcomers resemble the people named."""
    now: SeriesNow = field(default_factory=SeriesNow)
    """How the series is published now."""
    sequential: SequentialAdversary | None = None
    """Who knows how values follow each other; None for the history's own steps."""
    sure_share: float = SURE_SHARE
    """The share of people that may be inferred with certainty."""
    breach_share: float | None = 0.0
    """The share of people that may be breached; None if the policy bounds ``sure_share`` alone."""


@dataclass(frozen=True, slots=True)
class WayToContinue:
    """One way to continue: a method, its settings, and how often it publishes."""

    method: str
    rules: SerialRules
    _: KW_ONLY
    every: int = 1
    """Publish only every n-th release."""
    anew: bool = False
    """Whether to start a new series, because the method cannot continue this one."""
    now: bool = False
    """Whether the series is published in this way now."""
    alone: LatestGroups | None = None
    """The groups of a method that looks at each release alone; it has no m."""
    episodes: bool = False
    """Whether a changed value counts as another respondent, since the method needs values that stay."""

    @property
    def row(self) -> Method:
        row = method_named(self.method)
        assert row is not None
        return row

    @property
    def label(self) -> str:
        if self.alone is not None:
            return f"{'as now' if self.now else self.method}, in groups of {self.alone.people} or more"
        degree = f", n = {self.rules.n}" if self.row.seeks_n else ""
        pace = {1: "", 2: ", every second time"}.get(self.every, f", every {self.every}th time")
        how = (", as now" if self.now else "") + (", an episode per value" if self.episodes else "")
        odds = f", odds = {self.rules.odds:g}" if self.rules.odds and self.row.reads_odds else ""
        return f"{self.method}, m = {self.rules.m}{degree}{odds}{pace}{how}" + (", a new series" if self.anew else "")


def breaks(found: Estimate, allowed: float) -> bool:
    """Return whether an attack breaches more people than allowed, as a verdict judges it: by the upper end."""
    return found.high > allowed if allowed else found.share > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FutureCourse:
    """The future of one way: the share breached after each made-up release."""

    way: WayToContinue
    numbers: tuple[int, ...]
    """Numbers of the made-up releases, at the pace of the series so far; the first follows the last real one."""
    estimates: tuple[Estimate, ...]
    stopped: str = ""
    """Why it stopped early, if it did."""
    withheld: float = 0.0
    """Share of people withheld, over all releases."""
    counterfeits: float = 0.0
    """Share of rows that are counterfeits."""
    allowed: float = 0.0
    """The share that may be breached."""

    @property
    def method(self) -> str:
        return self.way.method

    @property
    def first_break(self) -> int | None:
        """Return the release after which the first person is breached, or more people than the policy allows."""
        return next((n for n, e in zip(self.numbers, self.estimates, strict=True) if breaks(e, self.allowed)), None)

    @property
    def lasts(self) -> bool:
        """Return whether nobody, or no more people than allowed, are breached by the end of the forecast."""
        return bool(self.estimates) and not self.stopped and self.first_break is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """All courses, the churn they assume, and a chart."""

    leaving: float
    joining: float
    courses: tuple[FutureCourse, ...]
    charts: dict[str, Chart] = field(default_factory=dict)
    today: Estimate | None = None
    """What the same attack finds in the real releases, before any made-up one."""
    last: int = 0
    """Number of the last real release."""
    until: int = 0
    """Number of the last release of the forecast."""
    sure: tuple[CertaintyCourse, ...] = ()
    """People inferred with certainty, by size of groups; none where values never change."""
    changing: float = 0.0
    """Share of people whose value changes between two releases."""
    n_unfollowed: int = 0
    """People whose values change and who were not followed, since there are too many values."""
    sure_share: float = SURE_SHARE
    """The share of people that may be inferred with certainty."""
    breach_share: float | None = 0.0
    """The share of people that may be breached; None if the policy bounds ``sure_share`` alone."""


def forecast(
    history: History, outlook: OutlookQuestion, workers: Workers, progress: Progress = no_progress
) -> Forecast:
    """Continue a history with its observed churn, once per method, and try what lasts longer if someone is breached."""
    churn, changing = drawn_churn(history), drawn_changes(history)
    start = _Start(history, churn, drawn_crowd(history, outlook.priors), changing)
    progress("today", 0.0)
    today = estimate_share(prepare(history, start.crowd.priors), outlook.compromised, outlook.seeds)
    ways = _ways(start, outlook)
    courses: list[FutureCourse] = []
    while ways:
        way = ways.pop(0)
        progress(f"forecasting {way.label}", len(courses) / (len(courses) + len(ways) + 1))
        course = replace(_course(start, outlook, way, workers), allowed=outlook.breach_share or 0.0)
        courses.append(course)
        # only what the series asks for is varied, and each change once: the slower way of a slower way is no news
        if course.first_break and way.now and way.alone is not None:
            ways.extend(_larger(way, way.alone))
        elif course.first_break and way.rules == outlook.rules and way.every == 1 and way.alone is None:
            ways.extend(other for other in _slower(course.way) if other.every <= outlook.releases)
    progress("people whose values change", 0.95)
    sure = sure_people.for_each_size(history, outlook.releases, start.churn, outlook.sequential)
    progress("done", 1.0)
    last = history.releases[-1].number
    charts = {"forecast": _chart(courses)}
    until, unfollowed = last + outlook.releases, sure_people.n_unfollowed(history, outlook.sequential)
    leaving, joining = start.churn
    return Forecast(
        leaving=leaving,
        joining=joining,
        courses=tuple(courses),
        charts=charts,
        today=today,
        last=last,
        until=until,
        sure=sure,
        changing=start.changing,
        n_unfollowed=unfollowed,
        sure_share=outlook.sure_share,
        breach_share=outlook.breach_share,
    )


def _ways(start: _Start, outlook: OutlookQuestion) -> list[WayToContinue]:
    """Return the way of the series as it is now, and one for each method."""
    now, episodes = outlook.now, start.changing > 0
    ways = [
        WayToContinue(method, outlook.rules, now=method == now.method and outlook.rules.m == now.m, episodes=episodes)
        for method in outlook.methods
    ]
    row = None if now.method is None else method_named(now.method)
    if row is not None and row.withdrawn:  # nothing makes its drafts any more
        return ways
    if now.method is not None and row is not None and row.serial:
        if any(way.now for way in ways) or now.m is None:
            return ways
        rules = replace(outlook.rules, m=now.m, n=outlook.rules.n if now.n is None else now.n)
        return [WayToContinue(now.method, rules, now=True, episodes=episodes), *ways]
    alone = latest_groups(start.history.releases[-1])
    return [WayToContinue(now.method or OF_IMPORTED, outlook.rules, now=True, alone=alone), *ways]


def _larger(way: WayToContinue, least: LatestGroups) -> list[WayToContinue]:
    """Return the same method with larger groups, where each release is made alone."""
    return [replace(way, now=False, alone=replace(least, people=least.people * times)) for times in LARGER]


def _slower(way: WayToContinue) -> Iterator[WayToContinue]:
    """Yield ways that may last longer than this one."""
    way = replace(way, now=False)
    yield replace(way, every=2)
    yield replace(way, rules=replace(way.rules, m=way.rules.m + 1))
    if way.row.seeks_n and way.rules.n + 1 < way.rules.m:
        yield replace(way, rules=replace(way.rules, n=way.rules.n + 1))


@dataclass(frozen=True, slots=True, eq=False)
class _Start:
    """Where every course starts."""

    history: History
    churn: tuple[float, float]
    crowd: DrawnCrowd
    changing: float

    def churn_of(self, way: WayToContinue) -> tuple[float, float, float]:
        """Return who leaves, joins and changes value; a changed value is a leaver and a newcomer if that is asked."""
        leaving, joining = self.churn
        if way.alone is not None:
            return leaving, joining, self.changing
        if not way.episodes:
            return leaving, joining, 0.0
        changed = (1 - leaving) * self.changing
        return leaving + changed, joining + changed, 0.0


def _course_alone(start: _Start, outlook: OutlookQuestion, way: WayToContinue, least: LatestGroups) -> FutureCourse:
    """Return the course of a method that looks at each release alone: nobody is withheld, nothing is counterfeit."""
    chance = open_chance(SEED, way.method)
    world = drawn_world(start.history, chance, start.crowd)
    pasts, last = list(start.history.releases), start.history.releases[-1].number
    for step in range(1, outlook.releases + 1):
        world.next(*start.churn_of(way))
        value = world.value[world.person]
        group = split_at_medians(world.points[world.person], value, least)
        pasts.append(PastRelease(last + step, person=world.person.astype(np.int32), group=group, value=value))
    estimates = _attacked(world, pasts, outlook.releases, outlook, way)
    return FutureCourse(way=way, numbers=tuple(range(last + 1, last + outlook.releases + 1)), estimates=estimates)


def _course(start: _Start, outlook: OutlookQuestion, way: WayToContinue, workers: Workers) -> FutureCourse:
    """Return the future of one way; as a new series where the method cannot continue this one."""
    if way.alone is not None:
        return _course_alone(start, outlook, way, way.alone)
    history = start.history
    chance = open_chance(SEED, way.method)
    world = drawn_world(history, chance, start.crowd)
    pasts = _continued(history, way)
    published = [RememberedRows.of(past) for past in pasts]
    way = replace(way, anew=way.anew or not pasts)
    last = history.releases[-1].number
    group: SerialMethod = known_apart(loaded(way.row.home))
    stopped, numbers, counts = "", [], np.zeros(3, dtype=np.int64)
    for step in range(1, outlook.releases + 1):
        world.next(*start.churn_of(way))
        # people come and go at the same pace; the series only looks less often
        if step % way.every:
            continue
        view, draw = world.view(), SerialDraw(chance.bytes(32), last + step)
        try:
            made = group(view, way.rules, published, draw, workers)
        except InputError as error:
            fault = error.faults[0]
            stopped = f"{fault.found}; {fault.remedy}" if fault.remedy else fault.found
            break
        published.append(kept_rows(view, made))
        pasts.append(_past(last + step, published[-1]))
        numbers.append(last + step)
        # people in the views, withheld ones, counterfeit rows
        counts += len(view), int((made.group < 0).sum()), made.n_counterfeits
    estimates = _attacked(world, pasts, len(numbers), outlook, way)
    withheld, counterfeits = counts[1] / max(counts[0], 1), counts[2] / max(counts[0] - counts[1] + counts[2], 1)
    return FutureCourse(
        way=way,
        numbers=tuple(numbers),
        estimates=estimates,
        stopped=stopped,
        withheld=float(withheld),
        counterfeits=float(counterfeits),
    )


def _continued(history: History, way: WayToContinue) -> list[PastRelease]:
    """Return the releases that the method continues; none if it must start a new series.

    Cohorts continue their own releases, also where they took over a series. The other methods could continue any, but
    their drafts would break a promise if earlier groups broke it.
    """
    foreign = [at for at, past in enumerate(history) if not past.continued_by(way.row)]
    own = history.releases[foreign[-1] + 1 if foreign else 0 :]
    kept = not way.row.past_keeps or _keeps(replace(history, releases=own), way)
    return list(own) if kept and not way.anew and not way.episodes else []


def _keeps(past: History, way: WayToContinue) -> bool:
    return rule_of_m(way.row.past_keeps)(JudgedHistory(past), TermsOfM(way.rules.m), False).kept


def _attacked(
    world: DrawnWorld, pasts: Sequence[PastRelease], fresh: int, outlook: OutlookQuestion, way: WayToContinue
) -> tuple[Estimate, ...]:
    """Attack after each made-up release, last one first: later releases reveal more, so stop once nobody is breached.

    As before a real release, an adversary of cohorts knows that a counterfeit is the person who left.
    """
    priors, first = world.priors(), len(pasts) - fresh
    found: list[Estimate] = []
    for end in range(len(pasts), first, -1):
        # an attacker with fewer releases knows no more than one with all of them
        if found and found[-1].share == 0:
            found.append(found[-1])
            continue
        whole = world.history(pasts[:end])
        whole = reveal_leavers(whole) if way.row.leavers_known else whole
        found.append(estimate_share(prepare(whole, priors), outlook.compromised, outlook.seeds))
    return tuple(reversed(found))


def _past(number: int, rows: RememberedRows) -> PastRelease:
    return PastRelease(number, person=rows.person.astype(np.int32), group=rows.group, value=rows.value)


def _chart(courses: Sequence[FutureCourse]) -> Chart:
    lines = tuple(
        Line(course.way.label, tuple(map(float, course.numbers)), tuple(e.share for e in course.estimates))
        for course in courses
        if course.numbers
    )
    return Chart(
        "How long the series stays safe",
        Lines(lines),
        x=ChartAxis("release, at the pace so far"),
        y=ChartAxis("people breached", "percent"),
        caption="The history so far, continued with made-up people who join and leave as people did.",
        topic="series",
    )
