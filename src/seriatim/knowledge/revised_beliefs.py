"""Revised beliefs: what is believed about people before a release, from the releases so far.

Both the defence ``sequence`` and the promise ``j`` need it; it is a function of the history alone, so that they agree.
Only the newest releases count (``WINDOW``): evidence fades with every change of a value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.kernels.arrays import Floats
from seriatim.knowledge.appearances import appearances_of
from seriatim.knowledge.sequential_adversary import SequentialAdversary
from seriatim.knowledge.smoothing import smoothing_forward, smoothing_prediction, smoothing_start
from seriatim.model.history import History

WINDOW = 8


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RevisedBeliefs:
    """Beliefs about people before a release."""

    beliefs: Floats
    """(people, values), rows sum to 1."""
    values: pa.Array


def revised_beliefs(
    history: History, respondents: pa.Array, values: pa.Array, known: SequentialAdversary
) -> RevisedBeliefs:
    """Return what is believed about ``respondents`` before the release after ``history``.

    ``values`` are those that occur in the release; ones that the history does not have are added to its own.
    """
    fresh = [value for value in values.to_pylist() if value not in set(history.values.to_pylist())]
    domain = pa.array([*history.values.to_pylist(), *fresh])
    window = History(history.respondents, domain, history.releases).newest(WINDOW)
    rows = appearances_of(window, known.times_of(past.number for past in window))
    model = replace(known, classes={}).model_for(rows, window)  # one class: the defence and the promise must agree
    found = smoothing_forward(rows, model, known.rule, smoothing_start(rows)).after_last
    texts = pc.cast(rows.respondents, pa.string()) if len(rows.respondents) else pa.array([], pa.string())
    place = pc.index_in(pc.cast(respondents, pa.string()), value_set=texts).fill_null(-1).to_numpy(zero_copy_only=False)
    met, n = place >= 0, len(place)
    (now,) = known.times_of([history.releases[-1].number + 1 if len(history) else 1])
    state, last = np.zeros((n, model.n_states)), np.zeros(n, dtype=np.int32)
    state[met], last[met] = found.state[place[met]], found.last[place[met]]
    ahead = smoothing_prediction(model, state, met, now - last, np.zeros(n, dtype=np.int32))
    beliefs = model.beliefs_of(ahead)
    return RevisedBeliefs(beliefs / np.maximum(beliefs.sum(axis=1, keepdims=True), 1e-300), domain)
