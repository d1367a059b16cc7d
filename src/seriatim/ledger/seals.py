"""Seals releases: the manifest, then the published files at their destination, then the mark. It may be repeated."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seriatim.errors import LedgerDamaged, LedgerError
from seriatim.ledger import shelf
from seriatim.ledger.chain import canonical
from seriatim.ledger.shelf import Shelf
from seriatim.ports import ReleaseRecord
from seriatim.storage import durable


def manifest_bytes(manifest: Mapping[str, Any]) -> bytes:
    return canonical(manifest).encode() + b"\n"


def target_of(record: ReleaseRecord) -> Path | None:
    """Return the release's own folder at its destination."""
    if record.destination is None:
        return None
    return Path(record.destination) / f"{shelf.slug_of(record.series)}-{record.number:04d}"


def write_manifest(place: Shelf, record: ReleaseRecord) -> None:
    path = place.release(record.series, record.number) / shelf.MANIFEST
    wanted = manifest_bytes(record.manifest)
    if not path.exists():
        durable.write_durably(path, wanted)
    elif path.read_bytes() != wanted:
        raise LedgerDamaged(f"{path}: not the manifest that the database holds; run seriatim ledger verify")


def copy_out(place: Shelf, record: ReleaseRecord) -> None:
    """Copy to the destination through a hidden folder beside the target, so that nobody sees half a release."""
    target = target_of(record)
    if target is None or _already_there(target, record):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)  # an earlier attempt that was killed
    try:
        partial.mkdir()
        source = place.release(record.series, record.number) / shelf.PUBLISHED
        for name, wanted in record.manifest["files"].items():
            _copy(source / name, partial / name, wanted)
        _write(partial / shelf.MANIFEST, manifest_bytes(record.manifest))
        _flush_folders(partial)
        partial.rename(target)
        durable.flush_folder(target.parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _already_there(target: Path, record: ReleaseRecord) -> bool:
    if not target.exists():
        return False
    if differences(target, record.manifest):
        raise LedgerError(f"{target}: already has other content; move it away and run seriatim ledger resume")
    return True


def differences(folder: Path, manifest: Mapping[str, Any]) -> list[str]:
    """Return the names of files in a published folder that are missing or differ from the manifest."""
    wrong = [
        name
        for name, wanted in manifest["files"].items()
        if not (folder / name).is_file() or shelf.fingerprint(folder / name) != wanted
    ]
    path = folder / shelf.MANIFEST
    return wrong if path.is_file() and path.read_bytes() == manifest_bytes(manifest) else [*wrong, shelf.MANIFEST]


def _copy(source: Path, target: Path, wanted: Mapping[str, Any]) -> None:
    """Copy and hash in one pass, so that a damaged shelf file is not published."""
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    if not source.is_file():
        raise LedgerDamaged(f"{source}: missing; run seriatim ledger verify")
    with source.open("rb") as incoming, target.open("xb") as outgoing:
        while block := incoming.read(1 << 20):
            digest.update(block)
            outgoing.write(block)
        outgoing.flush()
        os.fsync(outgoing.fileno())
    if digest.hexdigest() != wanted["sha256"]:
        raise LedgerDamaged(f"{source}: not the file that was reserved; run seriatim ledger verify")


def _write(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _flush_folders(folder: Path) -> None:
    for here, _, _ in os.walk(folder, topdown=False):
        durable.flush_folder(Path(here))
