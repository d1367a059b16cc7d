"""Learnt: what a classifier guesses about people, matched to the values of their groups (deFinetti, Kifer 2009).

Anybody trains one in ten lines: on a table of other people, or on the release itself, whose groups say how values
follow quasi-identifiers. Each person's guess is then matched to what all their groups published: every group has
exactly its values. The attacker knows who is in which group, and everyone's quasi-identifiers.

A right guess is no harm by itself: the same model is right about people who were never published. So the rate stands
beside that of people outside, and beside that of an attacker who learns nothing and reads the groups alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.attacks.intervals import difference_interval, risk_beyond
from seriatim.attacks.traces_by_person import Traces, trace
from seriatim.errors import Fault, TableError
from seriatim.kernels.arrays import Longs
from seriatim.model.classes import class_text_codes
from seriatim.model.doors import whole_argument
from seriatim.model.history import History
from seriatim.model.verdict import Estimate
from seriatim.model.view import View

SAMPLE = 2_000
"""People guessed about; their groups, with everyone in them, are what a model learns from."""
MOST_CELLS = 8_000_000
"""Records in these groups times values; with more, fewer people are guessed about: it would take over 20 seconds."""
_ROUNDS, _SWEEPS, _FOLDS, _BANDS = 5, 2, 2, 10

Doubles = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class LearntGuesses:
    """How often the guesses are right, as shares of the people guessed about."""

    n_people: int
    rate: float
    """By the model, matched to the values of everyone's groups."""
    by_groups: float
    """By the groups alone: nothing is learnt, and all members of a group are alike."""
    before: float
    """Without the releases: by a model of other people; without these, the most frequent value."""
    outside: float
    """By the same attacker about people who are not in the releases."""
    risk: Estimate
    """What being in the releases adds: (rate - outside) / (1 - outside)."""
    gain: Estimate
    """What learning adds to the groups: (rate - by_groups) / (1 - by_groups); 0 for a model that knows less."""


class _Step(NamedTuple):
    """One release: its people group by group, and the values that each group published."""

    people: Longs
    starts: Longs
    sizes: Longs
    shown: Doubles
    counterfeits: Doubles
    """By group and value, the part of what is shown that no member holds."""


def learnt(
    history: History, people: pa.Table, others: pa.Table | None = None, *, seed: int = 1, sample: int = SAMPLE
) -> LearntGuesses:
    """Return how often a learning attacker guesses the value of people in the newest release they are in.

    ``people`` has a column ``respondent`` and their quasi-identifiers. The model is learnt from the releases, and from
    ``others`` if given, a table of other people with the same columns and ``sensitive``.
    """
    whole_argument("seed", seed, 0)
    names = _quasi_names(people, others)
    traces = trace(history)
    row = _rows_of(traces, people)
    known, side = _coded([people, *([] if others is None else [others])], names)
    chance = np.random.default_rng(seed)
    targets, inside = _drawn(traces, row >= 0, chance, sample)
    if not len(targets):
        nobody = np.zeros(0)
        return _rates(nobody, nobody, nobody, nobody, seed)
    features = np.where(row[inside, None] >= 0, known[row[inside]], -1)
    taught = _Taught(np.zeros((0, len(names)), dtype=np.int64), np.zeros((0, traces.n_values)))
    if others is not None:
        taught = _Taught(side[0], _held(_values_of(others, history), traces.n_values))
    steps, at, truth = _steps(traces, inside), np.searchsorted(inside, targets), traces.value[targets]
    _, believed = _learnt_from(steps, features, taught)
    if others is None:
        margin = np.bincount(traces.value, minlength=traces.n_values).astype(np.float64)
        before = np.tile(margin, (len(at), 1))
    else:
        before = NaiveBayes.of(*taught).prior(features[at])
    by_groups = _right(_matched(steps, _nothing_learnt(inside, traces), 4 * _SWEEPS)[at], truth)
    outside = _right_outside(traces, inside, targets, features, taught, chance)
    return _rates(_right(believed[at], truth), by_groups, _right(before, truth), outside, seed)


class _Taught(NamedTuple):
    """Other people: their codes, and who holds what."""

    features: Longs
    held: Doubles


@dataclass(frozen=True, slots=True, eq=False)
class NaiveBayes:
    """How often values occur, and codes of each column beside them; one is added to every count."""

    values: Doubles
    columns: tuple[Doubles, ...]
    """By code and value, the logarithm of the code's share among who holds the value."""

    @classmethod
    def of(cls, features: Longs, held: Doubles) -> NaiveBayes:
        """Learn from who holds what: a row per person, a share per value."""
        total, columns = held.sum(axis=0), []
        for codes in features.T:
            counts = np.zeros((int(features.max(initial=0)) + 1, held.shape[1]))
            there = codes >= 0
            order = np.argsort(codes[there], kind="stable")
            found, first = np.unique(codes[there][order], return_index=True)
            if len(found):
                counts[found] = np.add.reduceat(held[there][order], first, axis=0)
            n_codes = int(codes.max(initial=-1)) + 1
            # one is added everywhere, so that a code nobody had rules nothing out
            columns.append(np.log((counts + 1) / (counts.sum(axis=0) + max(n_codes, 1))))
        return cls(np.log((total + 1e-9) / (total.sum() + 1e-9 * len(total))), tuple(columns))

    def prior(self, features: Longs) -> Doubles:
        """Return what the model believes of each person, by value; a code of -1 says nothing."""
        logs = np.tile(self.values, (len(features), 1))
        for codes, column in zip(features.T, self.columns, strict=True):
            logs += np.where(codes[:, None] >= 0, column[np.minimum(codes, len(column) - 1)], 0.0)
        # the largest is made 1 first: products of many columns run out of digits
        shares = np.exp(logs - logs.max(axis=1, keepdims=True, initial=-np.inf))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _learnt_from(steps: list[_Step], features: Longs, taught: _Taught) -> tuple[NaiveBayes, Doubles]:
    """Learn a model from groups by turns: who holds what by the model, and the model by who holds what."""
    n_values = taught.held.shape[1]
    believed = np.full((len(features), n_values), 1 / n_values)
    if len(taught.features):
        believed = NaiveBayes.of(*taught).prior(features)
    believed = _matched(steps, believed, _SWEEPS)
    everyone = np.concatenate([features, taught.features])
    # as when classes are unknown (EM): each turn makes what the releases show more likely
    for _ in range(_ROUNDS):
        model = NaiveBayes.of(everyone, np.concatenate([believed, taught.held]))
        believed = _matched(steps, model.prior(features), _SWEEPS)
    return model, _matched(steps, believed, _SWEEPS)


def _nothing_learnt(inside: Longs, traces: Traces) -> Doubles:
    return np.full((len(inside), traces.n_values), 1 / traces.n_values)


def _matched(steps: list[_Step], prior: Doubles, sweeps: int) -> Doubles:
    """Scale beliefs until every group of every release holds the values it shows (Sinkhorn); the prior is kept."""
    # a zero could never be scaled up to what a group shows
    held = np.maximum(prior, 1e-30)
    for _ in range(sweeps):
        for step in steps:
            sums = np.add.reduceat(held[step.people], step.starts, axis=0) + step.counterfeits
            factor = np.divide(step.shown, sums, out=np.zeros_like(sums), where=sums > 0)
            scaled = held[step.people] * np.repeat(factor, step.sizes, axis=0)
            held[step.people] = scaled / np.maximum(scaled.sum(axis=1, keepdims=True), 1e-300)
    return held


def _right(believed: Doubles, truth: npt.NDArray[np.signedinteger]) -> Doubles:
    """Return for each person how probably the best guess is right: among equals it is drawn."""
    best = believed >= believed.max(axis=1, keepdims=True, initial=0) * (1 - 1e-9)
    return np.asarray(best[np.arange(len(truth)), truth] / np.maximum(best.sum(axis=1), 1))


def _right_outside(
    traces: Traces, inside: Longs, targets: Longs, features: Longs, taught: _Taught, chance: np.random.Generator
) -> Doubles:
    """Take the people guessed about out of the releases, part by part; guess about each part what the rest teaches."""
    fold, found = chance.integers(0, _FOLDS, len(targets)), []
    at = np.searchsorted(inside, targets)
    for number in range(_FOLDS):
        asked = fold == number
        gone = np.isin(traces.respondent[inside], traces.respondent[targets[asked]])
        if gone.all() or not gone.any():
            continue
        model, _ = _learnt_from(_steps(traces, inside[~gone], inside[gone]), features[~gone], taught)
        found.append(_right(model.prior(features[at[asked]]), traces.value[targets[asked]]))
    return np.concatenate(found) if found else np.zeros(0)


def _held(value: Longs, n_values: int) -> Doubles:
    """Return who holds what, as a row per person; nothing for a value that no release shows."""
    return np.asarray((value[:, None] == np.arange(n_values)).astype(np.float64))


def _drawn(traces: Traces, known: Flags, chance: np.random.Generator, sample: int) -> tuple[Longs, Longs]:
    """Return the episodes guessed about, and all that are in a group with one of them; both in order."""
    last = traces.latest[known[traces.latest]].astype(np.int64)
    drawn = chance.permutation(last)[:sample]
    while True:
        of_group = np.repeat(np.arange(traces.n_groups), np.diff(traces.group_ptr))
        owner = np.repeat(np.arange(len(traces.respondent)), np.diff(traces.person_ptr))
        chosen = np.zeros(traces.n_groups, dtype=np.bool_)
        chosen[traces.groups[np.isin(owner, drawn)]] = True
        inside = np.unique(traces.people[chosen[of_group]]).astype(np.int64)
        n_records = int(np.diff(traces.group_ptr)[chosen].sum())
        if n_records * traces.n_values <= MOST_CELLS or not len(drawn):
            return np.sort(drawn), inside
        # fewer people, but whole groups: half a group would say nothing
        drawn = drawn[: len(drawn) // 2]


def _steps(traces: Traces, inside: Longs, gone: Longs | None = None) -> list[_Step]:
    """Return what each release says about these people: groups that are whole among them and those who are gone.

    Values of people who are gone are taken out of their groups, as if they had never been published.
    """
    there = np.full(len(traces.respondent), -1, dtype=np.int64)
    there[inside] = np.arange(len(inside))
    gone = np.zeros(0, dtype=np.int64) if gone is None else gone
    around = there >= 0
    around[gone] = True
    of_group = np.repeat(np.arange(traces.n_groups), np.diff(traces.group_ptr))
    here = np.bincount(of_group[around[traces.people]], minlength=traces.n_groups)
    # a group some of whose people are not looked at says too little about the others
    whole = (here == np.diff(traces.group_ptr)) & (
        np.bincount(of_group[there[traces.people] >= 0], minlength=traces.n_groups) > 0
    )
    found = []
    for release in range(len(traces.history)):
        groups = np.flatnonzero(whole & (traces.release_of == release))
        if not len(groups):
            continue
        place = np.full(traces.n_groups, -1, dtype=np.int64)
        place[groups] = np.arange(len(groups))
        member = (place[of_group] >= 0) & (there[traces.people] >= 0)
        shown = np.zeros((len(groups), traces.n_values))
        sig_group = place[np.repeat(np.arange(traces.n_groups), np.diff(traces.sig_ptr))]
        shown[sig_group[sig_group >= 0], traces.sig_val[sig_group >= 0]] = traces.sig_cnt[sig_group >= 0]
        left = (place[of_group] >= 0) & (there[traces.people] < 0)
        # by their true values, which no attacker has: this is the control
        np.subtract.at(shown, (place[of_group[left]], traces.value[traces.people[left]]), 1.0)
        sizes = np.bincount(place[of_group[member]], minlength=len(groups))
        share = traces.counterfeits[groups] / np.maximum(shown.sum(axis=1), 1)
        starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        found.append(_Step(there[traces.people[member]], starts, sizes, shown, shown * share[:, None]))
    return found


def quasi_of_people(view: View) -> pa.Table | None:
    """Return who is in a view with which quasi-identifiers; None if it does not say."""
    if view.respondent is None or not view.quasi:
        return None
    columns = {
        column.name: pa.array(column.scale.positions[column.codes])
        if column.scale.form == "interval"
        else column.scale.texts.take(pa.array(column.codes))
        for column in view.quasi
    }
    people = pa.table({"respondent": view.cells(view.respondent), **{f"quasi_{k}": v for k, v in columns.items()}})
    return people.filter(pa.array(~view.suppressed))


def _quasi_names(people: pa.Table, others: pa.Table | None) -> list[str]:
    names = [name for name in people.column_names if name != "respondent"]
    needed = [] if others is None else [*names, "sensitive"]
    faults = [] if "respondent" in people.column_names else [Fault("people", "no column respondent", "", "add it")]
    faults += [] if names else [Fault("people", "no quasi-identifiers", "columns beside respondent", "add one")]
    if others is not None:
        faults += [
            Fault("others", f"no column {name}", ", ".join(needed), "add it")
            for name in needed
            if name not in others.column_names
        ]
    if faults:
        raise TableError(faults)
    return names


def _rows_of(traces: Traces, people: pa.Table) -> Longs:
    """Return each episode's row among the people; -1 for who is not there."""
    known = pc.cast(people.column("respondent").combine_chunks(), pa.string())
    asked = pc.cast(traces.history.respondents, pa.string())
    row = pc.index_in(asked, value_set=known, skip_nulls=True).fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(row[traces.respondent], dtype=np.int64)


def _values_of(others: pa.Table, history: History) -> Longs:
    shown = pc.cast(history.values, pa.string())
    found = pc.index_in(pc.cast(others.column("sensitive"), pa.string()), value_set=shown).fill_null(-1)
    return np.asarray(found.to_numpy(), dtype=np.int64)


def _coded(tables: list[pa.Table], names: list[str]) -> tuple[Longs, list[Longs]]:
    """Return the codes of the first table, and of the others; numbers with many values are cut into ten bands."""
    columns = []
    for name in names:
        parts = [_plain(table.column(name)) for table in tables]
        whole = pa.chunked_array([chunk for part in parts for chunk in part.chunks], parts[0].type)
        codes = class_text_codes(whole)[0].astype(np.int64)
        number = pa.types.is_integer(whole.type) or pa.types.is_floating(whole.type)
        if number and codes.max(initial=0) >= _BANDS:
            cells = whole.cast(pa.float64()).to_numpy()
            edges = np.nanquantile(cells, np.arange(1, _BANDS) / _BANDS)
            codes = np.where(codes >= 0, np.searchsorted(edges, cells, side="right"), -1)
        columns.append(codes)
    stacked = np.column_stack(columns)
    people, *others = np.split(stacked, np.cumsum([table.num_rows for table in tables])[:-1])
    return people, others


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return numbers as decimals and everything else as text, so that two tables can be put together."""
    number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    return column.cast(pa.float64() if number else pa.string())


def _rates(right: Doubles, by_groups: Doubles, before: Doubles, outside: Doubles, seed: int) -> LearntGuesses:
    n, means = len(right), [float(one.mean()) if len(one) else 0.0 for one in (right, by_groups, before, outside)]
    risk, gain = risk_beyond(right, outside), difference_interval(right, by_groups)
    detail = {"rate": means[0], "by_groups": means[1], "before": means[2], "outside": means[3], "seed": seed}
    return LearntGuesses(
        n_people=n,
        rate=means[0],
        by_groups=means[1],
        before=means[2],
        outside=means[3],
        risk=Estimate("learnt", *risk, n_people=n, detail=detail),
        gain=Estimate("learnt_gain", *gain, n_people=n, detail=detail),
    )
