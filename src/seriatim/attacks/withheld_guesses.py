"""Withheld: what being in the view and not in the release reveals about somebody's value.

Methods withhold people whom no group can hide. Which people these are depends on values: a method that leaves out the
surplus of a frequent value withholds nobody else, and anyone who knows that somebody was left out knows what they hold.
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
    """What being withheld reveals, release by release and over the series."""

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

    @property
    def risk(self) -> tuple[float, float, float]:
        """Return (rate - control) / (1 - control) with its interval; the control is the best guess about anyone."""
        one, control = self.estimate, self.series.margin_share
        if control >= 1 or not one.n_people:
            return 0.0, 0.0, 0.0
        share, low, high = ((rate - control) / (1 - control) for rate in (one.share, one.low, one.high))
        return share, low, high


def withheld(history: History) -> WithheldGuesses:
    """Return how often the best guess about withheld people is right, against the best guess about anyone.

    A release that does not say who was withheld counts as one that withheld nobody.
    """
    domain = _domain(history)
    shown = _codes(history.values, domain)
    out = {past.number: _codes(past.withheld.value, domain) for past in history if past.withheld is not None}
    releases = [_guess_in(past, shown, out.get(past.number, _NOBODY), len(domain)) for past in history]
    everyone, missing = _nobody_yet(history), _nobody_yet(history)
    for past in reversed(history.releases):  # an earlier release takes the place of a later one
        if past.withheld is not None:
            everyone[past.withheld.person[::-1]] = missing[past.withheld.person[::-1]] = out[past.number][::-1]
        everyone[past.person[::-1]] = shown[past.value[::-1]]
    series = _guess(None, *(_counts(first[:-1], len(domain)) for first in (missing, everyone)))
    return WithheldGuesses(tuple(releases), series)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessCertainty:
    """When the guess about withheld people counts as certain."""

    above: float
    """It is right about more than this share of them."""
    raised: float
    """And its odds are this many times those of a guess about anyone in the view."""
    m: int | None = None
    """The method withholds the surplus of values above one m-th: everyone knows it of such a value, few as they are."""


def people_guessed(history: History, asked: GuessCertainty) -> Longs:
    """Return the people, by index, about whom the guess is certain and right in some release.

    Otherwise few people prove nothing: the lower end of the interval has to be certain.
    """
    domain, found = _domain(history), [_NOBODY]
    shown = _codes(history.values, domain)
    for past in history:
        if past.withheld is None or not len(past.withheld.person):
            continue
        out = _codes(past.withheld.value, domain)
        missing, everyone = _missing_and_everyone(past, shown, out, len(domain))
        guess = int(missing.argmax())
        # the attacker guesses the value that most of the missing people hold: view less release shows it
        hits, n = int(missing[guess]), int(missing.sum())
        margin = everyone[guess] / everyone.sum()
        surplus = asked.m is not None and asked.m * everyone[guess] > everyone.sum()
        # a surplus is certain by the method itself, however few people: no interval is needed
        sure = (hits / n if surplus else exact_interval(hits, n)[0]) > asked.above
        if sure and hits * (1 - margin) >= asked.raised * margin * (n - hits):
            found.append(past.withheld.person[out == guess].astype(np.int64))
    return np.unique(np.concatenate(found))


_NOBODY: Longs = np.empty(0, dtype=np.int64)


def _nobody_yet(history: History) -> Longs:
    """Return no value for everyone, and one place more: counterfeits, who are person -1, write there."""
    return np.full(len(history.respondents) + 1, -1, dtype=np.int64)


def _domain(history: History) -> pa.Array:
    texts = [history.values, *(past.withheld.value for past in history if past.withheld is not None)]
    return pc.unique(pa.chunked_array([pc.cast(one, pa.string()) for one in texts], pa.string()))


def _codes(values: pa.Array, domain: pa.Array) -> Longs:
    found: Longs = pc.index_in(pc.cast(values, pa.string()), value_set=domain).to_numpy(zero_copy_only=False)
    return found.astype(np.int64)


def _counts(codes: Longs, n_values: int) -> Longs:
    """Return how many hold each value; -1 is nobody's."""
    return np.bincount(codes + 1, minlength=n_values + 1)[1:]


def _guess_in(past: PastRelease, shown: Longs, out: Longs, n_values: int) -> WithheldGuess:
    """Return the guess about the people whom one release withheld."""
    return _guess(past.number, *_missing_and_everyone(past, shown, out, n_values))


def _missing_and_everyone(past: PastRelease, shown: Longs, out: Longs, n_values: int) -> tuple[Longs, Longs]:
    """Return how many of those withheld hold each value, and of everyone in the view."""
    counterfeits = past.person < 0
    value = past.value[~counterfeits] if counterfeits.any() else past.value
    missing = _counts(out, n_values)
    everyone = missing.copy()
    np.add.at(everyone, shown, np.bincount(value, minlength=len(shown)))
    return missing, everyone


def _guess(number: int | None, out: Longs, everyone: Longs) -> WithheldGuess:
    """Return the guess from how many of the people withheld, and of everyone in the view, hold each value."""
    hits, most = int(out.max(initial=0)), int(everyone.max(initial=0))
    return WithheldGuess(number, int(out.sum()), hits, int(everyone.sum()), most)
