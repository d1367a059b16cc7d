"""Posterior: what is believed about the people of a group after its values were published.

Riboni, Pareschi and Bettini (JS-reduce, section 5.2) weigh a configuration by the SUM of its beliefs (``sum``) and run
the omega estimate of Li, Li and Zhang (``omega``). Neither is a posterior: a certain adversary stays uncertain. The
product of independent beliefs is (``bayes``); it is exact while the group is small, by belief propagation above.

How far beliefs about the people of a group differ is their Jensen-Shannon divergence, in nats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seriatim.errors import AdversaryError, Fault
from seriatim.kernels.arrays import Floats, Longs, Marks
from seriatim.kernels.belief.group_messages import IMPOSSIBLE, PROPAGATED, MessageGroups, group_messages
from seriatim.kernels.belief.group_posterior import bayes_beliefs, omega_beliefs, sum_beliefs

Rule = Literal["bayes", "omega", "sum"]
RULES: tuple[Rule, ...] = ("bayes", "omega", "sum")
EXACT_STATES = 20_000
"""Groups with more vectors of used counts than this are judged by belief propagation."""


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Beliefs after a release, a row per person, and how many people were judged how."""

    beliefs: npt.NDArray[Any]
    n_exact: int
    n_propagated: int
    """People in groups too large for exact counting; 0 for ``omega`` and ``sum``, which are closed forms."""
    n_impossible: int
    """Groups in which no assignment has any weight: everyone is believed to have each value by its share."""


def posterior(beliefs: npt.ArrayLike, counts: npt.ArrayLike, rule: Rule = "bayes") -> Floats:
    """Return what is believed about each person of one group, as a (k, values) array.

    ``beliefs[r, s]`` is the belief that person r has value s, over the whole domain: rows may sum to less than 1 over
    the group's values and are never rescaled. ``counts[s]`` is how often the group publishes value s.
    """
    rows, m = _checked(beliefs, counts, rule)
    here = np.flatnonzero(m).astype(np.int32)
    k = len(rows)
    groups = MessageGroups(np.array([0, k]), np.array([0, len(here)]), here, m[here].astype(np.int32))
    found: Floats = beliefs_after_groups(rows, groups, rule).beliefs
    return found


def beliefs_after_groups(beliefs: npt.NDArray[Any], groups: MessageGroups, rule: Rule = "bayes") -> Posterior:
    """Return the posterior of many groups at once; ``beliefs`` has the rows of ``groups``, in their order."""
    beliefs = np.ascontiguousarray(beliefs)
    out = np.empty_like(beliefs)
    n_people = len(beliefs)
    if rule == "bayes":
        how = write_messages(beliefs, groups, out)
        return beliefs_after_messages(beliefs, groups, out, how)
    closed = omega_beliefs if rule == "omega" else sum_beliefs
    return Posterior(out, n_people, 0, closed(groups, beliefs, out))


def beliefs_after_messages(
    beliefs: npt.NDArray[Any], groups: MessageGroups, messages: npt.NDArray[Any], how: Marks
) -> Posterior:
    """Return the posterior under ``bayes`` where the groups' messages are known; they are overwritten."""
    bayes_beliefs(groups, beliefs, how, messages)
    propagated = int(groups.sizes[how == PROPAGATED].sum())
    return Posterior(messages, len(beliefs) - propagated, propagated, int((how == IMPOSSIBLE).sum()))


def write_messages(
    beliefs: npt.NDArray[Any], groups: MessageGroups, out: npt.NDArray[Any], exact_states: int = EXACT_STATES
) -> Marks:
    """Write to ``out`` what each group says to each of its people, and return how each group was judged."""
    return group_messages(groups, beliefs, exact_states, out)


def _checked(beliefs: npt.ArrayLike, counts: npt.ArrayLike, rule: str) -> tuple[Floats, Longs]:
    faults = [] if rule in RULES else [Fault("rule", f"{rule!r}", ", ".join(RULES))]
    try:
        rows = np.array(beliefs, dtype=np.float64, order="C")
        weights = np.array(counts, dtype=np.float64)
    except (TypeError, ValueError):
        raise AdversaryError(Fault("beliefs, counts", "not numbers", "arrays of numbers")) from None
    if rows.ndim != 2 or weights.ndim != 1 or rows.shape[1] != len(weights):
        found = f"shapes {rows.shape} and {weights.shape}"
        raise AdversaryError([*faults, Fault("beliefs, counts", found, "(people, values) and (values,)")])
    if not np.isfinite(rows).all() or (rows < 0).any():
        faults.append(Fault("beliefs", f"{_bad(rows)} negative or not finite", "probabilities"))
    elif (rows.sum(axis=1) <= 0).any():
        empty = int((rows.sum(axis=1) <= 0).sum())
        faults.append(Fault("beliefs", f"{empty} rows are all 0", "some value possible for everyone"))
    if not np.isfinite(weights).all() or (weights < 0).any() or (weights != np.floor(weights)).any():
        faults.append(Fault("counts", "not whole numbers from 0", "how often the group publishes each value"))
    elif int(weights.sum()) != len(rows):
        faults.append(Fault("counts", f"{int(weights.sum())} records for {len(rows)} people", "one each"))
    if faults:
        raise AdversaryError(faults)
    return rows, weights.astype(np.int64)


def _bad(rows: Floats) -> int:
    return int((~np.isfinite(rows) | (rows < 0)).sum())


__all__ = ["RULES", "MessageGroups", "Posterior", "Rule", "beliefs_after_groups", "posterior", "write_messages"]


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
