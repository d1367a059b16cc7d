"""What Ren and Li print about Adult beside what the public file gives, and their claims judged by the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from seriatim.model.chance import open_chance
from seriatim.report import Grid
from seriatim_papers.adult import QUASI, Adult
from seriatim_papers.claims import Claim, DrawnAgain
from seriatim_papers.leakage_adult import AnonymisedAdult, adult_table_at
from seriatim_papers.leakage_examples import ExampleRow
from seriatim_papers.leakage_metrics import FAMILIES, METRICS

SEEDS = tuple(range(1, 41))
TABLE_IV = ((74, 4), (7, 2), (16, 3), (41, 2), (7, 2), (5, 1), (2, 1))
"""Domain size and height of the seven quasi-identifiers; the sensitive columns have 2 and 14 values."""
EIGHTH, TENTH = 7, 9
"""The occupations of Fig. 3b: other service, and professional."""
PRINTED = {
    "(13, 13, 0.1), L_D of C1": 0.0125, "(13, 13, 0.1), L_D of C2": 0.0477,
    "(13, 13, 0.1), |L_E| of C1": 0.0015, "(13, 13, 0.1), |L_E| of C2": 0.0306,
    "8th value, whole table": 0.1077, "10th value, whole table": 0.1339,
    "8th value, the class of Fig. 3b": 0.0369, "10th value, the class of Fig. 3b": 0.3871,
}  # fmt: skip
"""The figures of section V.B."""
PRINTED_CLASSES = {(1, 2): 8, (2, 4): 4, (3, 4): 8}


def table_iv(adult: Adult) -> Grid:
    """Return the description of Adult, print beside found."""
    rows = []
    for at, (levels, (size, height)) in enumerate(zip(adult.quasi, TABLE_IV, strict=True), 1):
        low, high = adult.ages
        n = levels.levels[0].n_values
        found = f"{n} of the {high - low + 1} whole numbers from {low} to {high}" if levels.name == "age" else str(n)
        widths = ", ".join(str(level.n_values) for level in levels.levels)
        rows.append((str(at), levels.name, str(size), found, str(height), str(len(levels.levels) - 1), widths))
    rows.append(("8", "salary", "2", str(adult.salaries), "", "", ""))
    rows.append(("9", "occupation", "14", str(adult.occupation.n_values), "", "", ""))
    heads = ("", "attribute", "domain, printed", "domain, found", "height, printed", "height, used", "values by level")
    return Grid(f"Table IV, over {adult.n_records:,} records", heads, tuple(rows), frozenset({2, 4, 5}))


def nearest_class(tables: Sequence[AnonymisedAdult]) -> tuple[AnonymisedAdult, int]:
    """Return the class whose two shares are nearest to those printed for Fig. 3b, over all minimal tables."""
    wanted = [PRINTED[f"{which} value, the class of Fig. 3b"] for which in ("8th", "10th")]
    every = [(table, c) for table in tables for c in range(len(table.sizes))]
    return min(every, key=lambda one: float(np.abs(one[0].shares[one[1], [EIGHTH, TENTH]] - wanted).sum()))


def adult_printed(
    adult: Adult, gentle: AnonymisedAdult, thirds: Sequence[AnonymisedAdult], seeds: Sequence[int] = SEEDS
) -> dict[str, DrawnAgain]:
    """Return every figure that section V.B prints, found in the file and in tables drawn again from its records."""
    near, c = nearest_class(thirds)
    drawn = [open_chance(seed, "adult again").integers(0, adult.n_records, adult.n_records) for seed in seeds]
    found = _figures(gentle, near, near.names[c])
    again = []
    for rows in drawn:
        other = adult.again(rows)
        gentle_again = adult_table_at(other, (1, 2), gentle.node, gentle.asked)
        again.append(_figures(gentle_again, adult_table_at(other, (1, 2, 3), near.node, near.asked), near.names[c]))
    return {name: DrawnAgain(found[name], tuple(one[name] for one in again)) for name in PRINTED}


def _figures(gentle: AnonymisedAdult, near: AnonymisedAdult, name: str) -> dict[str, float]:
    """Return the figures under the names they are printed by; C2 are those over 50."""
    young, old = (gentle.names.index(age) for age in ("[0,50)", "[50,100)"))
    share = near.shares[near.names.index(name)]
    values = (
        gentle.l_d[young], gentle.l_d[old], abs(gentle.l_e[young]), abs(gentle.l_e[old]),
        near.margin[EIGHTH], near.margin[TENTH], share[EIGHTH], share[TENTH],
    )  # fmt: skip
    return dict(zip(PRINTED, map(float, values), strict=True))


def printed_grid(figures: Mapping[str, DrawnAgain]) -> Grid:
    """Return print beside found; where the print lies outside the interval, the file is not the paper's sample."""
    rows = tuple(
        (name, f"{PRINTED[name]:.4f}", str(one), "inside" if one.covers(PRINTED[name]) else "outside")
        for name, one in figures.items()
    )
    return Grid("Section V.B", ("figure", "printed", "found, with 95 % interval", "print is"), rows, frozenset({1, 2}))


def example_claims(rows: Sequence[ExampleRow]) -> tuple[Claim, ...]:
    """Judge what the paper says of its examples and of Fig. 1."""
    of = {(row.example, row.group, row.figure): abs(row.found) for row in rows}
    one_d, one_e = ([of["1", f"C{c}", figure] for c in (1, 2, 3)] for figure in ("L_D", "L_E"))
    two = [of["2", f"C{c}", "L_D"] for c in (1, 2, 3, 4)]
    apart, same = "3K, 4K, 5K", "7K, 7K, 7K"
    emd = [of["4", name, "ordered EMD"] for name in (same, apart)]
    l_d, l_e = ([of["4", name, figure] for name in (same, apart)] for figure in ("L_D", "L_E"))
    quick = _most_sensitive()
    return (
        Claim("Example 1: C3 has the highest distribution leakage and the least entropy leakage", "highest, least",
              f"L_D {_told(one_d)}; |L_E| {_told(one_e)}", max(one_d) == one_d[2] and min(one_e) == one_e[2]),
        Claim("Example 2: the class that is uniform does not leak least", "sqrt(48)/16 > 4/16",
              f"L_D {_told(two)}", two[0] > min(two)),
        Claim("Example 4: by EMD the class of one salary is the more private, by both leakages the less", ".278 < .375",
              f"EMD {_told(emd)}; L_D {_told(l_d)}; L_E {_told(l_e)}",
              emd[0] < emd[1] and l_d[0] > l_d[1] and l_e[0] > l_e[1]),
        Claim("Fig. 1: L1 and the Euclidean distance are the most sensitive", "L1, L2",
              "; ".join(f"{family}: {', '.join(f'{name} {d:.3f}' for name, d in first)}" for family, first in quick),
              all({name for name, _ in first} == {"L1", "L2"} for _, first in quick)),
        Claim("a permutation of the prior leaks no entropy, however far away it is", "0", _permuted(),
              _permutation()[1] < 1e-9 < _permutation()[0]),
    )  # fmt: skip


def adult_claims(tables: Sequence[AnonymisedAdult], choices: Sequence[AnonymisedAdult]) -> tuple[Claim, ...]:
    """Judge what the paper says of Figs. 2 to 4 that the public file can answer."""
    first = tables[0]
    old = first.names.index("[75,100), government") if "[75,100), government" in first.names else first.worst
    l_e = np.sort(np.abs(first.l_e))[::-1]
    gentle = next(table for table in tables if str(table.asked) == "(13, 13, 0.1)")
    near, c = nearest_class([table for table in tables if len(table.quasi) == 3])
    shares = near.shares[c, [EIGHTH, TENTH]]
    n = sum(first.sizes)
    claims = [
        Claim("records of Adult without a missing value", "30,162", f"{n:,}", n == 30_162),
        Claim("Fig. 2: the class 75 and older, government, has a considerably high entropy leakage", "C7",
              f"{abs(first.l_e[old]):.3f} bits there, {l_e[1]:.3f} in the next, median {np.median(l_e):.3f}",
              abs(first.l_e[old]) == l_e[0] and bool(l_e[0] > 2 * np.median(l_e))),
        Claim("Fig. 2b: some values are missing from it", "some",
              f"{int(first.n_missing[old])} of {len(first.margin)} among its {first.sizes[old]} people",
              bool(first.n_missing[old] > 0)),
        Claim("(13, 13, 0.1): who is over 50 is not in the armed forces", "1 value ruled out",
              " and ".join(f"{int(n)} in “{name}”" for n, name in zip(gentle.n_missing, gentle.names, strict=True)),
              bool(gentle.n_missing.max() > 0)),
        Claim("Fig. 3b: a class leaks although no value is missing from it", ".0369 and .3871",
              f"{shares[0]:.4f} and {shares[1]:.4f} in “{near.names[c]}”, where {int(near.n_missing[c])} are missing",
              int(near.n_missing[c]) == 0),
    ]  # fmt: skip
    for table in choices:
        chosen = tuple(QUASI.index(name) + 1 for name in table.quasi)
        if chosen in PRINTED_CLASSES:
            n = PRINTED_CLASSES[chosen]
            words = f"Fig. 4: classes at QID = {chosen}"
            claims.append(Claim(words, str(n), str(len(table.sizes)), len(table.sizes) == n))
    return tuple(claims)


def independence_claim(name: str, found: Mapping[str, DrawnAgain], n_classes: int) -> Claim:
    """Judge whether the entropy distance is independent of the others, by rank correlations over real classes."""
    low = min(found.values(), key=lambda one: abs(one.found))
    told = "; ".join(f"{metric} {one.found:.2f} ({one.low:.2f} to {one.high:.2f})" for metric, one in found.items())
    return Claim(f"only the entropy distance is independent of the others ({n_classes:,} classes of {name})",
                 "independent", told, low.covers(0.0) and all(one.covers(0.0) for one in found.values()))  # fmt: skip


def _most_sensitive() -> list[tuple[str, list[tuple[str, float]]]]:
    """Return for each family of Fig. 1 the two distances that are largest a twentieth of the way."""
    found = []
    for family, (prior, end) in FAMILIES.items():
        moved = {name: metric(prior, 0.95 * prior + 0.05 * end) for name, metric in METRICS.items()}
        found.append((family, sorted(moved.items(), key=lambda one: -one[1])[:2]))
    return found


def _permutation() -> tuple[float, float]:
    prior, end = FAMILIES["towards the reverse"]
    return METRICS["L2"](prior, end), METRICS["entropy distance"](prior, end)


def _permuted() -> str:
    far, bits = _permutation()
    return f"L_D {far:.3f}, L_E {bits:.3f} for nine values in reverse"


def _told(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:.3f}" for number in numbers)
