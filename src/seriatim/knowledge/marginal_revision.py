"""Revision as the paper prints it: the chance of a run of values is the product of the posteriors along it.

Riboni, Pareschi and Bettini (JS-reduce, section 4.4) multiply the marginals of a person's past releases, as if what one
release says about a value said nothing about the next. The forward filter (:meth:`SequenceModel.revise`) is exact for
the same knowledge: it weighs a run by how likely its steps are. Over single steps both are the same.
"""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Floats
from seriatim.knowledge.sequence_model import SequenceModel


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
