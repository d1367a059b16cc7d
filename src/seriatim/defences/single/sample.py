"""Simple random sampling: some records are published as they are, the others not at all.

The series' secret draws the people, so a later release shows the same ones as far as they are still there: fresh
samples would in the end show everyone. Nothing is generalised. Someone who finds a person in the sample reads their
value, so promises about classes are mostly broken; what sampling protects is who is in it.
"""

from __future__ import annotations

import math

import numpy as np

from seriatim.defences.labels import LabelPieces
from seriatim.defences.single.draft import draft_of
from seriatim.errors import Fault, PolicyError
from seriatim.model import Draft, Policy, SeriesState, View
from seriatim.model.chance import lasting_names, secret_chance, uniform_of
from seriatim.ports import Workers


def sample(view: View, policy: Policy, state: SeriesState, workers: Workers) -> Draft:
    """Publish the share of the records that ``[defence] rate`` names, drawn without replacement."""
    assert state.secret is not None
    assert policy.defence is not None
    rate = policy.defence.options.rate
    if rate is None:
        raise PolicyError(Fault("[defence] rate", "method sample needs it", "a share above 0 and up to 1"))
    known = np.flatnonzero(~view.suppressed)
    drawn = uniform_of(state.secret, "sample", lasting_names(view))
    order = known[np.argsort(drawn[known], kind="stable")]
    chosen = np.sort(order[: math.floor(rate * len(view) + 0.5)]).astype(np.int32)
    pieces = LabelPieces(chosen, np.arange(len(chosen) + 1, dtype=np.int64))
    return draft_of(view, pieces, secret_chance(state.secret, state.n_releases + 1, "shuffle"), workers)
