"""The ledger: what the core needs from the keeper of everything released so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from seriatim.model.history import History, SeriesState
from seriatim.model.policy import Policy
from seriatim.model.verdict import Approval

PUBLIC, PRIVATE = "public", "private"
"""Folders of a release: for recipients, and for the publisher alone."""


class Shelf(Protocol):
    """Where a ledger keeps its bulk: bytes under names such as ``ward/000001/groups.parquet``.

    A value is there whole or not at all, also after a crash, and lasts once a call returns. Nothing here commits: what
    counts is the row in SQL, which has the digest of each value, and what no row knows is cleared. A folder is one
    shelf; an object store can be another, since nothing is renamed or locked.
    """

    def put(self, name: str, data: bytes) -> bool:
        """Keep bytes under a name; False, and nothing changed, if there are some already."""

    def replace(self, name: str, data: bytes) -> None:
        """Keep bytes under a name instead of those that may be there: a reader sees the old ones or the new ones."""

    def read(self, name: str) -> bytes:
        """Return the bytes under a name; raise FileNotFoundError if there are none."""

    def names(self, below: str = "") -> Sequence[str]:
        """Return the sorted names below a name, ``ward`` for one: all that begin with ``ward/``."""

    def remove(self, name: str) -> None:
        """Remove what is under a name, if anything is."""

    def where(self, name: str) -> str:
        """Return how a message calls what is under a name."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reservation:
    """Everything a ledger must have before anyone sees a byte of a release."""

    state: SeriesState
    """The state of the series the draft was judged against: if it has moved, reserving fails."""
    secret: bytes = field(repr=False)
    """The series' secret; a new series adopts it, an old one must have the same."""
    policy: Policy
    staged: Path
    """The folder from ``Ledger.stage`` with the published files, all but the manifest."""
    write: Callable[[], None] | None = field(default=None, repr=False)
    """Writes those published files that are not in ``staged`` yet; a ledger may do other work meanwhile."""
    groups: pa.Table = field(repr=False)
    """release.groups, whole: respondent, group, the sensitive columns as published, counterfeit, suppressed."""
    n_published: int
    view_digest: str = ""
    """Digest of the view's records in any order, keyed by the secret: tells the same view when it comes again."""
    source: str = ""
    """Name of the file that the view was read from."""
    input_name: str = ""
    input_sha256: str = ""
    """Name and SHA-256 of the input, for the page to sign; no fingerprint for a table that was never a file."""
    corrected: tuple[str, ...] = field(default=(), repr=False)
    """Respondents whose published values were wrong: they get new numbers, and the old ones name nobody."""
    destination: Path | None = None
    """The folder for the release's own folder; None keeps it on the shelf only."""
    head: Path | None = None
    """The file outside the shelf that names the newest release."""
    recipients: tuple[str, ...] = ()
    approval: Approval | None = None
    memory: Mapping[str, pa.Table] = field(default_factory=dict, repr=False)
    """A method's own memory, by name: a column ``respondent`` without gaps, and any other columns."""
    choice: Mapping[str, Any] = field(default_factory=dict)
    """The method, and its k, where the policy leaves them to be chosen before each release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRecord:
    """One release as the ledger knows it."""

    series: str
    number: int
    state: str
    """reserved, sealed, imported or recalled"""
    epoch: int
    policy_digest: str
    manifest: Mapping[str, Any]
    destination: str | None
    n_published: int
    recipients: tuple[str, ...] = ()
    approval: Approval | None = None
    reserved_at: str = ""
    sealed_at: str = ""
    recalled: str = ""
    """Why it was recalled."""
    input_name: str = ""
    input_sha256: str = ""
    """Name and SHA-256 of the input, for the page to sign; empty if the ledger does not know them."""
    version: str = ""
    """The version of the software that made it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRecord:
    """A judged draft that the ledger keeps until somebody else approves it. Nobody receives anything of it before."""

    series: str
    number: int
    """The number of the release that it would become."""
    digest: str
    """Names the draft: the digest of its entry."""
    state: str
    """waiting, moved (the series has, so it must be judged again), approved, declined or superseded"""
    author: str
    drafted_at: str
    epoch: int
    policy_digest: str
    n_published: int
    recipients: tuple[str, ...]
    destination: str | None
    input_name: str
    input_sha256: str
    reasons: tuple[str, ...] = ()
    """Why the verdict would have refused it, if ``approval`` overrides that."""
    approval: Approval | None = None
    """Who overrides a refusal and why; once it is approved, who did so."""
    ended_at: str = ""
    ended_by: str = ""
    reason: str = ""
    """Why it was declined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftPeople:
    """Whom a draft that waits is about, in counts: what someone who approves it needs to know of earlier releases."""

    n_published: int
    n_withheld: int
    n_new: int
    """Of those published, the ones that no release of the series has yet."""
    n_joined: int
    """Of those published, the ones that the newest release does not have."""
    n_left: int
    """People of the newest release that the draft does not publish."""
    n_elsewhere: Mapping[str, int]
    """How many of them each other series has, for each that has any."""


@dataclass(frozen=True, slots=True)
class LedgerCheck:
    """What verifying a ledger found."""

    n_entries: int
    n_releases: int
    n_files: int
    faults: tuple[str, ...]
    _: KW_ONLY
    notes: tuple[str, ...] = ()
    n_copies: int = 0
    """Published copies that were compared: at their destinations, delivered ones and those in the named folders."""

    @property
    def sound(self) -> bool:
        return not self.faults


class Ledger(Protocol):
    """Everything released so far, and the only way to add to it.

    The order is always: stage, reserve, seal. Before ``reserve`` returns, nothing has happened. From then on the
    release counts as published, also after a crash; ``seal`` may be repeated until it succeeds.
    """

    def state(self, series: str, destination: Path | None = None, head: Path | None = None) -> SeriesState:
        """Return the state of a series.

        Raise LedgerBehind if a manifest on the shelf or at the destination is unknown, or what the head names.
        """

    def history(self, series: str, sensitive: str | None = None, newest: int | None = None) -> History:
        """Return who was in which group of which release, or of the newest; people are pseudonymous numbers."""

    def memory(self, series: str) -> Mapping[str, pa.Table]:
        """Return what the method of the newest release remembered about people, by name; ``respondent`` as text."""

    def in_other_series(self, series: str, respondents: pa.Array | pa.ChunkedArray) -> Mapping[str, int]:
        """Return how many of these rows are of people in another series, for each in which there are any."""

    def stage(self) -> AbstractContextManager[Path]:
        """Make a private folder on the shelf for the published files; it is removed if nothing is reserved."""

    def reserve(self, reservation: Reservation) -> ReleaseRecord:
        """Reserve in one transaction. Raise LedgerMoved if the series is no longer at ``reservation.state.version``."""

    def seal(self, series: str, number: int) -> ReleaseRecord:
        """Write the manifest, copy the files to the destination (temp name, fsync, rename), mark the release sealed."""

    def keep(self, reservation: Reservation, author: str, reasons: Sequence[str] = ()) -> DraftRecord:
        """Keep a draft as it would be reserved, until somebody else approves it. An earlier one is superseded.

        ``reasons`` are those for which it would be refused, had ``reservation.approval`` not overridden them.
        """

    def drafts(self, series: str | None = None) -> Sequence[DraftRecord]:
        """Return the drafts that were ever kept, of a series or of all, in order."""

    def approve(self, series: str, approved_by: str, digest: str = "") -> ReleaseRecord:
        """Release the bytes of the draft that waits; raise LedgerMoved if the series has moved since it was judged.

        ``digest`` says which draft is meant, or how its digest begins: another one may have taken its place.
        """

    def decline(self, series: str, reason: str, declined_by: str, digest: str = "") -> DraftRecord:
        """Remove the draft that waits; the chain keeps who did it and why."""

    def series(self) -> Sequence[str]:
        """Return the names of the series that have releases."""

    def records(self, series: str | None = None) -> Sequence[ReleaseRecord]:
        """Return the releases of a series, or of all."""

    def record(self, series: str, number: int) -> ReleaseRecord | None:
        """Return one release; None if there is none of this number."""

    def verify(self, published: Sequence[Path] = ()) -> LedgerCheck: ...
