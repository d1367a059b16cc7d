"""A made-up institute's weekly exams: stages of four diseases, which follow each other as everyone knows.

The paper's data is not at hand; this has its sizes: 24 views of 5,000 exams, about 16,160 people, age 45 to 74, two
genders, weight 60 to 89, 17 stages of four diseases, deceased and discharged, 18 classes of people. World A: nobody
skips a week and one in ten leaves; world B: three in ten skip a week, and six in a hundred leave; world M: as A, but
a stage is left by the time spent in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.kernels.arrays import Floats, Ints
from seriatim.knowledge.sequence_model import SequenceModel

World = Literal["A", "B", "M"]
STAGES = {"liver": 5, "hiv": 4, "alzheimer": 3, "sepsis": 5}
VALUES = (*(f"{name}-{i + 1}" for name, n in STAGES.items() for i in range(n)), "deceased", "discharged")
FINAL = (17, 18)
LEAVING = {"A": 0.10, "B": 0.059, "M": 0.10}
ABSENT = {"A": 0.0, "B": 0.3, "M": 0.0}
_SAME, _WORSE, _BETTER = 0, 1, 2
_STAY = 0.82
"""Chance to keep the stage, of those who do not leave."""
_AGAIN = 3.0
"""How much likelier a stage moves on in the direction of its last move."""
MOVES = (0.05, 0.5, 0.95)
"""World M: the chance to leave a stage after one, two, and three weeks or more in it.

Who knows the last value alone knows none of this; who knows two knows the first week from the others; who knows three
knows all.
"""


@dataclass(frozen=True, slots=True, eq=False)
class PatientWeek:
    """One view: who came, and with which result."""

    person: Ints
    age: Ints
    gender: Ints
    weight: Ints
    value: Ints

    @property
    def cls(self) -> Ints:
        """Return the class of each person: three bands of age and of weight, and the gender."""
        return ((self.age - 45) // 10 * 6 + (self.weight - 60) // 10 * 2 + self.gender - 1).astype(np.int32)

    def table(self) -> pa.Table:
        """Return the view as a table, for files and for publishing."""
        return pa.table(
            {
                "patient": [f"p{i}" for i in self.person.tolist()],
                "age": self.age,
                "gender": self.gender,
                "weight": self.weight,
                "result": [VALUES[v] for v in self.value.tolist()],
            }
        )


def _patients_knowledge(world: World, seed: int = 1) -> SequenceModel:
    """Return the exact knowledge: an automaton that knows the stage and how it last moved (world M: weeks in it)."""
    rng = np.random.default_rng(seed)
    n_values = len(VALUES)
    n_states = 3 * n_values
    value_of = np.tile(np.arange(n_values, dtype=np.int32), 3)
    then = np.empty((n_states, n_values), dtype=np.int32)
    for a in range(n_states):
        for s in range(n_values):
            own = a % n_values
            moved = _WORSE if s > own else _BETTER if s < own else a // n_values
            if world == "M":
                moved = 0 if s != own else min(a // n_values + 1, 2)
            then[a, s] = moved * n_values + s
    speed = rng.uniform(0.7, 1.3, 18)
    steps = np.zeros((18, n_states, n_values))
    for cls in range(18):
        for a in range(n_states):
            steps[cls, a] = _step(a % n_values, a // n_values, speed[cls], world)
    prior = np.zeros((18, n_values))
    prior[:, :17] = rng.dirichlet(np.full(17, 1.2), 18)
    level = steps[:, :n_values].mean(axis=0)
    return SequenceModel(
        values=VALUES,
        prior=prior,
        steps={1: steps},
        value_of=value_of,
        start=np.arange(n_values, dtype=np.int32),
        then=then,
        value_level=level,
        classes=tuple(map(str, range(18))),
        kind="exact",
    )


def patients_knowledge_of_one_step(model: SequenceModel) -> SequenceModel:
    """Return the same knowledge of someone who knows the last value only."""
    n = len(model.values)
    mixed = 0.6 * model.steps[1][:, :n] + 0.2 * model.steps[1][:, n : 2 * n] + 0.2 * model.steps[1][:, 2 * n :]
    flat = np.arange(n, dtype=np.int32)
    return SequenceModel(
        values=model.values,
        prior=model.prior,
        steps={1: mixed},
        value_of=flat,
        start=flat,
        then=np.tile(flat, (n, 1)),
        value_level=mixed.mean(axis=0),
        classes=model.classes,
        kind="one step",
    )


def _step(value: int, moved: int, speed: float, world: World) -> Floats:
    """Return the chances of the next value: the stage moves by one, the way it moved last more often."""
    row, leaving = np.zeros(len(VALUES)), LEAVING[world]
    if value in FINAL:
        return row
    first = 0
    for n in STAGES.values():
        if value < first + n:
            last = first + n - 1
            break
        first += n
    worse, better = (0.6, 0.4) if moved == _SAME else (_AGAIN, 1.0) if moved == _WORSE else (1.0, _AGAIN)
    move = min((1.0 - _STAY) * speed, 0.6)
    up, down = move * worse / (worse + better), move * better / (worse + better)
    if world == "M":  # stages come round again, after a time in each that speed does not change
        move, n = MOVES[moved], last - first + 1
        row[first + (value - first + 1) % n] += 0.8 * move
        row[first + (value - first - 1) % n] += 0.2 * move
    else:
        row[min(value + 1, last)] += up
        row[max(value - 1, first)] += down
    row[value] += 1.0 - move
    row *= 1.0 - leaving
    worst = (value - first + 1) / (last - first + 1)
    row[FINAL[0]] += leaving * 0.5 * worst
    row[FINAL[1]] += leaving * (1.0 - 0.5 * worst)
    return row


def patients_weeks(
    world: World = "A", n_weeks: int = 24, n_rows: int = 5_000, seed: int = 1, people_seed: int = 0
) -> tuple[list[PatientWeek], SequenceModel]:
    """Return weekly views and the exact knowledge that they were drawn from; ``people_seed`` draws other people."""
    model, rng = _patients_knowledge(world, seed), np.random.default_rng(seed + 1_000 + people_seed)
    weeks: list[PatientWeek] = []
    people = _newcomers(0, 0, rng, model)
    for _ in range(n_weeks):
        wanted = round(n_rows / (1.0 - ABSENT[world]))
        people = _joined(people, _newcomers(wanted - len(people.person), _next_number(weeks, people), rng, model))
        here = rng.random(len(people.person)) >= ABSENT[world]
        weeks.append(
            PatientWeek(*(getattr(people, name)[here] for name in ("person", "age", "gender", "weight", "value")))
        )
        people = _moved(people, model, rng)
    return weeks, model


def _next_number(weeks: list[PatientWeek], people: _Crowd) -> int:
    seen = max((int(week.person.max(initial=-1)) for week in weeks), default=-1)
    return max(seen, int(people.person.max(initial=-1))) + 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Crowd:
    person: Ints
    age: Ints
    gender: Ints
    weight: Ints
    value: Ints
    state: Ints

    @property
    def cls(self) -> Ints:
        return PatientWeek(self.person, self.age, self.gender, self.weight, self.value).cls


def _newcomers(n: int, first: int, rng: np.random.Generator, model: SequenceModel) -> _Crowd:
    n = max(n, 0)
    age, gender, weight = (rng.integers(*ends, n).astype(np.int32) for ends in ((45, 75), (1, 3), (60, 90)))
    person = np.arange(first, first + n, dtype=np.int32)
    value = _drawn(model.prior[PatientWeek(person, age, gender, weight, person).cls], rng)
    return _Crowd(person=person, age=age, gender=gender, weight=weight, value=value, state=value.copy())


def _joined(one: _Crowd, other: _Crowd) -> _Crowd:
    return _Crowd(
        person=np.concatenate((one.person, other.person)),
        age=np.concatenate((one.age, other.age)),
        gender=np.concatenate((one.gender, other.gender)),
        weight=np.concatenate((one.weight, other.weight)),
        value=np.concatenate((one.value, other.value)),
        state=np.concatenate((one.state, other.state)),
    )


def _moved(people: _Crowd, model: SequenceModel, rng: np.random.Generator) -> _Crowd:
    """Move everyone on by a week; those whose last result was final are gone."""
    stays = ~np.isin(people.value, FINAL)
    person, age, gender, weight, state = (
        getattr(people, name)[stays] for name in ("person", "age", "gender", "weight", "state")
    )
    cls = PatientWeek(person, age, gender, weight, person).cls
    value = _drawn(model.steps[1][cls, state], rng)
    return _Crowd(person=person, age=age, gender=gender, weight=weight, value=value, state=model.then[state, value])


def _drawn(chances: Floats, rng: np.random.Generator) -> npt.NDArray[np.int32]:
    total = chances.cumsum(axis=1)
    drawn = rng.random(len(chances))[:, None] * total[:, -1:]
    found: npt.NDArray[np.int32] = (drawn >= total).sum(axis=1).astype(np.int32)
    return found
