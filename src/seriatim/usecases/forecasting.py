"""Forecasting: how long a series stays safe if people go on coming and leaving as they did so far.

The ledger keeps who was in which group, not their quasi-identifiers, so the people of the forecast get made-up
places; who shares a group with whom, which decides what leaks, follows from values and churn. Each method continues
the real history; the iterated exclusion attack is run after every made-up release. Where somebody would be given
away, it is tried what lasts longer: publishing half as often, a larger m, a larger n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.attacks.excluding import estimate_share, prepare
from seriatim.attacks.leavers import reveal_leavers
from seriatim.defences.historical import historical_groups
from seriatim.defences.homes import Homes
from seriatim.defences.invariant import invariant_groups
from seriatim.defences.lineage import lineage_groups
from seriatim.defences.memory import Encounters, Memory, Published
from seriatim.defences.serial import Draw, LongArray, Priors, SerialGrouping, SerialRules, SerialView
from seriatim.errors import Fault, InputError
from seriatim.model import Axis, Chart, Estimate, Finding, History, Line, Lines, Past, PriorSets, Scale, scale_of
from seriatim.model.chance import open_chance
from seriatim.ports import Engine, Progress, no_progress
from seriatim.promises.invariance import m_uniqueness, weak_m_uniqueness

SEED = 20_262
_PLACES = 64


@dataclass(frozen=True, slots=True)
class Outlook:
    """What to forecast: how far, under which rules, against whom."""

    releases: int
    rules: SerialRules
    compromised: float = 0.0
    methods: tuple[str, ...] = ("lineage", "historical", "invariant")
    seeds: tuple[int, ...] = (1, 2, 3)
    priors: PriorSets | None = None
    """What the adversary holds possible of people beforehand; newcomers are taken to be like those named."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to go on: a method, its rules, and how often it publishes."""

    method: str
    rules: SerialRules
    every: int = 1
    """Publish every so many times that the series was published so far."""
    anew: bool = False
    """As a new series, since this method cannot take the old one over."""

    @property
    def label(self) -> str:
        degree = f", n = {self.rules.n}" if self.method == "historical" else ""
        pace = {1: "", 2: ", every second time"}.get(self.every, f", every {self.every}th time")
        return f"{self.method}, m = {self.rules.m}{degree}{pace}" + (", a new series" if self.anew else "")


@dataclass(frozen=True, slots=True)
class Course:
    """One way's future: the share breached after each made-up release."""

    way: Way
    numbers: tuple[int, ...]
    """When, in releases at the pace of the series so far; the next one follows the last real number."""
    estimates: tuple[Estimate, ...]
    stopped: str = ""
    """Why it could not go on, if it could not."""
    withheld: float = 0.0
    """Share of people and releases in which somebody was withheld."""
    counterfeits: float = 0.0
    """Share of rows that belong to nobody."""

    @property
    def method(self) -> str:
        return self.way.method

    @property
    def first_break(self) -> int | None:
        """The release after which the first person is breached."""
        return next((n for n, e in zip(self.numbers, self.estimates, strict=True) if e.share > 0), None)

    @property
    def lasts(self) -> bool:
        """Whether nobody was breached as far as we looked."""
        return bool(self.estimates) and not self.stopped and self.first_break is None


@dataclass(frozen=True, slots=True)
class Forecast:
    """All courses, the churn they assume, and a picture."""

    leaving: float
    joining: float
    courses: tuple[Course, ...]
    charts: dict[str, Chart] = field(default_factory=dict)
    today: Estimate | None = None
    """What the same attack finds in the real releases, before any made-up one."""
    last: int = 0
    """Number of the last real release."""
    until: int = 0
    """How far was looked."""


def forecast(history: History, outlook: Outlook, engine: Engine, progress: Progress = no_progress) -> Forecast:
    """Continue a history under its observed churn, once per method, and look for what lasts longer where one breaks."""
    churn = observed_churn(history)
    crowd = _crowd(history, outlook.priors)
    progress("today", 0.0)
    today = estimate_share(prepare(history, crowd.priors), outlook.compromised, outlook.seeds)
    ways = [Way(method, outlook.rules) for method in outlook.methods]
    courses: list[Course] = []
    while ways:
        way = ways.pop(0)
        progress(f"forecasting {way.label}", len(courses) / (len(courses) + len(ways) + 1))
        course = _course(history, outlook, way, churn, crowd, engine)
        courses.append(course)
        if course.first_break and way.rules == outlook.rules and way.every == 1:
            ways.extend(_slower(way, course.way.anew))
    progress("done", 1.0)
    last = history.releases[-1].number
    charts = {"forecast": _chart(courses)}
    return Forecast(*churn, tuple(courses), charts, today, last, last + outlook.releases)


def _slower(way: Way, anew: bool) -> Iterator[Way]:
    """What may last longer than this."""
    yield replace(way, every=2, anew=anew)
    yield replace(way, rules=replace(way.rules, m=way.rules.m + 1), anew=anew)
    if way.method == "historical" and way.rules.n + 1 < way.rules.m:
        yield replace(way, rules=replace(way.rules, n=way.rules.n + 1), anew=anew)


def observed_churn(history: History) -> tuple[float, float]:
    """Mean share of people who leave and who come between two releases."""
    if len(history) < 2:
        found = f"{len(history)} releases"
        raise InputError(Fault("forecast", found, "at least 2, to see who comes and goes", "publish once more"))
    left, came = [], []
    for before, after in zip(history.releases, history.releases[1:], strict=False):
        old, new = before.person[before.person >= 0], after.person[after.person >= 0]
        left.append(1 - np.isin(old, new).mean() if len(old) else 0.0)
        came.append((~np.isin(new, old)).sum() / max(len(old), 1))
    return float(np.mean(left)), float(np.mean(came))


@dataclass(frozen=True, slots=True, eq=False)
class _Crowd:
    """Whom newcomers are drawn from: everyone in every release, with what is held possible of them."""

    margin: npt.NDArray[np.int64]
    """Persons, as often as they were published."""
    value: npt.NDArray[np.int32]
    prior: npt.NDArray[np.int32]
    """Number of everyone's set of possible values."""
    possible: npt.NDArray[np.bool_]
    """possible[set, value]"""
    priors: dict[object, frozenset[object]] | None
    """By respondent id, for attacks on the real history."""


def _crowd(history: History, priors: PriorSets | None) -> _Crowd:
    n, domain = len(history.respondents), history.values.to_pylist()
    value = np.full(n, -1, dtype=np.int32)
    for past in history:
        value[past.person[past.person >= 0]] = past.value[past.person >= 0]
    margin = np.concatenate([past.person[past.person >= 0] for past in history]).astype(np.int64)
    named = priors.of_history(history) if priors else {}
    kinds = list(dict.fromkeys(named.values()))
    flags = [np.ones(len(domain), dtype=np.bool_), *(np.array([v in kind for v in domain]) for kind in kinds)]
    number = {kind: at for at, kind in enumerate(kinds, 1)}
    prior = np.array([number[named[who]] if who in named else 0 for who in history.respondents.to_pylist()])
    return _Crowd(margin, value, prior.astype(np.int32), np.array(flags), named or None)


@dataclass(slots=True)
class _World:
    """The people of the forecast; newcomers take value and prior of somebody who was published."""

    person: npt.NDArray[np.int64]
    value: npt.NDArray[np.int32]
    """Of everyone ever, by person; so are ``prior`` and ``places``."""
    prior: npt.NDArray[np.int32]
    places: npt.NDArray[np.int32]
    chance: np.random.Generator
    crowd: _Crowd

    def next(self, leaving: float, joining: float) -> None:
        stay = self.chance.random(len(self.person)) >= leaving
        n_new = round(joining * len(self.person))
        first = len(self.value)
        like = self.chance.choice(self.crowd.margin, n_new) if n_new else np.empty(0, dtype=np.int64)
        self.person = np.concatenate((self.person[stay], np.arange(first, first + n_new)))
        self.value = np.concatenate((self.value, self.crowd.value[like]))
        self.prior = np.concatenate((self.prior, self.crowd.prior[like]))
        fresh = self.chance.integers(0, _PLACES, (n_new, 2), dtype=np.int32)
        self.places = np.concatenate((self.places, fresh))

    def view(self) -> SerialView:
        n_values = self.crowd.possible.shape[1]
        scale: Scale = scale_of("interval", pa.array([str(i) for i in range(_PLACES)]), np.arange(float(_PLACES)))
        value = self.value[self.person]
        priors = Priors(self.prior[self.person], self.crowd.possible) if len(self.crowd.possible) > 1 else None
        return SerialView(self.places[self.person], (scale, scale), value, n_values, self.person, priors)

    def history(self, values: pa.Array, pasts: Sequence[Past]) -> History:
        """Everyone is known by his number."""
        return History(pa.array(range(len(self.value))), values, tuple(pasts))

    def priors(self, values: pa.Array) -> dict[object, frozenset[object]] | None:
        if len(self.crowd.possible) == 1:
            return None
        domain = values.to_pylist()
        sets = [frozenset(v for v, ok in zip(domain, row, strict=True) if ok) for row in self.crowd.possible.tolist()]
        return {who: sets[at] for who, at in enumerate(self.prior.tolist()) if at}


def _course(
    history: History, outlook: Outlook, way: Way, churn: tuple[float, float], crowd: _Crowd, engine: Engine
) -> Course:
    chance = open_chance(SEED, way.method)
    world = _world(history, chance, crowd)
    pasts = _taken_over(history, way)
    published = [_published(past) for past in pasts]
    way = replace(way, anew=way.anew or not pasts)
    last = history.releases[-1].number
    stopped, numbers, counts = "", [], np.zeros(3, dtype=np.int64)
    for step in range(1, outlook.releases + 1):
        world.next(*churn)
        if step % way.every:
            continue
        view, draw = world.view(), Draw(chance.bytes(32), last + step)
        try:
            memory = _RECALL[way.method](published, view.person)
            made = _GROUPS[way.method](view, way.rules, memory, draw, engine)
        except InputError as error:
            fault = error.faults[0]
            stopped = f"{fault.found}; {fault.remedy}" if fault.remedy else fault.found
            break
        published.append(_rows(view, made))
        pasts.append(_past(last + step, published[-1]))
        numbers.append(last + step)
        counts += len(view), int((made.group < 0).sum()), made.n_counterfeits
    estimates = _attacked(world, pasts, len(numbers), outlook, way, history.values)
    withheld, fakes = counts[1] / max(counts[0], 1), counts[2] / max(counts[0] - counts[1] + counts[2], 1)
    return Course(way, tuple(numbers), estimates, stopped, float(withheld), float(fakes))


def _taken_over(history: History, way: Way) -> list[Past]:
    """The releases that the method goes on from; none, where it cannot take the series over and must begin anew.

    Lineages take over nobody. The others could, but the law would refuse their drafts if earlier groups broke it.
    """
    if way.anew or (way.method in _LAWS and not _LAWS[way.method](history, way.rules.m).kept):
        return []
    if way.method == "lineage" and any("lineage" not in past.marks for past in history):
        return []
    return list(history.releases)


def _attacked(
    world: _World, pasts: Sequence[Past], fresh: int, outlook: Outlook, way: Way, values: pa.Array
) -> tuple[Estimate, ...]:
    """After each made-up release, the last first: more releases tell more, so where it gives nobody away we stop.

    As before a real release, an adversary of lineages is told that a counterfeit is the person who left.
    """
    priors, first = world.priors(values), len(pasts) - fresh
    found: list[Estimate] = []
    for end in range(len(pasts), first, -1):
        if found and found[-1].share == 0:
            found.append(found[-1])
            continue
        whole = world.history(values, pasts[:end])
        whole = reveal_leavers(whole) if way.method == "lineage" else whole
        found.append(estimate_share(prepare(whole, priors), outlook.compromised, outlook.seeds))
    return tuple(reversed(found))


def _world(history: History, chance: np.random.Generator, crowd: _Crowd) -> _World:
    last = history.releases[-1]
    places = chance.integers(0, _PLACES, (len(history.respondents), 2), dtype=np.int32)
    person = last.person[last.person >= 0].astype(np.int64)
    return _World(person, crowd.value, crowd.prior, places, chance, crowd)


def _published(past: Past) -> Published:
    return Published(past.person, past.group, past.value, past.marks.get("lineage"), past.marks.get("slot"))


def _rows(view: SerialView, made: SerialGrouping) -> Published:
    real = np.flatnonzero(made.group >= 0)
    person = np.concatenate((view.person[real], np.full(made.n_counterfeits, -1, dtype=np.int64)))
    group = np.concatenate((made.group[real], made.counterfeit_group)).astype(np.int32)
    value = np.concatenate((view.sensitive[real], made.counterfeit_value)).astype(np.int32)
    if made.slots is None:
        return Published(person, group, value)
    slot = np.concatenate((made.slots.slot_of_record[real], made.slots.slot_of_counterfeit))
    return Published(person, group, value, made.slots.lineage_of_group[group], slot)


def _past(number: int, rows: Published) -> Past:
    return Past(number, rows.person.astype(np.int32), rows.group, rows.value)


_RECALL: dict[str, Callable[[Sequence[Published], LongArray], Memory | Homes]] = {
    "invariant": Memory.of,
    "historical": Encounters.of,
    "lineage": lambda pasts, _: Homes.of(pasts),
}
_LAWS: dict[str, Callable[[History, int], Finding]] = {
    "invariant": m_uniqueness,
    "historical": weak_m_uniqueness,
}
_GROUPS: dict[str, Callable[..., SerialGrouping]] = {
    "invariant": invariant_groups,
    "historical": historical_groups,
    "lineage": lineage_groups,
}


def _chart(courses: Sequence[Course]) -> Chart:
    lines = tuple(
        Line(course.way.label, tuple(map(float, course.numbers)), tuple(e.share for e in course.estimates))
        for course in courses
        if course.numbers
    )
    return Chart(
        "How long the series stays safe",
        Lines(lines),
        x=Axis("release, at the pace so far"),
        y=Axis("people breached", "percent"),
        caption="The history so far, continued with made-up people who come and leave as people did.",
        topic="series",
    )
