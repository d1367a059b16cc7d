"""Values that remain possible where a series was taken over: those of a person's group that earlier releases left them.

Anyone with one value left is known: nothing can be promised to them, and their rows protect nobody. Everyone else keeps
m values among the other rows of their group, or as many as the earlier releases left them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model import Finding
from seriatim.model.candidate_values import Candidates
from seriatim.model.history import JudgedHistory, judged_draft_and_view


@dataclass(frozen=True, slots=True)
class RemainingValues:
    """Compares the groups of a draft with what releases of another method leave possible."""

    left: Candidates
    m: int
    rule: str = "possible_values"
    column: None = None
    judges: ClassVar[Literal["series"]] = "series"

    def check(self, judged: JudgedHistory) -> Finding:
        draft, _ = judged_draft_and_view(judged)
        column = judged.column or next(iter(draft.sensitive))
        rows = draft.groups.filter(pc.is_valid(draft.groups.column("group")))
        domain, value = _coded(rows.column(column))
        groups, group = np.unique(rows.column("group").to_numpy(), return_inverse=True)
        flags = self.left.flags(domain)
        told = np.append(self.left.sets[:-1].sum(axis=1) == 1, False)
        own = self.left.sets_of(rows.column("respondent"))
        real = rows.column("respondent").is_valid().to_numpy(zero_copy_only=False)
        cover = ~(real & told[own])
        shown = np.zeros((len(groups), len(domain)), dtype=np.bool_)
        shown[group[cover], value[cover]] = True
        judged_rows = real & cover
        kept = (flags[own] & shown[group]).sum(axis=1)[judged_rows]
        wanted = np.minimum(self._before(), self.m)[own][judged_rows]
        short = kept < wanted
        worst = kept[short].min() if short.any() else kept.min(initial=len(domain))
        few = int((wanted < self.m).sum())
        detail = f"fewest values that remain for a person who is not known; {few} had fewer than {self.m} before"
        threshold = float(wanted[short].min() if short.any() else min(self.m, int(worst)))
        return Finding(
            self.rule, not short.any(), float(worst), threshold, column=column,
            n_classes=len(np.unique(group[judged_rows][short])), n_people=int(short.sum()), detail=detail,
            remedy="" if not short.any() else "larger groups ([defence] cohort_size), or a smaller m",
        )  # fmt: skip

    def _before(self) -> np.ndarray:
        """Return how many values each set leaves; strangers have all."""
        sizes = self.left.sets.sum(axis=1)
        sizes[-1] = self.m
        return np.asarray(sizes)


def _coded(column: pa.ChunkedArray) -> tuple[pa.Array, np.ndarray]:
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    coded = pc.cast(plain, pa.string()).combine_chunks().dictionary_encode()
    return coded.dictionary, coded.indices.to_numpy(zero_copy_only=False)
