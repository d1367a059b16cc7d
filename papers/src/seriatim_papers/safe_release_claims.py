"""What Bezzi et al. conclude from Figures 12 to 19, judged by the replays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from seriatim_papers.claims import Claim, Spread
from seriatim_papers.safe_release import (
    FIGURE_19,
    PAPER_TESTS,
    SafeReleaseCounts,
    StoppedRuns,
    safe_release_fitting,
    safe_release_rules,
)
from seriatim_papers.safe_release_counts import FIGURE_2, LOCATIONS
from seriatim_papers.safe_release_figures import PATHS, SafeReleaseApproximation, SafeReleaseEvolution

PRINTED_SEQUENCES = 20
PRINTED_18 = (500, 580, 952, 952, 952)
_TOTALS = FIGURE_2.sum(axis=0)
_Shares = Mapping[tuple[str, float], SafeReleaseCounts]


def safe_release_claims(
    released: Sequence[SafeReleaseCounts],
    also_safe: Mapping[str, Sequence[float]],
    evolutions: Sequence[Sequence[SafeReleaseEvolution]],
    approximations: Sequence[SafeReleaseApproximation],
    stopped: Sequence[StoppedRuns],
) -> tuple[Claim, ...]:
    """Judge what sections 5 to 7 say; evolutions are those of several sequences."""
    crossed = max(len(one.left[0].numbers) for one in released) // 2
    of = {(one.test, one.alpha): one for one in released if one.printed}
    return (
        *_approximated(approximations),
        *_evolved(evolutions),
        *(_reproduced(one) for one in of.values()),
        *_by_level(of),
        *_by_place(of),
        *_beyond_fitting(of),
        *_crossed(also_safe, max(crossed, 1)),
        _stops(stopped),
    )


def _approximated(approximations: Sequence[SafeReleaseApproximation]) -> tuple[Claim, ...]:
    """Figs. 5 and 7: rescaled statistics follow chi-square."""
    above = [one.above for one in approximations]
    found = ", ".join(f"{share:.1%} ± {_half(share, PATHS):.1%}" for share in above)
    words = "rescaled statistics follow chi-square (Figs. 5 and 7): 18.5 to 21.5 % of samples above the 20 % value"
    return (Claim(words, "nicely holds", found, all(abs(share - 0.2) < 0.015 for share in above)),)


def _evolved(evolutions: Sequence[Sequence[SafeReleaseEvolution]]) -> tuple[Claim, ...]:
    """Figs. 12 to 15: below the limit, and nearer to it as more leaves."""
    claims = []
    for test, figure in zip(PAPER_TESTS, (12, 13, 14, 15), strict=True):
        ratios = [
            [np.divide(one.statistic, one.critical) for one in sequence if one.test == test] for sequence in evolutions
        ]
        most = max(float(ratio.max()) for sequence in ratios for ratio in sequence)
        nearer = Spread(tuple(
            float(np.mean([r[len(r) // 2 :].mean() - r[: len(r) // 2].mean() for r in sequence])) for sequence in ratios
        ))  # fmt: skip
        found = (
            f"at most {most:.6f} of the limit; in the second half nearer by {nearer} of it, in {len(ratios)} sequences"
        )
        words = f"Fig. {figure}: {test} stays below its limit and comes nearer"
        claims.append(Claim(words, "so", found, most < 1 and nearer.low > 0))
    begins = {test: [min(one.releases[0] for one in seq if one.test == test) for seq in evolutions]
              for test in ("cst", "dqt")}  # fmt: skip
    for test, printed, limit in (("cst", "about 10", (5, 20)), ("dqt", "5", (3, 8))):
        told = f"from record {min(begins[test]):.0f} to {max(begins[test]):.0f} on, in {len(evolutions)} sequences"
        holds = limit[0] <= min(begins[test]) and max(begins[test]) <= limit[1] + 1
        claims.append(
            Claim(f"7.1: {test} judges nothing for the first few records, of all locations", printed, told, holds)
        )
    return (*claims, *(_jump(test) for test in ("mis", "kld")))


def _jump(test: str) -> Claim:
    """Figs. 12 and 13: what happens to the printed critical value where simulation ends, on the scale of G."""
    table = safe_release_rules((test,), 0.2, plain=True).tables[test]
    n = np.arange(len(table))
    before, after = (2 * n * np.log(2) * table)[-2:]
    found = f"{before:.2f} at {n[-2]} records, {after:.2f} at {n[-1]} ({after / before - 1:+.1%} of 2 N ln 2 x bits)"
    words = f"the switch of {test} to chi-square cannot be noticed (Figs. 12 and 13): 5 % or less"
    return Claim(words, "not noticed", found, bool(abs(after / before - 1) <= 0.05))


def _half(share: float, n: int) -> float:
    """Return half the width of the 95 % interval of a share of n."""
    return float(1.96 * (share * (1 - share) / n) ** 0.5)


def _reproduced(one: SafeReleaseCounts) -> Claim:
    """Figure 16: are our means those of 20 sequences that the paper drew?"""
    z = [_apart(own, printed) for own, printed in zip(one.left, one.printed, strict=True)]
    worst = int(np.argmax(np.abs(z)))
    found = f"{', '.join(f'{own.mean:.0f}' for own in one.left)}; furthest {LOCATIONS[worst]}, {z[worst]:+.1f} sd"
    words = f"Fig. 16: records released by {one.test} at {one.alpha:.0%}, {LOCATIONS[0]} to {LOCATIONS[-1]}"
    return Claim(words, ", ".join(f"{n:.0f}" for n in one.printed), found, max(map(abs, z)) < 3)


def _apart(own: Spread, printed: float) -> float:
    """Return how many standard deviations of the difference of two means they are apart."""
    sd = float(np.std(own.numbers, ddof=1)) if len(own.numbers) > 1 else float("inf")
    error = sd * (1 / PRINTED_SEQUENCES + 1 / len(own.numbers)) ** 0.5
    return (own.mean - printed) / error if error else (0.0 if own.mean == printed else float("inf"))


def _by_level(of: _Shares) -> tuple[Claim, ...]:
    more = {test: of[test, 0.05].total.less(of[test, 0.2].total) for test in PAPER_TESTS}
    found = "; ".join(f"{test} {one.mean:+.0f} ({one.low:.0f} to {one.high:.0f})" for test, one in more.items())
    return (
        Claim("5 % releases more than 20 % by every test (7.2)", "more", found, all(m.low > 0 for m in more.values())),
    )


def _by_place(of: _Shares) -> tuple[Claim, ...]:
    """Section 7.2: which location gets least and most, by share of its records."""
    wanted: tuple[tuple[str, Callable[[Sequence[float]], float], float, dict[str, str]], ...] = (
        ("least", min, 0.2, {"mis": "L2", "cst": "L2", "kld": "L1"}),
        ("least", min, 0.05, {"mis": "L2", "cst": "L2", "kld": "L1", "dqt": "L3"}),
        ("most", max, 0.2, {"mis": "L3", "kld": "L3", "cst": "L3", "dqt": "L5"}),
        ("most", max, 0.05, {"mis": "L3", "kld": "L4", "cst": "L4", "dqt": "L4"}),
    )
    claims = []
    for words, pick, alpha, printed in wanted:
        found = {}
        for test in printed:
            shares = of[test, alpha].shares
            at = shares.index(pick(shares))
            found[test] = (LOCATIONS[at], f"{shares[at]:.1%} ± {of[test, alpha].left[at].half / _TOTALS[at]:.1%}")
        told = ", ".join(f"{test} {place} ({share})" for test, (place, share) in found.items())
        asked = ", ".join(f"{test} {place}" for test, place in printed.items())
        holds = all(found[test][0] == place for test, place in printed.items())
        claims.append(Claim(f"7.2: the location that gets {words} of its records at {alpha:.0%}", asked, told, holds))
    for alpha in (0.2, 0.05):
        totals = {test: of[test, alpha].total for test in PAPER_TESTS}
        first = max(totals, key=lambda test: totals[test].mean)
        n = FIGURE_2.sum()
        told = ", ".join(f"{test} {one.mean / n:.1%} ± {one.half / n:.1%}" for test, one in totals.items())
        claims.append(Claim(f"7.2: the test that releases most at {alpha:.0%}", "dqt", told, first == "dqt"))
    return tuple(claims)


def _beyond_fitting(of: _Shares) -> tuple[Claim, ...]:
    """Section 7.2: every test releases more than fitting the baseline exactly, mostly more than twice as much."""
    fitted = safe_release_fitting()
    ratios = {
        f"{test} at {alpha:.0%}, {place}": one.left[at].mean / fitted[at]
        for (test, alpha), one in of.items()
        for at, place in enumerate(LOCATIONS)
    }
    less = [name for name, ratio in ratios.items() if ratio <= 1]
    twice = sum(ratio > 2 for ratio in ratios.values())
    own = sum(n > 2 * fits for one in of.values() for n, fits in zip(one.printed, PRINTED_18, strict=True))
    told = f"{twice} of {len(ratios)} more than twice; {len(less)} less{': ' if less else ''}{'; '.join(less)}"
    as_printed = all(abs(a - b) < 1 for a, b in zip(fitted, PRINTED_18, strict=True))
    return (
        Claim("Fig. 18: records that fit the baseline", ", ".join(map(str, PRINTED_18)),
              ", ".join(f"{n:.2f}" for n in fitted), as_printed),
        Claim("tests release more than fitting would, in most cases more than twice as much",
              f"all but 2, most (by its own figures {own} of {len(ratios)})", told,
              len(less) <= 2 and 2 * twice > len(ratios)),
    )  # fmt: skip


def _crossed(also_safe: Mapping[str, Sequence[float]], n: int) -> tuple[Claim, ...]:
    """Section 7.3: which test is the most restrictive on what others release."""
    kld, dqt = PAPER_TESTS.index("kld"), PAPER_TESTS.index("dqt")
    by_kld = [also_safe[test][kld] for test in PAPER_TESTS if test != "kld"]
    by_dqt = [also_safe[test][dqt] for test in PAPER_TESTS if test != "dqt"]
    of_dqt = [share for at, share in enumerate(also_safe["dqt"]) if at != dqt]
    return (
        Claim("Fig. 19: of what others release none is safe by kld", "0, 0, 0", _percents(by_kld, n), max(by_kld) == 0),
        Claim("Fig. 19: of dqt's releases none is safe by another", "0, 0, 0", _percents(of_dqt, n), max(of_dqt) == 0),
        Claim("Fig. 19: of what others release about half is safe by dqt",
              ", ".join(str(FIGURE_19[test][dqt]) for test in PAPER_TESTS if test != "dqt"), _percents(by_dqt, n),
              all(30 <= share <= 75 for share in by_dqt)),
    )  # fmt: skip


def _stops(stopped: Sequence[StoppedRuns]) -> Claim:
    """Section 6: does the printed switch to chi-square let every sequence go on?"""
    told = "; ".join(
        f"{one.test}, {one.table}, {'as printed' if one.plain else 'ours'}: {one.stopped} of {one.n_sequences} stop"
        for one in stopped
    )
    return Claim("critical values pass smoothly from simulation to chi-square (section 6)", "cannot be noticed", told,
                 not any(one.stopped for one in stopped if one.plain))  # fmt: skip


def _percents(shares: Sequence[float], n: int) -> str:
    return f"{', '.join(f'{share:.0f} ± {100 * _half(share / 100, n):.0f} %' for share in shares)} of {n}"
