"""The sentences of JS-Reduce's evaluation, and what it leaves out, judged by what was run: print beside found."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Protocol

import numpy as np

from seriatim_papers.claims import Claim, Spread
from seriatim_papers.js_reduce import JsReduceOutcome, mean_width
from seriatim_papers.js_reduce_figures import (
    EXACT,
    GREEDY,
    HUNDREDTH,
    JS,
    METHODS,
    MINED,
    OPTIMAL,
    OTHERS,
    PAST,
    SNAPSHOT,
    TENTH,
    MethodFound,
    PairingFound,
    SweepAsked,
    SweepFound,
)

EARLY = 8
"""'The first 6/8 releases'."""
LOW_ERROR = 0.1
"""What we take 'very low' to mean for the median error of counts; the text prints no number."""
GROUPS_ALONE = "Hilbert k 20 alone"
CUT_WITH_J = "optimal k 20, t 0.5, j 0.6 bits"
CUT_GREEDILY = "greedy k 20, t 0.5, j 0.6 nats"


class JudgedStudy(Protocol):
    """What the claims are judged by; every figure by seed."""

    @property
    def n_rows(self) -> int: ...
    def method(self, name: str) -> tuple[MethodFound, ...]: ...
    def pairing(self, method: str, defender: str) -> tuple[PairingFound, ...]: ...
    def sweep(self, asked: SweepAsked) -> tuple[SweepFound, ...]: ...
    def outcomes_of(self, method: str) -> tuple[tuple[JsReduceOutcome, ...], ...]: ...


def gain_at(found: tuple[MethodFound, ...] | tuple[PairingFound, ...], kind: str, release: int) -> Spread:
    """Return the gain of one kind of knowledge at a release, the last one if there are fewer."""
    return Spread(tuple(one.gains[kind].gain[min(release, len(one.gains[kind].gain)) - 1] for one in found))


def most_gained(found: tuple[MethodFound, ...] | tuple[PairingFound, ...], kind: str) -> Spread:
    """Return the largest gain over releases."""
    return Spread(tuple(max(one.gains[kind].gain) for one in found))


def js_reduce_claims(study: JudgedStudy) -> tuple[Claim, ...]:
    """Return every claim."""
    return (*_attacks(study), *_defence(study), *_use(study), *_left_out(study))


def _attacks(study: JudgedStudy) -> Iterator[Claim]:
    first = {name: gain_at(study.method(name), EXACT, 1) for name in METHODS}
    yield Claim(
        "at the first release the gain is very low, whatever the technique (7.3)",
        "< .1",
        _told(first),
        all(one.high < 0.1 for one in first.values()),
    )
    for kind in (EXACT, PAST, MINED):
        early = {name: gain_at(study.method(name), kind, EARLY) for name in OTHERS}
        yield Claim(
            f"knowledge {kind} gains more than .4 within {EARLY} releases of other techniques (Fig. 3)",
            "> .4",
            _told(early),
            all(one.low > 0.4 for one in early.values()),
        )
    blind = {name: most_gained(study.method(name), SNAPSHOT) for name in OTHERS}
    yield Claim(
        "without sequences the gain is negligible (Fig. 4)",
        "negligible; < .1 here",
        _told(blind),
        all(one.high < 0.1 for one in blind.values()),
    )
    last = {name: gain_at(study.method(name), EXACT, 10_000) for name in OTHERS}
    yield Claim(
        "other techniques lead to a gain above .5 (7.4)",
        "> .5",
        _told(last),
        all(one.low > 0.5 for one in last.values()),
    )


def _defence(study: JudgedStudy) -> Iterator[Claim]:
    most = {name: most_gained(study.method(name), EXACT) for name in (GREEDY, OPTIMAL)}
    yield Claim("with JS-reduce the gain stays below .12 (Fig. 4c)", "< .12", _told(most), most[GREEDY].high < 0.12)
    exact = study.pairing(GREEDY, EXACT)
    sizes = [most_gained(exact, kind) for kind in (MINED, TENTH, HUNDREDTH)]
    fewer = [more.less(less) for more, less in pairwise(sizes)]
    yield Claim(
        "an adversary who mined fewer records gains less (Fig. 5a)",
        "less with smaller n",
        "; ".join(map(str, sizes)),
        all(one.low > 0 for one in fewer),
    )
    own, mined = most_gained(exact, PAST), most_gained(exact, MINED)
    apart = own.less(mined)
    yield Claim(
        "knowledge from the past gains as much as a corpus (Fig. 5a)",
        "comparable; within .05 here",
        f"{own} and {mined}",
        max(-apart.low, apart.high) < 0.05,
    )
    for defender in (PAST, MINED):
        worst = {name: most_gained(study.pairing(name, defender), EXACT) for name in (GREEDY, OPTIMAL)}
        yield Claim(
            f"the defender knows what is {defender}, the adversary all: below .25 (Fig. 5b, c)",
            "< .25",
            _told(worst),
            worst[GREEDY].high < 0.25,
        )
    grown = {name: _grown(study.method(name)) for name in (*OTHERS, GREEDY, OPTIMAL)}
    yield Claim(
        "under JS-reduce the adversary's confidence does not grow with the history (Fig. 6)",
        "not significantly; by < .05 here",
        _told(grown),
        grown[GREEDY].high < 0.05,
    )
    yield Claim(
        "under the others it grows (Fig. 6)",
        "to high confidence; by > .2 here",
        _told({name: grown[name] for name in OTHERS}),
        all(grown[name].low > 0.2 for name in OTHERS),
    )
    for name in (GREEDY, OPTIMAL):
        swept = [Spread(tuple(max(one.gain) for one in study.sweep(SweepAsked(name, t=0.5, j=j)))) for j in JS]
        yield Claim(
            f"the lower j, the lower the gain: {name} (Fig. 7)",
            "rises with j",
            "; ".join(map(str, swept)),
            all(b.less(a).low > 0 for a, b in pairwise(swept)),
        )


def _use(study: JudgedStudy) -> Iterator[Claim]:
    width = {name: Spread(tuple(mean_width(one.losses) for one in study.method(name))) for name in METHODS}
    yield Claim(
        "JS-reduce generalises least (GCP of groups, Fig. 8a)",
        "outperforms the others",
        _told(width),
        all(width[name].less(width[GREEDY]).low > 0 for name in OTHERS),
    )
    error = {name: Spread(tuple(one.errors[0] for one in study.method(name))) for name in (GREEDY, OPTIMAL)}
    yield Claim(
        "the median error is very low even where 1 % is asked for (Fig. 8b)",
        f"very low; < {LOW_ERROR:g} here",
        _told(error),
        error[GREEDY].high < LOW_ERROR,
    )
    for name in (GREEDY, OPTIMAL):
        out = [n for one in study.method(name) for n in one.dropped]
        yield Claim(
            f"at most 12 tuples (.25 %) of a view are suppressed: {name}",
            "12",
            f"median {int(np.median(out))}, most {max(out)} of {study.n_rows:,}",
            max(out) <= 12,
        )
    taken = [second for one in study.method(GREEDY) for second in one.seconds]
    yield Claim(
        "a view takes a few to 43 minutes (2.4 GHz, 4 GB)",
        "at most 43 min",
        f"of processor time median {np.median(taken):.3g} s, most {max(taken):.3g} s",
        max(taken) <= 43 * 60,
    )


def _left_out(study: JudgedStudy) -> Iterator[Claim]:
    greedy = study.outcomes_of(CUT_GREEDILY)
    back = Spread(tuple(max(float(np.mean(one.back.gain)) for one in runs) for runs in greedy))
    ahead = Spread(tuple(max(max(one.omega.gain) for one in runs) for runs in greedy))
    yield Claim(
        "an adversary gains no more than the forward one (ours)",
        "one attack",
        f"looking back {back} in the mean, forward {ahead} at most",
        back.less(ahead).high <= 0,
    )
    with_j, alone = (
        Spread(tuple(max(max(one.omega.gain) for one in runs) for runs in study.outcomes_of(name)))
        for name in (CUT_WITH_J, GROUPS_ALONE)
    )
    yield Claim(
        "j protects, not the size of groups alone (ours)",
        "not compared",
        f"best cut with j and t {with_j}, groups of 20 without {alone}",
        alone.less(with_j).low > 0.05,
    )
    cuts = [one.cut_points for one in study.method(GREEDY)]
    exposed, before, after = (
        Spread(tuple(getattr(one, what) for one in cuts)) for what in ("exposed", "before", "after")
    )
    yield Claim(
        "where groups end says nothing (ours)",
        "not mentioned",
        f"{exposed} of groups exposed; confidence {before}, knowing it {after}",
        exposed.high < 0.01,
    )
    apart = Spread(tuple(one.suppression for one in study.method(GREEDY)))
    yield Claim(
        "who is suppressed says nothing about values (ours)",
        "'may be prone'",
        f"values of those dropped differ from the others' by {apart} (total variation)",
        apart.high < 0.05,
    )


def _grown(found: tuple[MethodFound, ...]) -> Spread:
    """Return by how much belief in the truth grows from the first release to the last."""
    curves = [one.gains[EXACT].confidence for one in found]
    return Spread(tuple(curve[-1] - curve[0] for curve in curves))


def _told(found: dict[str, Spread]) -> str:
    return "; ".join(f"{name} {spread}" for name, spread in found.items())
