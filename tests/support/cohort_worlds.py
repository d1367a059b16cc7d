"""Made-up series of people who come and go, for methods whose values never change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from seriatim.defences.series.contract import SerialView
from seriatim.model.scale import scale_of

SCALES = tuple(scale_of("interval", pa.array([str(i) for i in range(k)]), np.arange(k, dtype=float)) for k in (40, 12))


@dataclass(frozen=True, kw_only=True)
class ComingAndGoing:
    """How a world moves; ``returning`` is the share of arrivals who were there before."""

    m: int
    people: int
    n_values: int
    skew: float
    churn: float
    releases: int
    families: int
    drift: float
    burst: bool
    returning: float
    seed: int

    def views(self) -> Iterator[SerialView]:
        chance = np.random.default_rng(self.seed)
        weights = np.arange(1, self.n_values + 1, dtype=float) ** -self.skew
        values, places = np.empty(0, dtype=np.int32), np.empty((0, 2), dtype=np.int32)
        here, away = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        for release in range(self.releases):
            share = np.roll(weights, release) * self.drift + weights * (1 - self.drift)
            leaves = np.repeat(chance.random(len(here) // self.families + 1) < self.churn, self.families)[: len(here)]
            missing = self.people - len(here) + int(leaves.sum())
            missing = 3 * missing if self.burst and release == 2 else missing
            back = chance.permutation(away)[: int(self.returning * missing)]
            came = np.arange(len(values), len(values) + missing - len(back))
            fresh = chance.choice(self.n_values, len(came), p=share / share.sum()).astype(np.int32)
            values = np.concatenate((values, fresh))
            spots = [chance.integers(0, len(scale), len(came)) for scale in SCALES]
            places = np.concatenate((places, np.column_stack(spots).astype(np.int32)))
            away = np.setdiff1d(np.union1d(away, here[leaves]), back)
            here = np.concatenate((here[~leaves], back, came)).astype(np.int64)
            who = chance.permutation(here)
            yield SerialView(
                quasi=places[who], scales=SCALES, sensitive=values[who], n_values=self.n_values, person=who
            )


@st.composite
def worlds(draw: st.DrawFn, returning: bool = False) -> ComingAndGoing:
    m = draw(st.integers(2, 6))
    return ComingAndGoing(
        m=m,
        people=draw(st.sampled_from([200, 400, 900, 2000])),
        n_values=draw(st.integers(m + 1, m + 20)),
        skew=draw(st.sampled_from([0.0, 0.7, 1.5, 2.5])),
        churn=draw(st.sampled_from([0.02, 0.1, 0.35])),
        releases=draw(st.integers(1, 7)),
        families=draw(st.sampled_from([1, 4])),
        drift=draw(st.sampled_from([0.0, 0.3])),
        burst=draw(st.booleans()),
        returning=draw(st.sampled_from([0.1, 0.5])) if returning else 0.0,
        seed=draw(st.integers(0, 2**32 - 1)),
    )
