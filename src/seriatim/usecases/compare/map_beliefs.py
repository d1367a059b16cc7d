"""What an attacker believes about people under each technique of the map: one distribution per row."""

from __future__ import annotations

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.measures.averaged_noise import beliefs_after_seeing
from seriatim.model import CodedColumn, DefenceSettings, Draft, View
from seriatim.model.chance import open_chance
from seriatim.model.class_counts import ClassCounts, ValueCounts
from seriatim.model.classes import numbered_alike, published_of
from seriatim.model.nearness import positions_or_nan
from seriatim.model.noise_bell import decimal_step
from seriatim.model.scale import FloatArray
from seriatim.queries import query_bounds
from seriatim.queries.query_bounds import Bounds
from seriatim.queries.query_kinds import LongArray, rounding_width

MOST_ROWS = 2_000
EVENLY = 4_096
"""Points of chance at which a category's moves are counted."""


class MapBeliefs:
    """Beliefs about one column of a view; the prior is its margin. Each answer is rows, and how many people each is."""

    def __init__(self, view: View, column: CodedColumn, seed: int) -> None:
        self.view, self.column, self.seed = view, column, seed
        self.known = ~view.suppressed
        counts = column.counts(self.known)
        self.prior: FloatArray = np.asarray(counts / max(int(counts.sum()), 1))

    def of_draft(self, draft: Draft, settings: DefenceSettings) -> tuple[FloatArray, FloatArray]:
        """Return what a draft reveals: by classes, by who is in a sample, or by what noise may have hidden."""
        amount = settings.noise.get(self.column.name)
        if amount is not None:
            numeric = self.column.scale.form == "interval"
            return self._behind_noise(amount) if numeric else self._behind_moves(amount)
        return self._in_sample(draft) if settings.rate is not None else self._in_classes(draft)

    def _in_classes(self, draft: Draft) -> tuple[FloatArray, FloatArray]:
        seen = ClassCounts.of(published_of(draft)).values[self.column.name]
        if not len(seen):
            raise InputError(Fault("table", "nothing would be published", "some records"))
        chosen = self._some(np.arange(len(seen)), "classes")
        shares = self._counts(seen, chosen)
        return shares / shares.sum(axis=1, keepdims=True), seen.sizes[chosen].astype(np.float64)

    def _in_sample(self, draft: Draft) -> tuple[FloatArray, FloatArray]:
        """Return what is believed of all people, sampled or not: of those who match, the rest could be anybody."""
        rows = np.flatnonzero(self.known)
        drawn = draft.grouping.group[rows] >= 0
        if not drawn.any():
            raise InputError(Fault("table", "nothing would be published", "some records"))
        codes = [column.codes[rows] for column in self.view.quasi]
        classes = numbered_alike(codes, [len(column.scale) for column in self.view.quasi], len(rows))
        chosen = self._some(np.arange(len(classes)), "classes")
        place = np.full(len(classes), -1, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        seen = np.zeros((len(chosen), len(self.prior)))
        held = drawn & (place[classes.of_record] >= 0)
        np.add.at(seen, (place[classes.of_record[held]], self.column.codes[rows[held]]), 1.0)
        sizes = classes.sizes[chosen].astype(np.float64)
        outside = sizes - seen.sum(axis=1)
        return (seen + outside[:, None] * self.prior) / sizes[:, None], sizes

    def _behind_noise(self, amount: str) -> tuple[FloatArray, FloatArray]:
        """Return the posterior of some records, given their noisy number and the population."""
        from seriatim.defences.single.noise import noisy_positions

        chance = open_chance(self.seed, "noise")
        domain = positions_or_nan(self.column.scale)
        rows = np.flatnonzero(self.known & np.isfinite(domain)[self.column.codes])
        rows = rows if len(rows) <= MOST_ROWS else np.sort(chance.choice(rows, MOST_ROWS, replace=False))
        drawn = CodedColumn(self.column.name, self.column.codes[rows], self.column.scale)
        shown = noisy_positions(drawn, amount, chance.random(len(rows)))
        held = np.isfinite(domain)
        found = np.zeros((len(rows), len(domain)))
        step = decimal_step(self.column.scale)
        found[:, held] = beliefs_after_seeing(shown, domain[held], self.prior[held], amount, step)
        return found / np.maximum(found.sum(axis=1, keepdims=True), 1e-300), np.ones(len(rows))

    def _behind_moves(self, amount: str) -> tuple[FloatArray, FloatArray]:
        """Return the posterior of some records, given where noise moved their category and the population."""
        from seriatim.defences.single.noise import moved_codes

        chance, share = open_chance(self.seed, "noise"), float(amount.rstrip("%")) / 100.0
        rows = np.flatnonzero(self.known)
        rows = rows if len(rows) <= MOST_ROWS else np.sort(chance.choice(rows, MOST_ROWS, replace=False))
        n = len(self.prior)
        shown = moved_codes(self.column.codes[rows], n, share, chance.random(len(rows)))
        evenly = (np.arange(EVENLY) + 0.5) / EVENLY
        moved = [moved_codes(np.full(EVENLY, code, dtype=np.int32), n, share, evenly) for code in range(n)]
        chances = np.stack([np.bincount(codes, minlength=n) for codes in moved]) / EVENLY
        weighed = chances[:, shown].T * self.prior
        return weighed / weighed.sum(axis=1, keepdims=True), np.ones(len(rows))

    def of_queries(self, size: int) -> tuple[FloatArray, FloatArray, LongArray, FloatArray]:
        """Return beliefs after sums of ``size`` records, each half over the one before; then who was asked about, and
        the mean that a user knows of each of them.
        """
        chance, half = open_chance(self.seed, "queries"), size // 2
        domain = positions_or_nan(self.column.scale)
        rows = np.flatnonzero(self.known)
        rows = rows[np.isfinite(domain[self.column.codes[rows]])]
        rows = chance.permutation(rows)[: len(rows) // half * half]
        blocks = domain[self.column.codes[rows]].reshape(-1, half).sum(axis=1)
        if len(blocks) < 2:
            raise InputError(Fault("table", f"fewer than {size} records", "one query at least"))
        ends = (float(np.nanmin(domain)), float(np.nanmax(domain)))
        found = query_bounds.chained_sums(blocks[:-1] + blocks[1:], half, len(rows), ends)
        seen = self._within(found, domain, rounding_width(*ends))
        return seen, np.ones(len(seen)), rows, np.repeat(blocks / half, half)

    def _within(self, found: Bounds, domain: FloatArray, slack: float) -> FloatArray:
        """Return the prior within the bounds of the first records."""
        low, high = found.low[:MOST_ROWS, None], found.high[:MOST_ROWS, None]
        weighed = ((domain >= low - slack) & (domain <= high + slack)) * self.prior
        return np.asarray(weighed / weighed.sum(axis=1, keepdims=True))

    def _some(self, of: LongArray, purpose: str) -> LongArray:
        """Return all of them, or a seeded sample if they are many."""
        if len(of) <= MOST_ROWS:
            return of
        return np.sort(open_chance(self.seed, purpose).choice(of, MOST_ROWS, replace=False))

    def _counts(self, seen: ValueCounts, chosen: LongArray) -> FloatArray:
        shares = np.zeros((len(chosen), len(self.prior)))
        for row, c in enumerate(chosen):
            run = slice(seen.starts[c], seen.starts[c + 1])
            shares[row, seen.value[run]] = seen.count[run]
        return shares
