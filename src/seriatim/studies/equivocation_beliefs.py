"""What an attacker believes about a confidential number under each technique: a distribution per combination known."""

from __future__ import annotations

import numpy as np

from seriatim.defences.single.noise import noise_trials
from seriatim.measures.leakage_given import Attribute
from seriatim.measures.supplementary_knowledge import Beliefs
from seriatim.model.classes import Classes
from seriatim.model.scale import FloatArray, IntArray
from seriatim.queries.query_bounds import chained_bounds
from seriatim.studies.worlds.pums import Microdata

MOST_COMBINATIONS = 100
"""Of these noise is judged in one replicate; other replicates draw others."""


def prior_of(data: Microdata, kind: str) -> FloatArray:
    """Return the prior: ``uniform`` over the domain, as in the paper, or the population's ``margin``."""
    n = len(data.domain)
    if kind == "uniform":
        return np.full(n, 1.0 / n)
    return np.bincount(data.confidential, minlength=n) / len(data.confidential)


def sampling_beliefs(data: Microdata, rate: float, prior: FloatArray, chance: np.random.Generator) -> Beliefs:
    """Return f / |Mo| for the sampled, and the prior for the others: nothing is 0/0 if nobody matches."""
    n = len(data.confidential)
    drawn = np.zeros(n, dtype=bool)
    drawn[chance.choice(n, round(rate * n), replace=False)] = True

    def believed(_: tuple[int, ...], classes: Classes) -> FloatArray:
        seen = np.zeros((len(classes), len(data.domain)))
        np.add.at(seen, (classes.of_record[drawn], data.confidential[drawn]), 1.0)
        outside = classes.sizes - seen.sum(axis=1)
        return np.asarray((seen + outside[:, None] * prior) / classes.sizes[:, None])

    return believed


def query_beliefs(data: Microdata, size: int, prior: FloatArray, chance: np.random.Generator) -> Beliefs:
    """Return the prior within each record's bounds, averaged over the records that match; records are shuffled."""
    n, half = len(data.confidential), size // 2
    order = chance.permutation(n)
    values = data.domain[data.confidential[order]]
    n_blocks = n // half
    blocks = values[: n_blocks * half].reshape(n_blocks, half).sum(axis=1)
    domain = (float(data.domain[0]), float(data.domain[-1]))
    found = chained_bounds(blocks[:-1] + blocks[1:], half, n, domain)
    slack = 1e-9 * max(abs(domain[1]), 1.0)
    inside = (data.domain >= found.low[:, None] - slack) & (data.domain <= found.high[:, None] + slack)
    weighed = inside * prior
    empty = weighed.sum(axis=1) <= 0
    weighed[empty] = inside[empty]
    own = np.empty_like(weighed)
    own[order] = weighed / weighed.sum(axis=1, keepdims=True)

    def believed(_: tuple[int, ...], classes: Classes) -> FloatArray:
        summed = np.zeros((len(classes), len(data.domain)))
        np.add.at(summed, classes.of_record, own)
        return np.asarray(summed / classes.sizes[:, None])

    return believed


def noise_beliefs(data: Microdata, share: float, prior: FloatArray, chance: np.random.Generator) -> Beliefs:
    """Return beliefs from released records, each weighted by how well it fits what is known; noise on every column.

    Noise is Bin(M, 1/2) - M/2 on the index, without clipping. Of many combinations a sample stands for all.
    """
    released = [(a, _fits_all(_noisy(a.codes, a.n_values, share, chance), a.n_values, share)) for a in data.attributes]
    confidential = Attribute("", data.confidential, len(data.domain))
    shown = _noisy(confidential.codes, confidential.n_values, share, chance)
    given = _fits_all(shown, len(data.domain), share).T * prior
    total = given.sum(axis=1, keepdims=True)
    posterior = np.where(total > 0, given / np.where(total > 0, total, 1.0), prior)
    picks = chance.random(len(data.confidential))

    def believed(chosen: tuple[int, ...], classes: Classes) -> FloatArray:
        first = np.full(len(classes), len(classes.of_record), dtype=np.int64)
        np.minimum.at(first, classes.of_record, np.arange(len(classes.of_record)))
        kept = np.argsort(picks[first], kind="stable")[:MOST_COMBINATIONS]
        weights = np.ones((len(kept), len(shown)))
        for index in chosen:
            attribute, fits = released[index]
            weights *= fits[attribute.codes[first[kept]]]
        sums = weights.sum(axis=1, keepdims=True)
        rows = np.where(sums > 0, weights @ posterior / np.where(sums > 0, sums, 1.0), prior)
        stands_for = np.arange(len(classes)) % len(kept)
        stands_for[kept] = np.arange(len(kept))
        return rows[stands_for]

    return believed


def _noisy(codes: IntArray, n_values: int, share: float, chance: np.random.Generator) -> IntArray:
    trials = noise_trials(share, n_values)
    return (codes + chance.binomial(trials, 0.5, len(codes)) - trials // 2).astype(np.int32)


def _fits_all(noisy: IntArray, n_values: int, share: float) -> FloatArray:
    """Return the chance of each released value (columns) given each value it may have been (rows)."""
    from scipy.stats import binom

    trials = noise_trials(share, n_values)
    apart = noisy[None, :] - np.arange(n_values)[:, None] + trials // 2
    table = binom.pmf(np.arange(trials + 1), trials, 0.5)
    inside = (apart >= 0) & (apart <= trials)
    return np.where(inside, table[np.clip(apart, 0, trials)], 0.0)
