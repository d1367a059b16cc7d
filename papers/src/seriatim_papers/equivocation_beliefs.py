"""What an attacker believes about a confidential number under each technique: a distribution per combination known.

Every technique releases once, and what it released is read under each prior.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seriatim.defences.single.noise import binomial_trials
from seriatim.measures.supplementary_knowledge import Beliefs
from seriatim.model.classes import Classes
from seriatim.model.scale import FloatArray, IntArray
from seriatim.queries import query_bounds
from seriatim_papers.worlds.pums import PumsMicrodata

MOST_COMBINATIONS = 100
"""Of these noise is judged in one replicate; other replicates draw others."""
_BLOCK = 50


def prior_beliefs(data: PumsMicrodata, kind: str) -> FloatArray:
    """Return the prior: ``uniform`` over the domain, as in the paper, or the population's ``margin``."""
    n = len(data.domain)
    if kind == "uniform":
        return np.full(n, 1.0 / n)
    return np.bincount(data.confidential, minlength=n) / len(data.confidential)


def sampling_beliefs(
    data: PumsMicrodata, rate: float, priors: Sequence[FloatArray], chance: np.random.Generator
) -> list[Beliefs]:
    """Return f / |Mo| for the sampled, and the prior for the others: nothing is 0/0 if nobody matches."""
    n = len(data.confidential)
    drawn = np.zeros(n, dtype=bool)
    drawn[chance.choice(n, round(rate * n), replace=False)] = True

    def under(prior: FloatArray) -> Beliefs:
        def believed(_: tuple[int, ...], classes: Classes) -> FloatArray:
            seen = np.zeros((len(classes), len(data.domain)))
            np.add.at(seen, (classes.of_record[drawn], data.confidential[drawn]), 1.0)
            outside = classes.sizes - seen.sum(axis=1)
            return np.asarray((seen + outside[:, None] * prior) / classes.sizes[:, None])

        return believed

    return [under(prior) for prior in priors]


def query_beliefs(
    data: PumsMicrodata, size: float, priors: Sequence[FloatArray], chance: np.random.Generator
) -> list[Beliefs]:
    """Return the prior within each record's bounds, averaged over the records that match; records are shuffled."""
    n, half = len(data.confidential), int(size) // 2
    order = chance.permutation(n)
    values = data.domain[data.confidential[order]]
    n_blocks = n // half
    blocks = values[: n_blocks * half].reshape(n_blocks, half).sum(axis=1)
    domain = (float(data.domain[0]), float(data.domain[-1]))
    found = query_bounds.chained_sums(blocks[:-1] + blocks[1:], half, n, domain)
    slack = 1e-9 * max(abs(domain[1]), 1.0)
    inside = (data.domain >= found.low[:, None] - slack) & (data.domain <= found.high[:, None] + slack)

    def under(prior: FloatArray) -> Beliefs:
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

    return [under(prior) for prior in priors]


def noise_beliefs(
    data: PumsMicrodata, share: float, priors: Sequence[FloatArray], chance: np.random.Generator
) -> list[Beliefs]:
    """Return beliefs from released records, each weighted by how well it fits what is known; noise on every column.

    Noise is Bin(M, 1/2) - M/2 on the index, without clipping. Of many combinations a sample stands for all.
    """
    released = [(a, _fits_all(_noisy(a.codes, a.n_values, share, chance), a.n_values, share)) for a in data.attributes]
    shown = _noisy(data.confidential, len(data.domain), share, chance)
    fits = _fits_all(shown, len(data.domain), share).T
    posteriors = np.concatenate([_posterior(fits, prior) for prior in priors], axis=1)
    picks = chance.random(len(data.confidential))
    found: dict[tuple[int, ...], FloatArray] = {}

    def rows_of(chosen: tuple[int, ...], records: npt.NDArray[np.int64]) -> FloatArray:
        """Return what is believed of these records under all priors side by side; weighed once."""
        if chosen not in found:
            weights = np.ones((len(records), len(shown)))
            for index in chosen:
                attribute, fits = released[index]
                weights *= fits[attribute.codes[records]]
            sums = weights.sum(axis=1, keepdims=True)
            mixed = _in_blocks(weights, posteriors) / np.where(sums > 0, sums, 1.0)
            found[chosen] = np.where(sums > 0, mixed, np.concatenate(list(priors)))
        return found[chosen]

    def under(place: int) -> Beliefs:
        own = slice(place * len(data.domain), (place + 1) * len(data.domain))

        def believed(chosen: tuple[int, ...], classes: Classes) -> FloatArray:
            first = np.full(len(classes), len(classes.of_record), dtype=np.int64)
            np.minimum.at(first, classes.of_record, np.arange(len(classes.of_record)))
            kept = np.argsort(picks[first], kind="stable")[:MOST_COMBINATIONS]
            stands_for = np.arange(len(classes)) % len(kept)
            stands_for[kept] = np.arange(len(kept))
            return rows_of(chosen, first[kept])[stands_for, own]

        return believed

    return [under(place) for place in range(len(priors))]


def _posterior(fits: FloatArray, prior: FloatArray) -> FloatArray:
    """Return what each released value says about the true one; the prior where it fits none."""
    given = fits * prior
    total = given.sum(axis=1, keepdims=True)
    return np.where(total > 0, given / np.where(total > 0, total, 1.0), prior)


def _in_blocks(weights: FloatArray, posteriors: FloatArray) -> FloatArray:
    """Return the product of two matrices, in blocks so small that it stays on one core: replicates fill the others."""
    total = np.zeros((len(weights), posteriors.shape[1]))
    for at in range(0, len(posteriors), _BLOCK):
        total += weights[:, at : at + _BLOCK] @ posteriors[at : at + _BLOCK]
    return total


def _noisy(codes: IntArray, n_values: int, share: float, chance: np.random.Generator) -> IntArray:
    trials = binomial_trials(share, n_values)
    return (codes + chance.binomial(trials, 0.5, len(codes)) - trials // 2).astype(np.int32)


def _fits_all(noisy: IntArray, n_values: int, share: float) -> FloatArray:
    """Return the chance of each released value (columns) given each value it may have been (rows)."""
    from scipy.stats import binom

    trials = binomial_trials(share, n_values)
    apart = noisy[None, :] - np.arange(n_values)[:, None] + trials // 2
    table = binom.pmf(np.arange(trials + 1), trials, 0.5)
    inside = (apart >= 0) & (apart <= trials)
    return np.where(inside, table[np.clip(apart, 0, trials)], 0.0)
