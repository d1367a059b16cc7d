"""Sequence knowledge: which value tends to follow which, as an adversary may know it.

Riboni, Pareschi and Bettini (JS-reduce, sections 4 and 5) call it BKseq. A model is a finite automaton over values,
with a prior per class of people; it comes from a domain table (:meth:`SequenceModel.from_matrix`), from sequences of
any corpus (:meth:`SequenceModel.mine`), or from one number: how many keep their value
(:meth:`SequenceModel.from_stay`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from seriatim.errors import AdversaryError, Fault
from seriatim.kernels.arrays import Floats, Ints
from seriatim.kernels.belief.chains import Chain, advance_chains, filter_chains, start_chains

Unseen = Literal["backoff", "zero"]
Denominators = Literal["continued", "printed"]
Revising = Literal["filter", "product"]
_SLACK = 1e-6


class Revision(NamedTuple):
    """What is known before the next release."""

    state: Floats
    """(people, states): hand it to the next call of :meth:`SequenceModel.revise`."""
    beliefs: Floats
    """(people, values): the revised beliefs, not rescaled where knowledge sums to less than 1."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SequenceModel:
    """A prior per class, and the chance of each value to follow each state of a person's past."""

    values: tuple[Hashable, ...]
    prior: Floats
    """(classes, values), rows sum to 1."""
    steps: Mapping[int, Floats]
    """(classes, states, values) by gap; 1 is always there."""
    value_of: Ints
    start: Ints
    then: Ints
    value_level: Floats
    """(values, values): the pooled single step between values."""
    classes: tuple[str, ...] = ("",)
    kind: str = "matrix"
    runs: tuple[tuple[int, ...], ...] = ()
    """The values that each state remembers, oldest first; empty if states are not runs of values."""
    n_pairs: Mapping[int, int] = field(default_factory=dict)
    """Pairs of appearances that were mined, by gap."""

    def __repr__(self) -> str:
        sizes = f"{len(self.values)} values, {self.n_states} states, {len(self.classes)} classes"
        return f"SequenceModel({self.kind}, {sizes})"

    @classmethod
    def from_matrix(
        cls, matrix: npt.ArrayLike, values: Sequence[Hashable] | None = None, prior: npt.ArrayLike | None = None
    ) -> SequenceModel:
        """Return the model of a table: ``matrix[a, b]`` is the chance that value b follows value a.

        A row may sum to less than 1: the rest of the people are not seen again. ``prior`` is scaled to sum to 1.
        """
        table = np.array(matrix, dtype=np.float64)
        names = tuple(range(len(table))) if values is None else tuple(values)
        _check_matrix(table, names)
        n = len(names)
        flat = np.arange(n, dtype=np.int32)
        return cls(
            values=names,
            prior=_scaled(np.full(n, 1.0) if prior is None else np.array(prior, dtype=np.float64), n),
            steps={1: table[None, :, :]},
            value_of=flat,
            start=flat,
            then=np.tile(flat, (n, 1)),
            value_level=table,
        )

    @classmethod
    def from_stay(cls, stay: float, margin: npt.ArrayLike, values: Sequence[Hashable]) -> SequenceModel:
        """Return the model of one number: people keep their value with chance ``stay``, else take one by the margin."""
        if not 0.0 <= stay <= 1.0:
            raise AdversaryError(Fault("stay", f"{stay}", "0 to 1"))
        share = _scaled(np.array(margin, dtype=np.float64), len(values))[0]
        table = stay * np.eye(len(values)) + (1.0 - stay) * share[None, :]
        return replace(cls.from_matrix(table, values, share), kind="constant" if stay == 1.0 else "stay")

    @classmethod
    def mine(
        cls,
        sequences: Iterable[Sequence[Hashable]],
        order: int = 1,
        *,
        times: Iterable[Sequence[int]] | None = None,
        classes: Sequence[str] | None = None,
        values: Sequence[Hashable] | None = None,
        unseen: Unseen = "backoff",
        denominators: Denominators = "continued",
    ) -> SequenceModel:
        """Return the model mined from sequences of values, a sequence per person (see :mod:`sequence_mining`)."""
        from seriatim.knowledge.sequence_mining import Corpus, mined_sequences

        corpus = Corpus.of(sequences, times=times, classes=classes, values=values)
        return mined_sequences(corpus, order, unseen, denominators)

    @property
    def n_states(self) -> int:
        return len(self.value_of)

    @cached_property
    def chain(self) -> Chain:
        """Return the model as kernels read it."""
        gaps = sorted(self.steps)
        which = np.full(max(gaps) + 1, -1, dtype=np.int32)
        which[gaps] = np.arange(len(gaps))
        tables = np.stack([np.ascontiguousarray(self.steps[gap]) for gap in gaps])
        return Chain(np.ascontiguousarray(self.prior), self.start, self.value_of, self.then, which, tables)

    @cached_property
    def coupling(self) -> float:
        """Return the mean absolute eigenvalue of the step between values, without the first: 1 if values never change.

        It says how long evidence about one appearance stays evidence about another.
        """
        if len(self.values) < 2:
            return 1.0
        sizes = np.sort(np.abs(np.linalg.eigvals(self.value_level)))
        return float(min(1.0, sizes[:-1].mean()))

    @property
    def constant(self) -> bool:
        """Return whether values never change."""
        return bool(self.n_states == len(self.values) and (self.value_level == np.eye(len(self.values))).all())

    def at_start(self, n_people: int, classes: npt.ArrayLike | None = None) -> Revision:
        """Return what is believed about people without a history."""
        own = self.class_numbers(n_people, classes)
        state = np.empty((n_people, self.n_states))
        start_chains(self.chain, own, state)
        return Revision(state, self.prior[own])

    def revise(
        self,
        state: npt.ArrayLike | None,
        posterior: npt.ArrayLike,
        gap: int | npt.ArrayLike = 1,
        classes: npt.ArrayLike | None = None,
        revision: Revising = "filter",
    ) -> Revision:
        """Return what is believed about the next appearance, ``gap`` steps on, after a posterior about this one.

        ``state`` is what the last revision returned, None for people who had no history. ``filter`` is the forward
        filter: exact for the model, without any older history. ``product`` is the paper's product of marginals; a state
        of one is no state of the other. ``classes`` are numbers or names, one per person.
        """
        if revision not in ("filter", "product"):
            raise AdversaryError(Fault("revision", "unknown", "filter, product"))
        seen = np.atleast_2d(np.array(posterior, dtype=np.float64))
        if seen.shape[1] != len(self.values) or not np.isfinite(seen).all() or (seen < 0).any():
            raise AdversaryError(Fault("posterior", f"shape {seen.shape}", f"(people, {len(self.values)}), from 0"))
        own = self.class_numbers(len(seen), classes)
        gaps = np.broadcast_to(np.array(gap), (len(seen),)).astype(np.int32)
        if (gaps < 1).any():
            raise AdversaryError(Fault("gap", "below 1", "whole steps, 1 or more"))
        if revision == "product":
            return self._by_product(state, seen, own, gaps)
        before = self._before(state, len(seen), own)
        if before.shape != (len(seen), self.n_states):
            raise AdversaryError(Fault("state", f"shape {before.shape}", f"({len(seen)}, {self.n_states})"))
        now = seen
        if self.n_states != len(self.values):
            now = np.empty_like(before)
            filter_chains(self.chain, before, seen, now)
        out = self.carried(now, own, gaps)
        return Revision(out, self.beliefs_of(out))

    def _by_product(self, state: npt.ArrayLike | None, seen: Floats, own: Ints, gaps: Ints) -> Revision:
        from seriatim.knowledge.marginal_revision import marginal_revision

        runs = None if state is None else np.array(state, dtype=np.float64)
        if runs is not None and runs.shape != (len(seen), self.n_states):
            raise AdversaryError(Fault("state", f"shape {runs.shape}", f"({len(seen)}, {self.n_states})"))
        after = marginal_revision(self, runs, seen)
        return Revision(after, self.beliefs_of(self.carried(after, own, gaps)))

    def _before(self, state: npt.ArrayLike | None, n_people: int, own: Ints) -> Floats:
        if self.n_states == len(self.values) and state is None:
            return np.empty((n_people, self.n_states))  # the last value is all there is to know
        return self.at_start(n_people, own).state if state is None else np.array(state, dtype=np.float64)

    def carried(self, state: Floats, cls: Ints, gap: Ints) -> Floats:
        """Return states carried over everyone's gap; rows are not rescaled."""
        out = np.empty_like(state)
        if self.n_states != len(self.values):
            advance_chains(self.chain, state, cls, gap, out)
            return out
        kinds, which = np.unique(cls.astype(np.int64) << 32 | gap, return_inverse=True)
        for at, kind in enumerate(kinds.tolist()):
            rows = slice(None) if len(kinds) == 1 else np.flatnonzero(which == at)
            out[rows] = state[rows] @ self._step(kind >> 32, kind & 0xFFFFFFFF)
        return out

    def _step(self, cls: int, gap: int) -> Floats:
        """Return the step between values over a gap: its own table, or that many single steps."""
        own = self.steps.get(gap)
        table: Floats = own[cls] if own is not None else np.linalg.matrix_power(self.steps[1][cls], gap)
        return table

    def beliefs_of(self, state: Floats) -> Floats:
        """Return the belief about the newest value, from states."""
        if self.n_states == len(self.values):
            return state
        beliefs = np.zeros((len(state), len(self.values)))
        for s in range(len(self.values)):
            beliefs[:, s] = state[:, self.value_of == s].sum(axis=1)
        return beliefs

    def class_numbers(self, n_people: int, classes: npt.ArrayLike | None) -> Ints:
        """Return everyone's class as a number; names that the model does not know are errors."""
        if classes is None:
            return np.zeros(n_people, dtype=np.int32)
        given = np.array(classes)
        if given.dtype.kind in "US":
            known = {name: at for at, name in enumerate(self.classes)}
            given = np.array([known.get(str(name), -1) for name in given.tolist()])
        if given.shape != (n_people,) or ((given < 0) | (given >= len(self.classes))).any():
            raise AdversaryError(Fault("classes", "not one known class per person", f"one of {len(self.classes)}"))
        return given.astype(np.int32)

    def over(self, values: Sequence[Hashable], floor: float = 1e-4) -> SequenceModel:
        """Return the model over other values.

        Values that were not mined get a small chance to follow, and follow by the margin. A table that was given must
        know every value, and so must longer runs.
        """
        if tuple(values) == self.values:
            return self
        missing = len(set(values) - set(self.values))
        if missing and (self.kind == "matrix" or self.n_states != len(self.values)):
            found = f"{missing} values that the knowledge does not cover"
            raise AdversaryError(Fault("sequence", found, "every value", "add them, or mine it with these values"))
        return _respelled(self, tuple(values), floor)

    def pooled(self) -> SequenceModel:
        """Return the model without classes, for people whose class is not known."""
        if len(self.classes) == 1:
            return self
        steps = {gap: table.mean(axis=0, keepdims=True) for gap, table in self.steps.items()}
        return replace(self, prior=self.prior.mean(axis=0, keepdims=True), steps=steps, classes=("",))

    def of_last_value(self) -> SequenceModel | None:
        """Return what this model knows of the last value alone; None unless it remembers runs of values."""
        if self.n_states == len(self.values) or not self.runs:
            return None
        return _by_value(replace(self, runs=()))

    def tempered(self, weight: float) -> SequenceModel:
        """Return a less certain model: with chance ``weight``, the next value comes from the prior instead."""
        mixed = {
            gap: (1.0 - weight) * table + weight * self.prior[:, None, :] * table.sum(axis=2, keepdims=True)
            for gap, table in self.steps.items()
        }
        margin = self.prior.mean(axis=0)
        level = (1.0 - weight) * self.value_level + weight * margin[None, :]
        return replace(self, steps=mixed, value_level=level, kind=f"{self.kind}, tempered")


def _check_matrix(table: Floats, values: tuple[Hashable, ...]) -> None:
    n = len(values)
    if table.ndim != 2 or table.shape != (n, n) or not n:
        found = f"a table of {' x '.join(map(str, table.shape))} for {n} values"
        raise AdversaryError(Fault("sequence", found, "a row and a column for every value", "add the missing ones"))
    if len(set(values)) != n:
        raise AdversaryError(Fault("sequence", "a value is named twice", "every value once"))
    if not np.isfinite(table).all() or (table < 0).any():
        raise AdversaryError(Fault("sequence", "chances that are negative or not finite", "0 to 1"))
    if (table.sum(axis=1) > 1.0 + _SLACK).any():
        rows = int((table.sum(axis=1) > 1.0 + _SLACK).sum())
        raise AdversaryError(
            Fault("sequence", f"{rows} rows sum to more than 1", "at most 1", "divide each by its sum")
        )


def _scaled(prior: Floats, n: int) -> Floats:
    rows = np.atleast_2d(prior)
    if rows.shape[1] != n or not np.isfinite(rows).all() or (rows < 0).any() or (rows.sum(axis=1) <= 0).any():
        raise AdversaryError(Fault("prior", f"shape {prior.shape}", f"{n} chances from 0, not all 0"))
    scaled: Floats = rows / rows.sum(axis=1, keepdims=True)
    return scaled


def _respelled(model: SequenceModel, values: tuple[Hashable, ...], floor: float) -> SequenceModel:
    """Return the automaton over these values: states of others go, and a new value has a state of its own."""
    known = {value: at for at, value in enumerate(model.values)}
    old = np.array([known.get(value, -1) for value in values])
    new = np.flatnonzero(old < 0)
    place = np.full(len(model.values), -1)
    place[old[old >= 0]] = np.flatnonzero(old >= 0)
    prior = np.where(old[None, :] < 0, floor, model.prior[:, old])
    prior /= prior.sum(axis=1, keepdims=True)
    kept = np.flatnonzero(place[model.value_of] >= 0)
    number = np.full(model.n_states, -1)
    number[kept] = np.arange(len(kept))
    start = np.where(old < 0, 0, number[model.start[old]])
    start[new] = len(kept) + np.arange(len(new))
    then = np.where(old[None, :] < 0, start[None, :], number[model.then[kept][:, old]])
    margin = prior.mean(axis=0)

    def moved(table: Floats, states: npt.NDArray[Any]) -> Floats:
        inner = np.where(old[None, None, :] < 0, floor, table[:, states][:, :, old])
        fresh = np.broadcast_to(margin, (len(table), len(new), len(values)))
        rows = np.concatenate((inner, fresh), axis=1)
        whole = rows.sum(axis=2, keepdims=True)
        scaled: Floats = np.where(whole > 1.0, rows / np.maximum(whole, 1e-300), rows)
        return scaled

    level = moved(model.value_level[None], old[old >= 0])[0]
    order = np.argsort(np.concatenate((np.flatnonzero(old >= 0), new)))
    found = replace(
        model,
        values=values,
        prior=prior.reshape(len(model.classes), -1),
        steps={gap: moved(table, kept) for gap, table in model.steps.items()},
        value_of=np.concatenate((place[model.value_of[kept]], new)).astype(np.int32),
        start=start.astype(np.int32),
        then=np.concatenate((then, np.tile(start, (len(new), 1)))).astype(np.int32),
        value_level=level[order],
        runs=_respelled_runs(model, place, kept, new),
    )
    return found if found.n_states != len(values) else _by_value(found)


def _respelled_runs(
    model: SequenceModel, place: npt.NDArray[Any], kept: npt.NDArray[Any], new: npt.NDArray[Any]
) -> tuple[tuple[int, ...], ...]:
    """Return what each state remembers; a value that is gone is written -1, which no later value is."""
    if not model.runs:
        return ()
    spelled = [tuple(int(place[value]) for value in model.runs[state]) for state in kept.tolist()]
    return (*spelled, *((int(value),) for value in new))


def _by_value(model: SequenceModel) -> SequenceModel:
    """Return a model whose states are its values, with the states in the order of the values."""
    flat = np.arange(len(model.values), dtype=np.int32)
    return replace(
        model,
        steps={gap: np.ascontiguousarray(table[:, model.start]) for gap, table in model.steps.items()},
        value_of=flat,
        start=flat,
        then=np.tile(flat, (len(flat), 1)),
    )
