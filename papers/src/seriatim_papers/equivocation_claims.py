"""What Alfalayleh and Brankovic print and claim beside what a run found: conclusions are made from its figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from seriatim.measures._equivocation import equivocation
from seriatim.report import Grid
from seriatim.report.words import format_bits
from seriatim_papers.claims import Claim, Spread
from seriatim_papers.worlds.pums import ColumnDescribed

TABLE_2 = {
    "salary": (10, 250, "integer", "10", 25), "age": (16, 84, "integer", "-", 69), "sex": (1, 2, "categorical", "-", 2),
    "education": (1, 16, "categorical", "-", 16), "industry": (1, 18, "categorical", "-", 18),
    "occupation": (1, 25, "categorical", "-", 25), "travel time": (1, 177, "integer", "-", 177),
}  # fmt: skip
"""Minimum, maximum, type, rounding and number of values, as printed."""
TABLE_1 = {"Layla": (107.0, 78.5), "Qays": (80.0, 78.5)}
"""Answers about two people each: the largest salary, and the mean."""
SALARIES = {name: (2 * mean - largest, largest) for name, (largest, mean) in TABLE_1.items()}
APPENDIX = ((1.0, 3.0, 8.0, 9.0), (0.15, 0.1, 0.7, 0.05))
APPENDIX_H = {0: 1.319, 1: 1.054, 2: 0.811, 3: 0.811, 4: 0.811, 5: 0.811, 6: 0.61, 7: 0.286, 8: 0.0}
OTHER_COVER = (0.15, 0.8, 0.05)
"""The other way to cover the values at 5: .884 bits."""
Curve = Mapping[float, Sequence[Spread]]
"""By parameter, H(0) or area at each number of attributes known."""


def table_2(data: str, described: Sequence[ColumnDescribed]) -> Grid:
    """Return the columns of a table beside those of Table 2."""
    rows = []
    for one in described:
        low, high, kind, rounding, n = TABLE_2[one.name]
        found = (f"{one.low:g} to {one.high:g}", str(one.domain), str(one.occur))
        rows.append((one.name, f"{low} to {high}", kind, rounding, str(n), *found))
    heads = ("attribute", "printed", "type", "rounding", "values, printed", "found", "domain used", "values that occur")
    return Grid(f"Table 2: {data}", heads, tuple(rows), frozenset({4, 6, 7}))


def printed_claims() -> tuple[Claim, ...]:
    """Judge Fig. 1 and the appendix, which need no run."""
    found = {name: equivocation(list(pair), [0.5, 0.5]) for name, pair in SALARIES.items()}
    one, other = found["Layla"], found["Qays"]
    curve = equivocation(list(APPENDIX[0]), list(APPENDIX[1]))
    steps = {width: float(curve.at(width)) for width in APPENDIX_H}
    cover = -sum(p * math.log2(p) for p in OTHER_COVER)
    pairs = [f"{name} {low:g} or {high:g} K" for name, (low, high) in SALARIES.items()]
    halves = [(high - low) / 2 for low, high in SALARIES.values()]
    return (
        Claim("Table 1: two queries leave two salaries each", "Layla 50 or 107 K, Qays 77 or 80 K", ", ".join(pairs),
              SALARIES == {"Layla": (50.0, 107.0), "Qays": (77.0, 80.0)}),
        Claim("they lie within 28.5 K and 1.5 K of 78.5 K", "28.5, 1.5", ", ".join(f"{half:g}" for half in halves),
              halves == [28.5, 1.5]),
        Claim("Fig. 1: both pairs of salaries leave the same entropy", "1 bit each",
              f"{format_bits(one.initial)} and {format_bits(other.initial)}", one.initial == other.initial == 1.0),
        Claim("Fig. 1: the area is much larger for Layla", "larger",
              f"{one.area:g} and {other.area:g} K x bits", one.area > 2 * other.area),
        Claim("appendix: H at 0 to 8", ", ".join(f"{h:g}" for h in APPENDIX_H.values()),
              f"{', '.join(f'{h:.3f}' for h in steps.values())}; area {curve.area:.6f}",
              all(abs(steps[width] - h) < 1e-3 for width, h in APPENDIX_H.items())),
        Claim("appendix: at 5 the other way to cover the values leaves more", ".884 > .811",
              f"{cover:.3f} and {steps[5]:.3f}", cover > steps[5]),
    )  # fmt: skip


def run_claims(initial: Mapping[str, Curve], area: Mapping[str, Curve], known: int) -> tuple[Claim, ...]:
    """Judge the discussion of Figs. 2 and 4 by H(0) and area of each technique (Fig. 2's table, uniform prior)."""
    claims: list[Claim] = []
    for name, curves in initial.items():
        claims += [_useful(name, curves, area[name]), _declines(name, curves, area[name])]
    half, eight = initial["sampling"][0.5], initial["queries"][8]
    apart = half[0].less(eight[0])
    tenth = 0.1 * eight[0].mean
    falls = [one[0].less(one[-1]) for one in (half, eight)]
    gentle, sharp = (
        initial["sampling"][rate][0].less(initial["sampling"][rate][-1]) for rate in (0.05, 0.5)
    )  # fmt: skip
    return (
        *claims,
        Claim("nothing known: sampling 50 % and Q = 8 give a similar level (within a tenth)", "similar",
              f"{half[0]} and {eight[0]} bits; apart by {apart}", -tenth < apart.low and apart.high < tenth),
        Claim("with more known, sampling 50 % drops sharply and Q = 8 does not", "sharply, gently",
              f"by {falls[0]} and by {falls[1]} bits with {known} known", falls[0].low > 2 * max(falls[1].high, 0.0)),
        Claim("where utility is low, privacy declines gently with what is known, where it is high sharply",
              "gently, sharply", f"sampling 5 % by {gentle}, 50 % by {sharp} bits", sharp.low > 2 * gentle.high),
    )  # fmt: skip


def _useful(name: str, initial: Curve, area: Curve) -> Claim:
    """Less use is more privacy: of sampling less, of queries larger ones, of noise more."""
    order = sorted(initial, reverse=name == "sampling")
    steps = [
        after.less(before)
        for curves in (initial, area)
        for one, other in pairwise(order)
        for before, after in zip(curves[one], curves[other], strict=True)
    ]
    return _counted(f"{name}: H(0) and area grow as use falls (Fig. 2, 4)", "grow", steps)


def _declines(name: str, initial: Curve, area: Curve) -> Claim:
    """More known is less privacy."""
    steps = [
        before.less(after) for curves in (initial, area) for one in curves.values() for before, after in pairwise(one)
    ]
    return _counted(f"{name}: H(0) and area fall with what is known", "fall", steps)


def _counted(words: str, printed: str, steps: Sequence[Spread]) -> Claim:
    """Judge a claim by the steps outside whose interval 0 lies; of steps of 0 one in forty goes the other way so."""
    right, wrong = (sum(test(one) for one in steps) for test in (_up, _down))
    worst = min(steps, key=lambda one: one.mean)
    found = (
        f"{right} of {len(steps)} steps so and {wrong} the other way, by their intervals (by chance up to "
        f"{len(steps) / 40:.0f} would); the worst step is {worst}"
    )
    return Claim(words, printed, found, wrong <= len(steps) / 40 and right > wrong)


def _up(one: Spread) -> bool:
    return one.low > 1e-9


def _down(one: Spread) -> bool:
    return one.high < -1e-9
