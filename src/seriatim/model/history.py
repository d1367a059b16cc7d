"""A history: who was in which group of which release, with which value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.model.candidate_values import Candidates
from seriatim.model.methods import Method
from seriatim.model.scale import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class WithheldPeople:
    """People who were in the view of a release, and are not in the release."""

    person: IntArray
    """Index into the history's respondents."""
    value: pa.Array = field(repr=False)
    """What each of them holds; nobody without a value is listed."""


@dataclass(frozen=True, slots=True, eq=False)
class PastRelease:
    """One release: one entry per published row."""

    number: int
    _: KW_ONLY
    person: IntArray
    """Index into the history's respondents; -1 for a counterfeit."""
    group: IntArray
    """Group in this release, 0 .. n_groups - 1."""
    value: IntArray
    """Index into the history's values."""
    marks: Mapping[str, npt.NDArray[np.int64]] = field(default_factory=dict)
    """Lasting numbers that a defence stores with its rows (lineage, slot); never published."""
    withheld: WithheldPeople | None = None
    """Who was withheld, as the publisher knows; None if that is not known."""
    method: str = ""
    """The method of the policy that it was published under; empty if that is not known."""

    def continued_by(self, method: Method) -> bool:
        """Return whether a method finds its own marks here; one that stores none can go on from any release."""
        ours = self.method in ("", method.name) and set(method.marks) <= self.marks.keys()
        return ours or not method.marks

    @property
    def n_groups(self) -> int:
        return int(self.group.max()) + 1 if len(self.group) else 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class History:
    """All releases of a series, with the true values: what an attack works on."""

    respondents: pa.Array = field(repr=False)
    values: pa.Array = field(repr=False)
    releases: tuple[PastRelease, ...] = ()

    def __repr__(self) -> str:
        people, values = len(self.respondents), len(self.values)
        return f"History({len(self.releases)} releases, {people:,} people, {values:,} values)"

    def __len__(self) -> int:
        return len(self.releases)

    def __iter__(self) -> Iterator[PastRelease]:
        return iter(self.releases)

    @property
    def withheld_anyone(self) -> bool:
        """Return whether any release is known to have left out somebody of its view."""
        return any(past.withheld is not None and len(past.withheld.person) for past in self.releases)


def history_of_newest(history: History, n: int) -> History:
    """Return the newest ``n`` releases and the people in them: what follows costs the same however old a series is."""
    releases = history.releases[max(len(history) - n, 0) :]
    there = [past.person[past.person >= 0] for past in releases]
    people = np.unique(np.concatenate(there)) if there else np.empty(0, dtype=np.int32)
    if len(people) == len(history.respondents):
        return History(history.respondents, history.values, releases)
    place = np.full(len(history.respondents) + 1, -1, dtype=np.int32)  # the last entry is for counterfeits
    place[people] = np.arange(len(people), dtype=np.int32)
    fewer = tuple(replace(past, person=place[past.person], withheld=None) for past in releases)
    return History(history.respondents.take(pa.array(people)), history.values, fewer)


def no_history() -> History:
    return History(pa.array([], pa.string()), pa.array([], pa.string()))


@dataclass(frozen=True, slots=True)
class PastView:
    """What a release was made from."""

    number: int
    digest: str
    """Of the records in any order, keyed by the series' secret."""
    source: str = ""
    """The file's name."""


@dataclass(frozen=True, slots=True)
class SeriesState:
    """The state of a series in the ledger. ``version`` is what a reservation is judged against."""

    series: str
    _: KW_ONLY
    version: int = 0
    head: str = ""
    """The chain head, which every manifest carries."""
    n_releases: int = 0
    n_deliveries: int = 0
    """Deliveries to further recipients: they change what recipients hold, which a draft is judged by."""
    views: tuple[PastView, ...] = ()
    """What the releases were made from, in order; releases before 0.2 and imported ones are not in it."""
    epoch: int = 0
    policy_digest: str | None = None
    policy: str | None = None
    """Canonical text of the current policy, to name what changed."""
    secret: bytes | None = field(default=None, repr=False)
    """None for a series that does not exist yet."""
    history: History | None = field(default=None, repr=False)
    """What was published so far; loaded for methods and promises that look back."""
    candidates: Candidates | None = field(default=None, repr=False)
    """What releases of another method leave possible, if this method has taken over the series."""
    memory: Mapping[str, pa.Table] = field(default_factory=dict, repr=False)
    """What the method of the newest release remembers about people, by name; ``respondent`` as text."""
