"""Destinations: the folders that releases go to, tried before anything is recorded."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy.engine import Connection

from seriatim.errors import Fault, InputError
from seriatim.ledger import catalogue, shelf
from seriatim.ledger.shelf import Shelf
from seriatim.ports import PRIVATE, ReleaseRecord
from seriatim.storage.durable_files import kind_of_file, refuse_kept_folder, write_durably

if TYPE_CHECKING:
    from seriatim.report import SigningFacts, SignOff


OPEN_FOLDER, OPEN_FILE = 0o750, 0o640
"""Modes of what leaves the house: the steward's group may read it. Whoever else may is for the steward to say."""


def destination_in(destination: Path, series: str, number: int) -> Path:
    """Return the folder of a release at a destination."""
    return destination / f"{shelf.slug(series)}-{number:04d}"


def destination_of(record: ReleaseRecord) -> Path | None:
    """Return the folder of a release at its own destination."""
    return (
        None if record.destination is None else destination_in(Path(record.destination), record.series, record.number)
    )


def _partial_of(target: Path) -> Path:
    """Return the hidden folder beside a target in which a release is put together."""
    return target.with_name(f".{target.name}.partial")


def every_destination(connection: Connection) -> list[Path]:
    """Return every folder that any release of this ledger ever went to."""
    told = connection.execute(catalogue.FURTHER_DESTINATIONS).scalars()
    found = {*connection.execute(catalogue.DESTINATIONS).scalars(), *(json.loads(one)["destination"] for one in told)}
    return sorted(map(Path, found))


_ANOTHER = "choose another folder (out)"


def refuse_destination(destination: Path, place: Shelf) -> None:
    """Refuse what cannot become a folder, and what lies inside a shelf or a release: neither holds another release."""
    refuse_unusable_destination(destination)
    if destination.resolve().is_relative_to(place.root.resolve()):
        raise InputError(Fault(str(destination), "inside the ledger's own folder", "a folder beside it", _ANOTHER))
    with suppress(OSError):
        refuse_kept_folder(destination, str(destination), _ANOTHER)


def refuse_unusable_destination(destination: Path, remedy: str = _ANOTHER) -> None:
    """Refuse what cannot become a folder, before any work is done."""
    try:
        if destination.is_dir() or not os.path.lexists(destination):
            return
        found = "a link that leads nowhere" if destination.is_symlink() and not destination.exists() else "not a folder"
    except OSError as error:
        raise _unusable(destination, error, remedy) from None
    raise InputError(Fault(str(destination), found, "a folder for the releases", remedy))


def make_destination_ready(target: Path, remedy: str = _ANOTHER) -> None:
    """Make the destination and try to put something where the release will go; raise InputError when that fails."""
    refuse_unusable_destination(target.parent, remedy)
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=OPEN_FOLDER)
        discard_partial_destination(target)
        if not _takes_file_without_name(target.parent):
            start_partial_destination(target).rmdir()
    except OSError as error:
        raise _unusable(target.parent, error, remedy) from None


def _takes_file_without_name(folder: Path) -> bool:
    """Try a folder so that a kill amid it leaves nothing, where the system can."""
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600))
    except (AttributeError, OSError):
        return False
    return True


def refuse_taken_destination(target: Path) -> None:
    """Refuse a folder that somebody else filled."""
    if os.path.lexists(target):
        raise InputError(
            Fault(str(target), "holds something else already", "", "move it away or choose another folder (out)")
        )


def start_partial_destination(target: Path) -> Path:
    """Make the hidden folder beside a target again, whatever an earlier attempt left there."""
    discard_partial_destination(target)
    partial = _partial_of(target)
    partial.mkdir(mode=OPEN_FOLDER)
    return partial


def discard_partial_destination(target: Path) -> None:
    """Remove the hidden folder beside a target that an earlier attempt may have left."""
    partial = _partial_of(target)
    if partial.is_symlink() or partial.is_file():
        partial.unlink()
    elif partial.exists():
        shutil.rmtree(partial)


def _unusable(folder: Path, error: OSError, remedy: str) -> InputError:
    said = os.strerror(error.errno) if error.errno else type(error).__name__
    return InputError(Fault(str(folder), said, "a folder that can be written to", remedy))


TO_SIGN = f"{PRIVATE}/to-sign.html"
"""The page to sign, in the folder of a release."""
REFUSED = "refused"
_KIND = "page (Release to sign)"


def is_page_to_sign(path: Path) -> bool:
    """Return whether a file is a page to sign, and no other file under its name."""
    return path.is_file() and kind_of_file(path) == _KIND


def page_to_sign(report: Mapping[str, Any], record: ReleaseRecord) -> SignOff:
    """Return the page of a release, from its report's record and what the ledger says of it today."""
    from seriatim.report import SignOff, read_back

    read = read_back(report)  # a draft's report was written before anybody approved it
    return SignOff(replace(read, verdict=replace(read.verdict, approval=record.approval)), signed_facts(record))


def signed_facts(record: ReleaseRecord) -> SigningFacts:
    """Return what the page says beside the report."""
    from seriatim.report import SigningFacts

    return SigningFacts(
        date=f"{record.reserved_at[:16].replace('T', ' ')} UTC",
        version=record.version,
        input_name=record.input_name,
        input_sha256=record.input_sha256,
        chain=str(record.manifest["chain"]),
        recipients=record.recipients,
    )


def write_page_to_sign(out: Path, series: str, number: int, page: str) -> Path:
    """Write the page to sign into the private part of a release's folder."""
    path = destination_in(out, series, number) / TO_SIGN
    write_durably(path, page.encode("utf-8"))
    return path


def is_changed_page(path: Path) -> bool:
    """Return whether a page to sign is not as it was written. The chain does not hold it: it may be made again."""
    from seriatim.report.sign_off import is_changed

    return is_changed(path.read_bytes())


def write_refusal(out: Path, series: str, number: int, page: str, record: str) -> tuple[Path, Path]:
    """Write the report of a refused draft, as a page and as JSON; ``number`` is the one it would have had."""
    folder = out / REFUSED
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    stem = f"{shelf.slug(series)}-{number:04d}"
    attempt = 1
    while any((folder / f"{stem}-{attempt}{ending}").exists() for ending in (".html", ".json")):
        attempt += 1
    paths = folder / f"{stem}-{attempt}.html", folder / f"{stem}-{attempt}.json"
    for path, text in zip(paths, (page, record), strict=True):
        write_durably(path, text.encode("utf-8"))
    return paths
