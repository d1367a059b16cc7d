"""Priors: what an adversary holds possible beforehand. A man has no cervical cancer, whatever his group shows.

Ids and values are compared as text, so that a file, a frame and a ledger mean the same person.
"""

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


class Prior(NamedTuple):
    """One set of possible values."""

    only: frozenset[str] | None = None
    """Only these values; None for all."""
    never: frozenset[str] = frozenset()

    def allows(self, value: str | None) -> bool:
        return (self.only is None or value in self.only) and value not in self.never

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
        values = history.values.to_pylist()
        known: dict[frozenset[str], frozenset[Any]] = {}
        found = {}
        for who, text in zip(history.respondents.to_pylist(), _texts(history.respondents).to_pylist(), strict=True):
            if text in self.named:
                only = self.named[text]
                if only not in known:
                    flags = Prior(only).flags(history.values)
                    known[only] = frozenset(v for v, ok in zip(values, flags.tolist(), strict=True) if ok)
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
