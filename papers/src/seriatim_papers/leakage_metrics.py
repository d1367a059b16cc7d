"""Compares distances between beliefs: along one-parameter families, and over the classes of a real table.

Fig. 1 of Ren and Li argues that most distances say the same and that only the entropy distance differs. Here the
families are stated, and rank correlations over real classes put a number on the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from seriatim.model.chance import open_chance
from seriatim.model.chart import Chart, ChartAxis, Heatmap, Line, Lines
from seriatim.model.class_counts import ValueCounts
from seriatim.model.scale import FloatArray
from seriatim_papers.claims import DrawnAgain

Metric = Callable[[FloatArray, FloatArray], float]
STEPS = 41
SEED = 2_026


def metric_l1(a: FloatArray, x: FloatArray) -> float:
    return float(np.abs(a - x).sum())


def metric_l2(a: FloatArray, x: FloatArray) -> float:
    """Return the distribution leakage."""
    return float(np.linalg.norm(a - x))


def metric_ordered_emd(a: FloatArray, x: FloatArray) -> float:
    return float(np.abs(np.cumsum(x - a)).sum() / (len(a) - 1))


def metric_kl(a: FloatArray, x: FloatArray) -> float:
    """Return the bits of the posterior from the prior; infinite if the prior is 0."""
    held = x > 0
    with np.errstate(divide="ignore"):
        return max(float((x[held] * np.log2(x[held] / a[held])).sum()), 0.0)


def metric_js(a: FloatArray, x: FloatArray) -> float:
    """Return the Jensen-Shannon divergence in bits."""
    middle = (a + x) / 2
    return (metric_kl(middle, a) + metric_kl(middle, x)) / 2


def metric_hellinger(a: FloatArray, x: FloatArray) -> float:
    return float(np.linalg.norm(np.sqrt(a) - np.sqrt(x)) / np.sqrt(2))


def _entropy_distance(a: FloatArray, x: FloatArray) -> float:
    return abs(_bits(a) - _bits(x))


def _bits(x: FloatArray) -> float:
    held = x[x > 0]
    return float(-(held * np.log2(held)).sum())


METRICS: Mapping[str, Metric] = {
    "L1": metric_l1,
    "L2": metric_l2,
    "ordered EMD": metric_ordered_emd,
    "KL": metric_kl,
    "JS": metric_js,
    "Hellinger": metric_hellinger,
    "entropy distance": _entropy_distance,
}

_SLOPE = np.arange(9, 0, -1) / 45.0
FAMILIES: Mapping[str, tuple[FloatArray, FloatArray]] = {
    "towards one value": (np.full(9, 1 / 9), np.eye(9)[0]),
    "towards an even spread": (_SLOPE, np.full(9, 1 / 9)),
    "towards the reverse": (_SLOPE, _SLOPE[::-1].copy()),
}
"""A prior, and the belief that the posterior moves to in even steps."""


def metric_family_charts() -> dict[str, Chart]:
    """Chart Fig. 1: each distance along each family."""
    steps = np.linspace(0.0, 1.0, STEPS)
    charts = {}
    for title, (prior, end) in FAMILIES.items():
        posteriors = [(1 - s) * prior + s * end for s in steps]
        lines = tuple(
            Line(name, tuple(float(s) for s in steps), tuple(metric(prior, x) for x in posteriors))
            for name, metric in METRICS.items()
        )
        charts[f"fig1_{title.replace(' ', '_')}"] = Chart(
            f"Fig. 1: distances as belief moves {title}",
            Lines(lines),
            x=ChartAxis("share of the way"),
            y=ChartAxis("distance"),
            caption="Nine values in order.",
        )
    return charts


def metric_ranks(seen: ValueCounts) -> FloatArray:
    """Return the ranks of all classes with records (columns) by each distance from the margin (rows)."""
    from scipy.stats import rankdata

    counts = seen.dense()
    counts = counts[counts.sum(axis=1) > 0]
    shares = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray([rankdata([metric(seen.margin, x) for x in shares]) for metric in METRICS.values()])


def metric_rank_correlations(ranks: FloatArray) -> FloatArray:
    """Return Spearman correlations of the distances; a distance that is the same everywhere correlates with none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.corrcoef(ranks)
    return np.asarray(np.where(np.isnan(found), np.eye(len(ranks)), found), dtype=np.float64)


def apart_from_others(ranks: FloatArray, draws: int = 200) -> dict[str, DrawnAgain]:
    """Return how the entropy distance correlates with each other one, over the classes and over classes drawn again."""
    n, apart = ranks.shape[1], list(METRICS).index("entropy distance")
    chance = open_chance(SEED, "classes again")
    again = [metric_rank_correlations(ranks[:, chance.integers(0, n, n)])[apart] for _ in range(draws)]
    found = metric_rank_correlations(ranks)[apart]
    return {
        name: DrawnAgain(float(found[at]), tuple(float(one[at]) for one in again))
        for at, name in enumerate(METRICS)
        if at != apart
    }


def metric_correlation_chart(correlations: FloatArray, n_classes: int, name: str) -> Chart:
    """Chart how alike the distances order the classes of a table."""
    names = tuple(METRICS)
    cells = tuple(tuple(float(c) for c in row) for row in correlations)
    return Chart(
        f"Rank correlations of distances over {n_classes:,} classes of {name}",
        Heatmap(names, names, cells),
        x=ChartAxis("distance"),
        y=ChartAxis("distance"),
        value=ChartAxis("Spearman correlation"),
        caption="1: both order the classes in one way.",
    )
