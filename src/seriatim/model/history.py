"""A history: who was in which group of which release, with which value.

People of a draft are numbered here, plainly and with nothing that a defence uses, so that a wrong number there is found
by the promises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model.doors import at_door
from seriatim.model.draft import Draft
from seriatim.model.methods import Method
from seriatim.model.scale import IntArray
from seriatim.model.verdict import Estimate
from seriatim.model.view import View

if TYPE_CHECKING:
    from seriatim.model.candidate_values import Candidates

BELIEFS = "beliefs_"
"""How the names begin under which a ledger remembers beliefs; a method's own memory has other names."""
MARKS = ("lineage", "slot", "baseline", "blind")
"""What a defence may claim about its rows beyond what it publishes."""


@dataclass(frozen=True, slots=True, eq=False)
class WithheldPeople:
    """People who were in the view of a release, and are not in the release."""

    person: IntArray
    """Index into the history's respondents."""
    value: pa.Array = field(repr=False)
    """What each of them holds; nobody without a value is listed."""


SERIES = 1_000_000
"""Releases of another series are numbered below 0, so many apart."""


def number_elsewhere(series: int, number: int) -> int:
    """Return the number of a release of another series, which is the ``series``-th beside this one, from 1."""
    return -series * SERIES - number


def series_of_release(number: int) -> int:
    """Return which series a release is of: 0 for this one."""
    return 0 if number > 0 else -number // SERIES


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


@at_door
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

    def newest(self, n: int) -> History:
        """Return the newest ``n`` releases and the people in them: what follows costs the same in an old series."""
        releases = self.releases[max(len(self) - n, 0) :]
        there = [past.person[past.person >= 0] for past in releases]
        people = np.unique(np.concatenate(there)) if there else np.empty(0, dtype=np.int32)
        if len(people) == len(self.respondents):
            return History(self.respondents, self.values, releases)
        place = np.full(len(self.respondents) + 1, -1, dtype=np.int32)  # the last entry is for counterfeits
        place[people] = np.arange(len(people), dtype=np.int32)
        fewer = tuple(replace(past, person=place[past.person], withheld=None) for past in releases)
        return History(self.respondents.take(pa.array(people)), self.values, fewer)

    def in_common_bands(self) -> History:
        """Return the history in common bands; as it is if none differ, or if nothing finer than one band is common."""
        if len(self) < 2:
            return self
        from seriatim.model.common_bands import common_bands

        found = common_bands(self.values, [past.value for past in self])
        if found is None:
            return self
        values, place = found
        releases = tuple(replace(past, value=place[past.value]) for past in self)
        return replace(self, values=values, releases=releases)

    def beside(self, other: History) -> History:
        """Return these releases after those of another history; people are known by their ids, values by their texts.

        Marks say nothing outside their own series, nor does who was withheld there.
        """
        respondents, person = people_numbered(self.respondents, other.respondents)
        nameless = np.flatnonzero(person < 0)  # erased people: still somebody, but nobody of ours
        person[nameless] = len(respondents) + np.arange(len(nameless), dtype=np.int32)
        values, value = _values_numbered(self.values, pa.chunked_array([other.values]))
        place = np.append(person, np.int32(-1))  # the last entry is for counterfeits
        theirs = tuple(
            PastRelease(past.number, person=place[past.person], group=past.group, value=value[past.value])
            for past in other
        )
        everyone = pa.concat_arrays([respondents, pa.nulls(len(nameless), pa.string())])
        return History(everyone, values, (*theirs, *self.releases))

    def with_draft(self, draft: Draft, column: str | None) -> History:
        """Return the releases and a draft after them, in common bands unless values must never change."""
        kept = pc.and_(pc.invert(draft.groups.column("suppressed")), pc.is_valid(draft.groups.column("group")))
        table, out = draft.groups.filter(kept), draft.groups.filter(pc.invert(kept))
        counterfeit = table.column("counterfeit").combine_chunks().to_numpy(zero_copy_only=False).astype(np.bool_)
        respondents, person = people_numbered(self.respondents, table.column("respondent"))
        shown = table.column(column) if column is not None else pa.chunked_array([pa.nulls(len(table), pa.string())])
        values, value = _values_numbered(self.values, shown)
        _, group = np.unique(table.column("group").to_numpy(), return_inverse=True)
        number = self.releases[-1].number + 1 if self.releases else 1
        person[counterfeit] = -1
        marks = {name: table.column(name).to_numpy().astype(np.int64) for name in MARKS if name in table.column_names}
        respondents, withheld = _withheld(respondents, out, column)
        past = PastRelease(
            number, person=person, group=group.astype(np.int32), value=value, marks=marks, withheld=withheld
        )
        found = History(respondents, values, (*self.releases, past))
        return found if draft.serial else found.in_common_bands()


def nothing_published() -> History:
    return History(pa.array([], pa.string()), pa.array([], pa.string()))


def _withheld(respondents: pa.Array, out: pa.Table, column: str | None) -> tuple[pa.Array, WithheldPeople]:
    """Return everyone, those who were never published last, and who of them is withheld with which value."""
    if column is None or not len(out):
        return respondents, WithheldPeople(np.empty(0, dtype=np.int32), pa.nulls(0, pa.string()))
    out = out.filter(pc.and_(pc.is_valid(out.column("respondent")), pc.is_valid(out.column(column))))
    respondents, person = people_numbered(respondents, out.column("respondent"))
    values = pa.chunked_array(out.column(column).chunks, out.column(column).type)
    values = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
    return respondents, WithheldPeople(person, values.combine_chunks())


def people_numbered(known: pa.Array, column: pa.ChunkedArray | pa.Array) -> tuple[pa.Array, IntArray]:
    """Return the known people, then the new ones by first row; and the position of each row's person, -1 for nobody.

    A person is known by their text. Only this release's people are hashed; the known ones, who are more, are only read.
    Whole numbers are hashed as they are, since each has one text: that takes half as long.
    """
    known = pc.cast(known, pa.string())
    wanted = column if pa.types.is_integer(column.type) else pc.cast(column, pa.string())
    coded = (wanted.combine_chunks() if isinstance(wanted, pa.ChunkedArray) else wanted).dictionary_encode()
    own: pa.Array = pc.cast(coded.dictionary, pa.string())
    number = np.full(len(own) + 1, -1, dtype=np.int32)
    if len(known):
        met = pc.index_in(known, value_set=own, skip_nulls=True)
        number[met.drop_null().to_numpy()] = np.flatnonzero(met.is_valid().to_numpy(zero_copy_only=False))
    fresh = np.flatnonzero(number[:-1] < 0)
    number[fresh] = len(known) + np.arange(len(fresh), dtype=np.int32)
    rows = coded.indices.fill_null(len(own)) if coded.null_count else coded.indices
    return pa.concat_arrays([known, own.take(pa.array(fresh))]), number[rows.to_numpy(zero_copy_only=False)]


def _values_numbered(known: pa.Array, column: pa.ChunkedArray) -> tuple[pa.Array, IntArray]:
    """Return the known values, then the new ones; and the position of each entry of the column among them."""
    wanted = pa.chunked_array(column.chunks, column.type)
    if pa.types.is_dictionary(wanted.type):
        wanted = wanted.cast(wanted.type.value_type)
    if wanted.type != known.type:
        wanted, known = wanted.cast(pa.string()), known.cast(pa.string())
    places = pc.index_in(wanted, value_set=known)
    if not places.null_count:
        return known, places.to_numpy().astype(np.int32)
    fresh = pc.unique(wanted.filter(pc.is_null(places)))
    after = pc.add(pc.index_in(wanted, value_set=fresh), len(known))
    return pa.concat_arrays([known, fresh]), pc.coalesce(places, after).to_numpy().astype(np.int32)


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
    beliefs: Mapping[str, pa.Table] = field(default_factory=dict, repr=False)
    """What an attacker believed of people before the newest releases, by name; bounds on it go on from there."""

    def remembering(self, remembered: Mapping[str, pa.Table]) -> SeriesState:
        """Return the state with what the ledger remembers of people: of the method, and of beliefs about them."""
        beliefs = {name: table for name, table in remembered.items() if name.startswith(BELIEFS)}
        memory = {name: table for name, table in remembered.items() if name not in beliefs}
        return replace(self, memory=memory, beliefs=beliefs)


T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JudgedHistory:
    """What promises about a series judge, for one sensitive column."""

    history: History
    """All releases, the judged one last; people have their numbers in all of them."""
    column: str | None = None
    """The sensitive column whose values the history follows."""
    _: KW_ONLY
    draft: Draft | None = None
    """The newest release as its maker knows it; None for a history that was only read."""
    view: View | None = None
    """What the draft was made from."""
    estimate: Estimate | None = None
    """What a simulated attack on this history concluded; None if no promise bounds it."""
    believed: Estimate | None = None
    """What someone who knows how values follow each other believes; None if no promise bounds it."""
    since: int = 0
    """The number of the first release that the method's own promises judge; another method made those before it."""
    _made: dict[Callable[[JudgedHistory], Any], Any] = field(default_factory=dict, init=False)

    @classmethod
    def of_draft(cls, history: History, draft: Draft, view: View, column: str | None) -> JudgedHistory:
        """Return the releases so far with the draft after them, for one sensitive column."""
        return cls(history.with_draft(draft, column), column, draft=draft, view=view)

    def __repr__(self) -> str:
        return f"Judged({len(self.history)} releases, column {self.column!r})"

    def once(self, make: Callable[[JudgedHistory], T]) -> T:
        """Return ``make(self)``, made once and shared by all promises."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast(T, self._made[make])


def judged_draft_and_view(judged: JudgedHistory) -> tuple[Draft, View]:
    """Return the judged draft and its view; a history that was only read has none."""
    if judged.draft is None or judged.view is None:
        raise ValueError("this promise judges a draft, and the history was only read")
    return judged.draft, judged.view
