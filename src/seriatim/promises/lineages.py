"""Closed lineages: nobody ever changes group, and no value is too frequent in anything that can be told apart.

A lineage is a group that goes on from release to release. What an adversary can tell apart in it is the whole,
each batch of newcomers, and what was dropped or added: in none of them a value may exceed the share 1/m.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from seriatim.kernels.check.lineages import follow, largest_shares
from seriatim.model import Finding, History
from seriatim.promises.releases import Groups, taken_apart

Followed = tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]

_KNOWN: WeakKeyDictionary[History, list[Followed]] = WeakKeyDictionary()

PARTS = ("lineages", "batches", "drops", "additions")


def closed_lineages(history: History, newest: bool = False) -> Finding:
    """Nobody is ever in two lineages: no group takes in people of two, and none is split."""
    mixed_groups, mixed_people = 0, 0
    for groups, (_, mixed) in zip(*_followed(history), strict=True):
        if not newest or groups.past is history.releases[-1]:
            mixed_groups += int(mixed.sum())
            mixed_people += int((groups.sizes - groups.fakes)[mixed].sum())
    detail = "groups that mix or split lineages"
    return Finding("closed_lineages", mixed_groups == 0, float(mixed_groups), 0.0, None, mixed_groups, mixed_people,
                   detail)  # fmt: skip


def fair_lineages(history: History, m: int, newest: bool = False) -> Finding:
    """No value has a share above 1/m of a lineage, a batch of newcomers, a drop or what remains after it."""
    releases, followed = _followed(history)
    last: dict[str, npt.NDArray[np.int64]] = {"start": np.empty(0, np.int64), "end": np.empty(0, np.int64)}
    values, filled = np.empty(sum(len(groups.rows) for groups in releases), dtype=np.int32), 0
    standing = np.zeros(len(history.respondents), dtype=np.int32)
    worst, broken_parts, n_groups, n_people = 0.0, [0, 0, 0, 0], 0, 0
    for groups, (lineage, _) in zip(releases, followed, strict=True):
        n_lineages = int(lineage.max(initial=-1)) + 1
        last = {name: _grown(where, n_lineages) for name, where in last.items()}
        past = groups.past
        if not newest or past is history.releases[-1]:
            share = largest_shares(
                groups.starts, groups.rows, past.person, past.value, standing, last["start"][lineage],
                last["end"][lineage], values, max(len(history.values), 1),
            )  # fmt: skip
            over = share > 1.0 / m + 1e-12
            worst = max(worst, float(share.max(initial=0.0)))
            broken_parts = [n + int(flags.sum()) for n, flags in zip(broken_parts, over.T, strict=True)]
            n_groups += int(over.any(axis=1).sum())
            n_people += int((groups.sizes - groups.fakes)[over.any(axis=1)].sum())
        values[filled : filled + len(groups.rows)] = past.value[groups.rows]
        last["start"][lineage], last["end"][lineage] = filled + groups.starts[:-1], filled + groups.starts[1:]
        filled += len(groups.rows)
        standing = np.minimum(standing, 1)
        standing[past.person[past.person >= 0]] = 2
    parts = ", ".join(f"{n} {name}" for n, name in zip(broken_parts, PARTS, strict=True))
    detail = f"largest share of a value; over it: {parts}"
    return Finding("fair_lineages", n_groups == 0, worst, 1.0 / m, None, n_groups, n_people, detail)


def _followed(history: History) -> tuple[list[Groups], list[Followed]]:
    """Every release with the lineage of each of its groups and whether it mixes or splits any; once for both laws."""
    releases = taken_apart(history)
    known = _KNOWN.get(history)
    if known is None:
        known = _KNOWN[history] = _follow(history, releases)
    return releases, known


def _follow(history: History, releases: list[Groups]) -> list[Followed]:
    home, n_known, found = np.full(len(history.respondents), -1, dtype=np.int32), 0, []
    for groups in releases:
        lineage, mixed, n_known = follow(groups.starts, groups.rows, groups.past.person, home, n_known)
        found.append((lineage, mixed))
    return found


def _grown(where: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int64]:
    return np.concatenate((where, np.full(max(0, n - len(where)), -1, dtype=np.int64)))
