"""Forecasting: how long a series stays safe if people go on coming and leaving as they did so far.

The ledger keeps who was in which group, not their quasi-identifiers, so the people of the forecast get made-up
places; who shares a group with whom, which decides what leaks, follows from values and churn. Each method continues
the real history; the iterated exclusion attack is run after every made-up release.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.attacks.excluding import estimate_share, prepare
from seriatim.defences.historical import historical_groups
from seriatim.defences.homes import Homes
from seriatim.defences.invariant import invariant_groups
from seriatim.defences.lineage import lineage_groups
from seriatim.defences.memory import Encounters, Memory, Published
from seriatim.defences.serial import Draw, LongArray, SerialGrouping, SerialRules, SerialView
from seriatim.errors import Fault, InputError
from seriatim.model import Axis, Chart, Estimate, History, Line, Lines, Past, Scale, scale_of
from seriatim.model.chance import open_chance
from seriatim.ports import Engine, Progress, no_progress

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


@dataclass(frozen=True, slots=True)
class Course:
    """One method's future: the share breached after each made-up release."""

    method: str
    numbers: tuple[int, ...]
    estimates: tuple[Estimate, ...]
    stopped: str = ""
    """Why it could not go on, if it could not."""

    @property
    def first_break(self) -> int | None:
        """The release after which the first person is breached."""
        return next((n for n, e in zip(self.numbers, self.estimates, strict=True) if e.share > 0), None)


@dataclass(frozen=True, slots=True)
class Forecast:
    """All courses, the churn they assume, and a picture."""

    leaving: float
    joining: float
    courses: tuple[Course, ...]
    charts: dict[str, Chart] = field(default_factory=dict)


def forecast(history: History, outlook: Outlook, engine: Engine, progress: Progress = no_progress) -> Forecast:
    """Continue a history under its observed churn, once per method."""
    leaving, joining = observed_churn(history)
    courses = []
    for place, method in enumerate(outlook.methods):
        progress(f"forecasting {method}", place / len(outlook.methods))
        courses.append(_course(history, outlook, method, (leaving, joining), engine))
    progress("done", 1.0)
    return Forecast(leaving, joining, tuple(courses), {"forecast": _chart(courses)})


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


@dataclass(slots=True)
class _World:
    """The people of the forecast; newcomers draw their values from everyone's."""

    person: npt.NDArray[np.int64]
    value: npt.NDArray[np.int32]
    margin: npt.NDArray[np.int32]
    places: npt.NDArray[np.int32]
    n_people: int
    chance: np.random.Generator

    def next(self, leaving: float, joining: float) -> None:
        stay = self.chance.random(len(self.person)) >= leaving
        n_new = round(joining * len(self.person))
        self.person = np.concatenate((self.person[stay], np.arange(self.n_people, self.n_people + n_new)))
        self.value = np.concatenate((self.value[stay], self.chance.choice(self.margin, n_new)))
        self.n_people += n_new
        fresh = self.chance.integers(0, _PLACES, (n_new, 2), dtype=np.int32)
        self.places = np.concatenate((self.places, fresh))


def _course(history: History, outlook: Outlook, method: str, churn: tuple[float, float], engine: Engine) -> Course:
    chance = open_chance(SEED, method)
    world = _world(history, chance)
    pasts = list(history.releases)
    published = [_published(past) for past in pasts]
    if method == "lineage" and any(rows.lineage is None for rows in published):
        return Course(method, (), (), "the series was not made by this method")
    numbers: list[int] = []
    estimates: list[Estimate] = []
    for step in range(outlook.releases):
        world.next(*churn)
        view = _view(world, len(history.values))
        draw = Draw(chance.bytes(32), pasts[-1].number + 1)
        try:
            made = _GROUPS[method](view, outlook.rules, _RECALL[method](published, view.person), draw, engine)
        except InputError as error:
            return Course(method, tuple(numbers), tuple(estimates), error.faults[0].found)
        published.append(_rows(view, made))
        pasts.append(_past(pasts[-1].number + 1, published[-1]))
        whole = History(pa.array(range(world.n_people)), history.values, tuple(pasts))
        numbers.append(pasts[-1].number)
        estimates.append(estimate_share(prepare(whole), outlook.compromised, outlook.seeds[: 1 if step else None]))
    return Course(method, tuple(numbers), tuple(estimates))


def _world(history: History, chance: np.random.Generator) -> _World:
    last = history.releases[-1]
    real = last.person >= 0
    everyone = np.concatenate([past.value[past.person >= 0] for past in history])
    places = chance.integers(0, _PLACES, (len(history.respondents), 2), dtype=np.int32)
    person = last.person[real].astype(np.int64)
    return _World(person, last.value[real], everyone, places, len(history.respondents), chance)


def _view(world: _World, n_values: int) -> SerialView:
    scale: Scale = scale_of("interval", pa.array([str(i) for i in range(_PLACES)]), np.arange(float(_PLACES)))
    return SerialView(world.places[world.person], (scale, scale), world.value, n_values, world.person)


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
_GROUPS: dict[str, Callable[..., SerialGrouping]] = {
    "invariant": invariant_groups,
    "historical": historical_groups,
    "lineage": lineage_groups,
}


def _chart(courses: Sequence[Course]) -> Chart:
    lines = tuple(
        Line(course.method, tuple(map(float, course.numbers)), tuple(e.share for e in course.estimates))
        for course in courses
        if course.numbers
    )
    return Chart(
        "How long the series stays safe",
        Lines(lines),
        x=Axis("release"),
        y=Axis("people breached", "percent"),
        caption="The history so far, continued with made-up people who come and leave as people did.",
        topic="series",
    )
