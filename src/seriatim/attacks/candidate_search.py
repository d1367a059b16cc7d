"""Candidates: the values that everyone can hold after some releases, by rules first and then by a solver.

The rules of exclusion leave everyone a set that holds the truth, and sometimes values that no world allows. For people
with few values left a solver is asked about each of them: is there a world in which they hold it? A value that no world
allows is struck out. Anyone who has one value left is breached.
"""

from __future__ import annotations

import numpy as np

from seriatim.attacks.complete_search import complete_sample
from seriatim.attacks.connected_parts import LITERALS, ConnectedParts, connected_parts
from seriatim.attacks.exclusion_rules import Exclusion, prepare
from seriatim.attacks.possible_worlds import BALLS, holding_world, undecided_people, world_neighbourhood
from seriatim.attacks.traces_by_person import PriorValues, trace_flags
from seriatim.kernels.arrays import Flags
from seriatim.model.candidate_values import Candidates, candidates_of
from seriatim.model.history import History

FEW = 6
"""People with at most this many values left are checked value by value; for others one value hardly matters."""
ONE_VALUE = 5_000.0
"""Work that a SAT solver may spend on one value of one person."""
WORK = 400_000.0
"""Work for both questions, counted as for a sample: half a minute or so of one core. A series is taken over once."""


def candidates(history: History, priors: PriorValues | None = None, few: int = FEW, work: float = WORK) -> Candidates:
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
