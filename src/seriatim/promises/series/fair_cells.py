"""Fair cells: what a series of cohorts must keep so that a belief about anyone stays below a stated bound.

A cell is a set of people who entered together and were given up together, or have not been given up yet. The history
says which slot everyone held; that is a claim, followed from the first release on. If it holds, all that is published
about values is how often each occurs in a cell, and someone who assumes that its people differ in nothing that
matters believes in value v about any of them as much as its share there. ``docs/guarantees/cohort.md`` has the proof.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seriatim.model import Finding
from seriatim.model.history import JudgedHistory, PastRelease
from seriatim.promises.series.value_caps import ValueCaps, stored_shares_too_large

LongArray = npt.NDArray[np.int64]
RULE = "fair_cells"
MARKS = ("lineage", "slot", "baseline")
COMMON = 0.05
"""A value with this share counts as common."""
TWOFOLD = 2.0
TAKEN_OVER = "since releases before the take-over narrow people's values down"
RARELY = 0.99
"""The bound for an attacker who knows some people holds unless they know more of a cell than in 99 of 100 cases."""


class FairnessTerms(NamedTuple):
    """What is asked of cells: m, how much the odds of frequent values may grow, and the share of people known."""

    m: int
    odds: float | None = None
    compromised: float = 0.0
    known: frozenset[str] = frozenset()
    """People known by name, beside that share."""

    @property
    def least(self) -> int:
        return max(2 * self.m, 12)

    @property
    def strangers(self) -> int:
        return self.least - self.least // self.m


@dataclass(slots=True, eq=False, kw_only=True)
class _Slots:
    """Every slot of the history, as it was claimed."""

    cohort: LongArray
    value: LongArray
    holder: LongArray
    last: LongArray
    baseline: LongArray
    waiting: list[tuple[int, int]] = field(default_factory=list)
    """How many leavers of a group had to wait, and of how many slots, for each time that both sides were enough."""
    told: npt.NDArray[np.bool_]
    """Who is known by name, by number of the person."""
    odd: int = 0
    taken_over: bool = False
    """Whether earlier releases of another method narrow people's values down."""
    entered: dict[int, int] = field(default_factory=dict)
    """The release in which each cohort entered."""


def fair_cells(judged: JudgedHistory, asked: FairnessTerms) -> Finding:
    """Check every cell, closed or open: enough people, no value above its cap, enough people of other values.

    Slots last: each has one value, one cohort and one person, from its first release to its last without a gap, and all
    slots of a cohort begin together. Caps follow from the shares that the table has, and never fall.
    """
    bare = sum(not set(MARKS) <= past.marks.keys() for past in judged.history.releases)
    if bare:
        detail = f"{bare} releases do not say who held which slot, so nothing can be checked"
        return Finding(RULE, False, float(bare), 0.0, n_classes=bare, n_people=0, detail=detail)
    slots = _followed(judged, asked.known)
    slots.taken_over = judged.since > 0
    caps = ValueCaps.of(slots.baseline, asked.m, asked.odds)
    raised = asked.odds is not None and stored_shares_too_large(judged, slots.baseline)
    found = _judged_cells(slots, caps, asked, slots.odd + raised)
    return replace(found, detail="; ".join((found.detail, *_entering_words(judged, asked))))


def _followed(judged: JudgedHistory, known: frozenset[str]) -> _Slots:
    n_values, releases = max(len(judged.history.values), 1), judged.history.releases
    n = 1 + max((int(past.marks["slot"].max(initial=-1)) for past in releases), default=-1)
    cohort, value, holder, last = np.full((4, n), -1, dtype=np.int64)
    told = np.zeros(len(judged.history.respondents), dtype=np.bool_)
    if known:
        told[:] = [who in known for who in judged.history.respondents.cast("string").to_pylist()]
    slots = _Slots(
        cohort=cohort, value=value, holder=holder, last=last, baseline=np.zeros(n_values, dtype=np.int64), told=told
    )
    for release, past in enumerate(releases):
        odd = (past.marks["lineage"] < 0) | (past.marks["slot"] < 0)
        slots.odd += int(odd.sum())
        if odd.any():
            past = _rows_of(past, ~odd)
        # what must not be of a slot that lasts: each breaks one of the laws that fair_cells states
        at, slot, share = (past.marks[name] for name in MARKS)
        person = past.person.astype(np.int64)
        new, real = last[slot] < 0, person >= 0
        moved = ~new & ((cohort[slot] != at) | (value[slot] != past.value) | (last[slot] != release - 1))
        taken = real & (holder[slot] >= 0) & (holder[slot] != person)
        late = np.array([slots.entered.setdefault(one, release) < release for one in at.tolist()], dtype=np.bool_)
        fell = share < slots.baseline[past.value]
        slots.odd += int((moved | taken | (new & (late | ~real)) | fell).sum())
        slots.odd += len(slot) - len(np.unique(slot)) + int(real.sum()) - len(np.unique(person[real]))
        slots.odd += _crossed(past.group, at) + _crossed(at, past.group) + _crossed(past.value, share)
        sizes = np.bincount(past.group).tolist()
        slots.waiting += zip(np.bincount(past.group[~real], minlength=len(sizes)).tolist(), sizes, strict=True)
        cohort[slot], value[slot], last[slot] = at, past.value, release
        holder[slot[real]] = person[real]
        np.maximum.at(slots.baseline, past.value, share)
    return slots


def _rows_of(past: PastRelease, kept: npt.NDArray[np.bool_]) -> PastRelease:
    marks = {name: mark[kept] for name, mark in past.marks.items()}
    return replace(past, person=past.person[kept], group=past.group[kept], value=past.value[kept], marks=marks)


def _crossed(one: npt.NDArray[np.integer], other: npt.NDArray[np.integer]) -> int:
    """Count the extra entries of ``other`` beside the same entry of ``one``."""
    pairs = np.unique(np.column_stack((one, other)), axis=0)
    return len(pairs) - len(np.unique(one))


def _judged_cells(slots: _Slots, caps: ValueCaps, asked: FairnessTerms, odd: int) -> Finding:
    used = np.flatnonzero((slots.last >= 0) & (slots.holder >= 0))
    holder, last = slots.holder[used], slots.last[used]
    # a cell is who left a cohort together; those still there are its last one
    cells, of_slot = np.unique(slots.cohort[used] * (last.max(initial=0) + 1) + last, return_inverse=True)
    n_values = len(slots.baseline)
    keys = of_slot * n_values + slots.value[used]
    counts = np.bincount(keys, minlength=len(cells) * n_values).reshape(len(cells), n_values).astype(np.int64)
    size, last_of_cell = counts.sum(axis=1), cells % (last.max(initial=0) + 1)
    returned = np.bincount(holder, minlength=1)[holder] > 1
    again = np.bincount(of_slot, weights=returned, minlength=len(cells)).astype(np.int64) if len(cells) else size
    limit = caps.limits(size, asked.strangers)
    broken = (counts > limit).any(axis=1) | (size < asked.least)
    share = counts / np.maximum(size, 1)[:, None]
    ratio = share / caps.shares
    cell, worst = np.unravel_index(int(ratio.argmax()), ratio.shape) if ratio.size else (0, 0)
    found, cap = (float(share[cell, worst]), float(caps.shares[worst])) if ratio.size else (0.0, 1.0 / asked.m)
    kept = not odd and not broken.any()
    if slots.taken_over:
        parts = [f"a value has at most {float(share.max(initial=0)):.1%} of a cell; no bound on belief, {TAKEN_OVER}"]
    else:
        named = np.bincount(of_slot, weights=slots.told[holder], minlength=len(cells)).astype(np.int64)
        parts = [_bound_words(counts, size, again, named, asked)]
    # a cell with people who returned bounds what is believed of the others by its values among them alone
    above = (counts > caps.shares * (size - again)[:, None] + 1e-9).any(axis=1) & (again > 0)
    unproved = np.unique(holder if slots.taken_over else holder[returned | above[of_slot]])
    parts += _odds_words(counts[last_of_cell == last.max(initial=0)]) if asked.odds is not None else []
    parts += _waiting_words(slots, caps, asked)
    parts += [f"{odd} slots do not last or shares are not those of the table"] if odd else []
    parts += [f"{int(broken.sum())} cells are too small or hold too much of a value"] if broken.any() else []
    return Finding(
        RULE,
        kept,
        found,
        cap,
        n_classes=int(broken.sum()),
        n_people=int(size[broken].sum()),
        detail="; ".join(parts),
        n_unjudged=len(unproved),
    )


def _bound_words(counts: LongArray, size: LongArray, again: LongArray, named: LongArray, asked: FairnessTerms) -> str:
    """Say what nobody's belief exceeds, and what of it is not proved."""
    if not len(size):
        return "no cells yet"
    most, others = counts.max(axis=1), size - again
    whom = "anyone with a single stay" if again.any() else "anyone"
    told = [f"belief about {whom} at most {_largest(most, others):.1%} ({len(size)} cells)"]
    if asked.compromised > 0 or named.any():
        drawn = [_known_at_most(int(n), asked.compromised) for n in np.maximum(size - named, 1)]
        known = named + np.array(drawn, dtype=np.int64)
        bound = _largest(most, others - known)
        share = [f"{asked.compromised:.0%} of the people"] * (asked.compromised > 0)
        by_name = [f"{int(named.sum())} of them by name"] * bool(named.any())
        told.append(f"at most {bound:.1%} for someone who knows {' and '.join(share + by_name)}")
    if again.any():
        told.append(f"no bound for {int(again.sum())} slots of people who returned to another cohort")
    return "; ".join(told)


def _largest(most: LongArray, people: LongArray) -> float:
    return float(np.minimum(most / np.maximum(people, 1), 1.0).max())


def _odds_words(counts: LongArray) -> list[str]:
    """Say how much the odds of a common value grow at most in a group, and for how many people more than twofold.

    They grow from those of the newest table, not from the largest ever, which a cap follows.
    """
    base = counts.sum(axis=0) / max(int(counts.sum()), 1)
    common = (base >= COMMON) & (base < 1)
    if not common.any():
        return []
    share, size, base = counts[:, common] / counts.sum(axis=1)[:, None], counts.sum(axis=1), base[common]
    with np.errstate(divide="ignore"):
        grown = (share / (1 - share) / (base / (1 - base))).max(axis=1)
    small = float(size[grown > TWOFOLD].sum() / size.sum())
    found = (
        f"in a group the odds of a value that 5% or more hold grow at most {np.ceil(10 * grown.max()) / 10:.1f}-fold"
    )
    return [found + (f", more than twofold for {small:.1%} of the people" if small else "")]


def _waiting_words(slots: _Slots, caps: ValueCaps, asked: FairnessTerms) -> list[str]:
    """Say what is believed about leavers who had to wait by someone who learns which value was too frequent.

    They waited since a value was too frequent among them: one more than its limit, at least.
    """
    found = np.array([w for w, n in slots.waiting if w >= asked.least and n - w >= asked.least], dtype=np.int64)
    if not len(found):
        return []
    over = np.minimum((caps.limits(found, 0) + 1) / found[:, None], 1.0).max()
    return [f"but about {float(over):.1%} for people whose slots could not be given up at once: estimated, not proved"]


def _entering_words(judged: JudgedHistory, asked: FairnessTerms) -> list[str]:
    """Say what is believed about newcomers who had to wait by someone who learns which value was too frequent.

    So few that all of them wait whatever they hold are left out.
    """
    met, worst = np.zeros(len(judged.history.respondents), dtype=np.bool_), 0.0
    for past in judged.history.releases:
        shown = past.person[past.person >= 0]
        if past.withheld is not None:
            new = ~met[past.withheld.person]
            held = Counter(value for value, late in zip(past.withheld.value.to_pylist(), new, strict=True) if late)
            if new.sum() > 1 and (new.sum() >= 2 * asked.least or not met[shown].all()):
                worst = max(worst, max(held.values()) / int(new.sum()))
        met[shown] = True
    return [f"the most frequent value has {worst:.1%} of the newcomers whom a release withheld, at most"] * (worst > 0)


def _known_at_most(size: int, share: float) -> int:
    """Return how many others of a cell an attacker knows at most, in 99 of 100 cases, who knows this share of all."""
    n = size - 1
    if share >= 1:
        return n
    chance = (1 - share) ** n
    total, k = chance, 0
    while total < RARELY and k < n:
        k += 1
        chance *= (n - k + 1) / k * share / (1 - share)
        total += chance
    return k
