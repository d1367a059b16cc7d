"""The desk of a gate's service: who asked for what, when, and what became of it.

A desk takes asks in their order and answers with entries for the journal; the same entries, read again, put a new desk
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
from seriatim.gate.dependencies import open_dependencies
from seriatim.gate.rules import Asked
from seriatim.ports.journal import BASELINE, EXPIRE, FREEZE, PUBLISH, REQUEST, THAW, WITHDRAW, Entry, Past
from seriatim.usecases.gate.request_numbers import RequestNumbers
from seriatim.usecases.gate.serving_rules import same_rules_domain

LongArray = npt.NDArray[np.int64]
BOOK = np.dtype(
    [("token", "<i4"), ("place", "<i8"), ("at", "<i8"), ("mark", "<i8"), ("left", "<i8"), ("end", "<i8"), ("id", "V16")]
)
"""Of each request: who asked, its place in the journal, when, what for; how many had left before it (-1: it has not),
and where in the journal it ended without leaving (-1: it has not)."""
_ROOM, _CACHED = 1024, 4096


class Ask(NamedTuple):
    """A request for one record, with its cell."""

    id: str
    x: int
    y: int
    token: int
    mark: int
    respondent: str = ""
    body: str = "{}"


@dataclass(frozen=True, slots=True)
class Answered:
    """What an ask came to: its number, or None where the id was used for another record."""

    number: int | None
    is_new: bool


class Desk:
    """All requests of one gate. ``rules`` returns the rules of a baseline by its number, one per dependency."""

    def __init__(self, rules: Callable[[int], Sequence[Asked]], batches: bool = False) -> None:
        self._rules, self.batches = rules, batches
        self.baseline = 1
        self.intake = open_dependencies(rules(1))
        self.book = np.zeros(_ROOM, BOOK)
        self.numbers = RequestNumbers()
        self.frozen = False
        self.frozen_for = -1
        """The version of the baseline because of which it is frozen; -1 for none."""
        self.n_entries = 0
        self.shown = 0
        """How many releases anyone may see, in batches."""
        self.shown_at = 0
        """Where in the journal they were shown."""
        self.batch_ends: list[int] = []
        self.n_asked: dict[int, int] = {}
        self.expired: set[int] = set()
        self._oldest = 0

    def __len__(self) -> int:
        return len(self.intake)

    def ask(self, asks: Sequence[Ask], at: int) -> tuple[list[Answered], list[Entry]]:
        """Answer requests in their order; return an answer for each, and entries for those that are new."""
        answers: list[Answered] = []
        fresh: list[Ask] = []
        for one in asks:
            key = bytes.fromhex(one.id)
            known = self.numbers.number_of(key)
            if known is None:
                self.numbers[key] = number = len(self) + len(fresh)
                fresh.append(one)
                answers.append(Answered(number, True))
            else:
                mark = fresh[known - len(self)].mark if known >= len(self) else int(self.book["mark"][known])
                answers.append(Answered(known if mark == one.mark else None, False))
        entries = self._enter(fresh, at) if fresh else []
        return answers, entries

    def withdraw(self, number: int, at: int, token: int, expired: bool = False) -> list[Entry]:
        """Take a waiting request back, or let it expire; nothing happens in any other state."""
        if not self.intake.withdraw(number):
            return []
        self.book["end"][number] = self.n_entries
        if expired:
            self.expired.add(number)
        kind = EXPIRE if expired else WITHDRAW
        return self._entered(Entry(kind, at, about=number, token=token, n_out=self.intake.n_out))

    def expire(self, at: int, age: int) -> list[Entry]:
        """Let every request expire that has waited for ``age`` milliseconds."""
        entries: list[Entry] = []
        while self._oldest < len(self) and int(self.book["at"][self._oldest]) + age <= at:
            entries += self.withdraw(self._oldest, at, 0, expired=True)
            self._oldest += 1
        return entries

    def freeze(self, at: int, token: int, baseline: int = -1) -> list[Entry]:
        """Let nothing leave until ``thaw``; requests are taken and wait. ``baseline`` is the version that caused it."""
        if self.frozen and baseline in (-1, self.frozen_for):
            return []
        self.frozen, self.frozen_for = True, baseline
        return self._entered(Entry(FREEZE, at, about=baseline, token=token, n_out=self.intake.n_out))

    def thaw(self, at: int, token: int) -> list[Entry]:
        """Judge again, and let go what waits and is safe, oldest first."""
        if not self.frozen:
            return []
        self.frozen, self.frozen_for = False, -1
        self.intake.settle()
        return self._entered(Entry(THAW, at, token=token, n_out=self._note_left()))

    def publish(self, at: int) -> list[Entry]:
        """Show everything that has left, in batches; nothing happens when there is nothing new to show."""
        if self.shown == self.intake.n_out and self.shown_at == self.n_entries:
            return []
        return self._shown(Entry(PUBLISH, at, n_out=self.intake.n_out))

    def rejudge(self, number: int, at: int, token: int) -> list[Entry]:
        """Go on under another version of the baseline: what has left stays counted, what waits is judged anew."""
        self._take_rules(number)
        return self._entered(Entry(BASELINE, at, about=number, token=token, n_out=self._note_left()))

    def may_take(self, rules: Sequence[Asked]) -> None:
        """Refuse rules that cannot replace the present ones; nothing changes."""
        if not same_rules_domain(self.intake.rules, rules):
            raise InputError(Fault("baseline", "other values, ranges or targets than before", "the same, counted anew"))
        self.intake.under(rules)

    def state(self, number: int) -> str:
        """Return what the officer sees: released, waiting, refused, withdrawn or expired."""
        from seriatim.gate._gate import STATES

        return "expired" if number in self.expired else STATES[self.intake.statuses[number]]

    def visible(self, number: int) -> str:
        """Return what a requester sees: pending, released or withdrawn. Expired and refused look like pending."""
        state = self.state(number)
        left, end = int(self.book["left"][number]), int(self.book["end"][number])
        if state == "released" and (not self.batches or left < self.shown):
            return "released"
        if state == "withdrawn" and (not self.batches or end < self.shown_at):
            return "withdrawn"
        return "pending"

    def names(self, numbers: LongArray) -> list[str]:
        """Return the ids of requests."""
        raw = self.book["id"][numbers].tobytes().hex()
        return [raw[i : i + 32] for i in range(0, len(raw), 32)]

    @property
    def n_shown(self) -> int:
        """How many releases may be seen."""
        return self.shown if self.batches else self.intake.n_out

    def load(self, past: Past) -> None:
        """Repeat what happened; a state that differs from the recorded one is an error."""
        n, at = len(past), 0
        others = np.append(np.flatnonzero(past["kind"] != REQUEST), n)
        for other in others.tolist():
            if other > at:
                self._repeat_requests(past[at:other], at)
            if other < n:
                self._repeat(past[other])
            at = other + 1
        self.numbers.sort_numbers()

    def _repeat_requests(self, past: Past, place: int) -> None:
        first, before = len(self), self.intake.n_out
        xs, ys = past["x"].astype(np.int64), past["y"].astype(np.int64)
        (self.intake.hold if self.frozen else self.intake.answer)(xs, ys)
        count = len(self)
        self._room(count)
        for start in range(0, len(past), _CACHED):  # a part at a time: the fields of a request lie side by side
            told = past[start : start + _CACHED]
            part = self.book[first + start : first + start + len(told)]
            part["token"], part["at"], part["mark"] = told["token"], told["at"], told["mark"]
            part["place"], part["left"], part["end"] = np.arange(place + start, place + start + len(told)), -1, -1
            part["id"] = told["request"]
        self.numbers.read_numbers(past["request"], first)
        asked = np.bincount(past["token"])
        for token in np.flatnonzero(asked).tolist():
            self.n_asked[token] = self.n_asked.get(token, 0) + int(asked[token])
        self._note_left(before)
        n_out = before + np.searchsorted(self.intake.left_at(before), np.arange(first, count), side="right")
        self.n_entries += len(past)
        if not bool((n_out == past["n_out"]).all()):
            _differs(place)

    def _repeat(self, entry: Past) -> None:
        kind, at, about, token = (int(entry[name]) for name in ("kind", "at", "about", "token"))
        if kind in (WITHDRAW, EXPIRE):
            self.withdraw(about, at, token, kind == EXPIRE)
        elif kind == FREEZE:
            self.freeze(at, token, about)
        elif kind == THAW:
            self.thaw(at, token)
        elif kind == BASELINE:
            self.rejudge(about, at, token)
        else:
            self._shown(Entry(PUBLISH, at, n_out=self.intake.n_out))
        if self.intake.n_out != int(entry["n_out"]):
            _differs(self.n_entries)

    def _enter(self, fresh: Sequence[Ask], at: int) -> list[Entry]:
        first, before = len(self), self.intake.n_out
        xs, ys = np.array([one.x for one in fresh]), np.array([one.y for one in fresh])
        (self.intake.hold if self.frozen else self.intake.answer)(xs, ys)
        count = len(self)
        self._room(count)
        part = self.book[first:count]
        part["token"], part["at"], part["mark"] = [one.token for one in fresh], at, [one.mark for one in fresh]
        part["place"], part["left"], part["end"] = np.arange(self.n_entries, self.n_entries + len(fresh)), -1, -1
        part["id"] = np.frombuffer(bytes.fromhex("".join(one.id for one in fresh)), "V16")
        self._note_left(before)
        outs = before + np.searchsorted(self.intake.left_at(before), np.arange(first, count), side="right")
        self.n_entries += len(fresh)
        for one in fresh:
            self.n_asked[one.token] = self.n_asked.get(one.token, 0) + 1
        return [
            Entry(REQUEST, at, o.id, o.x, o.y, -1, o.token, o.mark, n_out, o.respondent, o.body)
            for o, n_out in zip(fresh, outs.tolist(), strict=True)
        ]

    def _entered(self, entry: Entry) -> list[Entry]:
        self.n_entries += 1
        return [entry]

    def _shown(self, entry: Entry) -> list[Entry]:
        if self.intake.n_out > self.shown:
            self.batch_ends.append(self.intake.n_out)
        self.shown, self.shown_at = self.intake.n_out, self.n_entries
        return self._entered(entry)

    def _note_left(self, before: int | None = None) -> int:
        """Write down who left, and as which; return how many have left in all."""
        first = self._n_noted if before is None else before
        gone = self.intake.left(first)
        self.book["left"][gone] = np.arange(first, first + len(gone))
        return self.intake.n_out

    @property
    def _n_noted(self) -> int:
        return int(self.book["left"][: len(self)].max(initial=-1)) + 1

    def _take_rules(self, number: int) -> None:
        new = self._rules(number)
        self.may_take(new)
        self.intake = self.intake.under(new)
        if not self.frozen:
            self.intake.settle()
        self.baseline = number

    def _room(self, wanted: int) -> None:
        if wanted > len(self.book):
            larger = np.zeros(max(wanted, 2 * len(self.book)), BOOK)
            larger[: len(self.book)] = self.book
            self.book = larger


def _differs(place: int) -> None:
    raise LedgerDamaged(f"journal: entry {place} or the run after it does not lead to its recorded state")
