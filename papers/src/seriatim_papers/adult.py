"""The Adult file of the UCI repository, coded as Ren and Li use it: seven quasi-identifiers, occupation sensitive."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, TableError
from seriatim.measures.leakage_given import KnownAttribute
from seriatim.model.scale import IntArray

UCI = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
    "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary-class",
)  # fmt: skip
"""The columns of the file, which has no header."""
QUASI = ("age", "workclass", "education", "native-country", "marital-status", "race", "sex")
"""The quasi-identifiers in the order of the paper's Table IV, 1 to 7."""
SENSITIVE, SALARY = "occupation", "salary-class"

_SCHOOL = ("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th")
_COLLEGE = ("Some-college", "Assoc-acdm", "Assoc-voc")
_PRESENT = ("Married-civ-spouse", "Married-AF-spouse")


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """A quasi-identifier at every level of its hierarchy, as it is first and '*' last."""

    name: str
    levels: tuple[KnownAttribute, ...]
    labels: tuple[tuple[str, ...], ...] = ()
    """The labels of each level, in the order of their codes."""


@dataclass(frozen=True, slots=True, eq=False)
class Adult:
    """Records without missing values."""

    n_records: int
    quasi: tuple[Levels, ...]
    occupation: KnownAttribute
    salaries: int
    """Values of the salary, the other sensitive column of Table IV."""
    ages: tuple[int, int]

    def again(self, rows: npt.NDArray[np.int64]) -> Adult:
        """Return these records; with repetitions, a table drawn again from the same people."""

        def taken(one: KnownAttribute) -> KnownAttribute:
            return KnownAttribute(one.name, one.codes[rows], one.n_values)

        quasi = tuple(Levels(q.name, tuple(map(taken, q.levels)), q.labels) for q in self.quasi)
        return Adult(len(rows), quasi, taken(self.occupation), self.salaries, self.ages)


def read_adult(path: Path) -> Adult:
    """Read the file with or without a header, separated by commas or semicolons; skip records with a missing value."""
    columns = _columns(path)
    n = len(columns[SENSITIVE])
    return Adult(
        n,
        tuple(_levels(name, columns[name]) for name in QUASI),
        _coded(SENSITIVE, columns[SENSITIVE]),
        len(set(columns.get(SALARY, ()))),
        (min(map(int, columns["age"])), max(map(int, columns["age"]))),
    )


def _columns(path: Path) -> dict[str, list[str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        found = f"cannot be read ({type(error).__name__})"
        raise TableError(Fault(path.name, found, "the Adult file of the UCI repository")) from None
    first = text.split("\n", 1)[0]
    rows = list(csv.reader(text.splitlines(), delimiter=";" if ";" in first else ",", skipinitialspace=True))
    header = [cell.strip().lower().replace("_", "-").replace(".", "-") for cell in rows[0]] if rows else []
    names = header if "age" in header else list(UCI)
    needed = {*QUASI, SENSITIVE}
    if not needed <= set(names):
        missing = ", ".join(sorted(needed - set(names)))
        raise TableError(Fault(path.name, f"columns are missing: {missing}", "the Adult file of the UCI repository"))
    places = {name: names.index(name) for name in sorted(needed | ({SALARY} & set(names)))}
    body = rows[1:] if "age" in header else rows
    whole = [
        row for row in body if len(row) == len(names) and all(row[p].strip() not in ("", "?") for p in places.values())
    ]
    if not whole:
        raise TableError(Fault(path.name, "no complete record", "the Adult file of the UCI repository"))
    return {name: [row[place].strip() for row in whole] for name, place in places.items()}


def _levels(name: str, cells: Sequence[str]) -> Levels:
    """Return the tree of a column: of the printed height, with the levels from which the paper's structure comes."""
    if name == "age":
        ages = [int(cell) for cell in cells]
        steps = [[f"[{age // width * width},{age // width * width + width})" for age in ages] for width in (5, 25, 50)]
    elif name == "workclass":
        steps = [["government" if cell.endswith("-gov") else "not government" for cell in cells]]
    elif name == "education":
        steps = [[_schooling(cell) for cell in cells]]
        low = ("to 12th", "high school")
        steps.append(["without post-secondary" if cell in low else "with post-secondary" for cell in steps[0]])
    elif name == "native-country":
        steps = [["United States" if cell == "United-States" else "other country" for cell in cells]]
    elif name == "marital-status":
        steps = [["spouse present" if cell in _PRESENT else "spouse absent" for cell in cells]]
    else:
        steps = []
    steps = [list(cells), *steps, ["*"] * len(cells)]
    labels = tuple(tuple(str(label) for label in np.unique(np.asarray(step))) for step in steps)
    return Levels(name, tuple(_coded(name, step) for step in steps), labels)


def _schooling(cell: str) -> str:
    if cell in _SCHOOL:
        return "to 12th"
    if cell == "HS-grad":
        return "high school"
    return "college" if cell in _COLLEGE else "bachelor and more"


def _coded(name: str, cells: Sequence[str]) -> KnownAttribute:
    values, codes = np.unique(np.asarray(cells), return_inverse=True)
    coded: IntArray = codes.astype(np.int32)
    return KnownAttribute(name, coded, len(values))
