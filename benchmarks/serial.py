"""Serial publication: grouping one release against a sort of the same rows, large against small, late against early."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from benchmarks.timing import in_turns, keep, row
from seriatim.defences.homes import Homes
from seriatim.defences.memory import Memory
from seriatim.defences.serial import Draw, SerialRules, SerialView
from seriatim.engines.local import LocalEngine
from seriatim.studies.cor_split import METHODS, Method, census_scales, numbered, rows_of
from seriatim.studies.worlds.census import N_INCOMES, QUASI, Churn, People, census

SIZE, SMALL, LARGE, LAST = 200_000, 25_000, 1_600_000, 24
ENGINE = LocalEngine(2)
TARGET = {"lineage": 15.0}


@dataclass(frozen=True)
class Moment:
    """A method in the middle of a series: what it remembers and the view it has to group next."""

    method: Method
    memory: Memory | Homes
    view: SerialView
    release: int

    def group(self) -> Any:
        rules = SerialRules(6, 3, sticky=self.method.sticky)
        return self.method.group(self.view, rules, self.memory, Draw(b"bench", self.release), ENGINE)


def moment(method: Method, people: People, churn: Churn) -> Moment:
    """The last release of a series, all earlier ones published."""
    memory = method.memory()
    for release, (who, number) in enumerate(numbered(people, churn, 1), start=1):
        view = SerialView(people.quasi[who], census_scales(), people.income[who], N_INCOMES, number)
        now = Moment(method, memory, view, release)
        if release < churn.releases:
            memory.remember(rows_of(view, now.group()))
    return now


def sorting(view: SerialView) -> Callable[[], Any]:
    frame = pl.DataFrame({name: view.quasi[:, d].copy() for d, name in enumerate(QUASI)} | {"income": view.sensitive})
    return lambda: frame.sort(QUASI)


def run(options: list[str]) -> None:
    rounds = 3 if "--quick" in options else 7
    rows = [*_against_sort(rounds), *_late_against_early(rounds)]
    if "--quick" not in options:
        rows += _large_against_small()
    keep("serial", rows)


def _against_sort(rounds: int) -> list[dict[str, Any]]:
    churn = Churn(SIZE, 0.10, 5)
    people = census(churn.n_people, 1)
    moments = {method.name: moment(method, people, churn) for method in METHODS}
    cases: dict[str, Callable[[], Any]] = {name: at.group for name, at in moments.items()}
    seconds = in_turns({"sort": sorting(moments["invariant"].view), **cases}, rounds)
    case = "{}: release 5 of {:,} people, times a sort by four columns"
    return [row(case.format(name, SIZE), seconds[name] / seconds["sort"], TARGET.get(name, 8.0)) for name in moments]


def _late_against_early(rounds: int) -> list[dict[str, Any]]:
    rows = []
    for method in METHODS:
        early, late = (Churn(SIZE, 0.10, releases) for releases in (2, LAST))
        people = census(late.n_people, 1)
        cases = {"early": moment(method, people, early).group, "late": moment(method, people, late).group}
        seconds = in_turns(cases, rounds)
        rows.append(row(f"{method.name}: release {LAST} over release 2", seconds["late"] / seconds["early"], 2.0))
    return rows


def _large_against_small() -> list[dict[str, Any]]:
    rows = []
    for method in METHODS:
        sizes = {str(size): Churn(size, 0.10, 2) for size in (SMALL, LARGE)}
        cases = {name: moment(method, census(churn.n_people, 1), churn).group for name, churn in sizes.items()}
        seconds = in_turns(cases, 3)
        per_person = (seconds[str(LARGE)] / LARGE) / (seconds[str(SMALL)] / SMALL)
        rows.append(row(f"{method.name}: cost per person at {LARGE:,} over {SMALL:,}", per_person, 2.0))
    return rows
