"""How far a release moves an adversary's belief about a column: its shape, and its certainty.

Ren and Li, "Privacy-Preserving Characterization and Data Publishing": no single number says what a table reveals, so
there are two. With prior a and posterior x, distribution leakage is the Euclidean distance of a and x (Definition 6),
entropy leakage is H(a) - H(x) in bits (Definition 9). Ours keeps its sign, since a class can also leave the adversary
less certain than before; the paper's is the absolute value. Corrections: in Examples 1 and 3 the third class leaks
sqrt(32)/12 = .4714, not sqrt(26)/12; Example 4 lists its two classes in swapped order, its .22/.89 are largest
differences (Definition 6 gives .4714/.9428) and .158/3.16 should read 1.585/3.170. Theorem 1 uses the population's
standard deviation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, InputError
from seriatim.model.class_counts import ValueCounts
from seriatim.model.scale import FloatArray

Belief = Sequence[float] | npt.NDArray[np.float64] | Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Leakage:
    """What a posterior reveals beyond the prior."""

    distribution: float
    """Euclidean distance of prior and posterior: 0 to the square root of 2."""
    entropy: float
    """Bits of certainty gained; negative if the adversary becomes less certain."""


def leakage(prior: Belief, posterior: Belief) -> Leakage:
    """Return the distribution and entropy leakage from a prior to a posterior belief over the same values.

    Both are shares, in the same order of values; or mappings from value to share, where a value missing from the
    posterior has share 0 and a value missing from the prior is an error.
    """
    before, after = _aligned(prior, posterior)
    return Leakage(float(np.linalg.norm(before - after)), entropy(before) - entropy(after))


def entropy(shares: FloatArray) -> float:
    """Return Shannon's entropy in bits."""
    positive = shares[shares > 0]
    return float(-(positive * np.log2(positive)).sum()) + 0.0


def figures_by_class(
    counts: ValueCounts, prior: FloatArray | None = None, recursive_l: int = 2
) -> dict[str, FloatArray]:
    """Return every figure of every class, by name; the prior is the published margin unless another is passed."""
    before = counts.margin if prior is None else np.ascontiguousarray(prior, dtype=np.float64)
    uncovered = _uncovered(counts, before)
    if uncovered:
        raise InputError(
            Fault(
                "prior",
                f"has a share of 0 for {uncovered} published value(s)",
                "a positive share for every published value",
                "add the missing values to the prior, or use the published margin",
            )
        )
    usual = prior is None and recursive_l == 2
    figures = counts.figures if usual else counts.figures_against(before, recursive_l)
    # the shares refer to records with a published value
    return {**figures, "n_valued": figures["size"], "size": counts.sizes.astype(np.float64)}


def _uncovered(counts: ValueCounts, prior: FloatArray) -> int:
    """Count the values that occur in some class although their prior is 0."""
    if (prior > 0).all():
        return 0
    return len(np.unique(counts.value[prior[counts.value] <= 0]))


def _aligned(prior: Belief, posterior: Belief) -> tuple[FloatArray, FloatArray]:
    prior, posterior = _by_value(prior), _by_value(posterior)
    if isinstance(prior, Mapping) != isinstance(posterior, Mapping):
        raise InputError(Fault("leakage", "a mapping and a list", "both of one kind"))
    if isinstance(prior, Mapping) and isinstance(posterior, Mapping):
        after = dict(zip(posterior, _shares("posterior", list(posterior.values())), strict=True))
        missed = [value for value, share in after.items() if share and value not in prior]
        if missed:
            raise InputError(
                Fault("prior", f"misses {len(missed)} value(s) of the posterior", "every value", "add their shares")
            )
        values = list(prior)
        prior, posterior = [prior[v] for v in values], [after.get(v, 0.0) for v in values]
    old, new = _shares("prior", prior), _shares("posterior", posterior)
    if len(old) != len(new):
        raise InputError(Fault("leakage", f"{len(old)} prior and {len(new)} posterior shares", "equal numbers"))
    return old, new


def _by_value(given: Any) -> Any:
    """Return a mapping from value to share for a pandas Series, such as ``value_counts(normalize=True)``."""
    index = getattr(given, "index", None)
    if index is None or callable(index) or not hasattr(given, "to_dict") or len(index) != len(given):
        return given
    return given if list(index) == list(range(len(index))) else given.to_dict()


def _numbers(where: str, given: Any) -> FloatArray:
    """Return floats; an error names the type of anything else, never its text."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        found = f"a {type(given).__name__} that does not hold numbers alone"
        raise InputError(Fault(where, found, "a list of shares, or a mapping from value to share")) from None


def _shares(where: str, given: Any) -> FloatArray:
    shares = _numbers(where, given)
    if shares.ndim != 1 or not len(shares):
        raise InputError(Fault(where, f"{shares.ndim} dimension(s), {shares.size} number(s)", "a list of shares"))
    if not np.isfinite(shares).all() or (shares < 0).any():
        raise InputError(Fault(where, "a share that is negative or not a number", "shares from 0 to 1"))
    total = float(shares.sum())
    if abs(total - 1.0) > 1e-6:
        raise InputError(Fault(where, f"shares that sum to {total:.6g}", "a sum of 1", "divide counts by their sum"))
    return shares
