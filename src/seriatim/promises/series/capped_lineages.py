"""Lineages whose common values have caps above one m-th: no part that can be told apart holds more than its caps.

The caps follow from the shares stored with the rows (``value_caps``). A part that holds a value
also needs strangers, people of other values: as many as the smallest batch and drop have where every cap is one m-th.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seriatim.model import Finding
from seriatim.model.judged import JudgedHistory
from seriatim.promises.series.lineages import PARTS, lineages_before, lineages_followed
from seriatim.promises.series.releases import ReleaseGroups, releases_of
from seriatim.promises.series.stored_shares import newcomer_shares_judged, stored_shares, stored_shares_too_large
from seriatim.promises.series.value_caps import ValueCaps

LongArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
RULE, WAITING = "fair_lineages", "fair_waiting"


class CapsAsked(NamedTuple):
    """What is asked where common values have caps of their own."""

    m: int
    common: float

    @property
    def batch_strangers(self) -> int:
        """Return the strangers in what is founded, refilled or added."""
        least = max(2 * self.m, 12)
        return least - least // self.m

    @property
    def drop_strangers(self) -> int:
        """Return the strangers in what is dropped, and in what stays."""
        least = max(self.m + 2, 8)
        return least - least // self.m

    def caps(self, judged: JudgedHistory) -> tuple[ValueCaps, int]:
        """Return the caps that follow from the stored shares, and how much is wrong with these."""
        stored, odd = stored_shares(judged)
        return ValueCaps.of(stored, self.m, self.common), odd + stored_shares_too_large(judged, stored)


class _Parts(NamedTuple):
    """How often each value occurs in the parts of every group: rows are groups."""

    now: LongArray
    new: LongArray
    back: LongArray
    lost: LongArray
    won: LongArray
    founded: BoolArray


def capped_lineages(judged: JudgedHistory, asked: CapsAsked, newest: bool = False) -> Finding:
    """Check that no value exceeds its cap in a lineage, a batch of newcomers, a drop, an addition or what stays."""
    caps, odd = asked.caps(judged)
    releases, followed = lineages_followed(judged)
    broken_parts, n_groups, n_people = np.zeros(4, dtype=np.int64), 0, 0
    worst, share, cap = 0.0, 0.0, 1.0 / asked.m
    for at in releases_of(judged, newest):
        groups = releases[at]
        parts = _counted(groups, lineages_before(releases, followed, at), len(caps.millionths))
        over = _over(parts, caps, asked)
        broken_parts += over.sum(axis=0)
        n_groups += int(over.any(axis=1).sum())
        n_people += int((groups.sizes - groups.counterfeits)[over.any(axis=1)].sum())
        shares = parts.now / np.maximum(parts.now.sum(axis=1, keepdims=True), 1)
        if shares.size and float((shares / caps.shares).max()) > worst:
            group, value = np.unravel_index(int((shares / caps.shares).argmax()), shares.shape)
            worst, share, cap = float((shares / caps.shares).max()), float(shares[group, value]), caps.shares[value]
    told = ", ".join(f"{n} {name}" for n, name in zip(broken_parts, PARTS, strict=True))
    detail = f"share of the value nearest its cap; over a cap: {told}"
    if odd:
        detail += f"; {odd} stored shares contradict the tables or each other"
    return Finding(
        RULE,
        n_groups == 0 and not odd,
        share,
        float(cap),
        n_classes=n_groups,
        n_people=n_people,
        detail=detail,
    )


def _counted(groups: ReleaseGroups, before: tuple[npt.NDArray[np.int32], LongArray, LongArray, npt.NDArray[np.int32]],
             n_values: int) -> _Parts:  # fmt: skip
    standing, starts, ends, old_values = before
    past, n = groups.past, groups.past.n_groups
    founded = starts < 0

    def counts(which: BoolArray) -> LongArray:
        keys = past.group[which].astype(np.int64) * n_values + past.value[which]
        return np.bincount(keys, minlength=n * n_values).reshape(n, n_values).astype(np.int64)

    now = counts(np.ones(len(past.group), dtype=np.bool_))
    came = (past.person >= 0) & ~founded[past.group]
    new, back = (counts(came & (standing[past.person] == kind)) for kind in (0, 1))
    old = np.zeros_like(now)
    for group in np.flatnonzero(~founded).tolist():
        old[group] = np.bincount(old_values[starts[group] : ends[group]], minlength=n_values)
    lost, won = np.maximum(old - now, 0), np.maximum(now - old, 0)
    won[founded] = 0
    return _Parts(now, new, back=back, lost=lost, won=won, founded=founded)


def _over(parts: _Parts, caps: ValueCaps, asked: CapsAsked) -> BoolArray:
    """Return which groups exceed a cap: as a whole, in the newcomers, in what was dropped, in what was added."""
    batch, drop = asked.batch_strangers, asked.drop_strangers

    def unfair(counts: LongArray, strangers: int) -> BoolArray:
        return np.asarray((counts > caps.limits(counts.sum(axis=1), strangers)).any(axis=1))

    whole = np.where(parts.founded, unfair(parts.now, batch), unfair(parts.now, drop))
    newcomers = unfair(parts.new, batch)
    for group in np.flatnonzero(newcomers).tolist():
        newcomers[group] = not _fair_with_some(parts.new[group], parts.back[group], caps, batch)
    return np.column_stack((whole, newcomers, unfair(parts.lost, drop), unfair(parts.won, batch)))


def _fair_with_some(new: LongArray, back: LongArray, caps: ValueCaps, strangers: int) -> bool:
    """Return whether newcomers are fair together with some of those who came back: others took their own slots."""
    sizes = np.arange(new.sum(), new.sum() + back.sum() + 1)
    limits = caps.limits(sizes, strangers)
    fits = (new <= limits).all(axis=1) & (np.minimum(new + back, limits).sum(axis=1) >= sizes)
    return bool(fits.any())


def fair_waiting(judged: JudgedHistory, asked: CapsAsked) -> Finding:
    """Report whether the newcomers who wait hold common values more often than their caps: waiting is then revealing.

    It is reported with counts and never refuses: where no batch can spare a slot, nothing better is known.
    """
    if judged.draft is None or judged.view is None:
        return Finding(
            WAITING,
            True,
            0.0,
            1.0,
            n_classes=0,
            n_people=0,
            detail="a history that was only read does not say who waited",
        )
    caps, _ = asked.caps(judged)
    value, new, hidden = newcomer_shares_judged(judged)
    waiting = value[new & hidden]
    counts = np.bincount(waiting[waiting >= 0], minlength=len(caps.millionths)).astype(np.int64)
    # a value that was never published waits whole, and its cap is 1/m
    unseen = int((waiting < 0).sum())
    ratio = float((counts / caps.shares).max(initial=0.0)) / len(waiting) if len(waiting) else 0.0
    ratio = max(ratio, asked.m * unseen / len(waiting)) if len(waiting) else 0.0
    unfair = bool((counts > caps.limits(np.array([len(waiting)]), 0)[0]).any()) or asked.m * unseen > len(waiting)
    told = f"{len(waiting)} newcomers wait; the most frequent value among them has {ratio:.2f} x its cap"
    detail = f"{told}: waiting reveals something about them (reported only)" if unfair else told
    return Finding(
        WAITING,
        True,
        ratio,
        1.0,
        n_classes=0,
        n_people=len(waiting) if unfair else 0,
        detail=detail if len(waiting) else "no newcomer waits",
    )
