"""Withheld: what being in the view and not in the release tells about somebody's value.

Methods withhold people whom no group can hide. Which people these are depends on values: a method that leaves out the
surplus of a frequent value withholds nobody else, and whoever knows that somebody was left out knows what they hold.
The attacker here knows who is in the view, sees who is missing, and guesses for all of them the value that is the most
frequent among them; they know which one that is, as someone does who knows a few of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.attacks.intervals import exact_interval
from seriatim.kernels.arrays import Longs
from seriatim.model.history import History, PastRelease
from seriatim.model.verdict import Estimate


@dataclass(frozen=True, slots=True)
class WithheldGuess:
    """The best guess about the people withheld: of one release, or of all."""

    number: int | None
    """The release; None for the series."""
    n_withheld: int
    hits: int
    """Withheld people who hold the value that is the most frequent among them."""
    n_people: int
    """People in the view; for the series, everyone who was ever in one."""
    by_margin: int
    """People in the view who hold the value that is the most frequent there."""

    @property
    def hit_share(self) -> float:
        """Return the share of the withheld people that the guess is right about."""
        return self.hits / self.n_withheld if self.n_withheld else 0.0

    @property
    def margin_share(self) -> float:
        """Return how often the best guess is right about anyone in the view, withheld or not."""
        return self.by_margin / self.n_people if self.n_people else 0.0


@dataclass(frozen=True, slots=True)
class WithheldGuesses:
    """What being withheld tells, release by release and over the series."""

    releases: tuple[WithheldGuess, ...]
    series: WithheldGuess
    """Everyone who was ever withheld, once, by the value they held then first."""

    @property
    def estimate(self) -> Estimate:
        """Return the share of guesses that are right, with its exact interval."""
        low, high = exact_interval(self.series.hits, self.series.n_withheld) if self.series.n_withheld else (0.0, 0.0)
        newest = self.releases[-1] if self.releases else self.series
        detail = {
            "by_margin": self.series.margin_share,
            "withheld_now": newest.n_withheld,
            "right_now": newest.hit_share,
            "by_margin_now": newest.margin_share,
        }
        return Estimate("withheld", self.series.hit_share, low, high, n_people=self.series.n_withheld, detail=detail)


def withheld(history: History) -> WithheldGuesses:
    """Return how often the best guess about withheld people is right, against the best guess about anyone.

    A release that does not say who was withheld counts as one that withheld nobody.
    """
    domain = _domain(history)
    views = [_view(past, history.values, domain) for past in history]
    releases = [_guess(past.number, *view) for past, view in zip(history, views, strict=True)]
    everyone, out = (_firsts([view[at] for view in views], len(history.respondents)) for at in (0, 1))
    return WithheldGuesses(tuple(releases), _guess(None, everyone, out))


def _domain(history: History) -> pa.Array:
    texts = [history.values, *(past.withheld.value for past in history if past.withheld is not None)]
    return pc.unique(pa.chunked_array([pc.cast(one, pa.string()) for one in texts], pa.string()))


def _view(past: PastRelease, values: pa.Array, domain: pa.Array) -> tuple[Longs, Longs]:
    """Return everyone in the view and everyone withheld, each a column (person, value)."""
    code = _codes(values, domain)
    real = past.person >= 0
    shown = np.stack((past.person[real].astype(np.int64), code[past.value[real]]))
    if past.withheld is None:
        return shown, shown[:, :0]
    out = np.stack((past.withheld.person.astype(np.int64), _codes(past.withheld.value, domain)))
    return np.concatenate((shown, out), axis=1), out


def _codes(values: pa.Array, domain: pa.Array) -> Longs:
    found: Longs = pc.index_in(pc.cast(values, pa.string()), value_set=domain).to_numpy(zero_copy_only=False)
    return found.astype(np.int64)


def _firsts(views: list[Longs], n_people: int) -> Longs:
    """Return everyone once, as they were first."""
    first = np.full(n_people, -1, dtype=np.int64)
    for view in reversed(views):
        first[view[0, ::-1]] = view[1, ::-1]
    there = np.flatnonzero(first >= 0)
    return np.stack((there, first[there]))


def _guess(number: int | None, everyone: Longs, out: Longs) -> WithheldGuess:
    hits, most = (int(np.bincount(value).max(initial=0)) for _, value in (out, everyone))
    return WithheldGuess(number, out.shape[1], hits, everyone.shape[1], most)
