"""Cor-Partition and hcSafe as printed, beside the mended ones, on small series: what goes wrong."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.attacks.exclusion_rules import estimate_share, prepare
from seriatim.report import Grid
from seriatim.wiring import wired_workers
from seriatim_papers.claims import Spread, shown_percent
from seriatim_papers.cor_split import METHODS, CorSplitMethod, CorSplitSetting, play_cor_split
from seriatim_papers.cor_split_charts import cor_split_chart_label
from seriatim_papers.cor_split_parts import COMPROMISED, DRAWS
from seriatim_papers.historical.as_printed import printed_groups
from seriatim_papers.memory import GroupMemory
from seriatim_papers.worlds.census import CensusChurn

AS_PRINTED = CorSplitMethod("as printed", GroupMemory.of, printed_groups)
COMPARED = (METHODS[0], AS_PRINTED, METHODS[1], METHODS[2])
CHURNS = (CensusChurn(2_000, 0.10, 6), CensusChurn(2_000, 0.33, 6))
DEGREES = (3, 6)


@dataclass(frozen=True, slots=True)
class PrintedPartition:
    """One method in one series."""

    method: str
    share: float
    """Of people who leave before each release."""
    n: int
    seed: int
    unsafe: int
    """Groups that the mended check finds unsafe, all releases."""
    groups: int
    counterfeits: float
    withheld: float
    width: float
    breached: float


def cor_split_printed(churn: CensusChurn, n: int, seed: int) -> tuple[PrintedPartition, ...]:
    """Publish one series by all methods that are compared."""
    found = []
    for method in COMPARED:
        setting = CorSplitSetting(churn, n=n, seed=seed, n_queries=1, query_every=churn.releases + 1)
        played = play_cor_split(method, setting, wired_workers())
        found.append(
            PrintedPartition(
                method.name,
                churn.share,
                n,
                seed,
                sum(figures.unsafe or 0 for figures in played.figures),
                sum(figures.groups for figures in played.figures),
                played.share("counterfeits"),
                played.share("withheld"),
                sum(figures.gcp for figures in played.figures) / len(played.figures),
                estimate_share(prepare(played.history()), COMPROMISED, DRAWS).share,
            )
        )
    return tuple(found)


def cor_split_printed_grid(found: tuple[PrintedPartition, ...], size: int) -> Grid:
    """Return what goes wrong as a table."""
    rows = []
    for kind in dict.fromkeys((one.share, one.n, one.method) for one in found):
        own = [one for one in found if (one.share, one.n, one.method) == kind]
        unsafe = Spread(tuple(float(one.unsafe) for one in own))
        shares = [
            shown_percent(Spread(tuple(getattr(one, what) for one in own)))
            for what in ("counterfeits", "withheld", "width", "breached")
        ]
        groups = sum(one.groups for one in own) // len(own)
        rows.append((f"{kind[0]:.0%}", f"{kind[1]}", cor_split_chart_label(kind[2]),
                     f"{unsafe.mean:,.0f} of {groups:,}", *shares))  # fmt: skip
    head = ("churn", "n", "method", "unsafe groups (mended check)", "counterfeits", "withheld", "width of boxes",
            "breached to the end")  # fmt: skip
    releases = CHURNS[0].releases
    caption = f"Figures 5 and 6 as printed and mended: {size:,} people, {releases} releases, m = 6; means over seeds"
    return Grid(caption, head, tuple(rows), frozenset({0, 1, *range(3, 8)}))
