"""Tables drawn from a prior within what answers allow: hit and run, along a random line to a random point of it.

The prior is the same for every record and independent: chances of equal parts of the domain, even inside each part. On
a line it changes only where a record passes from one part to the next, so the point is drawn from it exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.queries.query_kinds import FloatArray

_STILL = 1e-12
"""A record that moves less along a line does not move."""


def checked_prior(prior: Sequence[float]) -> tuple[float, ...]:
    """Return the chances of a prior; all above 0, since an impossible part would be a promise about the table."""
    try:
        found = tuple(float(chance) for chance in prior)
    except (TypeError, ValueError):
        found = ()
    if not found or not np.isfinite(found).all() or min(found) <= 0.0 or abs(sum(found) - 1.0) > 1e-6:
        raise InputError(Fault("prior", "not chances that sum to 1", "a number above 0 for each part of the domain"))
    return found


def prior_draws(
    prior: tuple[float, ...] | None, domain: tuple[float, float], chance: np.random.Generator, shape: tuple[int, int]
) -> FloatArray:
    """Draw tables from the prior alone."""
    low, high = domain
    if prior is None:
        return chance.uniform(low, high, shape)
    parts = chance.choice(len(prior), size=shape, p=np.array(prior) / sum(prior))
    return np.asarray(low + (parts + chance.random(shape)) * (high - low) / len(prior))


def hit_and_run(
    at: FloatArray, way: FloatArray, domain: tuple[float, float], prior: tuple[float, ...] | None, chance: FloatArray
) -> FloatArray:
    """Move each table (a row) along its way to a random point within the domain, by the prior."""
    low, high = domain
    moves = np.abs(way) > _STILL
    safe = np.where(moves, way, 1.0)
    ends = np.stack(((low - at) / safe, (high - at) / safe))
    first = np.where(moves, ends.min(axis=0), -np.inf).max(axis=1, keepdims=True, initial=-1e300)
    last = np.where(moves, ends.max(axis=0), np.inf).min(axis=1, keepdims=True, initial=1e300)
    first, last = np.minimum(first, 0.0), np.maximum(last, 0.0)
    if prior is None:
        step = first + chance * (last - first)
    else:
        step = _steps_by_prior(at, np.where(moves, way, 0.0), (first, last), domain, prior, chance)
    step = np.where(moves.any(axis=1, keepdims=True), step, 0.0)
    return np.asarray(np.clip(at + way * step, low, high))


def _steps_by_prior(
    at: FloatArray,
    way: FloatArray,
    ends: tuple[FloatArray, FloatArray],
    domain: tuple[float, float],
    prior: tuple[float, ...],
    chance: FloatArray,
) -> FloatArray:
    """Return how far each table goes: the prior changes by one record's share of it at every crossing of an edge."""
    (low, high), parts = domain, len(prior)
    first, last = ends
    edges = low + np.arange(1, parts) * (high - low) / parts
    rising = np.diff(np.log(prior))
    safe = np.where(way == 0.0, 1.0, way)[:, :, None]
    crossings = np.where(way[:, :, None] == 0.0, np.inf, (edges - at[:, :, None]) / safe).reshape(len(at), -1)
    changes = (np.sign(way)[:, :, None] * rising).reshape(len(at), -1)
    crossings = np.clip(crossings, first, last)  # those outside change all pieces alike, or none
    order = np.argsort(crossings, axis=1)
    cuts = np.concatenate((first, np.take_along_axis(crossings, order, axis=1), last), axis=1)
    log = np.cumsum(np.take_along_axis(changes, order, axis=1), axis=1)
    log = np.concatenate((np.zeros((len(at), 1)), log), axis=1)
    lengths = np.diff(cuts, axis=1)
    highest = np.where(lengths > 0, log, -np.inf).max(axis=1, keepdims=True, initial=-1e300)
    mass = lengths * np.exp(np.minimum(log - highest, 0.0))
    reached = np.cumsum(mass, axis=1)
    target = chance * reached[:, -1:]
    piece = np.minimum((reached <= target).sum(axis=1, keepdims=True), mass.shape[1] - 1)
    before = np.take_along_axis(reached - mass, piece, axis=1)
    share = (target - before) / np.maximum(np.take_along_axis(mass, piece, axis=1), 1e-300)
    return np.asarray(np.take_along_axis(cuts, piece, axis=1) + share * np.take_along_axis(lengths, piece, axis=1))
