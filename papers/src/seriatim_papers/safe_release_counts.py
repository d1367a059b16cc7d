"""The counts that Bezzi et al. print: soldiers by age band (rows) and location (columns)."""

from __future__ import annotations

import numpy as np

AGES = ("<18", "18-19", "20-24", "25-29", "30-34", "35-39", "40-44", "45-49", "50-54", "≥55")
LOCATIONS = ("L1", "L2", "L3", "L4", "L5")


def _table(*rows: str) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    made = np.array([[int(count) for count in row.split()] for row in rows], dtype=np.int64)
    made.flags.writeable = False
    return made


FIGURE_2 = _table(
    "72 26 38 47 73", "151 53 82 140 223", "539 147 449 505 736", "452 114 370 418 613", "335 213 234 318 501",
    "321 238 277 332 538", "128 219 122 162 220", "20 205 50 49 76", "9 71 28 34 31", "2 13 2 2 2",
)  # fmt: skip
"""The whole table."""
FIGURE_6 = _table(
    "9 5 7 8 11", "23 11 12 19 29", "80 30 68 70 109", "71 18 55 58 88", "51 30 43 47 74", "55 28 46 50 76",
    "25 24 23 25 38", "2 10 11 11 13", "2 8 4 5 6", "1 1 0 0 0",
)  # fmt: skip
"""Safe by mutual information at 20 %."""
FIGURE_8 = _table(
    "12 4 6 5 16", "25 11 18 18 43", "86 29 90 72 141", "66 19 65 67 112", "56 31 37 49 94", "57 29 55 51 115",
    "19 18 19 27 47", "9 8 8 4 13", "2 4 6 2 7", "0 1 1 1 0",
)  # fmt: skip
"""Safe by Kullback-Leibler distance at 20 %."""
FIGURE_9 = _table(
    "13 0 8 6 4", "25 1 13 35 35", "92 0 80 100 135", "74 0 76 94 117", "65 3 55 63 98", "64 38 48 71 94",
    "32 7 21 29 41", "3 3 11 13 18", "0 0 3 8 4", "0 0 0 0 0",
)  # fmt: skip
"""Safe by the chi-square test at 20 %."""
FIGURE_11 = _table(
    "14 3 5 8 15", "36 10 10 34 43", "104 30 77 84 176", "96 18 73 76 134", "69 50 48 77 109", "64 32 49 64 120",
    "0 36 18 30 42", "0 34 17 10 18", "3 14 5 6 4", "1 3 0 1 0",
)  # fmt: skip
"""Safe by Dixon's test at 20 %."""
BASELINE = FIGURE_2.sum(axis=1) / FIGURE_2.sum()
