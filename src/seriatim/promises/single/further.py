"""The promises about one sensitive column beyond l and t, by their names in the policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from seriatim.model import Thresholds
from seriatim.ports import TablePromise
from seriatim.promises.single.leakage import distribution_leakage, entropy_leakage
from seriatim.promises.single.likeness import basic_likeness, disclosure, dominant_value, enhanced_likeness
from seriatim.promises.single.value_bounds import value_bounds

PROMISES: Mapping[str, Callable[[str, Any], TablePromise]] = {
    "alpha_k": dominant_value,
    "beta": basic_likeness,
    "delta": disclosure,
    "value_bounds": value_bounds,
    "distribution_leakage": distribution_leakage,
    "entropy_leakage": entropy_leakage,
}
NAMES = frozenset(PROMISES)


def further_promises(column: str, asked: Thresholds) -> Iterator[TablePromise]:
    """What is promised for a column beyond l and t."""
    for name, make in PROMISES.items():
        value = getattr(asked, name)
        if value is None:
            continue
        enhanced = name == "beta" and asked.beta_kind == "enhanced"
        yield (enhanced_likeness if enhanced else make)(column, value)
