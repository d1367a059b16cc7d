"""The sentences of Cor-Split's analysis and evaluation, judged by what was run: print beside found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from seriatim_papers.claims import Claim, Spread, shown_percent
from seriatim_papers.cor_split import SELECTIVITIES
from seriatim_papers.cor_split_charts import cor_split_chart_label
from seriatim_papers.cor_split_example import cor_split_example, cor_split_example_told
from seriatim_papers.cor_split_parts import COMPROMISED, CorSplitRuns, DegreeSweep
from seriatim_papers.cor_split_printed import PrintedPartition
from seriatim_papers.degree import breach_probability

Scenarios = Mapping[str, Sequence[CorSplitRuns]]
PROMISED = 0.1
"""The paper's h."""
FEW, CLOSE = 0.01, 0.1
"""What we take 'a few counterfeits' (share of rows) and 'very close' (of the error) to mean; no number is printed."""


def closed_form_claims() -> Iterator[Claim]:
    """Judge what section 3 and Figure 3 say, by the formula alone."""
    at = {(n, L): breach_probability(COMPROMISED, L, 6, n).total for n in (1, 2, 3) for L in (21, 24)}
    told = "; ".join(f"n = {n} {at[n, 21]:.4f}, {at[n, 24]:.4f}" for n in (1, 2, 3))
    least = {
        L: next((n for n in range(1, 7) if breach_probability(COMPROMISED, L, 6, n).total < PROMISED), 0)
        for L in (21, 24)
    }
    yield Claim(
        "n-Choose gives n = 3 for p = .04, m = 6, h = .1 and 21 or 24 releases",
        "3 and 3",
        f"{least[21]} and {least[24]}",
        set(least.values()) == {3},
    )
    yield Claim(
        "p_pb is lower than .15 with n = 2 and lower than .1 with n = 3 (Fig. 2c; 21, 24 releases)",
        "< .15, < .1",
        told,
        at[2, 24] < 0.15 and at[3, 24] < PROMISED,
    )


def example_claims() -> Iterator[Claim]:
    """Judge Example 1: Carl alone makes the sentence true."""
    carl, both = cor_split_example()[1:]
    yield Claim(
        "Example 1: Carl's tuple is compromised, and the adversary concludes that Erica has AIDS",
        "Erica",
        f"Carl known: {cor_split_example_told(carl)}",
        carl.breached == ("Erica",),
    )
    yield Claim(
        "where Erica is known as well, nobody else is breached (ours)",
        "not printed",
        f"Carl and Erica known: {cor_split_example_told(both)}",
        not both.breached,
    )


def scenario_claims(scenarios: Scenarios) -> Iterator[Claim]:
    """Judge section 5 and Theorem 3 in every scenario that was run."""
    for name, methods in scenarios.items():
        runs = {one.method: one for one in methods}
        plain, split = runs["invariant"], runs["cor-split"]
        unsafe, none = plain.unsafe, split.unsafe
        assert unsafe is not None
        assert none is not None
        yield Claim(
            f"m-invariance releases many hc-unsafe groups (Fig. 7): {name}",
            "many",
            f"{unsafe.mean:,.0f} ({unsafe.low:,.0f} to {unsafe.high:,.0f}) over all releases",
            unsafe.low > 0,
        )
        yield Claim(f"Cor-Split releases none: {name}", "0", f"{none.mean:,.0f} of its groups", none.high == 0)
        fakes = split.spread(lambda one: one.played.share("counterfeits"))
        yield Claim(
            f"Cor-Split introduces a few counterfeits (Fig. 8): {name}",
            f"a few; < {FEW:.0%} of rows here",
            shown_percent(fakes),
            fakes.high < FEW,
        )
        beside = {share: _ratio(split.error(share), plain.error(share)) for share in SELECTIVITIES}
        yield Claim(
            f"its counts are as accurate as m-invariance's (Fig. 9): {name}",
            f"very close; within {CLOSE:.0%} here",
            "; ".join(f"at {share:.0%} {ratio} times the error" for share, ratio in beside.items()),
            all(ratio.high < 1 + CLOSE for ratio in beside.values()),
        )
        for method, run in runs.items():
            if method in ("cor-split", "repaired"):
                yield Claim(
                    f"a tuple is breached with a chance below h, every conclusion drawn once (Theorem 3): "
                    f"{cor_split_chart_label(method)}, {name}",
                    f"< {PROMISED:.0%}",
                    shown_percent(run.once),
                    run.once.high < PROMISED,
                )
                yield Claim(
                    f"the same, drawing every conclusion (ours): {cor_split_chart_label(method)}, {name}",
                    "not considered",
                    shown_percent(run.breached),
                    run.breached.high < PROMISED,
                )
        wrong = sum(seed.once.wrong + seed.iterated.wrong for one in methods for seed in one.seeds)
        n_runs = sum(len(one.seeds) for one in methods)
        yield Claim(
            f"no inference is wrong (Theorem 1): {name}",
            "sound",
            f"{wrong} wrong in {n_runs} series of {methods[0].seeds[0].played.n_people:,} people",
            wrong == 0,
        )


def swept_claims(swept: Sequence[DegreeSweep]) -> Iterator[Claim]:
    """Judge what is said of other m and n."""
    split = [one for one in swept if one.method == "cor-split"]
    if not split:
        return
    unsafe, pairs = sum(one.unsafe for one in split), {(one.m, one.n) for one in split}
    yield Claim(
        "m = 4 to 10, n = 1 to 5 'lead to the same conclusions': no unsafe group",
        "0",
        f"{unsafe} in {len(split)} series of {len(pairs)} pairs",
        unsafe == 0,
    )
    wide = [one for one in split if one.n == 5 and one.m > 5]
    if wide:
        fakes = Spread(tuple(one.counterfeits for one in wide))
        yield Claim(
            "... and a few counterfeits, also with n = 5",
            f"a few; < {FEW:.0%} here",
            f"{shown_percent(fakes)} with n = 5 and m = {', '.join(map(str, sorted({o.m for o in wide})))}",
            fakes.high < FEW,
        )


def printed_claims(found: Sequence[PrintedPartition]) -> Iterator[Claim]:
    """Judge Figures 5 and 6 word by word."""
    own = [one for one in found if one.method == "as printed" and one.n == 3]
    if not own:
        return
    unsafe = Spread(tuple(one.unsafe / one.groups for one in own))
    yield Claim(
        "groups that hcSafe (Figure 6) passes are hc-safe with degree 3 (Definition 7)",
        "all",
        f"{shown_percent(unsafe)} of groups are not; a larger group passes by its size",
        unsafe.high == 0,
    )
    ends = Spread(tuple(one.withheld for one in found if one.method == "as printed" and one.n == 6))
    yield Claim(
        "Cor-Partition ends and publishes everybody, n up to m (Figure 5)",
        "0% left",
        f"with n = m = 6 {shown_percent(ends)} are left when nothing moves any more",
        ends.high == 0,
    )


def _ratio(one: Spread, other: Spread) -> Spread:
    return Spread(tuple(a / max(b, 1e-12) for a, b in zip(one.numbers, other.numbers, strict=True)))
