"""Seals releases: the manifest, then the published files at their destination, then the mark. It may be repeated."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from seriatim.errors import Fault, InputError, LedgerDamaged, LedgerError
from seriatim.ledger import chain, shelf
from seriatim.ledger.destinations import (
    OPEN_FILE,
    OPEN_FOLDER,
    TO_SIGN,
    destination_in,
    destination_of,
    make_destination_ready,
    page_to_sign,
    start_partial_destination,
    write_page_to_sign,
)
from seriatim.ledger.shelf import Shelf
from seriatim.ports import PRIVATE, PUBLIC, ReleaseRecord
from seriatim.storage import durable_files

REPORT = f"{PRIVATE}/report.json"
"""The record of the report, in the folder of a release."""
_ELSEWHERE = "make room and run seriatim ledger resume, or finish it elsewhere with --out FOLDER"


def seal_bytes(manifest: Mapping[str, Any]) -> bytes:
    return chain.text(manifest).encode() + b"\n"


def sealed_public_manifest(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest of the public files alone, named as they lie beside it."""
    files = {
        name.removeprefix(f"{PUBLIC}/"): wanted
        for name, wanted in manifest["files"].items()
        if name.startswith(f"{PUBLIC}/")
    }
    return {**manifest, "files": files}


def sealed_manifest_copies(manifest: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the manifests of a release's folder by their names: one of all files, and one of the public ones."""
    if not shelf.is_split(manifest["files"]):
        return {shelf.MANIFEST: seal_bytes(manifest)}
    public = seal_bytes(sealed_public_manifest(manifest))
    return {f"{PRIVATE}/{shelf.MANIFEST}": seal_bytes(manifest), f"{PUBLIC}/{shelf.MANIFEST}": public}


def sealed_description(path: Path, manifest: Mapping[str, Any]) -> tuple[Path, Mapping[str, Any]]:
    """Return the folder that a manifest file describes and what should be in it, by the release's own manifest."""
    if not shelf.is_split(manifest["files"]):
        return path.parent, manifest
    if path.parent.name == PRIVATE:
        return path.parent.parent, manifest
    return path.parent, sealed_public_manifest(manifest)  # the public part, or a copy of it elsewhere


def write_sealed_manifest(place: Shelf, record: ReleaseRecord) -> None:
    name, wanted = shelf.release_file(record.series, record.number, shelf.MANIFEST), seal_bytes(record.manifest)
    if not place.put(name, wanted) and place.read(name) != wanted:
        raise LedgerDamaged(
            f"{place.where(name)}: not the manifest that the database holds; run seriatim ledger verify"
        )


def sealed_report(place: Shelf, record: ReleaseRecord) -> dict[str, Any]:
    """Return the record of a release's report; raise an error if it is not the one that was sealed."""
    wanted = record.manifest["files"].get(REPORT)
    where = f"series {record.series!r} release {record.number}"
    if wanted is None:
        raise InputError(Fault(where, "holds no report: it was imported or made by an older version"))
    try:
        data = place.read(shelf.release_file(record.series, record.number, f"{shelf.PUBLISHED}/{REPORT}"))
    except OSError:
        data = b""
    if hashlib.sha256(data).hexdigest() != wanted["sha256"]:
        raise LedgerDamaged(f"{where}: its report is missing or has changed; run seriatim ledger verify")
    found: dict[str, Any] = json.loads(data)
    return found


def write_sealed_page(place: Shelf, record: ReleaseRecord) -> None:
    """Write the page to sign of a release that was approved beside it; it can be made again if there is no room."""
    if record.destination is not None and REPORT in record.manifest["files"]:
        with suppress(OSError):
            page = page_to_sign(sealed_report(place, record), record).to_html()
            write_page_to_sign(Path(record.destination), record.series, record.number, page)


def copy_sealed(place: Shelf, record: ReleaseRecord) -> None:
    """Copy to the destination through a hidden folder beside the target, so that nobody sees half a release."""
    target = destination_of(record)
    if target is not None:
        _copy_folder(place.release(record.series, record.number) / shelf.PUBLISHED, target, record.manifest)


def hand_out_sealed(place: Shelf, record: ReleaseRecord, out: Path) -> None:
    """Copy the public part of a release to a folder of its own below ``out``."""
    source = place.release(record.series, record.number) / shelf.PUBLISHED / PUBLIC
    _copy_folder(source, destination_in(out, record.series, record.number), sealed_public_manifest(record.manifest))


def _copy_folder(source: Path, target: Path, manifest: Mapping[str, Any]) -> None:
    """Copy through a hidden folder beside the target: nobody sees half a release."""
    if _already_there(target, manifest):
        return
    make_destination_ready(
        target, "the release is recorded; run seriatim ledger resume --out FOLDER to finish it elsewhere"
    )
    with durable_files.disk_errors(target.parent, f"the release is recorded but not there: {_ELSEWHERE}"):
        partial = start_partial_destination(target)
        try:
            for name, wanted in manifest["files"].items():
                _copy(source / name, partial, name, wanted)
            for name, data in sealed_manifest_copies(manifest).items():
                _write(partial, name, data)
            _flush_folders(partial)
            partial.rename(target)
            durable_files.flush_folder(target.parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def _already_there(target: Path, manifest: Mapping[str, Any]) -> bool:
    if not target.exists():
        return False
    if seal_differences(target, manifest):
        raise LedgerError(f"{target}: already has other content; move it away and run seriatim ledger resume")
    return True


def seal_differences(folder: Path, manifest: Mapping[str, Any]) -> list[str]:
    """Return the names of files in a published folder that are missing or differ from the manifest."""
    wrong = [
        name
        for name, wanted in manifest["files"].items()
        if not (folder / name).is_file() or shelf.fingerprint(folder / name) != wanted
    ]
    copies = sealed_manifest_copies(manifest)
    return wrong + [name for name, data in copies.items() if not _holds(folder / name, data)]


def foreign_beside_seal(folder: Path, manifest: Mapping[str, Any]) -> list[str]:
    """Return the names of files in a published folder that the release does not hold."""
    own = {*manifest["files"], *sealed_manifest_copies(manifest), TO_SIGN}
    return [name for name in shelf.files_under(folder) if name not in own]


def _holds(path: Path, data: bytes) -> bool:
    return path.is_file() and path.read_bytes() == data


def _copy(source: Path, folder: Path, name: str, wanted: Mapping[str, Any]) -> None:
    """Copy and hash in one pass: a damaged shelf file does not leave the house."""
    digest = hashlib.sha256()
    if not source.is_file():
        raise LedgerDamaged(f"{source}: missing; run seriatim ledger verify")
    with source.open("rb") as incoming, _opened(folder, name) as outgoing:
        while block := incoming.read(1 << 20):
            digest.update(block)
            outgoing.write(block)
        outgoing.flush()
        os.fsync(outgoing.fileno())
    if digest.hexdigest() != wanted["sha256"]:
        raise LedgerDamaged(f"{source}: not the file that was reserved; run seriatim ledger verify")


def _write(folder: Path, name: str, data: bytes) -> None:
    with _opened(folder, name) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _opened(folder: Path, name: str) -> BinaryIO:
    """Open a new file of a release: the steward's group may read it, unless it is in the private part."""
    private, path = name.startswith(f"{PRIVATE}/"), folder / name
    for parent in reversed(Path(name).parents[:-1]):
        (folder / parent).mkdir(mode=0o700 if private else OPEN_FOLDER, exist_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else OPEN_FILE), "wb")


def _flush_folders(folder: Path) -> None:
    for here, _, _ in os.walk(folder, topdown=False):
        durable_files.flush_folder(Path(here))
