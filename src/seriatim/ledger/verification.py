"""Verifies a ledger: recomputes the chain, compares every row and file with it, and looks for unknown manifests.

Faults mean that something has changed. Notes say what is unfinished, loose or left over.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from seriatim.errors import LedgerError
from seriatim.ledger import catalogue, chain, people_index, seals, shelf
from seriatim.ledger.chain_replay import ReplayedCatalogue, read_everything, wrong_rows
from seriatim.ledger.deliveries import copies_under_way
from seriatim.ledger.destinations import TO_SIGN, destination_in, destination_of, is_changed_page
from seriatim.ledger.drafts import MOVED, OPEN, KeptDraft, as_told
from seriatim.ledger.manifests import (
    beside_destinations,
    every_manifest_in,
    files_of_series,
    found_in,
    head_bytes,
    is_foreign,
    read_head,
    read_manifest,
)
from seriatim.ledger.recall import recalled_files
from seriatim.ledger.shelf import Shelf
from seriatim.ports import PRIVATE, PUBLIC, LedgerCheck, ReleaseRecord
from seriatim.storage.database import Database, faults_inside
from seriatim.storage.durable_files import disk_errors, is_of_group

_CLOCKS_DIFFER = timedelta(days=1)
"""So far apart may the clocks of machines be."""


@dataclass(slots=True)
class _Findings:
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    n_files: int = 0
    n_copies: int = 0


def verify_all(database: Database, place: Shelf, published: Sequence[Path]) -> LedgerCheck:
    """Verify everything. If the chain itself is broken, the shelf cannot be compared with it."""
    findings = _Findings()
    try:
        with database.reading() as connection:
            findings.faults += faults_inside(connection)
            stored = read_everything(connection)
    except LedgerError as error:
        return LedgerCheck(0, 0, 0, (*findings.faults, f"the database cannot be read: {error}"))
    faults, expected = wrong_rows(stored)
    findings.faults += faults
    if expected is None:
        findings.faults.append("the shelf was not compared: restore the chain first")
        return LedgerCheck(len(stored.entries), 0, 0, tuple(findings.faults))
    with disk_errors(place.root, "not everything was checked"):
        _check_shelf(place, expected, as_told(stored.entries), findings)
        secrets = {row["name"]: bytes(row["secret"]) for row in stored.rows["series"]}
        findings.faults += [f"{path}: changed; remove it" for path in people_index.wrong_files(place, secrets)]
        _check_manifests(database, place, expected, published, findings)
        _check_heads(database, expected, findings)
        _check_permissions(database, place, findings)
    _check_clock(stored.entries, findings)
    n_releases = len(expected.releases)
    return LedgerCheck(
        len(stored.entries),
        n_releases,
        findings.n_files,
        tuple(findings.faults),
        notes=tuple(findings.notes),
        n_copies=findings.n_copies,
    )


def _check_clock(entries: Sequence[chain.Entry], findings: _Findings) -> None:
    """Find entries that are dated long before one that was made earlier: a clock was wrong then or before."""
    newest = datetime.min.replace(tzinfo=UTC)
    for entry in entries:
        made = datetime.fromisoformat(entry.circumstances["time"])
        if newest - made > _CLOCKS_DIFFER:
            findings.notes.append(
                f"entry {entry.seq} is dated {made.date()}, after one of {newest.date()}: a clock was wrong"
            )
        newest = max(newest, made)


def _check_shelf(place: Shelf, expected: ReplayedCatalogue, drafts: Sequence[KeptDraft], findings: _Findings) -> None:
    for (series, number), row in expected.releases.items():
        folder = place.release(series, number)
        wanted = _wanted_files(expected.facts[series, number])
        for name, fingerprint in wanted.items():
            _check_file(folder / name, fingerprint, findings)
        _check_manifest_file(folder / shelf.MANIFEST, catalogue.record_of_row(row), findings)
        if folder.is_dir():
            extra = [name for name in shelf.files_under(folder) if name not in wanted and name != shelf.MANIFEST]
            for name in extra:
                if shelf.is_unfinished(name):
                    findings.notes.append(f"{folder / name}: left over; seriatim ledger resume clears it")
                else:
                    findings.faults.append(f"{folder / name}: a file that was never reserved")
    _check_drafts(place, drafts, findings)
    for path in copies_under_way(place):
        findings.notes.append(f"{path}: a delivery is not finished; run seriatim ledger resume")
    for path in place.dead_stagings():
        findings.notes.append(f"{path}: left by a writer that is gone; seriatim ledger resume clears it")


def _check_drafts(place: Shelf, drafts: Sequence[KeptDraft], findings: _Findings) -> None:
    """Check the bytes of the drafts that nobody has decided about; those of others are left over."""
    standing = {place.draft(draft.entry.digest): draft for draft in drafts if draft.state in OPEN}
    for folder in sorted({*standing, *place.draft_folders()}):
        draft = standing.get(folder)
        if draft is None:
            findings.notes.append(f"{folder}: of no draft that waits; seriatim ledger resume clears it")
            continue
        name = f"series {draft.entry.series!r}, draft of release {draft.release['number']}"
        if draft.state == MOVED:
            if folder.is_dir():
                findings.notes.append(f"{name}: the series has moved; seriatim ledger resume clears it")
            continue
        findings.notes.append(f"{name}: waits for approval")
        for file, wanted in draft.files.items():
            _check_file(folder / file, wanted, findings)
        strange = [file for file in shelf.files_under(folder) if file not in draft.files]
        findings.faults += [f"{folder / file}: a file that was never judged" for file in strange]


def _wanted_files(facts: Mapping[str, Any]) -> dict[str, Any]:
    published = {f"{shelf.PUBLISHED}/{name}": wanted for name, wanted in facts["files"].items()}
    return {**facts["private"], **published}


def _check_file(path: Path, wanted: Mapping[str, Any], findings: _Findings) -> None:
    findings.n_files += 1
    if not path.is_file() or path.is_symlink():
        findings.faults.append(f"{path}: missing")
    elif shelf.fingerprint(path) != wanted:
        if _waits(path, wanted):
            findings.notes.append(f"{path}: an erasure is not finished; run seriatim ledger resume")
        else:
            findings.faults.append(f"{path}: changed since it was reserved")


def _waits(path: Path, wanted: Mapping[str, Any]) -> bool:
    """Return whether the next version of a file is beside it: an erasure was cut short after the chain knew of it."""
    waiting = path.with_name(shelf.pending(path.name))
    return shelf.awaited(waiting.name) is not None and waiting.is_file() and shelf.fingerprint(waiting) == wanted


def _check_manifest_file(path: Path, record: ReleaseRecord, findings: _Findings) -> None:
    if path.is_file():
        findings.n_files += 1
        if path.read_bytes() != seals.seal_bytes(record.manifest):
            findings.faults.append(f"{path}: changed since it was written")
    elif record.state == chain.SEALED:
        findings.faults.append(f"{path}: missing")
    if record.state == chain.RESERVED or (record.state == chain.IMPORTED and not path.is_file()):
        name = f"series {record.series!r} release {record.number}"
        findings.notes.append(f"{name}: {record.state}, not finished; run seriatim ledger resume")


def _check_manifests(
    database: Database, place: Shelf, expected: ReplayedCatalogue, published: Sequence[Path], findings: _Findings
) -> None:
    """Check that the chain knows every manifest on the shelf, at the destinations and in the named folders."""
    records = [catalogue.record_of_row(row) for row in expected.releases.values()]
    # other ledgers may publish to a destination too: only our series show that we are behind
    ours = {(Path(record.destination), record.series) for record in records if record.destination}
    by_chain = {record.manifest["chain"]: record for record in records}
    strange = _strange_folders(place, records, findings)
    found = {path for folder in [*strange, *published] for path in every_manifest_in(folder)}
    found |= {path for folder, series in ours for path in found_in(folder, series)}
    copies = _copies_found(database, sorted(found), by_chain, findings)
    findings.faults += _unknown_beside(database, ours, by_chain)
    copies |= _copies_at_destinations(records, findings)
    by_key = {(record.series, record.number): record for record in records}
    for series, number, out in expected.handed_out:
        copy, record = destination_in(Path(out), series, number), by_key[series, number]
        if copy.is_dir() and copy not in copies:
            copies[copy] = seals.sealed_public_manifest(record.manifest)
    for named in published:
        _check_named(named, records, copies, findings)
    for folder in copies:
        page = folder / TO_SIGN
        if page.is_file() and is_changed_page(page):
            findings.faults.append(f"{page}: changed since it was written; seriatim ledger sign-off makes it again")
    for folder, part in sorted(copies.items()):
        if folder.name != PUBLIC or folder.parent not in copies:  # else it is looked at with its whole release
            _check_copy(folder, part, findings)


def _strange_folders(place: Shelf, records: Sequence[ReleaseRecord], findings: _Findings) -> list[Path]:
    """Return the folders of releases on the shelf that the chain does not know."""
    known = {place.release(record.series, record.number) for record in records}
    strange = [folder for folder in place.release_folders() if folder not in known]
    for folder in strange:
        if not (folder / shelf.MANIFEST).is_file():
            findings.notes.append(f"{folder}: not in the database; a crash left it, seriatim ledger resume clears it")
    return strange


def _copies_found(
    database: Database, paths: Iterable[Path], by_chain: Mapping[str, ReleaseRecord], findings: _Findings
) -> dict[Path, Mapping[str, Any]]:
    """Return what each folder with a manifest of ours must hold; note recalled ones and those we do not know."""
    copies: dict[Path, Mapping[str, Any]] = {}
    for path in paths:
        manifest = read_manifest(path)
        record = by_chain.get(manifest["chain"]) if manifest is not None else None
        if record is not None and record.state == chain.RECALLED:
            findings.notes.append(f"{path.parent}: of a recalled release; seriatim ledger resume clears its own folder")
        elif record is not None:
            folder, part = seals.sealed_description(path, record.manifest)
            whole = folder.name == PUBLIC and (folder.parent / PRIVATE).is_dir()
            copies[folder.parent if whole else folder] = record.manifest if whole else part
        elif manifest is not None:
            findings.faults += _unknown(database, path.parent, manifest["chain"])
    return copies


def _copies_at_destinations(records: Iterable[ReleaseRecord], findings: _Findings) -> dict[Path, Mapping[str, Any]]:
    """Return what the published copies must hold; note missing ones, and recalled ones that are still there."""
    copies: dict[Path, Mapping[str, Any]] = {}
    for record in records:
        target = destination_of(record)
        if record.state == chain.RECALLED and recalled_files(record):
            findings.notes.append(f"{target}: recalled, but still there; seriatim ledger resume clears it")
        elif record.state == chain.RECALLED and target is not None and target.exists():
            findings.notes.append(f"{target}: of a recalled release, but changed or put there by others; check it")
        if target is not None and record.state == chain.SEALED:
            if target.exists():
                copies[target] = record.manifest
            else:
                findings.notes.append(f"{target}: the published copy is no longer there")
    return copies


def _unknown_beside(
    database: Database, ours: Collection[tuple[Path, str]], by_chain: Mapping[str, ReleaseRecord]
) -> list[str]:
    """Return releases in the folders beside ours that a newer state of this ledger made."""
    faults: list[str] = []
    for folder in beside_destinations([destination for destination, _ in ours]):
        for series in sorted({series for _, series in ours}):
            digests = {head for head, record in by_chain.items() if record.series == series}
            if not is_foreign(folder, series, digests):
                manifests = {path: read_manifest(path) for path in found_in(folder, series)}
                for path, manifest in manifests.items():
                    if manifest is not None and manifest["series"] == series and manifest["chain"] not in by_chain:
                        faults += _unknown(database, path.parent, manifest["chain"])
    return faults


def _check_heads(database: Database, expected: ReplayedCatalogue, findings: _Findings) -> None:
    for series in expected.series:
        with database.reading() as connection:
            heads = files_of_series(connection, series)
        for path in heads:
            head = read_head(path)
            written = {head_bytes(catalogue.record_of_row(row)) for row in expected.releases.values()}
            if not path.exists():
                findings.notes.append(f"{path}: the head of series {series!r} is not there; the next release writes it")
            elif head is not None and (unknown := _unknown(database, path, head["chain"])):
                findings.faults += unknown
            elif path.read_bytes() not in written:
                findings.faults.append(f"{path}: the head of series {series!r} was changed")


def _check_named(named: Path, records: Sequence[ReleaseRecord], copies: Collection[Path], findings: _Findings) -> None:
    """Find what a named folder holds that could not be compared: all of it, a manifest, or a whole release."""
    recalled = {destination_of(record) for record in records if record.state == chain.RECALLED}  # there are notes of it
    known = [*copies, *(folder for folder in recalled if folder is not None and folder.exists())]
    if not any(folder.is_relative_to(named) or named.is_relative_to(folder) for folder in known):
        findings.faults.append(f"{named}: no manifest of this ledger is there, so nothing was compared")
    for path in every_manifest_in(named):
        if read_manifest(path) is None:
            findings.faults.append(f"{path}: not a manifest, or changed")
    for record in records:
        folder = destination_in(named, record.series, record.number)
        if folder.is_dir() and folder not in recalled and not any(True for _ in every_manifest_in(folder)):
            findings.faults.append(f"{folder}: its manifest is missing, so nothing was compared")


def _check_copy(folder: Path, manifest: Mapping[str, Any], findings: _Findings) -> None:
    findings.n_copies += 1
    wrong = seals.seal_differences(folder, manifest)
    findings.faults += [f"{folder / name}: the published copy was changed or is missing" for name in wrong]
    strange = seals.foreign_beside_seal(folder, manifest)
    findings.notes += [f"{folder / name}: not part of this release; check where it came from" for name in strange]


def _unknown(database: Database, folder: Path, head: str) -> list[str]:
    with database.reading() as connection:  # anew: a release may have been made since the snapshot
        if catalogue.knows(connection, head):
            return []
    return [f"{folder}: was published, but the database does not know it: it is behind, restore a newer backup"]


def _check_permissions(database: Database, place: Shelf, findings: _Findings) -> None:
    loose, open_to = 0, 0o007 if place.root.is_dir() and is_of_group(place.root) else 0o077
    paths = [place.root] if database.path is None else [database.path, place.root]
    for here, _, names in os.walk(place.root):
        paths += [Path(here), *(Path(here) / name for name in names)]
    for path in paths:
        try:
            loose += bool(path.lstat().st_mode & open_to)
        except FileNotFoundError:
            continue
    if loose:
        findings.notes.append(f"{loose} files or folders of the ledger are open to others; chmod -R go= closes them")
