"""Impossible values protect nobody: of the values in a person's group, only those that their prior allows count.

Cor-Split's function theta assigns every respondent a set of possible values (section 2.1) and passes it to the
assignment (Figure 4); the print never says what must then hold. Here: among the rows of a person's group whose value is
possible for them, no value has more than one m-th, or than its cap where common values have one. In a group of
different values, that leaves m possible values.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model import Draft, Finding, Policy, PriorSets, View
from seriatim.model.adversary import Prior
from seriatim.model.history import JudgedHistory, judged_draft_and_view
from seriatim.promises.series.value_caps import ValueCaps

Key = tuple[frozenset[str] | None, frozenset[str]]


def possible_values(policy: Policy) -> list[PossibleValues]:
    """Return the promise that priors leave m values, if m is promised."""
    priors, terms = policy.adversary.priors, policy.terms.series
    return [] if priors is None or terms.m is None else [PossibleValues(priors, terms.m, terms.odds)]


@dataclass(frozen=True, slots=True)
class PossibleValues:
    """Compares a draft with the view it was made from: m possible values remain for each person."""

    priors: PriorSets
    m: int
    odds: float | None = None
    rule: str = "possible_values"
    column: None = None
    judges: ClassVar[Literal["series"]] = "series"

    def check(self, judged: JudgedHistory) -> Finding:
        draft, view = judged_draft_and_view(judged)
        column = view.sensitive[0].name
        groups, shown = draft.groups.column("group").to_pylist(), _texts(draft.groups.column(column))
        rows: dict[int, Counter[str | None]] = defaultdict(Counter)
        for group, value in zip(groups, shown, strict=True):
            if group is not None:
                rows[group][value] += 1
        people = Counter(
            (group, key)
            for group, key in zip(groups, self._keys(view), strict=False)
            if group is not None and not Prior(*key).is_known
        )
        caps = self._caps(draft, shown)
        left = {pair: _equally_likely(rows[pair[0]], pair[1], caps) for pair in people}
        broken = [pair for pair, values in left.items() if values < self.m]
        return Finding(
            self.rule,
            not broken,
            float(min(left.values(), default=float("inf"))),
            float(self.m),
            column=column,
            n_classes=len({group for group, _ in broken}),
            n_people=sum(people[pair] for pair in broken),
            detail="fewest values that remain for a person without those their prior excludes",
            remedy="" if not broken else "a smaller m, or fewer people with a prior of their own",
        )

    def _caps(self, draft: Draft, shown: list[str | None]) -> dict[str | None, float]:
        """Return how many times one m-th a common value may have, from the shares stored with the rows."""
        if self.odds is None or "baseline" not in draft.groups.column_names:
            return {}
        stored = dict(zip(shown, draft.groups.column("baseline").to_pylist(), strict=True))
        names = [value for value, share in stored.items() if share is not None]
        shares = ValueCaps.of(np.array([stored[name] for name in names], dtype=np.int64), self.m, self.odds).shares
        return {name: self.m * float(share) for name, share in zip(names, shares, strict=True)}

    def _keys(self, view: View) -> list[Key]:
        """Return what is known about each record of the view, row by row."""
        known, n = self.priors, len(view)
        who = _texts(view.cells(view.respondent)) if view.respondent else [None] * n
        cells = {name: _texts(view.cells(name)) for name in known.impossible}
        nothing: frozenset[str] = frozenset()
        keys = []
        for i in range(n):
            never = nothing
            for name, ruled_out in known.impossible.items():
                never |= ruled_out.get(cells[name][i] or "", nothing)
            keys.append((known.named.get(who[i] or ""), never))
        return keys


def _equally_likely(rows: Counter[str | None], key: Key, caps: dict[str | None, float]) -> float:
    """Return the number of rows with a possible value, for each of the most frequent one among them.

    A value that may have some times one m-th counts that much less.
    """
    only, never = key
    held = {value: n for value, n in rows.items() if (only is None or value in only) and value not in never}
    return sum(held.values()) / max((n / caps.get(value, 1.0) for value, n in held.items()), default=1)


def _texts(column: pa.ChunkedArray) -> list[str | None]:
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    texts: list[str | None] = pc.cast(plain, pa.string()).to_pylist()
    return texts
