"""The book of a gate's service: who asked for what, when, and what became of it.

A book takes asks in their order and answers with entries for the journal; the same entries, read again, put a new book
into the same state. It decides by the same intake as ``Gate`` and ``replay``. It knows no database, clock or token
secrets: those are handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, InputError, LedgerDamaged
from seriatim_gate.engine.decision import STATES
from seriatim_gate.engine.intake import Intake
from seriatim_gate.engine.rules import Rules
from seriatim_gate.ports import (
    BASELINE,
    EXPIRE,
    FREEZE,
    PACKED,
    PUBLISH,
    REQUEST,
    TAKE_BACK,
    THAW,
    WITHDRAW,
    JournalEntry,
    Past,
)
from seriatim_gate.usecases.request_index import NewestByMark, NumbersById, RepeatedRequests
from seriatim_gate.usecases.serving import same_domain

LongArray = npt.NDArray[np.int64]
ROW = np.dtype(
    [
        ("at", "<i8"), ("mark", "<i8"), ("head", "<u8"), ("tail", "<u8"), ("token", "<i4"), ("place", "<i4"),
        ("left", "<i4"), ("end", "<i4"),
    ]
)  # fmt: skip
"""Of each request: when, what for, the halves of its id, who asked, its place in the journal; how many had left before
it (-1: it has not), and where in the journal it ended without leaving (-1: it has not)."""
_IDS = np.dtype([("head", "<u8"), ("tail", "<u8")])
_ROOM, _CACHED, _EXPIRED = 1024, 4096, 4096


class Ask(NamedTuple):
    """A request for one record, with its cell."""

    id: str
    x: int
    y: int
    token: int
    mark: int
    respondent: str = ""
    body: str = "{}"
    once: bool = False
    """Whether the mark stands for one record, which leaves once however many ask for it."""
    about: int = -1
    """The first request for the same record."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What an ask came to: its number, or None where the id was used for another record."""

    number: int | None
    is_new: bool


class RequestBook:
    """All requests of one gate. ``rules`` returns the rules of a baseline by its number, one per dependency."""

    def __init__(self, rules: Callable[[int], Sequence[Rules]], batches: bool = False) -> None:
        self._rules, self.batches = rules, batches
        self.baseline = 1
        self.intake = Intake(rules(1))
        self.rows = np.empty(_ROOM, ROW)
        self.numbers = NumbersById()
        self.frozen = False
        self.frozen_for = -1
        """The version of the baseline because of which it is frozen; -1 for none."""
        self.n_entries = 0
        self.shown = 0
        """How many releases anyone may see, in batches."""
        self.shown_at = 0
        """Where in the journal they were shown."""
        self.seen_at = -1
        """Where in the journal the newest release that anyone may see became one; -1 for none."""
        self.batch_ends: list[int] = []
        self.n_asked: dict[int, int] = {}
        self.expired: set[int] = set()
        self.repeats = RepeatedRequests()
        self._by_mark: NewestByMark | None = None
        self._oldest = 0
        """The oldest request that has not reached its age."""

    def __len__(self) -> int:
        return len(self.intake)

    def ask(self, asks: Sequence[Ask], at: int) -> tuple[list[Answered], list[JournalEntry]]:
        """Answer requests in their order; return an answer for each, and entries for those that are new."""
        answers: list[Answered] = []
        fresh: list[Ask] = []
        entries: list[JournalEntry] = []
        marks: set[int] = set()
        for one in asks:
            # the same id again is the same request: a requester may repeat it until an answer arrives
            key = bytes.fromhex(one.id)
            known = self.numbers.number_of(key)
            if known is None:
                if one.once:
                    if one.mark in marks:  # first see what becomes of the other
                        entries, fresh, marks = entries + self._enter(fresh, at), [], set()
                    marks.add(one.mark)
                    one = self._perhaps_repeated(one)
                self.numbers[key] = number = len(self) + len(fresh)
                fresh.append(one)
                answers.append(Answered(number, True))
            else:
                mark = fresh[known - len(self)].mark if known >= len(self) else int(self.rows["mark"][known])
                answers.append(Answered(known if mark == one.mark else None, False))
        return answers, entries + self._enter(fresh, at) if fresh else entries

    def withdraw(self, number: int, at: int, token: int) -> list[JournalEntry]:
        """Take a request back; what was released stays released.

        A refused or expired request looks like one that waits, so taking it back looks alike. A record leaves the
        queue once nobody wants it.
        """
        first, state = self.first_of(number), self.state(number)
        if number in self.repeats.taken_back or state in ("released", "withdrawn"):
            return []
        wanted = self.repeats.wanted_beside(number, self._oldest)
        if number == first and state == "waiting" and not wanted:
            return self._end(first, at, token, WITHDRAW)
        entries = self._take_back(number, at, token)
        if state == "waiting" and not wanted:
            entries += self._end(first, at, token, WITHDRAW if first in self.repeats.taken_back else EXPIRE)
        return entries

    def expire(self, at: int, age: int) -> list[JournalEntry]:
        """Let requests expire that have waited for ``age`` milliseconds, some thousands a call."""
        if self._oldest == len(self) or int(self.rows["at"][self._oldest]) > at - age:
            return []
        young = self.rows["at"][self._oldest : len(self)] > at - age
        self._oldest += int(young.argmax()) if young.any() else len(young)
        waiting = self.intake.waiting
        old = [
            number
            for number in waiting[waiting < self._oldest].tolist()
            if not self.repeats.wanted_beside(number, self._oldest)
        ]
        if len(old) > _EXPIRED:
            self._oldest = old[_EXPIRED]
        return [entry for number in old[:_EXPIRED] for entry in self._end(number, at, 0, EXPIRE)]

    def freeze(self, at: int, token: int, baseline: int = -1) -> list[JournalEntry]:
        """Let nothing leave until ``thaw``; requests are taken and wait. ``baseline`` is the version that caused it."""
        if self.frozen and baseline in (-1, self.frozen_for):
            return []
        self.frozen, self.frozen_for = True, baseline
        return self._entered(JournalEntry(FREEZE, at, about=baseline, token=token, n_out=self.intake.n_out))

    def thaw(self, at: int, token: int) -> list[JournalEntry]:
        """Judge again, and let go what waits and is safe, oldest first."""
        if not self.frozen:
            return []
        self.frozen, self.frozen_for = False, -1
        self.intake.settle()
        return self._settled(JournalEntry(THAW, at, token=token))

    def publish(self, at: int) -> list[JournalEntry]:
        """Show everything that has left, in batches; nothing happens when there is nothing new to show."""
        if self.shown == self.intake.n_out and self.shown_at == self.n_entries:
            return []
        return self._shown(JournalEntry(PUBLISH, at, n_out=self.intake.n_out))

    def rejudge(self, number: int, at: int, token: int) -> list[JournalEntry]:
        """Go on under another version of the baseline: what has left stays counted, what waits is judged again."""
        self._take_rules(number)
        return self._settled(JournalEntry(BASELINE, at, about=number, token=token))

    def may_take(self, rules: Sequence[Rules]) -> None:
        """Refuse rules that cannot replace the present ones; nothing changes."""
        if not same_domain(self.intake.rules, rules):
            raise InputError(Fault("baseline", "other values, ranges or targets than before", "the same, recounted"))
        self.intake.under(rules)

    def state(self, number: int) -> str:
        """Return what the officer sees: released, waiting, refused, withdrawn or expired."""
        first = self.first_of(number)
        return "expired" if first in self.expired else STATES[self.intake.statuses[first]]

    def visible(self, number: int) -> str:
        """Return what a requester sees: pending, released or withdrawn. Expired and refused look like pending."""
        state, taken_back = self.state(number), number in self.repeats.taken_back
        left, end = int(self.rows["left"][self.first_of(number)]), int(self.rows["end"][number])
        if taken_back or state == "withdrawn":
            return "withdrawn" if not self.batches or end < self.shown_at else "pending"
        # in batches nobody can tell from the moment of an answer which request made a record leave
        return "released" if state == "released" and (not self.batches or left < self.shown) else "pending"

    def first_of(self, number: int) -> int:
        """Return the first request for the same record."""
        return self.repeats.first.get(number, number)

    def names(self, numbers: LongArray) -> list[str]:
        """Return the ids of requests."""
        raw = self.rows[["head", "tail"]][numbers].astype(_IDS).tobytes().hex()
        return [raw[i : i + 32] for i in range(0, len(raw), 32)]

    @property
    def n_shown(self) -> int:
        """Return how many releases may be seen."""
        return self.shown if self.batches else self.intake.n_out

    def load(self, parts: Sequence[Past]) -> None:
        """Repeat what happened; a state that differs from the recorded one is an error."""
        self._room(sum(map(len, parts)))
        self.intake.make_room(sum(map(len, parts)))
        for past in parts:
            n, at = len(past), 0
            # runs of requests are judged at once; anything else may change what the next one meets
            others = np.append(np.flatnonzero(past["kind"] != REQUEST), n)
            for other in others.tolist():
                if other > at:
                    place, n_out = self.n_entries, self._take(past[at:other])
                    # reading the journal decides again: another outcome means another version, or a changed journal
                    if not bool((n_out == past["n_out"][at:other]).all()):
                        _differs(place)
                if other < n:
                    self._repeat(past[other])
                at = other + 1
        ids = self.rows[: len(self)]  # copies, since rows grow and move
        self.numbers.read_numbers(ids["head"].copy(), ids["tail"].copy())

    def _take(self, past: Past) -> LongArray:
        """Answer requests in their order; return how many records had left after each."""
        first, before, place = len(self), self.intake.n_out, self.n_entries
        xs, ys = past["x"].astype(np.int64), past["y"].astype(np.int64)
        (self.intake.hold if self.frozen else self.intake.answer)(xs, ys)
        count = len(self)
        self._room(count)
        for start in range(0, len(past), _CACHED):  # a part at a time: the fields of a request lie side by side
            told = past[start : start + _CACHED]
            part = self.rows[first + start : first + start + len(told)]
            part["token"], part["at"], part["mark"] = told["token"], told["at"], told["mark"]
            part["place"], part["left"], part["end"] = np.arange(place + start, place + start + len(told)), -1, -1
            ids = told["request"].copy().view(_IDS)
            part["head"], part["tail"] = ids["head"], ids["tail"]
        for number in np.flatnonzero(past["about"] >= 0).tolist():
            self.repeats.repeat_request(first + number, int(past["about"][number]), int(past["token"][number]))
        asked = np.bincount(past["token"])
        for token in np.flatnonzero(asked).tolist():
            self.n_asked[token] = self.n_asked.get(token, 0) + int(asked[token])
        self._note_left(before)
        # a release during request i counts for i and all after it
        n_out = before + np.searchsorted(self.intake.left_at(before), np.arange(first, count), side="right")
        self._note_seen(before, n_out)
        self.n_entries += len(past)
        return n_out

    def _repeat(self, entry: Past) -> None:
        kind, at, about, token = (int(entry[name]) for name in ("kind", "at", "about", "token"))
        if kind in (WITHDRAW, EXPIRE):
            self._end(about, at, token, kind)
        elif kind == TAKE_BACK:
            self._take_back(about, at, token)
        elif kind == FREEZE:
            self.freeze(at, token, about)
        elif kind == THAW:
            self.thaw(at, token)
        elif kind == BASELINE:
            self.rejudge(about, at, token)
        else:
            self._shown(JournalEntry(PUBLISH, at, n_out=self.intake.n_out))
        if self.intake.n_out != int(entry["n_out"]):
            _differs(self.n_entries)

    def _enter(self, fresh: Sequence[Ask], at: int) -> list[JournalEntry]:
        first = len(self)
        told = [(REQUEST, o.token, o.x, o.y, at, o.about, o.mark, 0, bytes.fromhex(o.id)) for o in fresh]
        outs = self._take(np.array(told, PACKED)).tolist()
        if self._by_mark is not None:
            self._by_mark.update({one.mark: number for number, one in enumerate(fresh, first) if one.about < 0})
        return [
            JournalEntry(
                REQUEST,
                at,
                o.id,
                x=o.x,
                y=o.y,
                about=o.about,
                token=o.token,
                mark=o.mark,
                n_out=n_out,
                respondent=o.respondent,
                body=o.body,
            )
            for o, n_out in zip(fresh, outs, strict=True)
        ]

    def _perhaps_repeated(self, one: Ask) -> Ask:
        """Return an ask for a record that waits or has left as one that changes nothing but names the first."""
        if self._by_mark is None:
            self._by_mark = NewestByMark(self.rows["mark"][: len(self)])
        found = self._by_mark.number_of_mark(one.mark)
        first = -1 if found is None else self.first_of(found)
        if first < 0 or self.state(first) not in ("waiting", "released"):
            return one
        # no cell: it must not count a second time, nor be judged
        return one._replace(x=-1, y=-1, body="{}", about=first)

    def _end(self, number: int, at: int, token: int, kind: int) -> list[JournalEntry]:
        """Take a waiting record out of the queue."""
        if not self.intake.withdraw(number):
            return []
        if kind == EXPIRE:
            # to the intake it is withdrawn; the officer sees why
            self.expired.add(number)
        self.rows["end"][number] = self.n_entries
        return self._entered(JournalEntry(kind, at, about=number, token=token, n_out=self.intake.n_out))

    def _take_back(self, number: int, at: int, token: int) -> list[JournalEntry]:
        """Let one request look withdrawn; the queue stays as it is."""
        self.repeats.taken_back.add(number)
        self.rows["end"][number] = self.n_entries
        return self._entered(JournalEntry(TAKE_BACK, at, about=number, token=token, n_out=self.intake.n_out))

    def _entered(self, entry: JournalEntry) -> list[JournalEntry]:
        self.n_entries += 1
        return [entry]

    def _settled(self, entry: JournalEntry) -> list[JournalEntry]:
        """Note an entry by which records may have left that waited."""
        before = self._n_noted
        n_out = self._note_left()
        self._note_seen(before, np.array([n_out]))
        return self._entered(entry._replace(n_out=n_out))

    def _note_seen(self, before: int, n_out: LongArray) -> None:
        """Note at which of the next entries the newest release left, given how many had left after each."""
        if not self.batches and n_out[-1] > before:
            self.seen_at = self.n_entries + int(np.searchsorted(n_out, n_out[-1]))

    def _shown(self, entry: JournalEntry) -> list[JournalEntry]:
        if self.intake.n_out > self.shown:
            self.batch_ends.append(self.intake.n_out)
            if self.batches:
                self.seen_at = self.n_entries
        self.shown, self.shown_at = self.intake.n_out, self.n_entries
        return self._entered(entry)

    def _note_left(self, before: int | None = None) -> int:
        """Write down who left, and as which; return how many have left in all."""
        first = self._n_noted if before is None else before
        gone = self.intake.left(first)
        self.rows["left"][gone] = np.arange(first, first + len(gone))
        return self.intake.n_out

    @property
    def _n_noted(self) -> int:
        return int(self.rows["left"][: len(self)].max(initial=-1)) + 1

    def _take_rules(self, number: int) -> None:
        new = self._rules(number)
        self.may_take(new)
        self.intake = self.intake.under(new)
        if not self.frozen:
            self.intake.settle()
        self.baseline = number

    def _room(self, wanted: int) -> None:
        if wanted > len(self.rows):
            larger = np.empty(max(wanted + _ROOM, 2 * len(self.rows)), ROW)
            larger[: len(self.rows)] = self.rows
            self.rows = larger


def _differs(place: int) -> None:
    raise LedgerDamaged(f"journal: entry {place} or one after it does not lead to the recorded state; restore a backup")
