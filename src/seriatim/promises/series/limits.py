"""How often, and in how many different groups, a person may be published."""

from __future__ import annotations

import numpy as np

from seriatim.model import Finding
from seriatim.model.history import JudgedHistory
from seriatim.promises.series.releases import releases_taken_apart


def lifespan_limit(judged: JudgedHistory, most: int) -> Finding:
    """Check that nobody is published more than L times in all."""
    count = np.zeros(len(judged.history.respondents), dtype=np.int64)
    for past in judged.history.releases:
        np.add.at(count, past.person[past.person >= 0], 1)
    return _finding("lifespan", count, most, "publications of one person")


def group_limit(judged: JudgedHistory, most: int) -> Finding:
    """Check the number of DIFFERENT groups a person is in; one republished unchanged is the same."""
    n_people = len(judged.history.respondents)
    salt = np.random.default_rng(20100801).integers(1, 1 << 63, size=n_people + 1, dtype=np.uint64)
    keys = np.zeros((n_people, len(judged.history)), dtype=np.uint64)
    for at, groups in enumerate(releases_taken_apart(judged)):
        key = np.zeros(len(groups.sizes), dtype=np.uint64)
        np.add.at(key, groups.past.group, salt[groups.past.person])
        where = groups.group_of
        keys[where >= 0, at] = key[where[where >= 0]]
    keys.sort(axis=1)
    fresh = keys != 0
    fresh[:, 1:] &= keys[:, 1:] != keys[:, :-1]
    return _finding("group_cap", fresh.sum(axis=1), most, "different groups of one person")


def _finding(rule: str, count: np.ndarray, most: int, detail: str) -> Finding:
    over = int((count > most).sum())
    worst = float(count.max(initial=0))
    remedy = f"withhold those {over} people, or allow {int(worst)}" if over else ""
    return Finding(rule, over == 0, worst, float(most), n_classes=0, n_people=over, detail=detail, remedy=remedy)
