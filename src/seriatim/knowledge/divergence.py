"""How far beliefs about the people of a group differ: Jensen-Shannon divergence, in nats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from seriatim.kernels.arrays import Floats

BITS = math.log(2.0)
"""Nats in a bit: j = 0.6 nats are 0.866 bits."""


def divergence_of_groups(beliefs: Floats, group: Any, n_groups: int) -> Floats:
    """Return the divergence of the beliefs in each group, with equal weights; rows of ``beliefs`` sum to 1."""
    sizes = np.bincount(group, minlength=n_groups)
    mixed = np.zeros((n_groups, beliefs.shape[1]))
    np.add.at(mixed, group, beliefs)
    entropies = np.bincount(group, entropies_for_divergence(beliefs), minlength=n_groups)
    per = np.maximum(sizes, 1)
    found: Floats = np.maximum(entropies_for_divergence(mixed / per[:, None]) - entropies / per, 0.0)
    return found


def entropies_for_divergence(rows: Floats) -> Floats:
    """Return the entropy of each row."""
    logs = np.log(np.where(rows > 0, rows, 1.0))
    found: Floats = -(rows * logs).sum(axis=1)
    return found
