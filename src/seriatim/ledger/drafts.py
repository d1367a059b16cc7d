"""Drafts that wait for approval: the very bytes that were judged lie on the shelf, and the chain holds their digests.

A draft is prepared as a release is, so that to approve it is to reserve it. Its folder is copied, never moved, into the
release: a crash before the commit leaves the draft waiting, one after it a release that ``resume`` finishes.
"""

from __future__ import annotations

import hashlib
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy.engine import Connection

from seriatim.errors import Fault, InputError, LedgerDamaged, LedgerMoved, SeriatimError
from seriatim.ledger import catalogue, chain, people_index, pseudonyms, reservations, shelf
from seriatim.ledger.destinations import destination_in, make_destination_ready, refuse_taken_destination
from seriatim.ledger.manifests import refuse_behind_manifest
from seriatim.ledger.reservations import ReservedFolder
from seriatim.ledger.shelf import Shelf
from seriatim.ledger.stored_history import everyone_in, read_reserved
from seriatim.model.history import SeriesState
from seriatim.model.names import visible_text
from seriatim.model.policy_in_force import check_epoch, policy_in_force
from seriatim.model.verdict import Approval
from seriatim.ports import DraftRecord, ReleaseRecord, Reservation
from seriatim.storage import durable_files
from seriatim.storage.database import Database

WAITING, MOVED, SUPERSEDED = "waiting", "moved", "superseded"
OPEN = (WAITING, MOVED)
"""States of drafts that nobody has decided about: their bytes are on the shelf."""


@dataclass(slots=True)
class KeptDraft:
    """A draft as the chain tells it."""

    entry: chain.Entry
    state: str = WAITING
    end: chain.Entry | None = None

    @property
    def release(self) -> Mapping[str, Any]:
        """Return the facts of the release that it would become."""
        found: Mapping[str, Any] = self.entry.facts["release"]
        return found

    @property
    def judged(self) -> SeriesState:
        """Return where its series stood."""
        told = self.entry.facts["judged"]
        return SeriesState(
            self.entry.series, version=told["version"], head=told["head"], n_deliveries=told["deliveries"]
        )

    @property
    def files(self) -> dict[str, Mapping[str, Any]]:
        """Return the fingerprint of every file in its folder."""
        published = {f"{shelf.PUBLISHED}/{name}": wanted for name, wanted in self.release["files"].items()}
        return {**self.release["private"], **published}

    def record(self) -> DraftRecord:
        told, circumstances, end = self.entry.facts, self.entry.circumstances, self.end
        ended = end.facts if end is not None else {}
        approval = ended.get("approval") or self.release["approval"]
        return DraftRecord(
            series=self.entry.series,
            number=self.release["number"],
            digest=self.entry.digest,
            state=self.state,
            author=told["author"],
            drafted_at=circumstances["time"],
            epoch=self.release["epoch"],
            policy_digest=self.release["policy"],
            n_published=self.release["rows"],
            recipients=tuple(self.release["recipients"]),
            destination=circumstances["destination"],
            input_name=circumstances["input"]["name"],
            input_sha256=circumstances["input"]["sha256"],
            reasons=tuple(told["reasons"]),
            approval=Approval(approval["by"], approval["override"]) if approval else None,
            ended_at=end.circumstances["time"] if end is not None else "",
            ended_by=ended.get("by") or ended.get("author") or "",
            reason=ended.get("reason", ""),
        )


@dataclass(slots=True)
class _Stand:
    """Where a series stands after the entries read so far."""

    version: int = 0
    head: str = ""
    deliveries: int = 0
    newest: KeptDraft | None = None


def as_told(entries: Iterable[chain.Entry]) -> list[KeptDraft]:
    """Return every draft of these entries, which are all of a series or of the ledger, as they stand at the end."""
    found: list[KeptDraft] = []
    stands: dict[str, _Stand] = defaultdict(_Stand)
    for entry in entries:
        stand = stands[entry.series]
        if entry.kind in chain.MOVING:
            stand.version, stand.head = stand.version + 1, entry.digest
        elif entry.kind == chain.DELIVERED:
            stand.deliveries += 1
        elif entry.kind in (chain.APPROVED, chain.DECLINED, chain.DRAFTED):
            _end(stand.newest, entry)
            stand.newest = None
            if entry.kind == chain.DRAFTED:
                stand.newest = KeptDraft(entry)
                found.append(stand.newest)
    for series, stand in stands.items():
        if stand.newest is not None:
            now = SeriesState(series, version=stand.version, head=stand.head, n_deliveries=stand.deliveries)
            stand.newest.state = WAITING if stand.newest.judged == now else MOVED
    return found


def _end(draft: KeptDraft | None, entry: chain.Entry) -> None:
    if draft is not None:
        draft.end, draft.state = entry, SUPERSEDED if entry.kind == chain.DRAFTED else entry.kind


def all_kept(connection: Connection, series: str | None = None) -> list[KeptDraft]:
    return as_told(catalogue.entries(connection, series))


def open_draft(connection: Connection, series: str) -> KeptDraft | None:
    """Return the draft of a series that nobody has decided about yet."""
    return next((one for one in all_kept(connection, series) if one.state in OPEN), None)


def keep_draft(
    database: Database, place: Shelf, reservation: Reservation, prepared: ReservedFolder, told: Mapping[str, Any]
) -> DraftRecord:
    """Write the entry of a draft, with what else is ``told`` of it, and move its folder into place."""
    judged, policy = reservation.state, reservation.policy
    facts = {
        "kind": chain.DRAFTED,
        "series": judged.series,
        **told,
        "judged": {"version": judged.version, "head": judged.head, "deliveries": judged.n_deliveries},
        "canonical": chain.sha256(policy.canonical.encode()),
        "release": dict(prepared.facts),
    }
    with database.writing() as connection:
        state = catalogue.state(connection, judged.series)
        reservations.check_reservation_unmoved(judged, state)
        check_epoch(state, policy)
        reservations.enter_series(connection, state, reservation.secret)
        reservations.keep_policy_text(connection, policy.digest, policy.canonical)
        entry = catalogue.append(connection, facts, prepared.circumstances)
        place.take(prepared.folder, place.draft(entry.digest))
    clear_ended(database, place)
    return KeptDraft(entry).record()


def approve_draft(database: Database, place: Shelf, series: str, approved_by: str, digest: str) -> ReleaseRecord:
    """Reserve the bytes of the draft that waits, and nothing else; the caller seals the release."""
    approved_by = visible_text("approved_by", approved_by)
    with database.reading() as connection:
        draft = _decidable(connection, place, series, digest)
    approval = _approval(draft, approved_by)
    with place.staging() as folder:
        made = folder / "release"
        try:
            _refuse_destination_taken(place, draft)
            _copy_checked(place.draft(draft.entry.digest), made, draft.files)
        except SeriatimError:  # whoever decided meanwhile took the files away, or published them
            with database.reading() as connection:
                _decidable(connection, place, series, draft.entry.digest)
            raise
        facts = {**draft.release, "approval": {"by": approval.by, "override": approval.override}}
        told = {key: one for key, one in draft.entry.circumstances.items() if key not in ("time", "version")}
        with database.writing() as connection:
            draft = _decidable(connection, place, series, draft.entry.digest)  # others may have decided meanwhile
            state = catalogue.state(connection, series)
            assert state.secret is not None
            canonical = connection.execute(catalogue.POLICY, {"digest": facts["policy"]}).scalar_one()
            if policy_in_force(canonical).adversary.breach_share is not None:
                _refuse_moved_beside(connection, place, draft)
            said = {"draft": draft.entry.digest, "by": approved_by, "approval": facts["approval"]}
            catalogue.append(
                connection,
                {"kind": chain.APPROVED, "series": series, **said},
                catalogue.circumstances(),
            )
            reservations.enter_policy(connection, state, facts["policy"], facts["epoch"], canonical)
            circumstances = catalogue.circumstances(**told)
            prepared = ReservedFolder(made, facts, circumstances)
            record = reservations.reservation_of_release(connection, place, prepared)
            people = everyone_in(place, series, catalogue.past(connection, series)).known
            index = people_index.hashed(people.column(pseudonyms.RESPONDENT))
            people_index.write(place, series, state.secret, record.manifest["chain"], index)
    clear_ended(database, place)
    return record


def decline_draft(database: Database, place: Shelf, series: str, said: Mapping[str, str], digest: str) -> DraftRecord:
    """Remove a draft's bytes; the chain keeps by whom (``by``) and why (``reason``)."""
    for where, key in (("declined_by", "by"), ("reason", "reason")):
        visible_text(where, said[key])
    with database.writing() as connection:
        draft = _decidable(connection, place, series, digest, OPEN)
        end_draft(connection, draft, said)
    clear_ended(database, place)
    return draft.record()


def end_draft(connection: Connection, draft: KeptDraft, said: Mapping[str, str]) -> None:
    """Write that a draft is declined; its folder goes when the transaction is over."""
    facts = {"kind": chain.DECLINED, "series": draft.entry.series, "draft": draft.entry.digest, **said}
    _end(draft, catalogue.append(connection, facts, catalogue.circumstances()))


def is_named_in_draft(place: Shelf, draft: KeptDraft, respondent: str) -> bool:
    """Return whether somebody is new in a draft: no release of the series names them."""
    name = f"{place.draft(draft.entry.digest).name}/{shelf.PEOPLE}"
    people = read_reserved(place, name, draft.release["private"][shelf.PEOPLE])
    return bool(pc.any(pc.equal(people.column(pseudonyms.RESPONDENT), respondent)).as_py())


def clear_ended(database: Database, place: Shelf, moved: bool = False) -> None:
    """Remove the folders of drafts that do not wait; unless ``moved``, those stay whose series has moved."""
    if not place.draft_folders():
        return
    with database.writing() as connection:
        lasting = (WAITING,) if moved else OPEN
        kept = {place.draft(one.entry.digest) for one in all_kept(connection) if one.state in lasting}
        for folder in place.draft_folders():
            if folder not in kept:
                shutil.rmtree(folder)


def _decidable(
    connection: Connection, place: Shelf, series: str, digest: str, states: Sequence[str] = (WAITING,)
) -> KeptDraft:
    """Return the draft that is meant if it can still be decided about; raise an error that says why not."""
    refuse_behind_manifest(connection, place, series)
    drafts = [one for one in all_kept(connection, series) if one.entry.digest.startswith(digest)]
    if not drafts:
        found = "has no draft" if not digest else "has no draft of this digest"
        raise InputError(Fault(f"series {series!r}", found, "", "seriatim ledger show lists them"))
    draft = drafts[-1]
    where = f"series {series!r}: the draft of release {draft.release['number']}"
    if draft.state == MOVED and MOVED not in states:
        raise LedgerMoved(
            f"{where} was judged before the series moved; nothing was recorded, make and judge the draft again"
        )
    if draft.state not in states:
        raise LedgerMoved(f"{where} was {draft.state} already; nothing was recorded")
    return draft


def _refuse_moved_beside(connection: Connection, place: Shelf, draft: KeptDraft) -> None:
    """Raise an error if another series with people of this one has moved: the attack judged them together."""
    series, told = draft.entry.series, (*chain.MOVING, chain.DELIVERED)
    # deliveries count too: a recipient then holds more than was judged
    later = {one.series for one in catalogue.entries(connection) if one.seq > draft.entry.seq and one.kind in told}
    if not later - {series}:
        return
    newcomers = read_reserved(
        place, f"{place.draft(draft.entry.digest).name}/{shelf.PEOPLE}", draft.files[shelf.PEOPLE]
    )
    known = everyone_in(place, series, catalogue.past(connection, series)).known
    people = [one for table in (known, newcomers) for one in table.column(pseudonyms.RESPONDENT).chunks]
    shared = people_index.in_other_series(connection, place, series, pa.chunked_array(people, pa.string()))
    if later & shared.keys():
        names = ", ".join(sorted(map(repr, later & shared.keys())))
        raise LedgerMoved(
            f"series {series!r}: people of this draft are in {names}, which moved since it was judged; nothing was "
            "recorded, make and judge the draft again"
        )


def _approval(draft: KeptDraft, approved_by: str) -> Approval:
    """Return who answers for the release: never the author, and who overrode a refusal if anybody did."""
    if _same_name(approved_by, draft.entry.facts["author"]):
        raise InputError(Fault("approved_by", "the author of the draft", "another person", "let somebody else approve"))
    given = draft.release["approval"]
    if given is None:
        return Approval(approved_by)
    # only the person who was named for it when the draft was kept answers for overriding its refusal
    if not _same_name(approved_by, given["by"]):
        found = "not who overrides the refusal of this draft"
        raise InputError(Fault("approved_by", found, "the name that it was drafted with", "let that person approve"))
    return Approval(given["by"], given["override"])


def _same_name(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def refuse_own_override(author: str, approval: Approval | None) -> None:
    """Refuse an approval of a draft that overrides nothing, or is the author's own."""
    if approval is None:
        return
    if approval.override is None:
        found = "a name without a reason to override a refusal"
        raise InputError(Fault("approved_by", found, "", "the draft is approved later: seriatim ledger approve"))
    if _same_name(author, approval.by):
        raise InputError(Fault("approved_by", "the author of the draft", "another person"))


def _refuse_destination_taken(place: Shelf, draft: KeptDraft) -> None:
    """Try where the release will go before anything is recorded."""
    destination = draft.entry.circumstances["destination"]
    if destination is not None:
        with place.sealing():
            target = destination_in(Path(destination), draft.entry.series, draft.release["number"])
            make_destination_ready(target)
            refuse_taken_destination(target)


def _copy_checked(source: Path, target: Path, files: Mapping[str, Mapping[str, Any]]) -> None:
    """Copy the files of a draft if each has the bytes that were judged."""
    for name, wanted in files.items():
        path = source / name
        try:
            # read once: what was checked is what is copied
            data = path.read_bytes()
        except OSError:
            raise LedgerDamaged(f"{path}: missing; decline the draft and make it again") from None
        if hashlib.sha256(data).hexdigest() != wanted["sha256"]:
            raise LedgerDamaged(f"{path}: not the file that was judged; decline the draft and make it again")
        (target / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        (target / name).write_bytes(data)
    durable_files.close_and_flush(target)
