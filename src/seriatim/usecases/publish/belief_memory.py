"""What the ledger keeps about people whose values change: a belief from before the window, and who was ever sure.

One row per person: ``last`` is the release of their newest appearance before the window, ``sure`` whether they were
ever inferred with certainty, and a column for each value says how much it was then believed (0 for people who
first appeared in the window).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.attacks.belief_figures import certain_beliefs
from seriatim.attacks.sequence_knowledge import SequenceBeliefs
from seriatim.kernels.arrays import Flags, Floats, Ints, Longs
from seriatim.knowledge.appearances import Appearances
from seriatim.knowledge.sequence_model import SequenceModel
from seriatim.knowledge.sequential_adversary import SequentialAdversary
from seriatim.knowledge.smoothing import KnownBefore
from seriatim.model.common_bands import bands_within
from seriatim.model.history import History

_BELIEF = "belief"


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class BeliefMemory:
    """A row per person who was ever published, in any order."""

    people: pa.Array
    """Their ids as text."""
    upto: int
    """The newest release that the beliefs are about; 0 if all releases are in the window still."""
    sure: Flags
    last: Longs
    values: pa.Array
    """Values as text."""
    beliefs: Floats
    """(people, values); rows of people without a belief are 0."""

    @classmethod
    def read(cls, kept: pa.Table | None) -> BeliefMemory | None:
        """Return what a table of the ledger says; None if there is none."""
        if kept is None or not {"upto", "sure", "last"} <= set(kept.column_names):
            return None
        held = pc.is_valid(kept.column("respondent"))  # people who were erased have no id
        kept = kept.filter(held).combine_chunks()
        values, beliefs = _of_columns(kept)
        upto = kept.column("upto").to_pylist()[:1]
        return cls(
            people=kept.column("respondent").cast(pa.string()).combine_chunks(),
            upto=upto[0] if upto else -1,
            sure=kept.column("sure").to_numpy(),
            last=kept.column("last").to_numpy(),
            values=values,
            beliefs=beliefs,
        )

    def continues(self, history: History, first: int) -> bool:
        """Return whether this was written just before the release at position ``first``."""
        return self.upto == history.releases[first - 1].number

    @staticmethod
    def upto_of(kept: pa.Table | None) -> int | None:
        """Return the newest release that a table of the ledger is about, without reading its beliefs."""
        if kept is None or "upto" not in kept.column_names:
            return None
        held = kept.filter(pc.is_valid(kept.column("respondent"))).slice(0, 1)
        return held.column("upto")[0].as_py() if len(held) else None

    def known_before(
        self, rows: Appearances, model: SequenceModel, window: History, adversary: SequentialAdversary
    ) -> KnownBefore:
        """Return what older releases say about the people of a window."""
        known = KnownBefore.nothing(rows, model)
        place = _places(self.people, rows.respondents.cast(pa.string()))
        texts = pc.cast(window.values, pa.string())
        own = _places(self._in_bands_of(texts), texts)
        here, there = np.flatnonzero(place >= 0), np.flatnonzero(own >= 0)
        state = np.zeros((len(here), model.n_states))
        for value in there.tolist():  # several bands of older releases may be one by now
            state[:, model.start[own[value]]] += self.beliefs[here, value]
        known.state[place[here]] = state
        known.met[place[here]] = state.sum(axis=1) > 0
        met = here[self.last[here] > 0]
        known.last[place[met]] = adversary.times_of(self.last[met].tolist())
        return known

    def _in_bands_of(self, texts: pa.Array) -> pa.Array:
        """Return the values, those that a window shows in wider bands under the names of these."""
        strange = self.values.filter(pc.invert(pc.is_in(self.values, value_set=texts)))
        wider = bands_within(strange.to_pylist(), texts.to_pylist()) if len(strange) else {}
        return pa.array([wider.get(text, text) for text in self.values.to_pylist()], pa.string())

    def table(self) -> pa.Table:
        """Return it as the ledger keeps it."""
        return pa.table(
            {
                "respondent": self.people,
                "upto": pa.array(np.full(len(self.people), self.upto, dtype=np.int64)),
                "sure": pa.array(self.sure),
                "last": pa.array(self.last),
                **{
                    _column_of(text): np.ascontiguousarray(self.beliefs[:, at])
                    for at, text in enumerate(self.values.to_pylist())
                },
            }
        )


def _column_of(text: str | None) -> str:
    """Return the column of a value; a missing one is a value too, and any text must fit."""
    return _BELIEF if text is None else f"{_BELIEF}-{text.encode().hex()}"


def _of_columns(kept: pa.Table) -> tuple[pa.Array, Floats]:
    """Return the values, and what is believed of each."""
    names = [name for name in kept.column_names if name.partition("-")[0] == _BELIEF]
    texts = [bytes.fromhex(name.partition("-")[2]).decode() if "-" in name else None for name in names]
    beliefs = np.zeros((len(kept), len(names)))
    for at, name in enumerate(names):
        beliefs[:, at] = kept.column(name).to_numpy()
    return pa.array(texts, pa.string()), beliefs


def remembered_after(
    found: SequenceBeliefs, kept: BeliefMemory | None, before: tuple[int, KnownBefore] | None
) -> BeliefMemory:
    """Return the memory after a release; ``before`` is the release before the next window, and what is known then."""
    rows = found.rows
    named = np.flatnonzero(rows.respondents.is_valid().to_numpy(zero_copy_only=False))
    ids = rows.respondents.cast(pa.string()).take(pa.array(named))
    old = pa.array([], pa.string()) if kept is None else kept.people
    fresh = ids.filter(pc.invert(pc.is_in(ids, value_set=old)))
    people = pa.concat_arrays([old, fresh])
    place, n_old = _places(ids, people), len(old)
    sure = np.concatenate((np.zeros(0, np.bool_) if kept is None else kept.sure, np.zeros(len(fresh), np.bool_)))
    # once certain, always counted: later doubt does not take back what somebody knew
    sure[place] |= _sure_now(found)[named]
    names = pc.cast(found.values, pa.string())
    goes_on = kept is not None and kept.upto > 0
    values = pc.unique(pa.concat_arrays([kept.values, names])) if goes_on and kept is not None else names
    beliefs, last = np.zeros((len(people), len(values))), np.zeros(len(people), dtype=np.int64)
    if goes_on and kept is not None:
        # values come and go between releases, so the columns of old and new differ
        beliefs[:n_old, _places(kept.values, values)] = kept.beliefs
        last[:n_old] = kept.last
    upto = 0
    if before is not None:
        upto, after = before
        met = np.flatnonzero(after.met[named])
        own = np.zeros((len(met), len(values)))
        own[:, _places(names, values)] = found.model.beliefs_of(after.state[named[met]])
        beliefs[place[met]], last[place[met]] = own, _numbers_of(found, after.last[named[met]], upto)
    return BeliefMemory(people=people, upto=upto, sure=sure, last=last, values=values, beliefs=beliefs)


def _numbers_of(found: SequenceBeliefs, times: Ints, upto: int) -> Longs:
    """Return the releases that are at these times; none is after ``upto``."""
    if found.adversary.times is None:
        return times.astype(np.int64)
    numbers: Longs = np.searchsorted(np.array(found.adversary.times[:upto]), times) + 1
    return numbers


def _sure_now(found: SequenceBeliefs) -> Flags:
    """Return for everyone in the window whether some belief is certain, right and raised."""
    _, right, raised = certain_beliefs(found, found.beliefs)
    flags: Flags = np.zeros(found.rows.n_people, dtype=np.bool_)
    flags[found.rows.person[found.judged[right & raised]]] = True
    return flags


def _places(wanted: pa.Array, known: pa.Array) -> Longs:
    """Return the position of each text among the known ones; -1 if it is not."""
    found = pc.index_in(wanted, value_set=known).fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(found, dtype=np.int64)
