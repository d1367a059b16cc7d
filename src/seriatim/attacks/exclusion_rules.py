"""Exclusion: rules out values by comparing groups, after all releases and with some people compromised.

Repairs and iterates the private value restriction functions of Riboni and Bettini (Cor-Split): a person whose value is
found acts like a compromised one, so the adversary continues until nothing changes. The rules are in
:mod:`seriatim.kernels.deduce.conclusions`. Each of them is sound, so the truth is never excluded. The adversary knows
how many counterfeits a group holds, but not which rows they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.attacks.intervals import interval_of_repetitions
from seriatim.attacks.proof_chain import Step, attack_steps_to
from seriatim.attacks.traces_by_person import PriorValues, Traces, trace, trace_flags
from seriatim.errors import AdversaryError, Fault
from seriatim.kernels.arrays import Ints, Longs, Words
from seriatim.kernels.deduce.board import Board, EpisodeLinks, RemovalLog, overlaps
from seriatim.kernels.deduce.conclusions import intersect_groups
from seriatim.kernels.deduce.fixed_point import narrow_fully
from seriatim.kernels.deduce.halvings import Halvings, narrow_by_cuts
from seriatim.kernels.deduce.one_round import alike_overlaps, narrow_by_compromised, narrow_by_correlations
from seriatim.model.chance import open_chance
from seriatim.model.doors import share_argument, shown_argument, whole_argument
from seriatim.model.history import History
from seriatim.model.verdict import Estimate


@dataclass(frozen=True, repr=False, eq=False)
class Exclusion:
    """The possible values of everyone ever published, by respondent id."""

    traces: Traces
    words: Words
    compromised_episodes: Ints
    log: RemovalLog
    _: KW_ONLY
    conflicts: int = 0
    """How often the rules contradicted each other: 0 if the history is true."""
    counted: int | None = None
    """Only the first so many respondents are counted as people and as breached; None counts everyone."""

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Return the number of possible values of each episode."""
        left: npt.NDArray[np.int64] = np.bitwise_count(self.words).sum(axis=1, dtype=np.int64)
        return left

    @cached_property
    def compromised(self) -> npt.NDArray[np.bool_]:
        """Return for each episode whether its respondent is compromised."""
        flags = np.zeros(len(self.words), dtype=np.bool_)
        flags[self.compromised_episodes] = True
        return flags

    @cached_property
    def candidates(self) -> dict[Any, set[Any]]:
        """Return the values each respondent can hold; if values changed, those of the last episode."""
        return self._sets(self.traces.latest)

    @cached_property
    def breached(self) -> dict[Any, Any]:
        """Return the respondents who are breached but not compromised, each with the latest value that is certain."""
        at = np.flatnonzero((self.sizes == 1) & ~self.compromised)
        return {who: next(iter(held)) for who, held in self._sets(at).items()}

    @property
    def n_breached(self) -> int:
        """Count the people breached, not their episodes."""
        # somebody whose value changed has several episodes: one that is certain is enough, and counts once
        return len(self._counted(self.traces.respondent[(self.sizes == 1) & ~self.compromised]))

    @property
    def n_people(self) -> int:
        """Count everyone ever published who is not compromised."""
        return self.n_published - len(self._counted(self.traces.respondent[self.compromised]))

    @property
    def n_published(self) -> int:
        """Count everyone ever published."""
        return len(self._counted(self.traces.order))

    def _counted(self, people: Ints) -> Ints:
        own: Ints = np.unique(people)
        return own if self.counted is None else own[own < self.counted]

    @cached_property
    def wrong(self) -> int:
        """Count the episodes whose true value is excluded: 0 if the history is true."""
        value = self.traces.value
        # bit v of a row of 64-bit words says that value v is still possible: word v // 64, bit v % 64
        words = self.words[np.arange(len(value)), value >> 6]
        return int(((words >> (value & 63).astype(np.uint64)) & np.uint64(1) == 0).sum())

    def episodes(self, respondent: Any) -> list[set[Any]]:
        """Return the values a person can have held, for each episode."""
        at = self.traces.episodes_of([respondent])
        return [next(iter(self._sets(at[i : i + 1]).values())) for i in range(len(at))]

    def chain(self, respondent: Any, most: int = 500) -> list[Step]:
        """Return the steps by which a person's possible values shrank, and the steps they rest on, newest last.

        Each step names its releases, groups and rule. A long chain keeps only its latest ``most`` steps.
        """
        last = int(self.traces.episodes_of([respondent])[-1])
        return attack_steps_to(self.traces, self.log, self.compromised, last, most)

    def _sets(self, episodes: npt.NDArray[Any]) -> dict[Any, set[Any]]:
        ids = self.traces.ids(episodes)
        values = self.traces.history.values.to_pylist()
        rows, columns = np.nonzero(trace_flags(self.words[episodes], len(values)))
        sets: list[set[Any]] = [set() for _ in ids]
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            sets[row].add(values[column])
        return dict(zip(ids, sets, strict=True))


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class PreparedHistory:
    """A history prepared for many repetitions: what follows from it before anyone is compromised."""

    traces: Traces
    board: Board
    links: EpisodeLinks
    read: Words
    """The possible values after intersection of signatures only."""
    settled: Words
    """The fixed point without compromised people."""
    log: RemovalLog
    conflicts: int
    told: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    """Episodes that are known in every repetition, beside the compromised people that are drawn: nobody counts them."""
    cuts: Halvings | None = None
    """What the attacker knows of how the method cut people into groups."""
    counted: int | None = None
    """Only the first so many respondents are counted; the others are there for what they say about these."""

    def n_narrowed(self, run: Exclusion) -> int:
        """Count the people who are not breached and lost values beyond what each of their groups alone excludes."""
        lost = (run.sizes < np.bitwise_count(self.read).sum(axis=1)) & ~run.compromised
        sure = np.unique(self.traces.respondent[run.sizes == 1])
        return len(np.setdiff1d(self.traces.respondent[lost], sure))

    @property
    def told_ids(self) -> list[Any]:
        """Return the people who are known in every repetition."""
        return self.traces.ids(self.told)

    def knowing(self, cuts: Halvings | None) -> PreparedHistory:
        """Return the ground of someone who knows these cuts by values as well."""
        if cuts is None:
            return self
        settled = self.settled.copy()
        conflicts = _narrow_by_cuts(self.board, self.links, cuts, settled)
        return replace(self, cuts=cuts, settled=settled, conflicts=self.conflicts + conflicts)

    def taken_as_known(self, people: pa.Array, until: int) -> PreparedHistory:
        """Return the ground on which everyone knows the values that these people held up to a release."""
        traces = self.traces
        numbers = np.array([past.number for past in traces.history], dtype=np.int64)
        texts = pc.cast(traces.history.respondents, pa.string())
        named = pc.is_in(texts, value_set=people).fill_null(False).to_numpy(zero_copy_only=False)
        # an episode that began later is about another value than the one known then
        begun = numbers[traces.release_of[traces.groups[traces.person_ptr[:-1]]]] <= until
        own = np.flatnonzero(named[traces.respondent] & begun)
        last = np.append(traces.respondent[own][1:] != traces.respondent[own][:-1], True)[: len(own)]
        return replace(self, told=np.union1d(self.told, own[last]).astype(np.int32))

    def compromise(self, episodes: Ints, keep_log: bool = True) -> Exclusion:
        """Iterate to the fixed point, knowing the values of these episodes and of those known anyhow."""
        episodes = np.union1d(episodes, self.told).astype(np.int32)
        # the fixed point without compromised people is where every draw starts: rules only ever take values away
        words = self.settled.copy()
        told = _tell(words, episodes, self.traces.value)
        touched = [self.traces.groups[self.traces.person_ptr[e] : self.traces.person_ptr[e + 1]] for e in told]
        # groups and, numbered behind them, episodes wait in one queue of what is looked at again
        first = np.concatenate([*touched, told + self.traces.n_groups]).astype(np.int32)
        log, conflicts = narrow_fully(self.board, self.links, words, first, keep_log)
        if self.cuts is not None:
            conflicts += _narrow_by_cuts(self.board, self.links, self.cuts, words)
        whole = _continued(self.log, log) if keep_log else log
        conflicts += self.conflicts
        return Exclusion(self.traces, words, episodes, whole, conflicts=conflicts, counted=self.counted)

    def compromise_once(self, episodes: Ints) -> Exclusion:
        """Apply ct-pvr, then hc-pvr, once each, as the one-shot adversary of the paper does."""
        episodes = np.union1d(episodes, self.told).astype(np.int32)
        words = self.read.copy()
        _tell(words, episodes, self.traces.value)
        words = narrow_by_correlations(self.board, *self.meetings, narrow_by_compromised(self.board, words))
        return Exclusion(self.traces, words, episodes, _no_log(words), counted=self.counted)

    @cached_property
    def meetings(self) -> tuple[Longs, Ints]:
        """Return for each group the groups that share a person with it and publish the same values."""
        board = self.board
        return alike_overlaps(board, *overlaps(board.mem_ptr, board.mem, board.per_ptr, board.per, 1))

    def draw(self, share: float, seed: int) -> Ints:
        """Draw the compromised people, each with the same chance, and return all their episodes."""
        people = self.traces.order
        hit = np.zeros(len(self.traces.history.respondents), dtype=np.bool_)
        hit[people[open_chance(seed, "compromised").random(len(people)) < share]] = True
        return np.flatnonzero(hit[self.traces.respondent]).astype(np.int32)


def prepare(
    history: History,
    priors: PriorValues | None = None,
    follows: npt.NDArray[np.bool_] | None = None,
) -> PreparedHistory:
    """Prepare a history for attacks.

    ``priors`` holds the values a respondent can have (any value, for respondents it does not name). ``follows[a, b]``
    says whether value b can follow value a when a respondent's value changes (any other value can, if omitted).
    """
    traces = trace(history)
    board, links = traces.board(), traces.links(follows)
    words = traces.everything(priors)
    told = _known_beforehand(traces, priors or {})
    words[told] = 0
    words[told, traces.value[told] >> 6] = np.uint64(1) << (traces.value[told] & 63).astype(np.uint64)
    intersect_groups(board, words)
    empty = int((words.max(axis=1, initial=0) == 0).sum())
    if empty:
        raise AdversaryError(Fault("priors", f"{empty} people were in groups without any of their possible values"))
    settled = words.copy()
    first = np.arange(traces.n_groups, dtype=np.int32)
    linked = np.flatnonzero((links.before >= 0) | (links.after >= 0)) + traces.n_groups
    log, conflicts = narrow_fully(board, links, settled, np.concatenate((first, linked)).astype(np.int32), True)
    return PreparedHistory(
        traces=traces, board=board, links=links, read=words, settled=settled, log=log, conflicts=conflicts, told=told
    )


def _known_beforehand(traces: Traces, priors: PriorValues) -> Ints:
    """Return all episodes of the people with one possible value, which must be the last one they held.

    Someone who has a person's value also has what it was before, which costs the others more than not knowing it.
    """
    domain = traces.history.values.to_pylist()
    held = dict(zip(traces.ids(traces.latest), traces.value[traces.latest].tolist(), strict=True))
    known = {who: next(iter(values)) for who, values in priors.items() if len(values) == 1 and who in held}
    wrong = sum(domain[held[who]] != value for who, value in known.items())
    if wrong:
        found = f"{wrong} people have another value in the releases"
        raise AdversaryError(Fault("[adversary] known, priors", found, "their newest value"))
    return traces.episodes_of(list(known)) if known else np.empty(0, dtype=np.int32)


def _narrow_by_cuts(board: Board, links: EpisodeLinks, cuts: Halvings, words: Words) -> int:
    """Narrow in place by cuts and rules in turn until nothing moves; return how often they contradicted each other."""
    conflicts = 0
    while True:
        moved, failed = narrow_by_cuts(cuts, words)
        conflicts += failed
        if not moved.any():
            return conflicts
        # cuts move people one by one; only groups they are in can conclude anything new
        touched = [board.per[board.per_ptr[who] : board.per_ptr[who + 1]] for who in np.flatnonzero(moved)]
        first = np.unique(np.concatenate(touched)).astype(np.int32)
        conflicts += narrow_fully(board, links, words, first, False)[1]


def exclusion(
    history: History,
    compromised: Iterable[Any] = (),
    priors: PriorValues | None = None,
    follows: npt.NDArray[np.bool_] | None = None,
) -> Exclusion:
    """Return everything an adversary concludes who knows the values of ``compromised`` (respondent ids)."""
    if isinstance(compromised, str | bytes) or not isinstance(compromised, Iterable):
        found = f"a {type(compromised).__name__}"
        raise AdversaryError(Fault("compromised", found, "a list of respondents", "pass a list"))
    ground = prepare(history, priors, follows)
    return ground.compromise(ground.traces.episodes_of(list(compromised)))


def exclusion_share(
    history: History,
    share: float,
    seeds: Sequence[int],
    confidence: float = 0.95,
    priors: PriorValues | None = None,
) -> Estimate:
    """Estimate the share of all other people who are breached when a random ``share`` of people is compromised."""
    return estimate_share(prepare(history, priors), share, seeds, confidence)


def estimate_share(ground: PreparedHistory, share: float, seeds: Sequence[int], confidence: float = 0.95) -> Estimate:
    """Estimate like :func:`exclusion_share`, from a prepared history."""
    _check_draws(share, seeds)
    runs = (ground.compromise(ground.draw(share, seed), keep_log=False) for seed in seeds)
    return _summed("exclusion", runs, ground, share, seeds, confidence)


def estimate_once(ground: PreparedHistory, share: float, seeds: Sequence[int], confidence: float = 0.95) -> Estimate:
    """Estimate the same for an adversary who draws every conclusion once and does not build on it."""
    _check_draws(share, seeds)
    runs = (ground.compromise_once(ground.draw(share, seed)) for seed in seeds)
    return _summed("exclusion, one round", runs, ground, share, seeds, confidence)


def _check_draws(share: float, seeds: Sequence[int]) -> None:
    share_argument("compromised", share)
    if not isinstance(seeds, Sequence | np.ndarray) or isinstance(seeds, str) or not len(seeds):
        raise AdversaryError(Fault("seeds", shown_argument(seeds), "a list of seeds, such as (1, 2, 3)"))
    for seed in seeds:
        whole_argument("seeds", seed, 0)


def _summed(
    name: str, runs: Iterable[Exclusion], ground: PreparedHistory, share: float, seeds: Sequence[int], confidence: float
) -> Estimate:
    """Add up repetitions one by one, keeping only their counts."""
    counts = [(run.n_breached, run.n_people, run.wrong, run.n_published, ground.n_narrowed(run)) for run in runs]
    breached, people = [c[0] for c in counts], [c[1] for c in counts]
    low, high = interval_of_repetitions(breached, people, confidence)
    mean = float(np.mean([b / n if n else 0.0 for b, n in zip(breached, people, strict=True)]))
    detail = {
        "compromised": share,
        "known_by_name": len(np.unique(ground.traces.respondent[ground.told])),
        "seeds": list(seeds),
        "confidence": confidence,
        "breached": breached,
        "narrowed": round(float(np.mean([c[4] for c in counts]))),
    }
    return Estimate(name, mean, low, high, n_people=counts[0][3], wrong=sum(c[2] for c in counts), detail=detail)


def _tell(words: Words, episodes: Ints, value: Ints) -> Ints:
    """Write down the compromised values and return the episodes for which they are new."""
    news: Ints = episodes[np.bitwise_count(words[episodes]).sum(axis=1) > 1]
    words[news] = 0
    words[news, value[news] >> 6] = np.uint64(1) << (value[news] & 63).astype(np.uint64)
    return news


def _continued(first: RemovalLog, then: RemovalLog) -> RemovalLog:
    return RemovalLog(
        np.concatenate((first.who, then.who)),
        np.concatenate((first.rule, then.rule)),
        np.concatenate((first.group, then.group)),
        np.concatenate((first.other, then.other)),
        np.concatenate((first.gone, then.gone)),
    )


def _no_log(words: Words) -> RemovalLog:
    none = np.empty(0, dtype=np.int32)
    return RemovalLog(none, none, none, none, np.empty((0, words.shape[1]), dtype=np.uint64))
