"""Cells that no value moves, in plain Python, and Adult to try them on."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

ADULT = Path(os.environ.get("SERIATIM_ADULT", Path(__file__).parents[2].parent / "shared" / "data" / "adult.csv"))
SCHOOLS = ["Preschool", "1st-4th", "5th-6th", "7th-8th", *(f"{grade}th" for grade in range(9, 13)), "HS-grad"]
SCHOOLS += ["Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"]
QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")


@dataclass(frozen=True)
class Coded:
    """A column of a real table: the number of each person's value, and the values in order."""

    name: str
    codes: np.ndarray
    values: list[str]


@cache
def adult(*names: str) -> tuple[Coded, ...]:
    if not ADULT.exists():
        pytest.skip("no adult.csv: set SERIATIM_ADULT")
    table = pc.read_csv(ADULT, parse_options=pc.ParseOptions(delimiter=";"))
    found = []
    for name in names:
        cells = table.column(name).cast(pa.string()).to_pylist()
        values = SCHOOLS if name == "education" else sorted(set(cells))
        place = {value: code for code, value in enumerate(values)}
        found.append(Coded(name, np.array([place[cell] for cell in cells]), values))
    return tuple(found)


def mixed_cells(columns: tuple[Coded, ...], least: int, stay: float, chance: np.random.Generator) -> np.ndarray:
    """Cut where a column drawn at random has its middle, down to the least size; then deal all who do not stay."""
    cell = np.zeros(len(columns[0].codes), dtype=np.int64)
    waiting, made = [np.arange(len(cell))], 0
    while waiting:
        rows = waiting.pop()
        halves = next(
            (cut for at in chance.permutation(len(columns)) if (cut := _halves(columns[at], rows, least))), None
        )
        if halves is None:
            cell[rows], made = made, made + 1
        else:
            waiting.extend(halves)
    dealt = np.flatnonzero(chance.random(len(cell)) >= stay)
    cell[dealt] = cell[chance.permutation(dealt)]
    return cell


def _halves(column: Coded, rows: np.ndarray, least: int) -> tuple[np.ndarray, np.ndarray] | None:
    codes = column.codes[rows]
    below = np.cumsum(np.bincount(codes))[:-1]
    allowed = np.flatnonzero((below >= least) & (len(rows) - below >= least))
    if not len(allowed):
        return None
    cut = allowed[np.argmin(np.abs(below[allowed] - len(rows) / 2))]
    return rows[codes <= cut], rows[codes > cut]


def relation_kept(told: np.ndarray, truth: np.ndarray) -> float:
    """Return 1 for a two-way table as the truth, 0 for one that knows the margins alone."""
    alone = np.outer(truth.sum(axis=1), truth.sum(axis=0)) / truth.sum()
    return float(1 - np.abs(told - truth).sum() / np.abs(alone - truth).sum())


def two_way(column: Coded, values: Coded) -> np.ndarray:
    shape = (len(column.values), len(values.values))
    return np.bincount(column.codes * shape[1] + values.codes, minlength=shape[0] * shape[1]).reshape(shape)
