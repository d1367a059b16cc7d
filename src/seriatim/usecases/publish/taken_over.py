"""Takes over a running series: its releases, made by another method, become what the attacker knows.

They cannot be taken back. A complete attack says which values they leave possible for everyone. Anyone who has one left
is breached, and is taken as known from then on: no bound on breaches counts them again, and they protect nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model import Draft, History, PastRelease, Policy, View
from seriatim.model.candidate_values import CANDIDATES, Candidates, candidates_remembered
from seriatim.model.methods import method_named
from seriatim.promises.series.remaining_values import RemainingValues
from seriatim.usecases.publish import foreknowledge

_NOT_COUNTED = (
    "{} of the releases before cut groups by values; what that revealed to whoever knows the method is not counted "
    "here, since the ledger keeps no quasi-identifiers: seriatim attack --view FILE --policy FILE counts it"
)


@dataclass(frozen=True, slots=True, eq=False)
class TakenOver:
    """What the releases before the take-over leave possible."""

    candidates: Candidates
    """For this view: anyone who holds another value than then is a stranger."""
    memory: pa.Table
    """What the next release has to know of it."""
    m: int
    cut_by_values: tuple[int, ...] = ()
    """The releases in which who is with whom gives values away to someone who knows how they were made."""

    @property
    def promise(self) -> RemainingValues:
        return RemainingValues(self.candidates, self.m)

    def remembered_in(self, draft: Draft) -> Draft:
        """Return the draft with what the next release has to know of this."""
        return replace(draft, memory={**draft.memory, CANDIDATES: self.memory})

    @property
    def notes(self) -> tuple[str, ...]:
        """Say how many people are treated as known, and how many have few values left; nobody is named."""
        sizes, until = self.candidates.sizes, self.candidates.until
        known, few = int((sizes == 1).sum()), int(((sizes > 1) & (sizes < self.m)).sum())
        taken = (
            f"taken over after release {until}: of {len(sizes)} people published so far, {known} are already "
            f"breached and treated as known; {few} more have fewer than {self.m} values left, which all stay possible"
        )
        return (taken, *([_NOT_COUNTED.format(len(self.cut_by_values))] if self.cut_by_values else []))


def taken_over(view: View, policy: Policy, history: History, memory: Mapping[str, pa.Table]) -> TakenOver | None:
    """Return what releases of another method leave possible; None if this method made all of them, or needs no marks.

    It is computed when the series is taken over, and remembered until another method takes it over.
    """
    row = method_named(policy.defence.method) if policy.defence is not None else None
    m = policy.terms.series.m
    if row is None or not row.marks or m is None or len(policy.sensitive) != 1:
        return None
    foreign = [at for at, past in enumerate(history) if not past.continued_by(row)]
    if not foreign:
        return None
    remembered, until = memory.get(CANDIDATES), history.releases[foreign[-1]].number
    if remembered is None or candidates_remembered(remembered).until < until:
        from seriatim.attacks.complete_search import candidates  # brings compiled kernels

        earlier = replace(history, releases=history.releases[: foreign[-1] + 1])
        remembered = candidates(earlier, foreknowledge.by_person(view, policy, earlier)).table()
    found = candidates_remembered(remembered)
    cut = [past.number for past in history if past.number <= found.until and _cut_by_values(past)]
    return TakenOver(found.anew(_changed(view, history, found.until)), remembered, m, tuple(cut))


def _cut_by_values(past: PastRelease) -> bool:
    """Return whether groups of a release were cut by values: lasting ones of earlier versions, and halved buckets."""
    row = method_named(past.method)
    return ("slot" in past.marks and "blind" not in past.marks) or (row is not None and bool(row.halvings))


def _changed(view: View, history: History, until: int) -> pa.Array:
    """Return who holds another value now, or held one since, than when the series was taken over."""
    assert view.respondent is not None
    before, since = np.full((2, len(history.respondents)), -1, dtype=np.int64)
    for past in history:
        real = past.person >= 0
        (before if past.number <= until else since)[past.person[real]] = past.value[real]
    texts = pc.cast(history.respondents, pa.string())
    who = pc.cast(_plain(view.cells(view.respondent)), pa.string())
    values = pc.cast(_plain(view.cells(view.sensitive[0].name)), pa.string())
    place = pc.index_in(who, value_set=texts, skip_nulls=True).fill_null(-1).to_numpy()
    now = pc.index_in(values, value_set=pc.cast(history.values, pa.string())).fill_null(len(history.values)).to_numpy()
    since[place[place >= 0]] = now[place >= 0]
    return texts.filter(pa.array((before >= 0) & (since >= 0) & (before != since)))


def _plain(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    return whole.cast(whole.type.value_type) if pa.types.is_dictionary(whole.type) else whole
