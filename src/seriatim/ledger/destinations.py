"""Destinations: the folders that releases go to, tried before anything is recorded."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

from sqlalchemy.engine import Connection

from seriatim.errors import Fault, InputError
from seriatim.ledger import shelf, statements
from seriatim.ledger.shelf import Shelf
from seriatim.ports import ReleaseRecord
from seriatim.storage.durable_files import refuse_kept_folder

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
    told = connection.execute(statements.FURTHER_DESTINATIONS).scalars()
    found = {*connection.execute(statements.DESTINATIONS).scalars(), *(json.loads(one)["destination"] for one in told)}
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
        start_partial_destination(target)
        _partial_of(target).rmdir()
    except OSError as error:
        raise _unusable(target.parent, error, remedy) from None


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
