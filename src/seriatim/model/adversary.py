"""An adversary: what the attacker knows, and which conclusions are bounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model.history import History
from seriatim.model.scale import IntArray
from seriatim.model.view import View

_ELSEWHERE = object()
"""A possible value that no release shows."""


# Ids and values are compared as text, so that a file, a frame and a ledger mean the same person.
class Prior(NamedTuple):
    """One set of possible values."""

    only: frozenset[str] | None = None
    """Only these values; None for all."""
    never: frozenset[str] = frozenset()

    def allows(self, value: str | None) -> bool:
        return (self.only is None or value in self.only) and value not in self.never

    @property
    def is_known(self) -> bool:
        """Return whether one value is left before anything is published."""
        return self.only is not None and len(self.only - self.never) == 1

    def among(self, domain: pa.Array) -> frozenset[Any]:
        """Return the possible values of a domain, and a stand-in for those outside it: nobody is known by it alone."""
        held = zip(domain.to_pylist(), self.flags(domain).tolist(), strict=True)
        found = frozenset(value for value, ok in held if ok)
        outside = self.only is None or not (self.only - self.never) <= set(_texts(domain).to_pylist())
        return found | {_ELSEWHERE} if outside else found

    def flags(self, domain: pa.Array) -> npt.NDArray[np.bool_]:
        """Return for each value of a domain whether it is possible."""
        return np.array([self.allows(value) for value in _texts(domain).to_pylist()], dtype=np.bool_)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PriorSets:
    """The possible values of the people named, and values that a cell of another column rules out."""

    named: Mapping[str, frozenset[str]] = field(default_factory=dict)
    impossible: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    """By column and cell, the sensitive values that nobody with that cell can have."""

    def __repr__(self) -> str:
        return f"PriorSets({len(self.named)} people named, cells of {sorted(self.impossible)})"

    @property
    def known(self) -> frozenset[str]:
        """Return the people named whose value is known: they have one possible value."""
        return frozenset(who for who, values in self.named.items() if len(values) == 1)

    def of_rows(self, view: View) -> tuple[IntArray, tuple[Prior, ...]]:
        """Return the number of each row's prior, and the priors that occur."""
        keys = [(self._named_sets(), self._who(view))]
        keys += [(list(cells.values()), _index_in(view.cells(name), cells)) for name, cells in self.impossible.items()]
        which = np.column_stack([index for _, index in keys])
        distinct, number = np.unique(which, axis=0, return_inverse=True)
        priors = []
        for row in distinct.tolist():
            only, *never = [None if at < 0 else sets[at] for (sets, _), at in zip(keys, row, strict=True)]
            priors.append(Prior(only, frozenset().union(*(values for values in never if values is not None))))
        return number.reshape(-1).astype(np.int32), tuple(priors)

    def of_history(self, history: History) -> dict[Any, frozenset[Any]]:
        """Return the possible values by respondent id, for people of a history who are named."""
        known: dict[frozenset[str], frozenset[Any]] = {}
        found = {}
        for who, text in zip(history.respondents.to_pylist(), _texts(history.respondents).to_pylist(), strict=True):
            if text in self.named:
                only = self.named[text]
                if only not in known:
                    known[only] = Prior(only).among(history.values)
                found[who] = known[only]
        return found

    def _named_sets(self) -> list[frozenset[str]]:
        return list(dict.fromkeys(self.named.values()))

    def _who(self, view: View) -> IntArray:
        if view.respondent is None or not self.named:
            return np.full(len(view), -1, dtype=np.int32)
        number = {values: at for at, values in enumerate(self._named_sets())}
        set_of = np.array([number[values] for values in self.named.values()], dtype=np.int32)
        place = _index_in(view.cells(view.respondent), self.named)
        return np.where(place < 0, -1, set_of[place]).astype(np.int32)


def _texts(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    return pc.cast(plain, pa.string())


def _index_in(column: pa.ChunkedArray, keys: Mapping[str, Any]) -> IntArray:
    """Return the position of each cell among the keys; -1 for none."""
    found = pc.index_in(_texts(column), value_set=pa.array(list(keys), pa.string()))
    return np.asarray(found.fill_null(-1).to_numpy(), dtype=np.int32)


SURE, RAISED = 0.9, 10.0


@dataclass(frozen=True, slots=True)
class StatedKnowledge:
    """Knowledge as declared: the path of a file, or a table as canonical JSON. Its users read it."""

    file: str | None = None
    table: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Adversary:
    """The ``[adversary]`` of a policy, or an adversary file. ``None`` says nothing."""

    compromised: float | None = None
    """Share of people whose value the attacker knows."""
    lifespan: int | None = None
    """Number of releases a person stays in."""
    breach: float | None = None
    """Bound on the closed-form probability of a breach."""
    breach_share: float | None = None
    """Bound on the simulated share of people breached."""
    sure: float | None = None
    """Beliefs above this count as certain (0.9 if omitted)."""
    sure_share: float | None = None
    """Bound on the share of people inferred with certainty, over all releases."""
    raised: float | None = None
    """Certainty counts only where its odds are this many times those before any release (10 if omitted)."""
    harmless: tuple[str, ...] | None = None
    """Values that nobody minds being believed to have."""
    window: int | None = None
    """For values in an order: how many bands either side of the truth count as near it (0 if omitted)."""
    collusion: int | None = None
    """Recipients who put their releases together, for ``breach_share``; None for all of them."""
    priors: PriorSets | None = field(default=None, compare=False)
    """Which values are possible for whom. The people named may change without a new epoch, so it does not compare."""
    value_priors: StatedKnowledge | None = None
    """How likely each value is before any release."""
    classes: StatedKnowledge | None = None
    """The class of each respondent, for knowledge by class."""
    sequence: StatedKnowledge | None = None
    """How values follow each other; without it, what the series itself tells."""

    times: tuple[int, ...] | None = None
    """When each release is, in whole steps of the knowledge (years, months); the number of the release if omitted."""

    @property
    def share_known(self) -> float:
        """Return the compromised share to simulate: 0 if none is declared."""
        return 0.0 if self.compromised is None else self.compromised

    @property
    def together(self) -> int:
        """Return how many recipients put their releases together: 1 if nothing is declared."""
        return 1 if self.collusion is None else self.collusion

    @property
    def certain_above(self) -> float:
        """Return the belief above which someone is certain."""
        return SURE if self.sure is None else self.sure

    @property
    def counts_when_raised(self) -> float:
        """Return how many times the odds of a certain belief must have grown to count."""
        return RAISED if self.raised is None else self.raised

    @property
    def bands_near(self) -> int:
        """Return how many bands either side of the truth count as near it."""
        return 0 if self.window is None else self.window


NOBODY_KNOWN = Adversary()
