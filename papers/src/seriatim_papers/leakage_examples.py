"""The examples of Ren and Li: what is printed, and what the definitions give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seriatim.measures._leakage import leakage
from seriatim.report import Grid
from seriatim_papers.leakage_metrics import metric_ordered_emd


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleRow:
    """One figure of one class of one example."""

    example: str
    group: str
    figure: str
    printed: float
    found: float
    remark: str = ""


_SEVENTHS = (7 / 12, 3 / 12, 2 / 12)
_INPATIENTS = ((3 / 4, 1 / 4, 0.0), (3 / 4, 1 / 4, 0.0), (1 / 4, 1 / 4, 2 / 4))
_SIXTEENTHS = (10 / 16, 2 / 16, 2 / 16, 2 / 16)
_FOUR = ((4 / 16,) * 4, (12 / 16, 4 / 16, 0.0, 0.0), (12 / 16, 0.0, 4 / 16, 0.0), (12 / 16, 0.0, 0.0, 4 / 16))
_ROOT_26 = "sqrt(32)/12; the printed sqrt(26)/12 is a slip"
_LESS = "negative: the adversary is less certain than before; the paper prints the absolute value"


STOMACH, LUNG = ("gastric ulcer", "gastritis", "stomach cancer"), ("flu", "bronchitis", "pneumonia")
DISEASE_TREE = 4
"""The height of the tree of diseases: two of one organ are 1/4 apart, others 1. With Li's height of 3 it is 8/27."""
PATIENTS = (
    ("47677", "29", 3, "gastric ulcer"), ("47602", "22", 4, "gastritis"), ("47678", "27", 5, "stomach cancer"),
    ("47905", "43", 6, "gastritis"), ("47909", "52", 11, "flu"), ("47906", "47", 8, "bronchitis"),
    ("47605", "30", 7, "bronchitis"), ("47673", "36", 9, "pneumonia"), ("47607", "32", 10, "stomach cancer"),
)  # fmt: skip
"""Table I(a): zip code, age, salary in thousands, disease."""
IN_TABLE_I = ((("476**", "2*"), (0, 1, 2)), (("4790*", "≥40"), (3, 4, 5)), (("476**", "3*"), (6, 7, 8)))
IN_TABLE_II = ((("4767*", "≤40"), (0, 2, 7)), (("4790*", "≥40"), (3, 4, 5)), (("4760*", "≤40"), (1, 6, 8)))
"""The classes of Tables I(b) and II: what is published of the quasi-identifiers, and which patients."""
INPATIENTS = (
    ("49012", "25", "Flu"), ("49013", "28", "Flu"), ("49013", "29", "Heart Disease"), ("49970", "39", "Flu"),
    ("48823", "49", "Cancer"), ("49971", "34", "Flu"), ("48824", "48", "Heart Disease"), ("48823", "45", "Cancer"),
    ("48824", "46", "Flu"), ("49971", "37", "Heart Disease"), ("49012", "22", "Flu"), ("49970", "32", "Flu"),
)  # fmt: skip
"""Table III(a); III(b) hides the last digit of each zip code and age."""
TABLE_II = tuple(tuple(PATIENTS[i][3] for i in members) for _, members in IN_TABLE_II)


def disease_distance(members: Sequence[str]) -> float:
    """Return how far a class of Table II is from everyone, by the tree: what moves within an organ, and between."""
    everyone = [disease for one in TABLE_II for disease in one]
    moved = between = 0.0
    for organ in (STOMACH, LUNG):
        gaps = [members.count(one) / len(members) - everyone.count(one) / len(everyone) for one in organ]
        more, less = sum(gap for gap in gaps if gap > 0), -sum(gap for gap in gaps if gap < 0)
        moved += min(more, less)
        between += abs(more - less) / 2
    return moved / DISEASE_TREE + between


def salary_distance(members: Sequence[int]) -> float:
    """Return how far patients' salaries are from everyone's, by the distance of ordered values."""
    ranks = sorted(patient[2] for patient in PATIENTS)
    places = [ranks.index(PATIENTS[i][2]) for i in members]
    return metric_ordered_emd(
        np.full(len(ranks), 1 / len(ranks)), np.bincount(places, minlength=len(ranks)) / len(places)
    )


def table_grids() -> tuple[Grid, ...]:
    """Return Tables I to III as they are printed, with what each class of Tables I(b) and II is found to keep."""
    columns = ("record", "zip code", "age", "salary", "disease")
    originals = tuple((str(i + 1), zip_, age, f"{pay}K", ill) for i, (zip_, age, pay, ill) in enumerate(PATIENTS))
    ill = tuple((str(i + 1), *row) for i, row in enumerate(INPATIENTS))
    hidden = sorted((f"{zip_[:-1]}*", f"{age[0]}*", disease) for zip_, age, disease in INPATIENTS)
    return (
        Grid("Table I(a): as it is", columns, originals, frozenset({0, 3})),
        _class_grid("Table I(b): printed as 3-diverse", IN_TABLE_I),
        _class_grid("Table II: printed as (0.167, 0.278)-close for salary and disease", IN_TABLE_II),
        Grid("Table III(a): as it is", ("record", "zip code", "age", "disease"), ill, frozenset({0})),
        Grid("Table III(b): printed as 4-anonymous and 2-diverse", ("zip code", "age", "disease"), tuple(hidden)),
    )


def _class_grid(caption: str, classes: Sequence[tuple[tuple[str, str], tuple[int, ...]]]) -> Grid:
    rows = []
    for (zip_, age), members in classes:
        pay, ill = zip(*((PATIENTS[i][2], PATIENTS[i][3]) for i in members), strict=True)
        rows.append((
            zip_, age, ", ".join(f"{one}K" for one in pay), ", ".join(ill), str(min(len(set(pay)), len(set(ill)))),
            f"{salary_distance(members):.3f}", f"{disease_distance(ill):.3f}",
        ))  # fmt: skip
    heads = ("zip code", "age", "salaries", "diseases", "distinct values", "EMD of salaries", "EMD of diseases")
    return Grid(caption, heads, tuple(rows), frozenset({4, 5, 6}))


def example_rows() -> list[ExampleRow]:
    """Return every figure of Examples 1 to 4; signs of entropy leakage are kept."""
    rows = _pairs("1", _SEVENTHS, _INPATIENTS, (8**0.5 / 12, 8**0.5 / 12, 26**0.5 / 12), (0.57, 0.57, 0.11))
    rows += _pairs("2", _SIXTEENTHS, _FOUR, (48**0.5 / 16, 0.25, 0.25, 0.25), (0.45, 0.73, 0.73, 0.73))
    rows += _pairs("3", _SEVENTHS, _INPATIENTS, (8**0.5 / 12, 8**0.5 / 12, 26**0.5 / 12), (0.57, 0.57, 0.11))
    rows += [
        ExampleRow(
            example="3",
            group=f"C{c + 1}",
            figure="total variation",
            printed=printed,
            found=float(np.abs(np.subtract(_SEVENTHS, x)).sum() / 2),
            remark="printed without the 1/2: the table is 0.333-close",
        )
        for c, (x, printed) in enumerate(zip(_INPATIENTS, (1 / 3, 1 / 3, 2 / 3), strict=True))
    ]
    worst = max(disease_distance(one) for one in TABLE_II)
    remark = "the tree is not printed: by one of height 4 it is 5/18, by that of Li, Li and Venkatasubramanian 8/27"
    table = ExampleRow(
        example="Table II", group="worst", figure="EMD of diseases", printed=0.278, found=worst, remark=remark
    )
    return [*rows, table, *_salaries()]


def _pairs(
    example: str,
    prior: Sequence[float],
    classes: Sequence[Sequence[float]],
    distances: Sequence[float],
    bits: Sequence[float],
) -> list[ExampleRow]:
    rows = []
    for c, (x, distance, bit) in enumerate(zip(classes, distances, bits, strict=True)):
        found, name = leakage(list(prior), list(x)), f"C{c + 1}"
        wrong = abs(found.distribution - distance) > 1e-9
        rows.append(
            ExampleRow(
                example=example,
                group=name,
                figure="L_D",
                printed=distance,
                found=found.distribution,
                remark=_ROOT_26 if wrong else "",
            )
        )
        rows.append(
            ExampleRow(
                example=example,
                group=name,
                figure="L_E",
                printed=bit,
                found=found.entropy,
                remark=_LESS if found.entropy < 0 else "",
            )
        )
    return rows


def _salaries() -> list[ExampleRow]:
    """Return the figures of nine salaries, each once, with classes by their positions in the order."""
    uniform = np.full(9, 1 / 9)
    rows = []
    for name, places, printed in (
        ("C1", (0, 2, 6), 0.167), ("C2", (3, 8, 5), 0.167), ("C3", (1, 4, 7), 0.083),
        ("3K, 4K, 5K", (0, 1, 2), 0.375), ("7K, 7K, 7K", (4, 4, 4), 0.278),
    ):  # fmt: skip
        x = np.bincount(places, minlength=9) / 3
        swapped = "the paper lists these two classes in swapped order" if "," in name else ""
        rows.append(
            ExampleRow(
                example="4",
                group=name,
                figure="ordered EMD",
                printed=printed,
                found=metric_ordered_emd(uniform, x),
                remark=swapped,
            )
        )
        if not swapped:
            continue
        found = leakage(uniform, x)
        largest, bits = (0.22, 0.158) if places[0] == 0 else (0.89, 3.16)
        rows.append(
            ExampleRow(
                example="4",
                group=name,
                figure="L_D",
                printed=largest,
                found=found.distribution,
                remark="printed is the largest difference",
            )
        )
        slip = "a slip of the decimal point" if places[0] == 0 else "truncated"
        rows.append(ExampleRow(example="4", group=name, figure="L_E", printed=bits, found=found.entropy, remark=slip))
    return rows
