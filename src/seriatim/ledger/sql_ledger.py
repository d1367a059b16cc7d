"""The ledger on SQL and a shelf: everything released so far, and the only way to add to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from seriatim.errors import Fault, InputError
from seriatim.ledger import catalogue, chain, people_index, reservations, seals, shelf
from seriatim.ledger.destinations import (
    destination_in,
    destination_of,
    discard_partial_destination,
    make_destination_ready,
    refuse_destination,
    refuse_taken_destination,
)
from seriatim.ledger.manifests import refuse_behind_manifest, write_head
from seriatim.ledger.pseudonyms import RESPONDENT
from seriatim.ledger.reservations import ReservedFolder
from seriatim.ledger.shelf import Shelf
from seriatim.ledger.stored_history import everyone_in, newest_memory, stored_history
from seriatim.model.doors import at_door
from seriatim.model.history import History, SeriesState
from seriatim.model.names import recipients_given, visible_text
from seriatim.model.policy import Policy
from seriatim.model.verdict import Approval, approval_given
from seriatim.ports import DraftPeople, DraftRecord, LedgerCheck, ReleaseRecord, Reservation
from seriatim.storage.database import Database, open_database
from seriatim.storage.durable_files import disk_errors

if TYPE_CHECKING:
    from seriatim.ledger.answer_book import AnswerBook


def open_ledger(url: str | Path, shelf: str | Path | None = None, create: bool = True) -> SqlLedger:
    """Open a ledger, or make one. The shelf of a SQLite ledger is beside it unless another is named."""
    if not isinstance(url, str | Path):
        raise InputError(Fault("ledger", f"a {type(url).__name__}", "an address or a path", "sqlite:///ledger.db"))
    if shelf is None and str(url).startswith("postgres"):
        raise InputError(
            Fault(
                "ledger",
                "PostgreSQL without a shelf",
                "a folder for its files",
                "name it (shelf; in an address of the command line ?shelf=FOLDER)",
            )
        )
    database = open_database(url, create)
    folder = Path(shelf) if shelf is not None else Path(f"{database.path}.shelf")
    place = Shelf(folder.expanduser().absolute(), database if database.path is None else None)
    with disk_errors(place.root):
        if create:
            place.create()
    return SqlLedger(database, place)


@at_door
@dataclass(frozen=True, slots=True)
class SqlLedger:
    """``seriatim.ports.Ledger`` on SQLite or PostgreSQL."""

    database: Database
    shelf: Shelf

    def state(self, series: str, destination: Path | None = None, head: Path | None = None) -> SeriesState:
        """Return the state of the series. Raise LedgerBehind if shelf, destination or head has an unknown release."""
        if destination is not None:
            refuse_destination(destination, self.shelf)
        with self.database.reading() as connection:
            refuse_behind_manifest(connection, self.shelf, series, destination, head)
            found = catalogue.state(connection, series)
            return replace(found, views=catalogue.views(connection, series)) if found.secret else found

    def history(self, series: str, sensitive: str | None = None, newest: int | None = None) -> History:
        """Return who was in which group of which release, with values of the named sensitive column or the first.

        ``newest`` reads only this many releases; ``respondents`` is everyone all the same.
        """
        with self.database.reading() as connection:
            past = catalogue.past(connection, series)
            crowd, facts = everyone_in(self.shelf, series, past), past.counting
            read = facts if newest is None else facts[max(len(facts) - newest, 0) :]
            methods = catalogue.methods(connection, read)
            return stored_history(self.shelf, series, read, crowd, sensitive, methods)

    def memory(self, series: str) -> Mapping[str, pa.Table]:
        """Return what the method of the newest release remembered about people, by name; ``respondent`` as text."""
        with self.database.reading() as connection:
            return newest_memory(connection, self.shelf, series)

    def in_other_series(self, series: str, respondents: pa.Array | pa.ChunkedArray) -> Mapping[str, int]:
        """Return how many of these rows are of people in another series, for each in which there are any."""
        with self.database.reading() as connection:
            return people_index.in_other_series(connection, self.shelf, series, respondents)

    @contextmanager
    def stage(self) -> Iterator[Path]:
        """Make a private folder on the shelf for the published files; it is removed if nothing is reserved."""
        with disk_errors(self.shelf.root), self.shelf.staging() as folder:
            published = folder / "release" / shelf.PUBLISHED
            published.parent.mkdir(mode=0o700)
            published.mkdir(mode=0o700)
            yield published

    def reserve(self, reservation: Reservation) -> ReleaseRecord:
        """Reserve in one transaction. Raise LedgerMoved if the series is no longer at ``reservation.state.version``."""
        with disk_errors(self.shelf.root):
            prepared = self._prepare(reservation)
            with self.database.writing() as connection:
                state = catalogue.state(connection, reservation.state.series)
                reservations.check_reservation_unmoved(reservation.state, state)  # again, now that nobody else writes
                reservations.reservation_of_series(connection, state, reservation.policy, reservation.secret)
                record = reservations.reservation_of_release(connection, self.shelf, prepared)
                head = record.manifest["chain"]
                people_index.write(self.shelf, record.series, reservation.secret, head, prepared.people)
            self.shelf.clear_dead_stagings()
            return record

    def _prepare(self, reservation: Reservation) -> ReservedFolder:
        """Do the slow work before the lock: number people; write, flush and hash files."""
        series, policy, approval = reservation.state.series, reservation.policy, reservation.approval
        destination = str(reservation.destination.absolute()) if reservation.destination else None
        reservations.check_reservation(self.shelf, reservation)
        if reservation.destination is not None:
            self._make_ready(reservation.state, reservation.destination)
        with self.database.reading() as connection:
            state = catalogue.state(connection, series)
            reservations.check_reservation_unmoved(reservation.state, state)
            crowd = everyone_in(self.shelf, series, catalogue.past(connection, series))
        crowd, retired = reservations.reservation_crowd(crowd, reservation.corrected)
        sensitive = tuple(rule.name for rule in policy.sensitive)
        folder = reservation.staged.parent
        contents = reservations.ReservationContents(
            reservation.groups, sensitive, reservation.memory, reservation.write
        )
        files, crowd = reservations.prepare_reservation_folder(folder, contents, crowd)
        facts = {
            "kind": chain.RESERVED,
            "series": series,
            "number": state.n_releases + 1,
            "epoch": policy.epoch,
            "policy": policy.digest,
            "rows": reservation.n_published,
            "view": reservation.view_digest,
            **({"choice": {**reservation.choice}} if reservation.choice else {}),
            "corrected": retired,
            "recipients": list(reservation.recipients),
            "approval": {"by": approval.by, "override": approval.override} if approval else None,
            **files,
        }
        circumstances = catalogue.circumstances(
            destination=destination,
            **({"head": str(reservation.head.absolute())} if reservation.head else {}),
            source=reservation.source,
            input={"name": reservation.input_name, "sha256": reservation.input_sha256},
        )
        return ReservedFolder(folder, facts, circumstances, people_index.hashed(crowd.known.column(RESPONDENT)))

    def _make_ready(self, judged: SeriesState, destination: Path) -> None:
        """Try the destination before anything is recorded, while nobody else puts a release there."""
        with self.shelf.sealing(), self.database.reading() as connection:
            reservations.check_reservation_unmoved(judged, catalogue.state(connection, judged.series))
            target = destination_in(destination.absolute(), judged.series, judged.n_releases + 1)
            make_destination_ready(target)
            refuse_taken_destination(target)

    def seal(self, series: str, number: int) -> ReleaseRecord:
        """Write the manifest, copy the files to the destination (temp name, fsync, rename), mark the release sealed."""
        unfinished = f"release {number} is reserved but not finished: run seriatim ledger resume"
        with disk_errors(self.shelf.root, unfinished), self.shelf.sealing():
            with self.database.reading() as connection:
                record = catalogue.record(connection, series, number)
            if record is None:
                raise catalogue.no_release(series, number)
            if record.state in (chain.SEALED, chain.RECALLED):
                return record
            seals.write_sealed_manifest(self.shelf, record)
            with self.database.reading() as connection:
                write_head(connection, record)
            if record.state == chain.IMPORTED:
                return record
            seals.copy_sealed(self.shelf, record)
            return self._mark_sealed(series, number)

    def _mark_sealed(self, series: str, number: int) -> ReleaseRecord:
        with self.database.writing() as connection:
            facts = {"kind": chain.SEALED, "series": series, "number": number}
            sealed_at = catalogue.append(connection, facts, catalogue.circumstances()).circumstances["time"]
            catalogue.update_release(connection, series, number, state=chain.SEALED, sealed_at=sealed_at)
            sealed = catalogue.record(connection, series, number)
        assert sealed is not None
        return sealed

    def import_history(
        self, policy: Policy, pasts: pa.Table, secret: bytes | None = None, again: bool = False
    ) -> Sequence[ReleaseRecord]:
        """Record releases made before this ledger: release, respondent (null: counterfeit), group, sensitive columns.

        A release that the series already has would count twice, so it is an error unless ``again`` is set.
        """
        from seriatim.ledger.imports import import_releases

        made = import_releases(self.database, self.shelf, policy, pasts, secret, again)
        return [self.seal(record.series, record.number) for record in made]

    def recall(self, series: str, number: int, reason: str, approved_by: str | None = None) -> ReleaseRecord:
        """Recall the newest release if nobody has received it: it no longer counts. The chain keeps the reason."""
        from seriatim.ledger.recall import take_back_release

        by = "" if approved_by is None else visible_text("approved_by", approved_by)
        return take_back_release(self.database, self.shelf, series, number, Approval(by, reason))

    def erase(self, series: str, respondent: str, all_series: bool = False) -> int:
        """Forget who a person is, here or in all series that know them; return the number of files that named them."""
        if all_series:
            return sum(self.erase_everywhere(series, respondent).values())
        from seriatim.ledger.erasure import forget_person

        return forget_person(self.database, self.shelf, series, respondent)

    def erase_everywhere(self, series: str, respondent: str) -> dict[str, int]:
        """Forget who a person is in this series and in all others that know them; return the files of each series.

        The named series comes last: whatever fails before, the same call finds the person there and does the rest.
        """
        others = self.in_other_series(series, pa.array([respondent]))
        found = {name: self.erase(name, respondent) for name in (*others, series)}
        return {name: found[name] for name in (series, *others)}

    def resume(self, series: str | None = None, out: str | Path | None = None) -> Sequence[ReleaseRecord]:
        """Finish what a crash left: seal what is reserved, end erasures, clear dead staging folders and old drafts.

        With ``out`` they and unfinished deliveries go there, should their own destination no longer take them.
        """
        from seriatim.ledger.deliveries import finish_copies
        from seriatim.ledger.drafts import clear_ended
        from seriatim.ledger.erasure import settle_erasures
        from seriatim.ledger.recall import clear_recalled

        unfinished = [record for record in self.records(series) if not self._finished(record)]
        if out is not None:
            out = Path(out).absolute()
            self._redirect([record for record in unfinished if record.state == chain.RESERVED], out)
        done = [self.seal(record.series, record.number) for record in unfinished]
        everything = self.records(series)
        for name in {record.series for record in everything}:
            settle_erasures(self.database, self.shelf, name)
        with disk_errors(self.shelf.root):
            clear_recalled(everything)
            reservations.clear_without_reservation(self.database, self.shelf)
            reservations.clear_unwritten(self.database, self.shelf)
            clear_ended(self.database, self.shelf, moved=True)
            self.shelf.clear_dead_stagings()
            finish_copies(self.database, self.shelf, out)
        return done

    def _redirect(self, reserved: Sequence[ReleaseRecord], out: Path) -> None:
        reservations.check_reservation_storable({"out": str(out)})
        refuse_destination(out, self.shelf)
        for record in reserved:
            target, before = destination_in(out, record.series, record.number), destination_of(record)
            with self.shelf.sealing():
                make_destination_ready(target)
                if before is not None:
                    with suppress(OSError):
                        discard_partial_destination(before)
            with self.database.writing() as connection:
                facts = {"kind": chain.REDIRECTED, "series": record.series, "number": record.number}
                catalogue.append(connection, facts, catalogue.circumstances(destination=str(out)))
                catalogue.update_release(connection, record.series, record.number, destination=str(out))

    def _finished(self, record: ReleaseRecord) -> bool:
        manifest = self.shelf.release(record.series, record.number) / shelf.MANIFEST
        return record.state in (chain.SEALED, chain.RECALLED) or (record.state == chain.IMPORTED and manifest.exists())

    def deliver(
        self,
        series: str,
        number: int,
        recipients: Iterable[str] = (),
        out: str | Path | None = None,
        *,
        to: Iterable[str] = (),
        policy: Policy | None = None,
        approved_by: str | None = None,
        override: str | None = None,
    ) -> ReleaseRecord:
        """Record who received a release after it was made; with ``out`` also copy its public part there for them.

        DeliveryRefused, and nothing recorded, if they would breach more people with all that they then hold than
        ``[adversary] breach_share`` allows; ``override`` is a reason to deliver it all the same, by ``approved_by``.
        A policy with priors must be passed as ``policy``: the ledger does not keep whom they name. ``to`` is the same
        as ``recipients``, as on the command line.
        """
        from seriatim.ledger.deliveries import deliver_release
        from seriatim.usecases.deliver import Delivery, judge_delivery

        whom = (*recipients_given(recipients), *recipients_given(to, "to"))
        if not whom:
            raise InputError(Fault("recipients", "nobody", "at least one name", "say who receives it (recipients)"))
        asked = Delivery(series, number, whom, approval_given(approved_by, override), policy)
        reservations.check_reservation_storable({"out": str(out or "")})
        return deliver_release(self.database, self.shelf, asked, judge_delivery(self, asked), out)

    def keep(self, reservation: Reservation, author: str, reasons: Sequence[str] = ()) -> DraftRecord:
        """Keep a draft as it would be reserved, until somebody else approves it. An earlier one is superseded.

        ``reasons`` are those for which it would be refused, had ``reservation.approval`` not overridden them.
        """
        from seriatim.ledger import drafts

        visible_text("draft", author)
        drafts.refuse_own_override(author, reservation.approval)
        with disk_errors(self.shelf.root):
            prepared, told = self._prepare(reservation), {"author": author, "reasons": list(reasons)}
            return drafts.keep_draft(self.database, self.shelf, reservation, prepared, told)

    def drafts(self, series: str | None = None) -> Sequence[DraftRecord]:
        """Return the drafts that were ever kept, of a series or of all, in order."""
        from seriatim.ledger import drafts

        with self.database.reading() as connection:
            return [one.record() for one in drafts.all_kept(connection, series)]

    def approve(self, series: str, approved_by: str, digest: str = "") -> ReleaseRecord:
        """Release the bytes of the draft that waits; raise LedgerMoved if the series has moved since it was judged.

        The author of the draft cannot approve it; the ledger takes names as they are given. ``digest`` says which
        draft is meant, or how its digest begins: another one may have taken its place.
        """
        from seriatim.ledger import drafts

        with disk_errors(self.shelf.root):
            record = drafts.approve_draft(self.database, self.shelf, series, approved_by, digest)
        sealed = self.seal(series, record.number)
        seals.write_sealed_page(self.shelf, sealed)
        return sealed

    def decline(self, series: str, reason: str, declined_by: str, digest: str = "") -> DraftRecord:
        """Remove the draft that waits; the chain keeps who did it and why."""
        from seriatim.ledger.drafts import decline_draft

        with disk_errors(self.shelf.root):
            return decline_draft(self.database, self.shelf, series, {"by": declined_by, "reason": reason}, digest)

    def draft_report(self, series: str, digest: str) -> dict[str, Any]:
        """Return the record of the report of an open draft, as the shelf keeps it; its bytes are compared first."""
        from seriatim.ledger import draft_contents

        with self.database.reading() as connection:
            return draft_contents.report(connection, self.shelf, series, digest)

    def draft_people(self, series: str, digest: str) -> DraftPeople:
        """Return whom an open draft is about, in counts: since the newest release, and in other series."""
        from seriatim.ledger import draft_contents

        with self.database.reading() as connection:
            return draft_contents.people(connection, self.shelf, series, digest)

    def series(self) -> Sequence[str]:
        """Return the names of the series that have releases."""
        with self.database.reading() as connection:
            return catalogue.series(connection)

    def records(self, series: str | None = None) -> Sequence[ReleaseRecord]:
        """Return the releases of a series, or of all."""
        with self.database.reading() as connection:
            return catalogue.records(connection, series)

    def record(self, series: str, number: int) -> ReleaseRecord | None:
        """Return one release; None if there is none of this number."""
        with self.database.reading() as connection:
            return catalogue.record(connection, series, number)

    def report_record(self, series: str, number: int) -> dict[str, Any]:
        """Return the record of a release's report, as the shelf keeps it; raise an error if its bytes have changed."""
        with self.database.reading() as connection:
            record = catalogue.record(connection, series, number)
        if record is None:
            raise catalogue.no_release(series, number)
        return seals.sealed_report(self.shelf, record)

    def entries(self, series: str | None = None) -> Sequence[chain.Entry]:
        """Return what happened, in order, for ``ledger show``."""
        with self.database.reading() as connection:
            return catalogue.entries(connection, series)

    def answer_book(self, series: str) -> AnswerBook:
        """Return the queries that were answered about a series; ``seriatim.queries.Answering`` goes on from them."""
        from seriatim.ledger.answer_book import AnswerBook

        return AnswerBook(self.database, series)

    def verify(self, published: Sequence[str | Path] = ()) -> LedgerCheck:
        """Recompute the chain, compare every row with it, hash every file, and look for unknown manifests."""
        from seriatim.ledger.verification import verify_all

        return verify_all(self.database, self.shelf, [Path(folder).absolute() for folder in published])
