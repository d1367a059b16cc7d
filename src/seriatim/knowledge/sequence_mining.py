"""Mines sequence knowledge from people's sequences of values (JS-reduce, Algorithm 5, as a context trie).

The paper divides the count of a run by ALL its occurrences (``denominators = "printed"``), also those at the end of a
sequence, so that rows sum to less than 1; ``continued`` counts only runs that went on. A run that was never seen backs
off to its shorter end (``unseen = "backoff"``); as printed its chance is 0 (``"zero"``), which is over-confident.
Steps are dates: a table is mined for every gap with enough pairs, other gaps take single steps.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from seriatim.errors import AdversaryError, Fault
from seriatim.kernels.arrays import Floats, Ints, Longs
from seriatim.knowledge.sequence_model import Denominators, SequenceModel, Unseen
from seriatim.model.doors import whole_argument

ENOUGH_PAIRS = 200
"""A gap with fewer pairs of appearances has no table of its own."""
BACK_OFF = 3.0
"""How many observations the margin, or everyone's steps, are worth beside a value's own."""
BACK_OFF_OF_RUNS = 30.0
"""How many observations the shorter run is worth beside a longer one.

On six real panels the steps of other people are guessed best by 30 to 100; 3 makes runs of two worse than the last
value alone.
"""
_MOST_PEOPLE, _MOST_RUNS = 20_000, 600
_BETTER = 0.99
_FLOOR = 0.5
"""What a value counts before it was ever seen."""


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class ValueCorpus:
    """Sequences of values, person by person in order of time."""

    values: tuple[Hashable, ...]
    code: Ints
    time: Longs
    ptr: Longs
    cls: Ints
    """The class of each person."""
    classes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        sequences: Iterable[Sequence[Hashable]],
        *,
        times: Iterable[Sequence[int]] | None = None,
        classes: Sequence[str] | None = None,
        values: Sequence[Hashable] | None = None,
    ) -> ValueCorpus:
        """Return a corpus from plain sequences; without ``times`` every step is one."""
        rows = [list(row) for row in sequences]
        lengths = [len(row) for row in rows]
        names = _value_names([value for row in rows for value in row], values)
        number = {value: at for at, value in enumerate(names)}
        own = ("",) * len(rows) if classes is None else classes
        if len(own) != len(rows):
            raise AdversaryError(Fault("classes", f"{len(own)} for {len(rows)} sequences", "one each"))
        kinds = ("",) if classes is None else tuple(dict.fromkeys(own))
        place = {name: at for at, name in enumerate(kinds)}
        return cls(
            values=names,
            code=np.array([number[value] for row in rows for value in row], dtype=np.int32),
            time=_rising_times(times, lengths),
            ptr=np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))).astype(np.int64),
            cls=np.array([place[name] for name in own], dtype=np.int32),
            classes=kinds,
        )

    @property
    def owner(self) -> Longs:
        return np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))

    def stay_share(self) -> float:
        """Return the share of consecutive appearances with the same value; 1 if there are none."""
        owner = self.owner
        follows = owner[1:] == owner[:-1]
        same = self.code[1:][follows] == self.code[:-1][follows]
        return float(same.mean()) if len(same) else 1.0

    def margin(self) -> Floats:
        """Return the share of each value among all appearances, with a floor for values not seen yet."""
        counts = np.bincount(self.code, minlength=len(self.values)) + _FLOOR
        share: Floats = counts / counts.sum()
        return share


def _value_names(seen: Sequence[Hashable], values: Sequence[Hashable] | None) -> tuple[Hashable, ...]:
    """Return the values in the order given, else in that of first appearance."""
    names = tuple(dict.fromkeys(seen) if values is None else values)
    if not names:
        raise AdversaryError(Fault("sequences", "no values at all", "a sequence of values for each person"))
    if missing := len({*seen} - {*names}):
        raise AdversaryError(Fault("sequences", f"{missing} values not among the values given", "known values"))
    return names


def _rising_times(times: Iterable[Sequence[int]] | None, lengths: Sequence[int]) -> Longs:
    rows = [list(range(n)) for n in lengths] if times is None else [list(row) for row in times]
    if [len(row) for row in rows] != list(lengths) or any(b <= a for row in rows for a, b in pairwise(row)):
        raise AdversaryError(Fault("times", "not a rising time for every value", "one whole number each"))
    return np.array([time for row in rows for time in row], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Contexts:
    """All runs that occur, short ones first: the first are the single values."""

    length: Ints
    value: Ints
    shorter: Ints
    """The run without its oldest value; -1 for single values."""
    child: dict[tuple[int, int], int]
    """The run that a run becomes with one more value."""
    at: list[Ints]
    """For each length, the run that ends at each appearance; -1 if the sequence is shorter."""


def mined_sequences(
    corpus: ValueCorpus, order: int, unseen: Unseen = "backoff", denominators: Denominators = "continued"
) -> SequenceModel:
    """Return the model of runs of up to ``order`` values."""
    whole_argument("order", order)
    if unseen not in ("backoff", "zero") or denominators not in ("continued", "printed"):
        found = f"unseen {unseen!r}, denominators {denominators!r}"
        raise AdversaryError(Fault("mine", found, "backoff or zero; continued or printed"))
    runs = _contexts(corpus, order)
    n_values, zero = len(corpus.values), unseen == "zero"
    n_runs = len(runs.length)
    then = _automaton(runs, n_values, order, zero)
    gaps = _gaps(corpus)
    pairs = {int(gap): int(n) for gap, n in zip(*np.unique(gaps[gaps > 0], return_counts=True), strict=True)}
    own = [gap for gap, n in pairs.items() if n >= ENOUGH_PAIRS and gap > 1]
    single = gaps == 1 if pairs.get(1, 0) else gaps > 0
    tables = {1: _table(corpus, runs, single, zero, denominators)}
    tables |= {gap: _table(corpus, runs, gaps == gap, zero, denominators) for gap in own}
    if zero:  # a run never seen, whose newest value is known
        dead = np.zeros((len(corpus.classes), n_values, n_values))
        tables = {gap: np.concatenate((table, dead), axis=1) for gap, table in tables.items()}
    value_of = np.concatenate((runs.value, np.arange(n_values if zero else 0))).astype(np.int32)
    level = _table(_pooled(corpus), runs, single, zero, denominators)[0, :n_values]
    return SequenceModel(
        values=corpus.values,
        prior=_priors(corpus),
        steps=tables,
        value_of=value_of,
        start=np.arange(n_values, dtype=np.int32),
        then=then,
        value_level=level,
        classes=corpus.classes,
        shares=_class_shares(corpus),
        kind=f"mined, order {order}" if n_runs > n_values or order == 1 else "mined",
        runs=_spelled(runs) if not zero else (),
        n_pairs=pairs,
    )


def best_order(corpus: ValueCorpus) -> int:
    """Return 2 if the pairs allow it: every second person's steps are then guessed better from the others' steps.

    One value back is enough where runs of two are too many to learn, or to follow quickly.
    """
    even, odd = _halves(corpus)
    if int((_gaps(even) > 0).sum()) < ENOUGH_PAIRS or len(np.unique(even.code)) ** 2 > _MOST_RUNS:
        return 1
    surprise = [_surprise(mined_sequences(even, order), odd) for order in (1, 2)]
    return 2 if surprise[1] < _BETTER * surprise[0] else 1


def possible_orders(corpus: ValueCorpus) -> tuple[int, ...]:
    """Return the orders that a corpus carries.

    A table that guesses other people's steps worse than the stay share does is learnt by heart: nobody else knows it.
    """
    if int((_gaps(corpus) > 0).sum()) < ENOUGH_PAIRS:
        return ()
    even, odd = _halves(corpus)
    stays = SequenceModel.from_stay(even.stay_share(), even.margin(), even.values)
    if _surprise(mined_sequences(even, 1), odd) > _surprise(stays, odd):
        return ()
    return tuple(range(1, best_order(corpus) + 1))


def _halves(corpus: ValueCorpus) -> tuple[ValueCorpus, ValueCorpus]:
    """Return every second person, and the others."""
    own = np.arange(len(corpus.ptr) - 1)[:_MOST_PEOPLE]
    return _part(corpus, own[::2]), _part(corpus, own[1::2])


def _part(corpus: ValueCorpus, people: Longs) -> ValueCorpus:
    """Return some people of a corpus, all of one class."""
    lengths = np.diff(corpus.ptr)[people]
    rows = np.concatenate([np.arange(corpus.ptr[who], corpus.ptr[who + 1]) for who in people.tolist()] or [people])
    return ValueCorpus(
        values=corpus.values,
        code=corpus.code[rows],
        time=corpus.time[rows],
        ptr=np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        cls=np.zeros(len(people), dtype=np.int32),
        classes=("",),
    )


def _surprise(model: SequenceModel, corpus: ValueCorpus) -> float:
    """Return the mean negative log of the chances of a corpus' steps."""
    chances, gaps = [], _gaps(corpus).tolist()
    state, codes = 0, corpus.code.tolist()
    for at, gap in enumerate(gaps):
        if gap == 0:
            state = int(model.start[codes[at]])
            continue
        chances.append(model.steps.get(gap, model.steps[1])[0, state, codes[at]])
        state = int(model.then[state, codes[at]])
    return float(-np.log(np.maximum(chances, 1e-12)).mean()) if chances else 0.0


def _class_shares(corpus: ValueCorpus) -> tuple[float, ...]:
    """Return the share of each class among all appearances."""
    counts = np.bincount(corpus.cls[corpus.owner], minlength=len(corpus.classes)) + _FLOOR
    return tuple((counts / counts.sum()).tolist())


def _spelled(runs: _Contexts) -> tuple[tuple[int, ...], ...]:
    """Return the values of each run, oldest first."""
    longer = {found: (base, value) for (base, value), found in runs.child.items()}
    spelled: list[tuple[int, ...]] = []
    for a, value in enumerate(runs.value.tolist()):
        spelled.append((*spelled[longer[a][0]], value) if a in longer else (value,))
    return tuple(spelled)


def following_runs(runs: tuple[tuple[int, ...], ...], n_values: int) -> Ints:
    """Return the run that follows each run and value, from runs that were written to a file."""
    number = {run: at for at, run in enumerate(runs)}
    order = max((len(run) for run in runs), default=1)
    then = np.empty((len(runs), n_values), dtype=np.int32)
    for at, run in enumerate(runs):
        for s in range(n_values):
            longest = (*run, s)[-order:]
            while longest not in number:
                longest = longest[1:]
            then[at, s] = number[longest]
    return then


def _gaps(corpus: ValueCorpus) -> Longs:
    """Return the gap before each appearance; 0 for first ones."""
    gaps = np.zeros(len(corpus.code), dtype=np.int64)
    owner = corpus.owner
    follows = np.flatnonzero(owner[1:] == owner[:-1]) + 1
    gaps[follows] = corpus.time[follows] - corpus.time[follows - 1]
    return gaps


def _contexts(corpus: ValueCorpus, order: int) -> _Contexts:
    n, n_values = len(corpus.code), len(corpus.values)
    position = np.arange(n) - np.repeat(corpus.ptr[:-1], np.diff(corpus.ptr))
    at = [corpus.code.astype(np.int32)]
    length, value = [np.ones(n_values, dtype=np.int32)], [np.arange(n_values, dtype=np.int32)]
    shorter, total = [np.full(n_values, -1, dtype=np.int32)], n_values
    child: dict[tuple[int, int], int] = {}
    for size in range(2, order + 1):
        ends = np.flatnonzero(position >= size - 1)
        if not len(ends):
            break
        keys = at[-1][ends - 1].astype(np.int64) * n_values + corpus.code[ends]
        kinds, first, which = np.unique(keys, return_index=True, return_inverse=True)
        child |= {(int(k // n_values), int(k % n_values)): total + i for i, k in enumerate(kinds.tolist())}
        here = np.full(n, -1, dtype=np.int32)
        here[ends] = total + which
        length.append(np.full(len(kinds), size, dtype=np.int32))
        value.append((kinds % n_values).astype(np.int32))
        shorter.append(at[-1][ends[first]])
        at.append(here)
        total += len(kinds)
    return _Contexts(np.concatenate(length), np.concatenate(value), np.concatenate(shorter), child, at)


def _automaton(runs: _Contexts, n_values: int, order: int, zero: bool) -> Ints:
    """Return the run that follows each run and value: the longest that was seen, or a dead end."""
    n_runs = len(runs.length)
    then = np.tile(np.arange(n_values, dtype=np.int32), (n_runs + (n_values if zero else 0), 1))
    if zero:
        then[n_runs:] += n_runs  # after a dead end everything is one
    for a in range(n_runs):
        full = runs.length[a] >= order
        base = runs.shorter[a] if full else a
        if base < 0:
            continue  # order 1: the next value alone
        for s in range(n_values):
            found = runs.child.get((int(base), s))
            if found is None:
                fallback = s if runs.shorter[base] < 0 else int(then[runs.shorter[base], s])
                found = n_runs + s if zero else fallback
            then[a, s] = found
    return then


def _table(
    corpus: ValueCorpus, runs: _Contexts, pairs: npt.NDArray[np.bool_], zero: bool, denominators: Denominators
) -> Floats:
    """Return (classes, runs, values): the chance of each value after each run, over these pairs of appearances."""
    n_classes, n_values, n_runs = len(corpus.classes), len(corpus.values), len(runs.length)
    ends = np.flatnonzero(pairs)
    own = corpus.cls[corpus.owner]
    counts, occurred = np.zeros((n_classes, n_runs, n_values)), np.zeros((n_classes, n_runs))
    for at in runs.at:
        before = at[ends - 1]
        there = before >= 0
        np.add.at(counts, (own[ends][there], before[there], corpus.code[ends][there]), 1.0)
        seen = at >= 0
        np.add.at(occurred, (own[seen], at[seen]), 1.0)
    whole = counts.sum(axis=2) if denominators == "continued" else occurred
    if zero:
        chances: Floats = np.divide(counts, whole[:, :, None], out=np.zeros_like(counts), where=whole[:, :, None] > 0)
        return chances
    return _backed_off(counts, whole, runs, corpus.margin())


def _backed_off(counts: Floats, whole: Floats, runs: _Contexts, margin: Floats) -> Floats:
    """Return chances with each run worth its counts, and its shorter end a few observations.

    Single values back off from a class to everyone and then to the margin; longer runs are pooled over classes.
    """
    pooled, n_pooled, n_values = counts.sum(axis=0), whole.sum(axis=0), len(margin)
    chances = np.empty_like(counts)
    everyone = (pooled[:n_values] + BACK_OFF * margin) / (n_pooled[:n_values, None] + BACK_OFF)
    own = (counts[:, :n_values] + BACK_OFF * everyone) / (whole[:, :n_values, None] + BACK_OFF)
    chances[:, :n_values] = own if len(counts) > 1 else everyone
    for size in range(2, int(runs.length.max(initial=1)) + 1):
        these = np.flatnonzero(runs.length == size)
        less = chances[:, runs.shorter[these]]
        chances[:, these] = (pooled[these] + BACK_OFF_OF_RUNS * less) / (n_pooled[these, None] + BACK_OFF_OF_RUNS)
    return chances


def _priors(corpus: ValueCorpus) -> Floats:
    counts = np.zeros((len(corpus.classes), len(corpus.values)))
    np.add.at(counts, (corpus.cls[corpus.owner], corpus.code), 1.0)
    prior: Floats = (counts + BACK_OFF * corpus.margin()) / (counts.sum(axis=1, keepdims=True) + BACK_OFF)
    return prior


def _pooled(corpus: ValueCorpus) -> ValueCorpus:
    own = np.zeros_like(corpus.cls)
    return ValueCorpus(values=corpus.values, code=corpus.code, time=corpus.time, ptr=corpus.ptr, cls=own, classes=("",))
