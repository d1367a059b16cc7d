"""A sequence model over other values: those of a history that its knowledge was not mined from."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.kernels.arrays import Floats
from seriatim.knowledge.sequence_model import SequenceModel
from seriatim.knowledge.value_texts import value_texts


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
