"""Serial publication: grouping and publishing a release against a sort of the same rows; late against early, large
against small; the attacks on long histories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.attack_case import attack_rows
from benchmarks.moments import moment, sorting
from benchmarks.publish_case import FEW, JUDGED, publish_rows
from benchmarks.timing import in_turns, keep, row
from seriatim_papers.cor_split import METHODS
from seriatim_papers.worlds.census import CensusChurn, census

SIZE, SMALL, LARGE, LAST = 200_000, 25_000, 1_600_000, 24
TARGET = {"cohort": 15.0}


def run(options: list[str]) -> None:
    """``--quick``: fewer rounds, smaller tables, short series of publishing."""
    if "--quick" in options:
        few = SIZE // 8
        rows = [*grouping_rows(few, 3), *publish_rows(few, 1 + FEW), *attack_rows(few, LAST)]
    else:
        rows = [*grouping_rows(SIZE, 7), *publish_rows(SIZE, LAST), *_large_against_small(), *attack_rows(SIZE, LAST)]
    keep("serial", rows)


def grouping_rows(size: int, rounds: int) -> list[dict[str, Any]]:
    """Releases 2 and 24 of every method, in turns with the sort."""
    rows = []
    early, late = (CensusChurn(size, 0.10, releases) for releases in (2, LAST))
    people = census(late.n_people, 1)
    for method in METHODS:
        first, last = moment(method, people, early), moment(method, people, late)
        seconds = in_turns({"sort": sorting(last.view), "early": first.group, "late": last.group}, rounds)
        what = f"grouping, {method.name}, {size:,} people, release {{}}, to polars' sort by four"
        for release, name in ((2, "early"), (LAST, "late")):
            target = TARGET.get(method.name, 8.0) if size >= JUDGED else None
            rows.append(row(what.format(release), seconds[name] / seconds["sort"], target))
        rows.append(row(f"grouping, {method.name}: release {LAST} over 2", seconds["late"] / seconds["early"], 2.0))
    return rows


def _large_against_small() -> list[dict[str, Any]]:
    """Cost per person; the sort itself for comparison: memory is slower than the cache."""
    rows = []
    for method in METHODS:
        moments = {size: moment(method, census(CensusChurn(size, 0.10, 2).n_people, 1), CensusChurn(size, 0.10, 2))
                   for size in (SMALL, LARGE)}  # fmt: skip
        cases: dict[str, Callable[[], Any]] = {str(size): at.group for size, at in moments.items()}
        if not rows:
            cases |= {f"sort {size}": sorting(at.view) for size, at in moments.items()}
        seconds = in_turns(cases, 3)
        growth = SMALL / LARGE
        what = f"cost per person at {LARGE:,} over {SMALL:,}"
        if not rows:
            ratio = seconds[f"sort {LARGE}"] / seconds[f"sort {SMALL}"] * growth
            rows.append(row(f"polars' sort: {what}", ratio, None))
        ratio = seconds[str(LARGE)] / seconds[str(SMALL)] * growth
        rows.append(row(f"grouping, {method.name}: {what}", ratio, 2.0))
    return rows
