"""Holdings: who received which release, and what several recipients can put side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

from seriatim.model.history import History


@dataclass(frozen=True, slots=True)
class Holder:
    """One recipient, or several who share what they received."""

    names: tuple[str, ...]
    releases: frozenset[int]

    @property
    def name(self) -> str:
        return " and ".join(self.names)

    @property
    def numbered(self) -> str:
        """Write the numbers of the releases; those of other series have numbers below 0 and are counted."""
        own = sorted(number for number in self.releases if number > 0)
        n_others = len(self.releases) - len(own)
        numbers = f"release{'' if len(own) == 1 else 's'} {', '.join(map(str, own))}"
        return f"{numbers} and {n_others} of other series" if n_others else numbers

    def part_of(self, history: History) -> History:
        """Return the releases of a history that they hold."""
        held = tuple(past for past in history if past.number in self.releases)
        return History(history.respondents, history.values, held)


@dataclass(frozen=True, slots=True)
class Holdings:
    """Who received which release of a series."""

    received: Mapping[str, frozenset[int]]
    """The releases of each recipient, by name."""
    unrecorded: frozenset[int]
    """Releases that went to nobody on record. Anyone may have them, so they count as held by everyone."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.received)

    def holder(self, names: Iterable[str]) -> Holder:
        """Return what these recipients hold together."""
        known = tuple(names)
        return Holder(known, self.unrecorded.union(*(self.received[name] for name in known)))

    def holders(self, together: int = 1, among: Iterable[str] = ()) -> tuple[Holder, ...]:
        """Return every set of ``together`` recipients, or all of them if there are fewer.

        ``among`` keeps the sets with at least one of these names.
        """
        wanted = {name.strip() for name in among}
        size = min(together, len(self.received))
        found = combinations(self.received, size) if size else ()
        return tuple(self.holder(names) for names in found if not wanted or wanted.intersection(names))


def holdings_of(received: Iterable[tuple[int, Iterable[str]]]) -> Holdings:
    """Return the holdings for the recipients of each release, by its number. Names are compared without outer blanks.

    A recipient is listed once, in the order in which they first received something.
    """
    releases: dict[str, set[int]] = {}
    unrecorded = set()
    for number, recipients in received:
        names = [name.strip() for name in recipients if name.strip()]
        if not names:
            unrecorded.add(number)
        for name in names:
            releases.setdefault(name, set()).add(number)
    held = {name: frozenset(numbers) for name, numbers in releases.items()}
    return Holdings(MappingProxyType(held), frozenset(unrecorded))
