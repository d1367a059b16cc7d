"""Charts of a draft for its report: sizes, losses and class figures. Numbers only."""

from __future__ import annotations

from collections.abc import Sequence

from seriatim.measures.information_loss import penalty_by_column
from seriatim.model import Bars, Chart, ChartAxis, Draft, Measure, Policy, Thresholds, histogram_of
from seriatim.model.chart import Threshold
from seriatim.model.class_counts import ClassCounts


def drawn(draft: Draft, counts: ClassCounts, policy: Policy, measures: Sequence[Measure]) -> dict[str, Chart]:
    charts = {"class_sizes": _class_sizes(counts, policy), "column_losses": _column_losses(draft)}
    errors = [measure for measure in measures if measure.name.startswith("query_error_")]
    if errors:
        charts["query_error"] = _query_error(errors)
    for column in draft.sensitive:
        charts |= _of_column(counts, column, policy.terms.per_column.get(column, Thresholds()))
    return charts


def _class_sizes(counts: ClassCounts, policy: Policy) -> Chart:
    k = policy.terms.k
    return Chart(
        "How large the classes are",
        histogram_of(counts.sizes),
        x=ChartAxis("records in a class"),
        y=ChartAxis("classes"),
        caption="People in a class look alike in the columns others may know.",
        threshold=Threshold(k, f"required: at least {k}", "at least") if k else None,
    )


def _column_losses(draft: Draft) -> Chart:
    losses = penalty_by_column(draft)
    return Chart(
        "What each column lost",
        Bars(tuple(losses), tuple(losses.values())),
        x=ChartAxis("column"),
        y=ChartAxis("certainty penalty", "percent"),
        caption="0% keeps every cell as it was, 100% keeps nothing. A withheld record counts 100%.",
        topic="usefulness",
    )


def _query_error(errors: Sequence[Measure]) -> Chart:
    labels = tuple(f"{measure.detail['selectivity']:.0%}" for measure in errors)
    return Chart(
        "Error of counts",
        Bars(labels, tuple(measure.value for measure in errors)),
        x=ChartAxis("share of people in a query"),
        y=ChartAxis("median relative error", "percent"),
        caption="Random queries such as 'how many people of these ages, in these areas', compared with the truth.",
        topic="usefulness",
    )


def _of_column(counts: ClassCounts, column: str, thresholds: Thresholds) -> dict[str, Chart]:
    figures = counts.values[column].figures
    by_entropy = thresholds.l_kind == "entropy"
    marked = thresholds.l is not None and thresholds.l_kind != "recursive"
    return {
        f"diversity of {column}": Chart(
            f"Different values of {column}",
            histogram_of(figures["entropy_l" if by_entropy else "distinct_l"]),
            x=ChartAxis("equally likely values in a class" if by_entropy else "distinct values in a class"),
            y=ChartAxis("classes"),
            caption="The fewer values a class has, the better a neighbour can guess.",
            threshold=Threshold(float(thresholds.l or 0), f"required: at least {thresholds.l:g}", "at least")
            if marked
            else None,
        ),
        f"closeness of {column}": Chart(
            f"How unusual classes are in {column}",
            histogram_of(figures["tv"]),
            x=ChartAxis("distance from the whole release (total variation)"),
            y=ChartAxis("classes"),
            caption="0 means that a class reveals nothing new; 1 means that it reveals everything.",
            threshold=Threshold(thresholds.t, f"required: at most {thresholds.t:g}", "at most")
            if thresholds.t is not None and thresholds.t_distance == "equal"
            else None,
        ),
    }
