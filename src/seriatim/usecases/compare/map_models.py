"""Small models as statistics: trained on what users would get, tried on the original.

A tree of four levels tells whether the sensitive number lies above its median, a regression predicts the number itself.
Both learn from the other columns of numbers. Their scores on the original are the statistics; what users lose is the
difference to a model that was trained on the original. Needs scikit-learn, the extra ``models``.
"""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.model.scale import FloatArray
from seriatim.usecases.compare.map_statistics import Columns, Statistics

_LEVELS = 4


def map_model_statistics(truth: Columns, sensitive: str) -> Statistics:
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
