"""The steps a conclusion rests on: why a person's possible values shrank."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.attacks.traces_by_person import Traces, trace_flags
from seriatim.kernels.arrays import Words
from seriatim.kernels.deduce.board import LINK, PAIR, RemovalLog

_NAMES = ("group", "correlation", "episode")


@dataclass(frozen=True, slots=True)
class Step:
    """One conclusion of the adversary. For the publisher's eyes only: it names people and values."""

    respondent: Any
    rule: str
    """signature | compromised | group (within one) | correlation (between two) | episode (before and after)"""
    groups: tuple[tuple[int, int], ...]
    """The groups the conclusion uses, as (release number, group)."""
    removed: frozenset[Any]
    left: frozenset[Any]


def attack_steps_to(
    traces: Traces, log: RemovalLog, compromised: npt.NDArray[np.bool_], episode: int, most: int
) -> list[Step]:
    """Return the steps that shrank an episode's possible values and the steps they rest on, newest last.

    The chain is sound but not the shortest proof: it follows the latest ``most`` earlier events in the same groups
    about the same values.
    """
    story = _Story(traces, log, compromised)
    events, known = story.ancestry(episode, most)
    steps = [story.compromised_step(e) for e in sorted(known)]
    people = sorted({episode, *log.who[events].tolist()} - known)
    left = {e: story.read(e) for e in people}
    if not compromised[episode]:
        steps.append(story.signature_step(episode, left[episode]))
    for at in events:
        who = int(log.who[at])
        left[who] = left[who] & ~story.gone(at)
        steps.append(story.event_step(at, left[who]))
    return steps


class _Story:
    """A log, indexed by episode."""

    def __init__(self, traces: Traces, log: RemovalLog, compromised: npt.NDArray[np.bool_]) -> None:
        self.traces, self.log, self.known = traces, log, compromised
        self.order = np.argsort(log.who, kind="stable")
        self.sorted_who = log.who[self.order]
        self.values = traces.history.values.to_pylist()

    def events(self, episode: int, until: int) -> list[int]:
        """Return the indices in the log, in order, of an episode's events before ``until``."""
        low, high = np.searchsorted(self.sorted_who, [episode, episode + 1])
        return [int(at) for at in self.order[low:high] if at < until]

    def read(self, episode: int) -> npt.NDArray[np.bool_]:
        """Return the values that the signatures of an episode's groups leave."""
        left = np.ones(self.traces.n_values, dtype=np.bool_)
        for g in self._groups(episode):
            has = np.zeros_like(left)
            has[self.traces.sig_val[self.traces.sig_ptr[g] : self.traces.sig_ptr[g + 1]]] = True
            left &= has
        return left

    def gone(self, at: int) -> npt.NDArray[np.bool_]:
        return self._flags(self.log.gone[at])

    def ancestry(self, episode: int, most: int) -> tuple[list[int], set[int]]:
        """Return what an episode's conclusions rest on: indices in the log, in order, and compromised people."""
        if self.known[episode]:
            return [], {episode}
        wanted: set[int] = set()
        known: set[int] = set()
        # the newest first: what an event rests on was concluded before it
        queue = [-at for at in self.events(episode, len(self.log.who))]
        heapify(queue)
        while queue and len(wanted) < most:
            at = -heappop(queue)
            if at in wanted:
                continue
            wanted.add(at)
            about = self._about(at)
            for other in self._witnesses(at):
                if self.known[other]:
                    known.add(other)
                else:
                    for earlier in self.events(other, at):
                        # of a witness only what touches these values matters
                        if earlier not in wanted and (self.gone(earlier) & about).any():
                            heappush(queue, -earlier)
        return sorted(wanted), known

    def compromised_step(self, episode: int) -> Step:
        held = frozenset([self.values[self.traces.value[episode]]])
        return Step(self._id(episode), "compromised", (), frozenset(self.values) - held, held)

    def signature_step(self, episode: int, left: npt.NDArray[np.bool_]) -> Step:
        groups = tuple(self._group(int(g)) for g in self._groups(episode))
        return Step(self._id(episode), "signature", groups, self._set(~left), self._set(left))

    def event_step(self, at: int, left: npt.NDArray[np.bool_]) -> Step:
        groups = tuple(self._group(g) for g in self._sources(at))
        rule = _NAMES[self.log.rule[at]]
        return Step(self._id(int(self.log.who[at])), rule, groups, self._set(self.gone(at)), self._set(left))

    def _about(self, at: int) -> npt.NDArray[np.bool_]:
        """Return the values an event is about: those it removed and, if one remains, that one too."""
        who = int(self.log.who[at])
        gone = self.gone(at)
        left = self.read(who)
        for earlier in self.events(who, at + 1):
            left &= ~self.gone(earlier)
        # once one value is left, everything that led there is part of the reason
        return gone | left if left.sum() == 1 else gone

    def _witnesses(self, at: int) -> list[int]:
        """Return everyone else in the groups an event was read from."""
        if self.log.rule[at] == LINK:
            return [int(self.log.group[at])]
        people: set[int] = set()
        for g in self._sources(at):
            people.update(self.traces.people[self.traces.group_ptr[g] : self.traces.group_ptr[g + 1]].tolist())
        return sorted(people - {int(self.log.who[at])})

    def _sources(self, at: int) -> list[int]:
        if self.log.rule[at] == LINK:
            return []
        return (
            [int(self.log.group[at]), int(self.log.other[at])]
            if self.log.rule[at] == PAIR
            else [int(self.log.group[at])]
        )

    def _groups(self, episode: int) -> npt.NDArray[np.int32]:
        return self.traces.groups[self.traces.person_ptr[episode] : self.traces.person_ptr[episode + 1]]

    def _group(self, g: int) -> tuple[int, int]:
        release = int(self.traces.release_of[g])
        return self.traces.history.releases[release].number, g - int(self.traces.first_of_release[release])

    def _id(self, episode: int) -> Any:
        return self.traces.ids(np.array([episode]))[0]

    def _flags(self, words: Words) -> npt.NDArray[np.bool_]:
        flags: npt.NDArray[np.bool_] = trace_flags(words[None, :], self.traces.n_values)[0]
        return flags

    def _set(self, flags: npt.NDArray[np.bool_]) -> frozenset[Any]:
        return frozenset(self.values[i] for i in np.flatnonzero(flags))
