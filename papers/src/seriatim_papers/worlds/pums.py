"""A made-up extract of the American Community Survey: the domains of the equivocation paper's Table 2."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, TableError
from seriatim.measures.leakage_given import KnownAttribute
from seriatim.model.chance import open_chance
from seriatim.model.scale import FloatArray, IntArray

RECORDS = 2_500
DOMAINS = {"age": (16, 84), "sex": (1, 2), "education": (1, 16), "industry": (1, 18), "occupation": (1, 25),
           "travel time": (1, 177)}  # fmt: skip
SALARIES = np.arange(10.0, 251.0, 10.0)


@dataclass(frozen=True, slots=True)
class ColumnDescribed:
    """A column as Table 2 describes it: the values that occur, and the size of the domain that is used."""

    name: str
    low: float
    high: float
    occur: int
    domain: int

    @classmethod
    def of(cls, name: str, cells: npt.NDArray[Any], domain: int) -> ColumnDescribed:
        return cls(name, float(cells.min()), float(cells.max()), len(np.unique(cells)), domain)


@dataclass(frozen=True, slots=True, eq=False)
class PumsMicrodata:
    """A confidential number, as codes on its domain, and attributes that may be known."""

    name: str
    domain: FloatArray
    confidential: IntArray
    attributes: tuple[KnownAttribute, ...]
    unit: str
    described: tuple[ColumnDescribed, ...] = ()
    """The columns of Table 2, where the table has them."""


def made_pums(records: int = RECORDS, level: float = 45.0, seed: int = 2006) -> PumsMicrodata:
    """Return a table of Table 2's domains; ``level`` is the median salary in thousands."""
    chance = open_chance(seed, "pums")
    skill = chance.normal(size=records)
    age = chance.integers(16, 85, records)
    sex = chance.integers(1, 3, records)
    education = _spread(skill + chance.normal(0, 0.7, records), 16)
    occupation = _spread(skill + chance.normal(0, 1.0, records), 25)
    industry = _spread(chance.normal(size=records) + 0.3 * skill, 18)
    travel = np.clip(np.rint(chance.gamma(1.6, 17.0, records)), 1, 177).astype(np.int64)
    pay = level * np.exp(0.35 * skill + 0.25 * chance.normal(size=records) + 0.15 * (sex - 1.5) + (age - 45) / 150)
    salary = np.clip(np.rint(pay / 10), 1, 25).astype(np.int32) - 1
    columns: dict[str, npt.NDArray[Any]]
    columns = {"age": age, "sex": sex, "education": education, "industry": industry, "occupation": occupation,
               "travel time": travel}  # fmt: skip
    attributes = tuple(
        KnownAttribute(name, (columns[name] - low).astype(np.int32), high - low + 1)
        for name, (low, high) in DOMAINS.items()
    )
    described = [ColumnDescribed.of("salary", SALARIES[salary], len(SALARIES))]
    described += [ColumnDescribed.of(a.name, columns[a.name], a.n_values) for a in attributes]
    return PumsMicrodata("made-up PUMS", SALARIES, salary, attributes, "K", tuple(described))


def _spread(score: FloatArray, n_values: int) -> IntArray:
    """Return whole numbers from 1, evenly by rank but for the rarer ends."""
    shown = 1 + np.floor(n_values / (1 + np.exp(-1.2 * score)))
    return np.asarray(np.clip(shown, 1, n_values), dtype=np.int32)


def read_pums(path: Path) -> PumsMicrodata:
    """Read a real extract: a CSV file with the columns salary (in thousands) and those of Table 2."""
    try:
        with path.open(newline="", encoding="utf-8") as handle:
            rows = list(csv.DictReader(handle))
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(Fault(path.name, f"cannot be read ({type(error).__name__})", "a CSV file")) from None
    missing = [name for name in ("salary", *DOMAINS) if not rows or name not in rows[0]]
    if missing:
        raise TableError(Fault(path.name, f"no column {', '.join(missing)}", "salary and the columns of Table 2"))
    try:
        numbers = {name: np.array([float(row[name]) for row in rows]) for name in ("salary", *DOMAINS)}
    except ValueError:
        raise TableError(Fault(path.name, "cells that are not numbers", "numbers")) from None
    salary = np.clip(np.rint(numbers["salary"] / 10), 1, 25).astype(np.int32) - 1
    attributes = []
    described = [ColumnDescribed.of("salary", SALARIES[salary], len(SALARIES))]
    for name in DOMAINS:
        _, codes = np.unique(numbers[name], return_inverse=True)
        attributes.append(KnownAttribute(name, codes.astype(np.int32), int(codes.max()) + 1))
        described.append(ColumnDescribed.of(name, numbers[name], attributes[-1].n_values))
    return PumsMicrodata(path.name, SALARIES, salary, tuple(attributes), "K", tuple(described))


def pums_shipped(name: str) -> PumsMicrodata:
    """Return Wine or the Wisconsin breast cancer data as scikit-learn ships them, in at most 25 values a column."""
    from sklearn import datasets

    loaded = datasets.load_wine() if name == "wine" else datasets.load_breast_cancer()
    wanted = "alcohol" if name == "wine" else "mean radius"
    names = [str(column) for column in loaded.feature_names]
    place = names.index(wanted)
    others = [index for index in range(len(names)) if index != place][:6]
    values = loaded.data[:, place]
    edges = np.linspace(values.min(), values.max(), 26)
    codes = np.clip(np.digitize(values, edges) - 1, 0, 24).astype(np.int32)
    attributes = []
    for index in others:
        cuts = np.quantile(loaded.data[:, index], np.linspace(0, 1, 11)[1:-1])
        attributes.append(KnownAttribute(names[index], np.digitize(loaded.data[:, index], cuts).astype(np.int32), 10))
    return PumsMicrodata(name, np.round((edges[:-1] + edges[1:]) / 2, 4), codes, tuple(attributes), wanted)
