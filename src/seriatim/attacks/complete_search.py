"""Complete: people whose value is certain although the rules of exclusion do not find it.

Everyone is first judged by rules, which are sound and fast but miss conclusions that only many groups together allow.
Of the people they leave undecided, simple worlds clear many at once (:mod:`seriatim.attacks.solver_answers`,
:mod:`seriatim.attacks.value_exchanges`). Of the others some are drawn, and for each a solver decides whether there is a
world in which their value is another one: a SAT solver where hardly anybody is interchangeable
(:mod:`~seriatim.attacks.connected_parts`), else an integer programme (:mod:`~seriatim.attacks.possible_worlds`). What
it finds in the sample is carried over to everyone, with an exact interval; anyone it cannot decide counts as certain.
Riboni and Bettini (Cor-Split) have no such adversary: theirs draws each conclusion once.

Candidates ask the same solver about values: the rules leave everyone a set that holds the truth, and sometimes values
that no world allows. For people with few values left it is asked about each: is there a world in which they hold it? A
value that no world allows is struck out; anyone who has one value left is breached.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from seriatim.attacks.connected_parts import LITERALS, ConnectedParts, connected_parts
from seriatim.attacks.exclusion_rules import Exclusion, PreparedHistory, estimate_share, prepare
from seriatim.attacks.intervals import exact_interval, interval_of_repetitions
from seriatim.attacks.possible_worlds import BALLS, Worlds, holding_world, undecided_people, world_neighbourhood
from seriatim.attacks.solver_answers import SolverAnswers
from seriatim.attacks.traces_by_person import PriorValues, trace_flags
from seriatim.kernels.arrays import Flags, Ints
from seriatim.model.candidate_values import Candidates, candidates_of
from seriatim.model.chance import open_chance
from seriatim.model.doors import share_argument
from seriatim.model.history import History
from seriatim.model.verdict import Estimate

SAMPLE = 200
"""People who are asked about if the bound says nothing else. If no more are left, exchanges would save no time."""
LARGEST = 4_000
FEW = 1_000
"""So few people are all asked about."""
BUDGET = 300_000.0
"""Work for a whole sample, counted in variables of the programmes that are tried: twenty seconds or so of one core.

Who was not asked by then is left out of it, and the sample is smaller. It is counted, not timed, so that a busy machine
comes to the same verdict as an idle one.
"""


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Complete:
    """What the solver found about a sample of the people whom rules leave undecided."""

    exclusion: Exclusion
    left: int
    """People whom neither rules nor an interchangeable person of another value decide."""
    opened: int
    """Those of them whom simple worlds clear, many at once."""
    asked: Ints
    """Those of the others who were asked about one by one, as indices of respondents."""
    certain: Ints
    undecided: Ints

    @property
    def whole(self) -> bool:
        """Return whether everyone left was asked about."""
        return len(self.asked) + self.opened == self.left

    @property
    def breached(self) -> set[Any]:
        """Return the people whose value is certain, by rules or by the solver; of a sample, those in it."""
        people = self.exclusion.traces.history.respondents.take(self.certain).to_pylist()
        return set(self.exclusion.breached) | {
            ("erased", int(n)) if text is None else text for text, n in zip(people, self.certain, strict=True)
        }


def complete(
    history: History,
    compromised: Iterable[Any] = (),
    priors: PriorValues | None = None,
    sample: int | None = None,
    seed: int = 1,
) -> Complete:
    """Return whose value is certain when the values of ``compromised`` are known, among a sample or everyone."""
    ground = prepare(history, priors)
    found = ground.compromise(ground.traces.episodes_of(list(compromised)), keep_log=False)
    return complete_sample(found, sample, seed, float("inf"))


def complete_sample(found: Exclusion, sample: int | None = None, seed: int = 1, work: float = BUDGET) -> Complete:
    """Ask a solver about people whom exclusion leaves undecided: everyone, or a seeded sample where they are many."""
    worlds = undecided_people(found.traces, found.words)
    answers = SolverAnswers(connected_parts(worlds), work)
    everyone = _left(found, worlds, answers.cleared)
    if len(everyone):
        answers.clear_crossed(work / 4)
        answers.clear_few_alike(work / 4)
    # few people are sooner asked about one by one than cleared together
    if len(_left(found, worlds, answers.cleared)) > SAMPLE:
        answers.exchange(work / 4)
    left, chosen, people = _drawn(found, worlds, answers, sample, seed)
    said = answers.ask(people)
    asked = chosen[: len(said)]
    certain, undecided = (asked[[one is kind for one in said]] if said else asked for kind in (True, None))
    return Complete(
        exclusion=found,
        left=len(everyone),
        opened=len(everyone) - len(left),
        asked=asked,
        certain=certain,
        undecided=undecided,
    )


def _drawn(
    found: Exclusion, worlds: Worlds, answers: SolverAnswers, sample: int | None, seed: int
) -> tuple[Ints, Ints, list[Ints]]:
    """Return the people left, those of them to ask about, and the classes of each of these."""
    left = _left(found, worlds, answers.cleared)
    order = open_chance(seed, "complete").permutation(len(left))
    chosen = left[order if sample is None or len(left) <= FEW else order[:sample]]
    return left, chosen, [_classes_of(found, worlds, who) for who in chosen.tolist()]


def _left(found: Exclusion, worlds: Worlds, cleared: Flags) -> Ints:
    """Return the people, as indices, with an undecided episode that no interchangeable person of another value clears.

    People who are compromised or breached by rules are not among them, nor episodes of classes already cleared.
    """
    traces = found.traces
    alone = (worlds.class_of >= 0) & np.append(worlds.pure & ~cleared, False)[worlds.class_of]
    known = np.zeros(len(traces.history.respondents), dtype=np.bool_)
    known[traces.respondent[(found.sizes == 1) | found.compromised]] = True
    people = np.unique(traces.respondent[alone])
    people = people if found.counted is None else people[people < found.counted]
    return np.asarray(people[~known[people]], dtype=np.int32)


def _classes_of(found: Exclusion, worlds: Worlds, who: int) -> Ints:
    first, last = np.searchsorted(found.traces.respondent, [who, who + 1])
    classes = worlds.class_of[first:last]
    classes = classes[classes >= 0]
    return classes[worlds.pure[classes]]


def complete_share(
    ground: PreparedHistory, share: float, seeds: Sequence[int], bound: float | None = None, work: float = BUDGET
) -> Estimate:
    """Estimate the share of people breached when a random ``share`` of the others is compromised, rules and solver.

    The interval is that of the rules, widened by what the solver can have found in the people not asked about. With a
    ``bound`` the sample is so large that it can be kept, if nobody asked about is certain.
    """
    if bound is not None:
        share_argument("bound", bound)
    rules = estimate_share(ground, share, seeds)
    drawn = seeds if share > 0 else seeds[:1]  # with nobody compromised every draw is the same
    runs = [ground.compromise(ground.draw(share, seed), keep_log=False) for seed in drawn]
    sample = _sample_size(rules, runs, bound)
    per_run = [complete_sample(run, sample, seed, work / len(runs)) for run, seed in zip(runs, seeds, strict=False)]
    return _joined(rules, per_run)


def _sample_size(rules: Estimate, runs: Sequence[Exclusion], bound: float | None) -> int:
    """Return how many people to ask about in each draw."""
    spare = 0.0 if bound is None else bound - rules.high
    wanted = SAMPLE if spare <= 0 else max(SAMPLE, int(np.ceil(3.7 / spare)))
    return -(-min(wanted, LARGEST) // len(runs))


def _joined(rules: Estimate, runs: Sequence[Complete]) -> Estimate:
    """Return the estimate of the rules with what the solver adds."""
    asked, certain, undecided = (sum(len(getattr(run, n)) for run in runs) for n in ("asked", "certain", "undecided"))
    left, opened = (sum(getattr(run, n) for run in runs) for n in ("left", "opened"))
    counts = {
        "left_by_rules": left,
        "asked": asked + opened,
        "certain_by_solver": certain,
        "undecided": undecided,
    }
    detail = {**rules.detail, **counts}
    people = [max(run.exclusion.n_people, 1) for run in runs]
    found = [run.exclusion.n_breached for run in runs]
    if all(run.whole for run in runs):
        hits = [b + len(run.certain) for b, run in zip(found, runs, strict=True)]
        worst = [h + len(run.undecided) for h, run in zip(hits, runs, strict=True)]
        share = float(np.mean([h / n for h, n in zip(hits, people, strict=True)]))
        if not certain + undecided:
            return replace(rules, detail=detail)
        if len(runs) == 1:
            return replace(rules, share=share, low=share, high=worst[0] / people[0], detail=detail)
        low, high = interval_of_repetitions(hits, people)[0], interval_of_repetitions(worst, people)[1]
        return replace(rules, share=share, low=low, high=high, detail=detail)
    part = (left - opened) / sum(people)
    missed = certain / asked if asked else 0.0
    high = min(1.0, rules.high + part * exact_interval(certain + undecided, asked)[1])
    return replace(rules, share=rules.share + part * missed, high=high, detail=detail)


FEW_VALUES = 6
"""People with at most this many values left are checked value by value; for others one value hardly matters."""
ONE_VALUE = 5_000.0
"""Work that a SAT solver may spend on one value of one person."""
WORK = 400_000.0
"""Work for both questions, counted as for a sample: half a minute or so of one core. A series is taken over once."""


def candidates(
    history: History, priors: PriorValues | None = None, few: int = FEW_VALUES, work: float = WORK
) -> Candidates:
    """Return the values possible for everyone after these releases; their last ones, if values changed."""
    ground = prepare(history, priors)
    found = ground.compromise(np.empty(0, dtype=np.int32), keep_log=False)
    flags = trace_flags(found.words, found.traces.n_values)
    _settle(found, flags, work / 2)
    _strike_out(found, flags, few, work / 2)
    traces, latest = found.traces, found.traces.latest
    people = traces.history.respondents.take(traces.respondent[latest])
    return candidates_of(people, history.values, flags[latest], history.releases[-1].number if len(history) else 0)


def _settle(found: Exclusion, flags: Flags, work: float) -> None:
    """Write down the values of people who are certain although the rules do not find it."""
    traces = found.traces
    certain = complete_sample(found, None, 1, work).certain
    once = np.bincount(traces.respondent, minlength=1)[traces.respondent] == 1  # else an earlier value may be meant
    episodes = np.flatnonzero(np.isin(traces.respondent, certain) & once)
    flags[episodes] = False
    flags[episodes, traces.value[episodes]] = True


def _strike_out(found: Exclusion, flags: Flags, few: int, work: float) -> None:
    """Strike out the values that no world allows, of people with few left, as far as the work goes."""
    worlds = undecided_people(found.traces, found.words)
    parts = connected_parts(worlds)
    at = np.flatnonzero(worlds.class_of >= 0)
    shown, gone = np.zeros_like(worlds.possible), np.zeros_like(worlds.possible)
    shown[worlds.class_of[at], found.traces.value[at]] = True
    sizes = worlds.possible.sum(axis=1)
    for one in np.argsort(sizes, kind="stable").tolist():
        if sizes[one] > few or work <= 0:
            break
        for value in np.flatnonzero(worlds.possible[one]).tolist():
            if not shown[one, value]:
                no_world, cost = _nobody_holds(parts, one, value, shown)
                gone[one, value] = no_world
                work -= cost
    flags[at] &= ~gone[worlds.class_of[at]]


def _nobody_holds(parts: ConnectedParts, one: int, value: int, shown: Flags) -> tuple[bool, float]:
    """Return whether no world gives a class a value, and the work; what worlds do show is noted in ``shown``."""
    if parts.suited[parts.part_of[one]]:
        part, fresh = parts.part(one)
        answer, work = part.holding(one, value, ONE_VALUE)
        if isinstance(answer, tuple):
            shown[answer] = True
        return answer is False, work + part.n_literals / LITERALS * fresh
    work = 0.0
    for most in BALLS:
        question = world_neighbourhood(parts.worlds, one, most)
        said, cost = holding_world(parts.worlds, question, (one, value), shown)
        work += cost
        if isinstance(said, tuple):
            shown[said] = True
            return False, work
        if said is None or question.whole:
            return said is False, work
    return False, work
