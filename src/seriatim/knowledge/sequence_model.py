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
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from seriatim.errors import AdversaryError, Fault
from seriatim.kernels.arrays import Floats, Ints
from seriatim.kernels.belief.chains import Chain, filter_states, start_states, step_forward
from seriatim.knowledge.value_texts import value_texts
from seriatim.model.doors import whole_argument

Unseen = Literal["backoff", "zero"]
Denominators = Literal["continued", "printed"]
Revising = Literal["filter", "product"]
ByClass = npt.ArrayLike | Mapping[str, npt.ArrayLike]
"""A table, or one for each class."""
_LONG = 16


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
    shares: tuple[float, ...] = ()
    """The share of each class among the people it was mined from; all alike if empty."""
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
        cls,
        matrix: ByClass,
        values: Sequence[Hashable] | None = None,
        prior: ByClass | None = None,
        *,
        gaps: Mapping[int, ByClass] | None = None,
    ) -> SequenceModel:
        """Return the model of a table: ``matrix[a, b]`` is the chance that value b follows value a.

        A table over the last n values has an axis for each, the oldest first: ``matrix[a, b, c]``. A row may sum to
        less than 1: the rest of the people are not seen again. ``prior`` is scaled to sum to 1. ``matrix`` and
        ``prior`` may also be mappings, by class; ``gaps`` has tables for steps that are longer than one.
        """
        from seriatim.knowledge.given_tables import n_step_model

        return n_step_model(matrix, values, prior, gaps)

    @classmethod
    def from_automaton(
        cls,
        steps: npt.ArrayLike,
        then: npt.ArrayLike,
        shows: Sequence[Hashable],
        values: Sequence[Hashable],
        prior: npt.ArrayLike | None = None,
    ) -> SequenceModel:
        """Return the model of a finite automaton.

        ``steps[a, s]`` is the chance that value s follows state a, ``then[a, s]`` the state it leads to, and
        ``shows[a]`` the value of a state. A first appearance is in the first state that shows its value.
        """
        from seriatim.knowledge.given_tables import automaton_model

        return automaton_model(steps, then, shows, values, prior)

    @classmethod
    def from_stay(cls, stay: float, margin: npt.ArrayLike, values: Sequence[Hashable]) -> SequenceModel:
        """Return the model of one number: people keep their value with chance ``stay``, else take one by the margin."""
        if not 0.0 <= stay <= 1.0:
            raise AdversaryError(Fault("stay", f"{stay}", "0 to 1"))
        share = checked_priors(checked_numbers("margin", margin), len(values))[0]
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
        from seriatim.knowledge.sequence_mining import ValueCorpus, mined_sequences

        corpus = ValueCorpus.of(sequences, times=times, classes=classes, values=values)
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
        return Chain(
            np.ascontiguousarray(self.prior), self.start, self.value_of, np.ascontiguousarray(self.then), which, tables
        )

    @cached_property
    def coupling(self) -> float:
        """Return the mean absolute eigenvalue of the step between values, without the first: 1 if values never change.

        It says how long evidence about one appearance stays evidence about another.
        """
        if len(self.values) < 2:
            return 1.0
        sizes = np.sort(np.abs(np.linalg.eigvals(self.value_level)))
        return float(min(1.0, sizes[:-1].mean()))

    @cached_property
    def class_weights(self) -> Floats:
        """Return (classes, values): the share of the people with a value that each class has; columns sum to 1."""
        own = np.array(self.shares or [1.0] * len(self.classes))[:, None] * self.prior
        weights: Floats = own / np.maximum(own.sum(axis=0, keepdims=True), 1e-300)
        return weights

    @property
    def margin(self) -> Floats:
        """Return the share of each value over all classes."""
        own = np.array(self.shares or [1.0] * len(self.classes))
        margin: Floats = own @ self.prior / own.sum()
        return margin

    @property
    def constant(self) -> bool:
        """Return whether values never change."""
        return bool(self.n_states == len(self.values) and (self.value_level == np.eye(len(self.values))).all())

    def at_start(self, n_people: int, classes: npt.ArrayLike | None = None) -> Revision:
        """Return what is believed about people without a history."""
        own = self.class_numbers(n_people, classes)
        state = np.empty((n_people, self.n_states))
        start_states(self.chain, own, state)
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
        seen = np.atleast_2d(checked_numbers("posterior", posterior))
        if seen.ndim != 2 or seen.shape[1] != len(self.values) or not _from_0(seen):
            raise AdversaryError(Fault("posterior", f"shape {seen.shape}", f"(people, {len(self.values)}), from 0"))
        empty = int((seen.sum(axis=1) <= 0).sum())
        if empty:
            raise AdversaryError(Fault("posterior", f"{empty} rows are all 0", "some value possible for everyone"))
        own, gaps = self.class_numbers(len(seen), classes), _gaps(gap, len(seen))
        if revision == "product":
            return self._by_product(state, seen, own, gaps)
        before = self._before(state, len(seen), own)
        now = seen
        if self.n_states != len(self.values):
            now = np.empty_like(before)
            filter_states(self.chain, before, seen.astype(np.float64), now)
        out = self.carried(now, own, gaps)
        return Revision(out, self.beliefs_of(out))

    def _by_product(self, state: npt.ArrayLike | None, seen: Floats, own: Ints, gaps: Ints) -> Revision:
        from seriatim.knowledge.given_tables import marginal_revision

        runs = None if state is None else self._state(state, len(seen))
        after = marginal_revision(self, runs, seen)
        return Revision(after, self.beliefs_of(self.carried(after, own, gaps)))

    def _before(self, state: npt.ArrayLike | None, n_people: int, own: Ints) -> Floats:
        if self.n_states == len(self.values) and state is None:
            return np.empty((n_people, self.n_states))  # the last value is all there is to know
        return self.at_start(n_people, own).state if state is None else self._state(state, n_people)

    def _state(self, given: npt.ArrayLike, n_people: int) -> Floats:
        """Return the state that a caller hands back, checked."""
        state = checked_numbers("state", given).astype(np.float64, copy=False)
        if state.shape != (n_people, self.n_states) or not _from_0(state):
            raise AdversaryError(Fault("state", f"shape {state.shape}", f"({n_people}, {self.n_states}), from 0"))
        return state

    def carried(self, state: Floats, cls: Ints, gap: Ints) -> Floats:
        """Return states carried over everyone's gap; rows are not rescaled."""
        if state.shape != (len(cls), self.n_states) or len(gap) != len(cls):
            raise AdversaryError(Fault("state", f"shape {state.shape}", "a row per person, a column per state"))
        out = np.empty_like(state)
        if self.n_states != len(self.values):
            step_forward(self.chain, state, cls, gap, out)
            return out
        kinds, which = np.unique(cls.astype(np.int64) << 32 | gap, return_inverse=True)
        for at, kind in enumerate(kinds.tolist()):
            rows = slice(None) if len(kinds) == 1 else np.flatnonzero(which == at)
            out[rows] = state[rows] @ self._step(kind >> 32, kind & 0xFFFFFFFF).astype(state.dtype, copy=False)
        return out

    def with_gaps(self, gaps: Iterable[int]) -> SequenceModel:
        """Return the model with a table for each of these gaps that is long: many single steps take long."""
        if self.n_states != len(self.values):
            return self
        long = [gap for gap in map(int, gaps) if gap > _LONG and gap not in self.steps]
        classes = range(len(self.classes))
        tables = {gap: np.stack([self._step(cls, gap) for cls in classes]) for gap in long}
        return replace(self, steps={**self.steps, **tables}) if tables else self

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
        whole_argument("n_people", n_people, 0)
        if classes is None:
            return np.zeros(n_people, dtype=np.int32)
        given = np.array(classes)
        if given.dtype.kind in "US":
            known = {name: at for at, name in enumerate(self.classes)}
            given = np.array([known.get(str(name), -1) for name in given.tolist()])
        numbers = given.dtype.kind in "iu" or not given.size
        if not numbers or given.shape != (n_people,) or ((given < 0) | (given >= len(self.classes))).any():
            raise AdversaryError(Fault("classes", "not one known class per person", f"one of {len(self.classes)}"))
        return given.astype(np.int32)

    def over(self, values: Sequence[Hashable], floor: float = 1e-4) -> SequenceModel:
        """Return the model over other values.

        Values are the same if their texts are: knowledge files hold text. Values that were not mined get a small chance
        to follow, and follow by the margin. A table that was given must know every value, and any other some.
        """
        if tuple(values) == self.values:
            return self
        if not len(values):
            raise AdversaryError(Fault("values", "none", "one or more"))
        missing = len(set(value_texts(values)) - set(value_texts(self.values)))
        given = self.kind.startswith("matrix") or (self.n_states != len(self.values) and not self.runs)
        if missing and (given or missing == len(values)):
            found = f"{missing} values that the knowledge does not cover"
            raise AdversaryError(Fault("sequence", found, "every value", "add them, or mine it with these values"))
        from seriatim.knowledge.given_tables import respelled_model

        lost = len(values) - missing < len(self.values)
        return respelled_model(self._with_short_gaps() if lost else self, tuple(values), floor)

    def _with_short_gaps(self) -> SequenceModel:
        """Return the model with a table for every gap up to a long one, while all values that may lie in one are there.

        Someone who is away may take a value that the releases never show.
        """
        if self.n_states != len(self.values):
            return self
        tables = dict(self.steps)
        passed = self.steps[1]
        for gap in range(2, _LONG + 1):
            passed = passed @ self.steps[1]
            tables.setdefault(gap, passed)
        return replace(self, steps=tables)

    def pooled(self) -> SequenceModel:
        """Return the model without classes, for people whose class is not known."""
        if len(self.classes) == 1:
            return self
        weights = self.class_weights[:, self.value_of, None]
        steps = {gap: (weights * table).sum(axis=0, keepdims=True) for gap, table in self.steps.items()}
        return replace(self, prior=self.margin[None, :], steps=steps, classes=("",), shares=())

    def of_last_value(self) -> SequenceModel | None:
        """Return what this model knows of the last value alone; None unless it remembers runs of values."""
        if self.n_states == len(self.values) or not self.runs:
            return None
        from seriatim.knowledge.given_tables import respelled_model_by_value

        return respelled_model_by_value(replace(self, runs=()))

    def tempered(self, weight: float) -> SequenceModel:
        """Return a less certain model: with chance ``weight``, the next value comes from the prior instead."""
        mixed = {
            gap: (1.0 - weight) * table + weight * self.prior[:, None, :] * table.sum(axis=2, keepdims=True)
            for gap, table in self.steps.items()
        }
        level = (1.0 - weight) * self.value_level + weight * self.margin[None, :]
        return replace(self, steps=mixed, value_level=level, kind=f"{self.kind}, tempered")


def _from_0(given: Floats) -> bool:
    """Return whether all numbers are finite and none is negative; a few passes, and no copy."""
    return bool(given.min(initial=0.0) >= 0.0 and given.max(initial=0.0) < np.inf)


def checked_numbers(name: str, given: npt.ArrayLike) -> Floats:
    """Return an array of numbers; single precision stays as it is, since posteriors of millions of people are large."""
    if isinstance(given, np.ndarray) and given.dtype == np.float32:
        return np.ascontiguousarray(given)
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise AdversaryError(Fault(name, "not numbers, or rows of different lengths", "an array of numbers")) from None


def _gaps(given: int | npt.ArrayLike, n_people: int) -> Ints:
    """Return everyone's gap."""
    gaps = checked_numbers("gap", given)
    if gaps.shape not in ((), (1,), (n_people,)) or not (np.isfinite(gaps) & (gaps >= 1) & (gaps % 1 == 0)).all():
        found = f"shape {gaps.shape}, or not whole steps"
        raise AdversaryError(Fault("gap", found, "whole steps from 1, one for all or one each"))
    return np.broadcast_to(gaps, (n_people,)).astype(np.int32)


def checked_priors(prior: Floats, n: int) -> Floats:
    """Return chances for each value, a row per class, scaled to sum to 1."""
    rows = np.atleast_2d(prior)
    allowed = f"{n} chances from 0, not all 0"
    if rows.shape[1] != n:
        raise AdversaryError(Fault("prior", f"shape {prior.shape}", allowed))
    if not np.isfinite(rows).all() or (rows < 0).any() or (rows.sum(axis=1) <= 0).any():
        raise AdversaryError(Fault("prior", "chances that are negative, not finite or all 0", allowed))
    scaled: Floats = rows / rows.sum(axis=1, keepdims=True)
    return scaled
