"""Files that a crash cannot halve: written under a temporary name, flushed to the disk, renamed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seriatim.errors import SeriatimError


def _flush_file(path: Path) -> None:
    _flush(path, os.O_RDONLY)


def flush_folder(path: Path) -> None:
    _flush(path, os.O_RDONLY | os.O_DIRECTORY)


def _flush(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_durably(path: Path, data: bytes) -> None:
    """Write all of the bytes under the name, or nothing.

    The temporary file is new: neither a link that waits there nor another writer's is written to.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        temporary.rename(path)
    except OSError as error:
        error.filename = error.filename or str(path)  # a full disk names no file
        raise
    finally:
        temporary.unlink(missing_ok=True)
    flush_folder(path.parent)


def close_and_flush(folder: Path) -> None:
    """Set 0700 for folders and 0600 for files, flushed to the disk, from the leaves up."""
    for here, _, names in os.walk(folder, topdown=False):
        for name in names:
            path = Path(here) / name
            path.chmod(0o600)
            _flush_file(path)
        Path(here).chmod(0o700)
        flush_folder(Path(here))


@contextmanager
def disk_errors(place: Path, then: str = "nothing was recorded") -> Iterator[None]:
    """Turn a full disk or missing permission into one line of ours that says what was recorded."""
    try:
        yield
    except OSError as error:
        said = os.strerror(error.errno) if error.errno else type(error).__name__
        raise SeriatimError(f"{error.filename or place}: {said}; {then}") from error
