"""The statistics that users of a table want, on the original and on what they would get: by how much they differ.

Models of scikit-learn (the extra ``models``) are statistics too: a tree of four levels tells whether the sensitive
number lies above its median, a regression predicts the number itself. Both learn from the other columns of numbers;
what users lose is the difference of their scores to a model that was trained on the original.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import Fault, InputError
from seriatim.model import CodedColumn, Draft, View
from seriatim.model.nearness import has_distances, positions_or_nan
from seriatim.model.scale import FloatArray, Scale

Columns = Mapping[str, FloatArray]
Statistics = Mapping[str, Callable[[Columns], float]]
"""The user's own: a name, and a function from columns of numbers to a number."""
QUANTILES = (0.1, 0.5, 0.9)


def columns_of_view(view: View) -> dict[str, FloatArray]:
    """Return the columns with numbers, of the records that may be published; dates as days since the first."""
    kept = ~view.suppressed
    return {
        column.name: positions_or_nan(column.scale)[column.codes[kept]] - counted_from(column.scale)
        for column in (*view.quasi, *view.sensitive)
        if has_distances(column.scale)
    }


def counted_from(scale: Scale) -> float:
    """Return what statistics count from: 0, or the first date, since errors relative to 1970 would all be small."""
    return float(np.nanmin(positions_or_nan(scale))) if scale.dated and len(scale) else 0.0


def columns_of_draft(view: View, draft: Draft) -> dict[str, FloatArray]:
    """Return what a user reads from a draft: a range counts as its middle."""
    group = draft.grouping.group
    rows = np.flatnonzero(group >= 0)
    labels = {shown.name: shown for shown in draft.generalised}
    found = {}
    for column in view.quasi:
        shown = labels.get(column.name)
        if has_distances(column.scale) and shown is not None and shown.low is not None and shown.high is not None:
            positions = positions_or_nan(column.scale)
            middle = (positions[shown.low] + positions[shown.high]) / 2 - counted_from(column.scale)
            found[column.name] = np.asarray(middle[group[rows]])
    for column in view.sensitive:
        if has_distances(column.scale):
            found[column.name] = _in_view_order(column, draft, rows) - counted_from(column.scale)
    return found


def _in_view_order(
    column: CodedColumn, draft: Draft, rows: np.ndarray[tuple[int, ...], np.dtype[np.intp]]
) -> FloatArray:
    """Return the numbers of a sensitive column as published, in the order of the view's records."""
    cells = draft.groups.column(column.name)
    if pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type):
        return np.asarray(cells.to_numpy()[rows], dtype=np.float64)
    scale = draft.sensitive[column.name].scale
    codes = pc.index_in(pc.cast(cells, pa.string()), value_set=scale.texts).fill_null(-1).to_numpy()[rows]
    if (codes < 0).any():  # written in another way than on its scale
        return np.asarray(positions_or_nan(column.scale)[column.codes[rows]])
    return np.asarray(positions_or_nan(scale)[codes])


def mean_error(truth: Columns, told: Columns, sensitive: str, own: Statistics | None = None) -> float:
    """Return the mean error of the statistics, each relative to its size."""
    return float(np.mean(list(each_error(truth, told, sensitive, own).values())))


def each_error(truth: Columns, told: Columns, sensitive: str, own: Statistics | None = None) -> dict[str, float]:
    """Return the error of each statistic; one that cannot be computed from what is told counts as wholly wrong."""
    wanted = own if own is not None else _usual(truth, sensitive)
    errors = {}
    for name, statistic in wanted.items():
        true = float(statistic(truth))
        try:
            found = float(statistic(told)) if all(len(column) for column in told.values()) else float("nan")
        except (KeyError, ValueError, ZeroDivisionError, np.linalg.LinAlgError):
            found = float("nan")
        size = max(abs(true), 1e-9)
        errors[name] = min(abs(found - true) / size, 1.0) if np.isfinite(found) else 1.0
    return errors or {"none": 0.0}


def _usual(truth: Columns, sensitive: str) -> dict[str, Callable[[Columns], float]]:
    """Return means, quantiles, correlations and the slopes of a small regression of the sensitive column."""
    found: dict[str, Callable[[Columns], float]] = {}
    for name in truth:
        found[f"mean of {name}"] = partial(_mean, name)
        found |= {f"quantile {at} of {name}": partial(_quantile, name, at) for at in QUANTILES}
        if name != sensitive and sensitive in truth:
            found[f"correlation of {name}"] = partial(_correlation, name, sensitive)
            found[f"slope on {name}"] = partial(_slope, name, sensitive)
    return found


def asked_for(texts: Sequence[str], columns: Columns) -> dict[str, Callable[[Columns], float]]:
    """Return the statistics that texts ask for: ``mean:age``, ``quantile:wage:0.9``, ``share:wage:20`` (that much or
    more), ``correlation:age:wage``, ``slope:age:wage`` (of wage on age).
    """
    return {text: _named(text, columns) for text in texts}


def _named(text: str, columns: Columns) -> Callable[[Columns], float]:
    kind, *rest = text.split(":")
    wants_two = kind in ("correlation", "slope")
    names = rest if wants_two else rest[:1]
    numbers = [] if wants_two else rest[1:]
    shape = {"mean": (1, 0), "quantile": (1, 1), "share": (1, 1), "correlation": (2, 0), "slope": (2, 0)}.get(kind)
    if shape != (len(names), len(numbers)):
        allowed = "mean:COLUMN, quantile:COLUMN:0.9, share:COLUMN:20, correlation:COLUMN:COLUMN, slope:COLUMN:COLUMN"
        raise InputError(Fault("statistic", "unknown or incomplete", allowed))
    if any(name not in columns for name in names):
        raise InputError(Fault("statistic", "a column that has no numbers, or is not there", ", ".join(columns)))
    try:
        at = [float(number) for number in numbers]
    except ValueError:
        at = [float("nan")]
    if not np.isfinite(at).all() or (kind == "quantile" and not 0 <= at[0] <= 1):
        raise InputError(
            Fault("statistic", f"{kind} at no number", "from 0 to 1" if kind == "quantile" else "a number")
        )
    return partial(_KINDS[kind], *names, *at)


def _share(name: str, at: float, columns: Columns) -> float:
    return float((columns[name][np.isfinite(columns[name])] >= at).mean())


def _mean(name: str, columns: Columns) -> float:
    return float(np.nanmean(columns[name]))


def _quantile(name: str, at: float, columns: Columns) -> float:
    return float(np.nanquantile(columns[name], at))


def _both(name: str, sensitive: str, columns: Columns) -> tuple[FloatArray, FloatArray]:
    """Return two columns where neither is missing."""
    known = np.isfinite(columns[name]) & np.isfinite(columns[sensitive])
    return columns[name][known], columns[sensitive][known]


def _correlation(name: str, sensitive: str, columns: Columns) -> float:
    one, other = _both(name, sensitive, columns)
    return float(np.corrcoef(one, other)[0, 1]) if one.std() and other.std() else 0.0


def _slope(name: str, sensitive: str, columns: Columns) -> float:
    one, other = _both(name, sensitive, columns)
    spread = float(one.var())
    return float(np.cov(one, other, bias=True)[0, 1]) / spread if spread else 0.0


_KINDS: dict[str, Callable[..., Any]] = {
    "mean": _mean,
    "quantile": _quantile,
    "share": _share,
    "correlation": _correlation,
    "slope": _slope,
}


_LEVELS = 4


def of_models(truth: Columns, sensitive: str) -> Statistics:
    """Return the accuracy of a classifier and the R2 of a regression, both on the original."""
    if find_spec("sklearn") is None:
        raise InputError(Fault("cost", "models need scikit-learn", "install the extra models: seriatim[models]"))
    known = [name for name in truth if name != sensitive]
    if sensitive not in truth or not known:
        raise InputError(Fault("cost", "no columns of numbers to learn from", "statistics, loss, query_error"))
    return {
        f"classifier of {sensitive}": partial(_classified, truth, known, sensitive),
        f"regression of {sensitive}": partial(_regressed, truth, known, sensitive),
    }


def _classified(truth: Columns, known: list[str], sensitive: str, told: Columns) -> float:
    """Return how often the tree is right, beyond guessing."""
    from sklearn.tree import DecisionTreeClassifier

    middle = float(np.nanmedian(truth[sensitive]))
    seen, values = _complete(told, known, sensitive)
    tree = DecisionTreeClassifier(max_depth=_LEVELS, random_state=0).fit(seen, values > middle)
    asked, true = _complete(truth, known, sensitive)
    guess = max(float((true > middle).mean()), 1 - float((true > middle).mean()))
    return max(float(tree.score(asked, true > middle)) - guess, 0.0)


def _regressed(truth: Columns, known: list[str], sensitive: str, told: Columns) -> float:
    from sklearn.linear_model import LinearRegression

    line = LinearRegression().fit(*_complete(told, known, sensitive))
    return max(float(line.score(*_complete(truth, known, sensitive))), 0.0)


def _complete(columns: Columns, known: list[str], sensitive: str) -> tuple[FloatArray, FloatArray]:
    """Return the rows without gaps: the columns to learn from, and the sensitive one."""
    seen, values = np.column_stack([columns[name] for name in known]), columns[sensitive]
    whole = np.isfinite(seen).all(axis=1) & np.isfinite(values)
    return seen[whole], values[whole]
