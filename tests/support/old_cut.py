"""How ``lineage`` and ``cohort`` used to cut people into cells: by values, so that who is in a cell gave values away.

Plainly, and only for tests: attacks on releases made this way must go on finding what they gave away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.model.history import History, PastRelease

Ints = npt.NDArray[np.integer]
MILLION = 10**6


@dataclass(frozen=True, eq=False, kw_only=True)
class OldCut:
    """What a cell had to keep: shares num/den by value (``cap``); values above half of ``often`` were halved."""

    cap: tuple[Ints, Ints]
    often: tuple[Ints, Ints]
    strangers: int
    least: int

    @classmethod
    def of(cls, method: str, value: Ints, m: int, common: float | None) -> OldCut:
        """The cut of a first release by ``lineage`` or ``cohort``."""
        counts = np.bincount(value)
        share = -(-counts * MILLION // len(value))
        batch = max(2 * m, 12)
        strangers = batch - batch // m
        top = int(share.max())
        if common is None:
            assert method == "lineage"
            cap = (np.ones_like(share), np.full_like(share, m))
            return cls(cap=cap, often=cap, strangers=0, least=360)
        cap = _raised(share, round(common * MILLION), 1, m)
        if method == "lineage":
            n = int(np.count_nonzero(share))
            least = max(360, -(-144 * MILLION * max(n, 10) // (n * max(MILLION - top, 1))))
            return cls(cap=cap, often=cap, strangers=strangers, least=least)
        often = _raised(share, MILLION + MILLION // 10, 3, 4 * m)
        least = max(240 * m, -(-288 * MILLION // max(MILLION - top, 1)))
        return cls(cap=cap, often=often, strangers=strangers, least=least)

    def cells(self, place: npt.NDArray[np.float32], value: Ints) -> list[Ints]:
        """The cells of all people, in the order in which they were cut off."""
        stack, out = [np.arange(len(value))], []
        while stack:
            ids = stack.pop()
            halves = self._halved(ids, place, value) if len(ids) >= 2 * self.least else None
            if halves is None:
                out.append(ids)
            else:
                stack += [halves[1], halves[0]]
        return out

    def fair(self, value: Ints) -> bool:
        counts = np.bincount(value, minlength=len(self.cap[0]))
        some = counts > 0
        over = counts * self.cap[1] > len(value) * self.cap[0]
        return not (some & (over | (counts > len(value) - self.strangers))).any()

    def _halved(self, ids: Ints, place: npt.NDArray[np.float32], value: Ints) -> tuple[Ints, Ints] | None:
        n, held = len(ids), np.bincount(value[ids], minlength=len(self.cap[0]))
        wide = place[ids].astype(float)
        column = int(((wide**2).sum(axis=0) - wide.sum(axis=0) ** 2 / n).argmax())
        order = ids[np.argsort(place[ids, column], kind="stable")]
        often = 2 * self.often[1] * held > self.often[0] * n
        left = [order[value[order] == v][: held[v] - held[v] // 2] for v in np.flatnonzero(often)]
        least = [max((self._size_for(held[v] - held[v] // 2, v) for v in np.flatnonzero(often)), default=0)]
        least += [max((self._size_for(held[v] // 2, v) for v in np.flatnonzero(often)), default=0)]
        size = max(min(n // 2, n - least[1]), least[0])
        others = order[~often[value[order]]]
        more = size - sum(map(len, left))
        if not 0 <= more <= len(others) or not self.least <= size <= n - self.least:
            return None
        one = np.concatenate([others[:more], *left])
        two = np.setdiff1d(ids, one)
        return (one, two) if self.fair(value[one]) and self.fair(value[two]) else None

    def _size_for(self, count: int, value: int) -> int:
        return int(max(-((-count * self.cap[1][value]) // self.cap[0][value]), count + self.strangers))


def _raised(share: Ints, odds: int, num: int, den: int) -> tuple[Ints, Ints]:
    """Shares whose odds have grown, where they are more than num/den."""
    raised = MILLION * odds * share // (MILLION**2 + (odds - MILLION) * share)
    above = raised * den > num * MILLION
    return np.where(above, raised, num), np.where(above, MILLION, den)


def first_release(cells: list[Ints], value: Ints) -> History:
    """The history of a first release of these cells; people and values are their numbers."""
    who = np.concatenate(cells)
    group = np.repeat(np.arange(len(cells)), [len(cell) for cell in cells])
    mixed = np.random.default_rng(0).permutation(len(cells))  # published ids say nothing
    past = PastRelease(
        1,
        person=who.astype(np.int32),
        group=mixed[group].astype(np.int32),
        value=value[who].astype(np.int32),
        marks={"lineage": group.astype(np.int64), "slot": np.arange(len(who))},
    )
    return History(pa.array(np.arange(len(value))), pa.array(np.arange(int(value.max()) + 1)), (past,))
