"""The charts of an audit: column names, class numbers and counts, never a value of a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from seriatim.measures.leakage_given import (
    BeliefMoved,
    KnownAttribute,
    all_column_pairs,
    all_column_sets,
    column_by_column,
)
from seriatim.model.audited import AuditedTable
from seriatim.model.chart import Bars, Chart, ChartAxis, Heatmap, Line, Lines, histogram_of
from seriatim.model.classes import Classes

if TYPE_CHECKING:
    from seriatim.usecases.audit.audit import ColumnBlock

WORST = 12
COMPARED = 6
POINTS = 200


def drawn(audited: AuditedTable, blocks: Sequence[ColumnBlock], membership: Classes) -> dict[str, Chart]:
    """Return the charts by name, in reading order."""
    given = [KnownAttribute(c.name, c.codes, c.n_values) for c in audited.given]
    targets = [KnownAttribute(c.name, c.codes, len(c.scale)) for c in audited.sensitive]
    found = {"class_sizes": _sizes(membership)}
    for block, target in zip(blocks, targets, strict=True):
        worst, growing, compared = names_about(block.column)
        found[worst] = _worst_classes(block)
        found[growing] = _growth_chart(target, given)
        found[compared] = _combinations_chart(list(all_column_sets(target, given, 2)), block.column)
    found.update(_pair_charts([*given, *targets]))
    return found


def names_about(column: str) -> tuple[str, str, str]:
    """Return the names of the charts about one sensitive column."""
    return f"worst_classes_{column}", f"growth_{column}", f"combinations_{column}"


def _pair_charts(attributes: Sequence[KnownAttribute]) -> dict[str, Chart]:
    """Chart target by known column, both directions of every pair: once in bits, once as distance."""
    names = tuple(a.name for a in attributes)
    found = {(p.target, p.given[0]): p for p in all_column_pairs(attributes)}
    known, learnt = ChartAxis("column known"), ChartAxis("column learnt")

    def cells(figure: str) -> tuple[tuple[float, ...], ...]:
        return tuple(
            # what remains of sums that cancel is no leakage
            tuple(float("nan") if t == g else round(float(getattr(found[t, g], figure)), 9) + 0.0 for g in names)
            for t in names
        )

    return {
        "pairs_entropy": Chart(
            "What one column reveals about another, in bits",
            Heatmap(names, names, cells("mean_l_e")),
            caption="Mean entropy leakage over records: certainty about the row when the column is known.",
            value=ChartAxis("bits"),
            x=known,
            y=learnt,
        ),
        "pairs_distribution": Chart(
            "What one column reveals about another, as distance",
            Heatmap(names, names, cells("mean_l_d")),
            caption="Mean distribution leakage over records: how far belief about the row moves.",
            value=ChartAxis("Euclidean distance"),
            x=known,
            y=learnt,
        ),
    }


def _growth_chart(target: KnownAttribute, given: Sequence[KnownAttribute]) -> Chart:
    """Chart the leakage as one more column is known, in the policy's order."""
    steps = column_by_column(target, given)
    x = tuple(float(n) for n in range(1, len(steps) + 1))

    def line(name: str, figure: str) -> Line:
        return Line(name, x, tuple(float(abs(getattr(step, figure))) for step in steps))

    lines = (
        line("distance, mean of records", "mean_l_d"),
        line("distance, worst class", "max_l_d"),
        line("distance by chance", "null_l_d"),
        line("bits, mean of records", "mean_l_e"),
        line("bits, worst class", "max_l_e"),
    )
    return Chart(
        f"What is learnt about {target.name} as more is known",
        Lines(lines),
        x=ChartAxis("columns known"),
        y=ChartAxis("leakage"),
        caption="Columns in the order of the policy. Where a curve follows chance, classes are merely small.",
    )


def _combinations_chart(found: Sequence[BeliefMoved], column: str) -> Chart:
    """Chart sets of columns class by class, the worst class first: Fig. 4 of Ren and Li."""
    chosen = sorted(found, key=lambda g: (-g.mean_l_d, g.given))[:COMPARED]
    lines = []
    for given in chosen:
        leaks = np.sort(np.nan_to_num(given.l_d))[::-1]
        shown = np.unique(np.linspace(0, len(leaks) - 1, min(len(leaks), POINTS)).astype(np.int64))
        name = f"{' + '.join(given.given)} ({given.n_classes} classes)"
        lines.append(Line(name, tuple(float(i + 1) for i in shown), tuple(float(leaks[i]) for i in shown)))
    return Chart(
        f"Which columns together reveal most about {column}",
        Lines(tuple(lines)),
        x=ChartAxis("class, worst first", log=True),
        y=ChartAxis("distribution leakage"),
        caption="Each curve is one set of known columns; the sets that leak most on average are shown.",
    )


def _worst_classes(block: ColumnBlock) -> Chart:
    leaks = np.nan_to_num(block.figures["l_d"])
    worst = np.argsort(-leaks, kind="stable")[:WORST]
    return Chart(
        f"Classes that reveal most about {block.column}",
        Bars(tuple(f"class {c}" for c in worst), tuple(float(leaks[c]) for c in worst)),
        x=ChartAxis("class"),
        y=ChartAxis("distribution leakage"),
        caption="Numbers as in the table of classes.",
    )


def _sizes(membership: Classes) -> Chart:
    sizes = membership.sizes
    return Chart(
        "How large the classes are", histogram_of(sizes), x=ChartAxis("records in a class"), y=ChartAxis("classes"),
        caption="Records in a class look alike to anyone who knows the quasi-identifiers.",
    )  # fmt: skip
