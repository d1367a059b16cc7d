"""Sequence knowledge that somebody states: tables over the last value or the last few, and finite automata.

An n-step table has an axis for each of the last n values, the oldest first, and one for the next. People with a shorter
past are given what the table says in the long run, when nothing older is known.

Knowledge need not have been mined from the history it is used on: then its values are matched to the history's.

``marginal_revision`` is revision as Riboni, Pareschi and Bettini print it (JS-reduce, section 4.4): the chance of a run
of values is the product of the marginals of a person's past releases, as if what one release says about a value said
nothing about the next. The forward filter (:meth:`SequenceModel.revise`) is exact for the same knowledge: it weighs a
run by how likely its steps are. Over single steps both are the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.errors import AdversaryError, Fault
from seriatim.kernels.arrays import Floats
from seriatim.knowledge.sequence_mining import following_runs
from seriatim.knowledge.sequence_model import ByClass, SequenceModel, checked_numbers, checked_priors
from seriatim.knowledge.value_texts import value_texts


def marginal_revision(model: SequenceModel, runs: Floats | None, posterior: Floats) -> Floats:
    """Return the weight of each state after a posterior, from those before it (None for people without a history).

    A state remembers a run of values; its weight is that of the run before times the posterior of the newest value.
    """
    after = np.zeros((len(posterior), model.n_states))
    if runs is None:
        after[:, model.start] = posterior
        return after
    for state in range(model.n_states):
        if runs[:, state].any():
            np.add.at(after.T, model.then[state], (runs[:, state, None] * posterior).T)
    return after


MOST_STATES = 5_000
_SLACK = 1e-6
_ROUNDS = 200


def n_step_model(
    matrix: ByClass, values: Sequence[Hashable] | None, prior: ByClass | None, gaps: Mapping[int, ByClass] | None
) -> SequenceModel:
    """Return the model of a table, or of one table for each class."""
    tables = _by_class("sequence", matrix)
    first = next(iter(tables.values()))
    names = tuple(range(len(first))) if values is None else tuple(values)
    for table in tables.values():
        _check_table(table, names, first.ndim)
    classes, n = tuple(tables), len(names)
    priors = _priors(prior, classes, n)
    stacked = np.stack(list(tables.values()))
    if first.ndim > 2:
        if gaps:
            raise AdversaryError(Fault("gaps", "beside a table over several steps", "a table over the last value"))
        return _model_of_runs(stacked, names, priors, classes)
    flat = np.arange(n, dtype=np.int32)
    steps = {1: stacked}
    for gap, given in (gaps or {}).items():
        steps[_gap(gap)] = _gap_tables(given, names, classes)
    return _with_level(
        SequenceModel(
            values=names, prior=priors, steps=steps, value_of=flat, start=flat, then=np.tile(flat, (n, 1)),
            value_level=stacked[0], classes=classes,
        )
    )  # fmt: skip


def automaton_model(
    steps: npt.ArrayLike,
    then: npt.ArrayLike,
    shows: Sequence[Hashable],
    values: Sequence[Hashable],
    prior: npt.ArrayLike | None,
) -> SequenceModel:
    """Return the model of a finite automaton: chances after each state, the state that follows, and what it shows."""
    names = tuple(values)
    place = {value: at for at, value in enumerate(names)}
    if len(place) != len(names) or any(value not in place for value in shows):
        raise AdversaryError(Fault("sequence: shows", "a value that is not named, or named twice", "one of the values"))
    value_of = np.array([place[value] for value in shows], dtype=np.int32)
    table, follows = checked_numbers("sequence: steps", steps), checked_numbers("sequence: then", then)
    size = (len(value_of), len(names))
    if table.shape != size or follows.shape != size:
        found = f"shapes {table.shape} and {follows.shape}"
        raise AdversaryError(Fault("sequence: steps, then", found, f"{size}: a row per state, a column per value"))
    _check_chances(table)
    if not (np.isin(follows, np.arange(size[0])).all() and (value_of[follows.astype(int)] == np.arange(size[1])).all()):
        allowed = "the number, from 0, of a state that shows the value of its column"
        raise AdversaryError(Fault("sequence: then", "a state that is not there or shows another value", allowed))
    missing = sum(at not in set(value_of.tolist()) for at in range(len(names)))
    if missing:
        raise AdversaryError(Fault("sequence: shows", f"{missing} values that no state shows", "a state for each"))
    start = np.array([int(np.argmax(value_of == at)) for at in range(len(names))], dtype=np.int32)
    return SequenceModel(
        values=names,
        prior=_priors(prior, ("",), len(names)),
        steps={1: table[None]},
        value_of=value_of,
        start=start,
        then=follows.astype(np.int32),
        value_level=table[start],
        kind="automaton",
    )


def _model_of_runs(
    tables: Floats, names: tuple[Hashable, ...], priors: Floats, classes: tuple[str, ...]
) -> SequenceModel:
    """Return the automaton whose states are runs of up to n values."""
    n, order = len(names), tables.ndim - 2
    if sum(n**size for size in range(1, order + 1)) > MOST_STATES:
        raise AdversaryError(Fault("sequence", f"{n} values over {order} steps", f"at most {MOST_STATES:,} states"))
    runs = tuple(run for size in range(1, order + 1) for run in product(range(n), repeat=size))
    levels = [_shorter_tables(table, share) for table, share in zip(tables, priors, strict=True)]
    steps = np.stack([np.concatenate([level.reshape(-1, n) for level in own]) for own in levels])
    return _with_level(
        SequenceModel(
            values=names,
            prior=priors,
            steps={1: steps},
            value_of=np.array([run[-1] for run in runs], dtype=np.int32),
            start=np.arange(n, dtype=np.int32),
            then=following_runs(runs, n),
            value_level=steps[0, :n],
            classes=classes,
            kind=f"matrix over {order} steps",
        )
    )


def _shorter_tables(table: Floats, prior: Floats) -> list[Floats]:
    """Return the tables over 1, 2, ..., n steps: the oldest value is weighed as often as it comes in the long run."""
    n, order = len(prior), table.ndim - 1
    weight = prior
    for _ in range(order - 1):
        weight = weight[..., None] * prior
    for _ in range(_ROUNDS):
        moved = (weight[..., None] * table).sum(axis=0) + 1e-12
        weight = moved / moved.sum()
    found = [table]
    while found[0].ndim > 2:
        total = weight.sum(axis=0)
        found.insert(0, (weight[..., None] * found[0]).sum(axis=0) / total[..., None])
        weight = total
    return [one.reshape(-1, n) for one in found]


def _with_level(model: SequenceModel) -> SequenceModel:
    """Return the model with the step between values pooled over its classes."""
    return replace(model, value_level=model.pooled().steps[1][0, model.start])


def _by_class(name: str, given: ByClass) -> dict[str, Floats]:
    named = given if isinstance(given, Mapping) else {"": given}
    if not named:
        raise AdversaryError(Fault(name, "no table", "one, or one for each class"))
    return {str(cls): checked_numbers(name, table) for cls, table in named.items()}


def _priors(given: ByClass | None, classes: tuple[str, ...], n: int) -> Floats:
    if isinstance(given, Mapping):
        if set(map(str, given)) != set(classes):
            raise AdversaryError(
                Fault("prior", "its classes are not those of the tables", f"their {len(classes)} classes")
            )
        named = {str(cls): chances for cls, chances in given.items()}
        return np.concatenate([checked_priors(checked_numbers("prior", named[cls]), n) for cls in classes])
    one = checked_priors(np.full(n, 1.0) if given is None else checked_numbers("prior", given), n)
    return np.tile(one, (len(classes), 1)) if len(one) == 1 else one


def _gap(given: object) -> int:
    try:
        gap = int(str(given))
    except ValueError:
        gap = 0
    if gap < 2:
        raise AdversaryError(Fault("gaps", "not a whole number of steps", "2 or more"))
    return gap


def _gap_tables(given: ByClass, names: tuple[Hashable, ...], classes: tuple[str, ...]) -> Floats:
    tables = _by_class("gaps", given)
    if set(tables) != set(classes):
        raise AdversaryError(
            Fault("gaps", "its classes are not those of the single step", f"their {len(classes)} classes")
        )
    for table in tables.values():
        _check_table(table, names, 2)
    return np.stack([tables[cls] for cls in classes])


def _check_table(table: Floats, values: tuple[Hashable, ...], n_axes: int) -> None:
    n = len(values)
    if table.ndim < 2 or table.shape != (n,) * max(n_axes, 2) or not n:
        found = f"a table of {' x '.join(map(str, table.shape))} for {n} values"
        raise AdversaryError(Fault("sequence", found, "a row and a column for every value", "add the missing ones"))
    if len(set(values)) != n:
        raise AdversaryError(Fault("sequence", "a value is named twice", "every value once"))
    _check_chances(table)


def _check_chances(table: Floats) -> None:
    if not np.isfinite(table).all() or (table < 0).any():
        raise AdversaryError(Fault("sequence", "chances that are negative or not finite", "0 to 1"))
    rows = int((table.sum(axis=-1) > 1.0 + _SLACK).sum())
    if rows:
        raise AdversaryError(
            Fault("sequence", f"{rows} rows sum to more than 1", "at most 1", "divide each by its sum")
        )


def respelled_model(model: SequenceModel, values: tuple[Hashable, ...], floor: float) -> SequenceModel:
    """Return the automaton over these values: states of others go, and a new value has a state of its own."""
    known = {text: at for at, text in enumerate(value_texts(model.values))}
    old = np.array([known.get(text, -1) for text in value_texts(values)])
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
    margin = replace(model, prior=prior).margin

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
    return found if found.n_states != len(values) else respelled_model_by_value(found)


def _respelled_runs(
    model: SequenceModel, place: npt.NDArray[Any], kept: npt.NDArray[Any], new: npt.NDArray[Any]
) -> tuple[tuple[int, ...], ...]:
    """Return what each state remembers; a value that is gone is written -1, which no later value is."""
    if not model.runs:
        return ()
    spelled = [tuple(int(place[value]) for value in model.runs[state]) for state in kept.tolist()]
    return (*spelled, *((int(value),) for value in new))


def respelled_model_by_value(model: SequenceModel) -> SequenceModel:
    """Return a model whose states are its values, with the states in the order of the values."""
    flat = np.arange(len(model.values), dtype=np.int32)
    return replace(
        model,
        steps={gap: np.ascontiguousarray(table[:, model.start]) for gap, table in model.steps.items()},
        value_of=flat,
        start=flat,
        then=np.tile(flat, (len(flat), 1)),
    )
