"""From what a caller asks to what the kernels need: the baseline, the tests and their critical values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim_gate.engine.baseline import Baseline
from seriatim_gate.engine.inputs import (
    MERGES,
    FloatArray,
    input_choice,
    input_level,
    input_probabilities,
    input_tests,
)
from seriatim_gate.engine.limits import (
    checked_tables,
    chi_square,
    critical_tables,
)

DISTANCES = ("kl", "pearson")
LARGEST_DOMAIN = 10_000_000


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Rules:
    """What a gate is to guard and how; every field is checked."""

    p: FloatArray
    values: tuple[Any, ...] | None
    """Names of X in the order of ``p``; None when requests give positions."""
    n_targets: int
    targets: tuple[Any, ...] | None
    tests: tuple[str, ...]
    alpha: float
    merge: str
    few: str
    weights: FloatArray
    tables: Mapping[str, FloatArray]
    distance: str = "kl"
    queue: bool = True
    value_at: Mapping[Any, int] = field(default_factory=dict)
    target_at: Mapping[Any, int] = field(default_factory=dict)
    joint: bool = False
    """Whether a set of waiting records may leave together where none is safe alone."""
    others: int = -1
    """The place of the target that unknown ones count as; -1 refuses them."""
    chi_squares: Mapping[int, float] = field(default_factory=dict)
    """Stored chi-square values at this level by degrees of freedom; others are computed."""

    def chi_square(self, freedom: int) -> float:
        """Return the value that a chi-square variable exceeds with probability alpha."""
        found = self.chi_squares.get(freedom)
        return chi_square(self.alpha, freedom) if found is None else found

    def chi_squares_needed(self) -> dict[int, float]:
        """Return the chi-square values that the tests need, to be stored with the rules."""
        values = len(self.p) - 1
        needed = {"mis": [values * self.n_targets], "kld": [values], "cst": range(1, values + 1), "wdt": [1]}
        return {free: self.chi_square(free) for test in self.tests for free in needed.get(test, ())}

    @classmethod
    def of(
        cls, baseline: Any, targets: Any, tests: Any, alpha: Any, merge: str, few: str, target_weights: Any,
        tables: Any, distance: str = "kl", queue: bool = True, joint: bool = False,
    ) -> Rules:  # fmt: skip
        """Check what a gate is made from and fill in what was left out."""
        chosen, level = input_tests(tests), input_level(alpha)
        for where, flag in (("queue", queue), ("joint", joint)):
            if not isinstance(flag, bool):
                raise InputError(Fault(where, "neither true nor false", "true or false"))
        p, values, told = _baseline_of(baseline)
        n_targets, names = _targets_of(targets, baseline)
        if len(p) * n_targets > LARGEST_DOMAIN:
            raise InputError(Fault("targets", f"{len(p)} x {n_targets} cells", f"at most {LARGEST_DOMAIN}"))
        weights = _weights_of(target_weights, told, n_targets)
        input_choice("merge", merge, MERGES[:2])
        input_choice("distance", distance, DISTANCES)
        given = {} if tables is None else checked_tables(tables)
        if input_choice("few", few, ("simulated", "asymptotic")) == "simulated":
            missing = tuple(name for name in ("mis", "kld") if name in chosen and name not in given)
            given |= critical_tables(p, weights, level, missing) if missing else {}
        return cls(
            p=p,
            values=values,
            n_targets=n_targets,
            targets=names,
            tests=chosen,
            alpha=level,
            merge=merge,
            few=few,
            weights=weights,
            tables=given,
            distance=distance,
            queue=queue,
            value_at=_places(values),
            target_at=_places(names),
            joint=joint,
            others=baseline.place_of_others if isinstance(baseline, Baseline) and targets is None else -1,
        )


def _baseline_of(baseline: Any) -> tuple[FloatArray, tuple[Any, ...] | None, FloatArray | None]:
    if isinstance(baseline, Baseline):
        return baseline.probabilities, baseline.values, baseline.target_shares
    if isinstance(baseline, Mapping):
        return input_probabilities(list(baseline.values())), tuple(baseline), None
    return input_probabilities(baseline), None, None


def _targets_of(targets: Any, baseline: Any) -> tuple[int, tuple[Any, ...] | None]:
    if targets is None and isinstance(baseline, Baseline):
        return len(baseline.targets), baseline.targets
    if isinstance(targets, int | np.integer) and not isinstance(targets, bool) and 1 <= targets <= LARGEST_DOMAIN:
        return int(targets), None
    if isinstance(targets, Sequence | np.ndarray) and not isinstance(targets, str | bytes) and len(targets):
        names = tuple(targets.tolist() if isinstance(targets, np.ndarray) else targets)
        return len(names), names
    raise InputError(Fault("targets", "neither a number nor names", "how many targets, or their names"))


def _weights_of(weights: Any, told: FloatArray | None, n_targets: int) -> FloatArray:
    if weights is None and told is not None and len(told) == n_targets:
        weights = told
    if weights is None:
        return np.full(n_targets, 1 / n_targets)
    if np.size(weights) != n_targets:
        raise InputError(Fault("target_weights", f"{np.size(weights)} entries", f"{n_targets}, one per target"))
    return input_probabilities(weights, "target_weights", 1)


def _places(names: tuple[Any, ...] | None) -> dict[Any, int]:
    if names is None:
        return {}
    try:
        places = {name: at for at, name in enumerate(names)}
    except TypeError:
        raise InputError(Fault("names", "a name that cannot be looked up", "texts or numbers")) from None
    if len(places) != len(names):
        raise InputError(Fault("names", f"{len(names) - len(places)} names occur twice", "each name once"))
    return places
