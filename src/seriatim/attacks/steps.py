"""Why somebody's candidates shrank: the steps a conclusion rests on."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.attacks.trace import Traces, as_flags
from seriatim.kernels.arrays import Words
from seriatim.kernels.deduce.board import LINK, PAIR, Log

_NAMES = ("group", "correlation", "episode")


@dataclass(frozen=True, slots=True)
class Step:
    """One conclusion of the adversary. Publisher's eyes only: it names people and values."""

    respondent: Any
    rule: str
    """signature | compromised | group (within one) | correlation (between two) | episode (before and after)"""
    groups: tuple[tuple[int, int], ...]
    """The groups it was read from, as (release number, group)."""
    removed: frozenset[Any]
    left: frozenset[Any]


def steps_to(traces: Traces, log: Log, compromised: npt.NDArray[np.bool_], episode: int, most: int) -> list[Step]:
    """What shrank an episode's candidates and, back from there, what that rests on; newest last.

    Sound but not the shortest proof: it follows every earlier event in the same groups about the same values,
    the latest ``most`` of them.
    """
    story = _Story(traces, log, compromised)
    events, told = story.ancestry(episode, most)
    steps = [story.compromised_step(e) for e in sorted(told)]
    people = sorted({episode, *log.who[events].tolist()} - told)
    left = {e: story.read(e) for e in people}
    if not compromised[episode]:
        steps.append(story.signature_step(episode, left[episode]))
    for at in events:
        who = int(log.who[at])
        left[who] = left[who] & ~story.gone(at)
        steps.append(story.event_step(at, left[who]))
    return steps


class _Story:
    """A log, indexed by whom it is about."""

    def __init__(self, traces: Traces, log: Log, compromised: npt.NDArray[np.bool_]) -> None:
        self.traces, self.log, self.is_told = traces, log, compromised
        self.order = np.argsort(log.who, kind="stable")
        self.sorted_who = log.who[self.order]
        self.values = traces.history.values.to_pylist()

    def events(self, episode: int, until: int) -> list[int]:
        """Indices into the log, in order, of what happened to an episode before ``until``."""
        low, high = np.searchsorted(self.sorted_who, [episode, episode + 1])
        return [int(at) for at in self.order[low:high] if at < until]

    def read(self, episode: int) -> npt.NDArray[np.bool_]:
        """What the signatures of its groups left to an episode."""
        left = np.ones(self.traces.n_values, dtype=np.bool_)
        for g in self._groups(episode):
            has = np.zeros_like(left)
            has[self.traces.sig_val[self.traces.sig_ptr[g] : self.traces.sig_ptr[g + 1]]] = True
            left &= has
        return left

    def gone(self, at: int) -> npt.NDArray[np.bool_]:
        return self._flags(self.log.gone[at])

    def ancestry(self, episode: int, most: int) -> tuple[list[int], set[int]]:
        """Indices of the log, in order, and the compromised people they begin with; found from the latest back."""
        if self.is_told[episode]:
            return [], {episode}
        wanted: set[int] = set()
        told: set[int] = set()
        queue = [-at for at in self.events(episode, len(self.log.who))]
        heapify(queue)
        while queue and len(wanted) < most:
            at = -heappop(queue)
            if at in wanted:
                continue
            wanted.add(at)
            about = self._about(at)
            for other in self._witnesses(at):
                if self.is_told[other]:
                    told.add(other)
                else:
                    for earlier in self.events(other, at):
                        if earlier not in wanted and (self.gone(earlier) & about).any():
                            heappush(queue, -earlier)
        return sorted(wanted), told

    def compromised_step(self, episode: int) -> Step:
        held = frozenset([self.values[self.traces.value[episode]]])
        return Step(self._id(episode), "compromised", (), frozenset(self.values) - held, held)

    def signature_step(self, episode: int, left: npt.NDArray[np.bool_]) -> Step:
        places = tuple(self._place(int(g)) for g in self._groups(episode))
        return Step(self._id(episode), "signature", places, self._set(~left), self._set(left))

    def event_step(self, at: int, left: npt.NDArray[np.bool_]) -> Step:
        places = tuple(self._place(g) for g in self._sources(at))
        rule = _NAMES[self.log.rule[at]]
        return Step(self._id(int(self.log.who[at])), rule, places, self._set(self.gone(at)), self._set(left))

    def _about(self, at: int) -> npt.NDArray[np.bool_]:
        """The values an event turns on: those it removed and, when it settled the matter, the one that stayed."""
        who = int(self.log.who[at])
        gone = self.gone(at)
        left = self.read(who)
        for earlier in self.events(who, at + 1):
            left &= ~self.gone(earlier)
        return gone | left if left.sum() == 1 else gone

    def _witnesses(self, at: int) -> list[int]:
        """Everyone else in the groups an event was read from."""
        if self.log.rule[at] == LINK:
            return [int(self.log.g[at])]
        people: set[int] = set()
        for g in self._sources(at):
            people.update(self.traces.people[self.traces.group_ptr[g] : self.traces.group_ptr[g + 1]].tolist())
        return sorted(people - {int(self.log.who[at])})

    def _sources(self, at: int) -> list[int]:
        if self.log.rule[at] == LINK:
            return []
        return [int(self.log.g[at]), int(self.log.h[at])] if self.log.rule[at] == PAIR else [int(self.log.g[at])]

    def _groups(self, episode: int) -> npt.NDArray[np.int32]:
        return self.traces.groups[self.traces.person_ptr[episode] : self.traces.person_ptr[episode + 1]]

    def _place(self, g: int) -> tuple[int, int]:
        release = int(self.traces.release_of[g])
        return self.traces.history.releases[release].number, g - int(self.traces.first_of_release[release])

    def _id(self, episode: int) -> Any:
        return self.traces.ids(np.array([episode]))[0]

    def _flags(self, words: Words) -> npt.NDArray[np.bool_]:
        flags: npt.NDArray[np.bool_] = as_flags(words[None, :], self.traces.n_values)[0]
        return flags

    def _set(self, flags: npt.NDArray[np.bool_]) -> frozenset[Any]:
        return frozenset(self.values[i] for i in np.flatnonzero(flags))
