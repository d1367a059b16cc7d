"""Other series of the ledger with the same people: what a reader of both can put side by side.

A release of another series that publishes a sensitive column under the same name is evidence about it. Its people are
the same if both series know them by the same register ([series] people), or by the same column where none is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model import History
from seriatim.model.history import number_elsewhere
from seriatim.model.methods import method_named
from seriatim.model.policy_in_force import policy_in_force
from seriatim.ports import Ledger


@dataclass(frozen=True, slots=True, eq=False)
class OtherSeries:
    """The releases of another series about one sensitive column; their numbers are below 0, which no own one has."""

    name: str
    history: History
    received: Mapping[int, tuple[str, ...]]
    """Who received each of them."""
    several: frozenset[str] = frozenset()
    """People who had several records at once there: nothing that is said there is put beside what is said here."""

    @property
    def held(self) -> frozenset[int]:
        return frozenset(past.number for past in self.history)


def series_beside(
    ledger: Ledger, series: str, register: str | None, column: str | None, people: pa.Array | pa.ChunkedArray
) -> tuple[OtherSeries, ...]:
    """Return the other series that say something about this column of these people."""
    if register is None or column is None:
        return ()
    names = enumerate(ledger.in_other_series(series, people), 1)
    found = (_about(ledger, name, at, register, column) for at, name in names)
    return tuple(one for one in found if one is not None)


def _about(ledger: Ledger, name: str, at: int, register: str, column: str) -> OtherSeries | None:
    there = policy_in_force(ledger.state(name).policy)  # nothing is known of a series that was only imported
    if there.register not in (None, register):
        return None
    history = _with_leavers(ledger.history(name, column).in_common_bands())  # earlier epochs may have had the column
    if not len(history):
        return None
    history, several = _one_record_each(history)
    kept = tuple(replace(past, number=number_elsewhere(at, past.number)) for past in history)
    received = {number_elsewhere(at, one.number): one.recipients for one in ledger.records(name) if not one.recalled}
    return OtherSeries(name, replace(history, releases=kept), received, several)


def _one_record_each(history: History) -> tuple[History, frozenset[str]]:
    """Make strangers of people with several records in one release, a new one of each; say who they are."""
    n, ids, releases = len(history.respondents), set[str](), []
    twice = np.zeros(n + 1, dtype=np.bool_)  # the last entry is for counterfeits
    for past in history:
        twice[:n] |= np.bincount(past.person[past.person >= 0], minlength=n) > 1
    if not twice.any():
        return history, frozenset()
    for past in history:
        person = past.person.copy()
        rows = np.flatnonzero(twice[person])
        person[rows] = n + np.arange(len(rows), dtype=np.int32)
        n += len(rows)
        releases.append(replace(past, person=person, withheld=None))
    known = history.respondents
    ids.update(known.filter(pa.array(twice[:-1])).drop_null().cast(pa.string()).to_pylist())
    everyone = pa.concat_arrays([known, pa.nulls(n - len(known), known.type)])
    return replace(history, respondents=everyone, releases=tuple(releases)), frozenset(ids)


def people_not_joined(own: History, joint: History, others: Iterable[OtherSeries]) -> int:
    """Count the people of a history who hold another value in another series, or had several records at once there."""
    everyone = joint.respondents.slice(0, len(own.respondents)).cast(pa.string())
    there = pa.array(sorted(set[str]().union(*(other.several for other in others))), pa.string())
    apart = pc.is_in(everyone, value_set=there).to_numpy(zero_copy_only=False).copy()
    shown, ours = (np.full((len(joint.respondents), 2), -1, dtype=np.int64) for _ in range(2))
    for past in joint:
        real = past.person >= 0
        held = ours if past.number > 0 else shown
        person, value = past.person[real], past.value[real]
        held[person, 1] = np.where(held[person, 0] < 0, -1, np.where(held[person, 0] != value, value, held[person, 1]))
        held[person, 0] = np.where(held[person, 0] < 0, value, held[person, 0])
    one_value = (ours[:, 0] >= 0) & (ours[:, 1] < 0) & (shown[:, 0] >= 0)
    differs = one_value & ((shown[:, 0] != ours[:, 0]) | (shown[:, 1] >= 0))
    return int((apart | differs[: len(everyone)]).sum())


def _with_leavers(history: History) -> History:
    """Tell the attacker which leaver each counterfeit is, where the method keeps them as such."""
    method = history.releases[-1].method if len(history) else ""
    row = method_named(method) if method else None
    if row is None or not row.leavers_known:
        return history
    from seriatim.attacks.leavers import reveal_leavers

    return reveal_leavers(history)


def received_elsewhere(beside: Iterable[Sequence[OtherSeries]]) -> dict[int, tuple[str, ...]]:
    """Return who received which release of other series, over all columns."""
    return dict(held for others in beside for one in others for held in one.received.items())


def together(own: History, others: Iterable[OtherSeries]) -> History:
    """Return the releases of other series and then the own ones; a column that shares no value is another column."""
    found = own
    for other in others:
        joined = found.beside(other.history)
        banded = joined.in_common_bands()
        if banded is not joined or _share_a_value(own, other.history):
            found = joined
    return found if found is own else found.in_common_bands()


def _share_a_value(own: History, other: History) -> bool:
    mine, theirs = pc.cast(own.values, pa.string()).drop_null(), pc.cast(other.values, pa.string())
    return bool(len(mine)) and bool(pc.any(pc.is_in(theirs, value_set=mine)).as_py())


def names_beside(history: History, others: Sequence[OtherSeries]) -> tuple[str, ...]:
    """Return the series of which this history has releases."""
    here = {past.number for past in history}
    return tuple(other.name for other in others if here & other.held)
