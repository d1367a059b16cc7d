"""The shelf: the folder of bulk files beside the catalogue. Folders are 0700, files 0600.

If the shelf itself is setgid it belongs to a group, and so does what is on it: folders are 2770, files 0660.

    shelf/<series>/<number>/groups.parquet      who is in which group, people as numbers
                            people.parquet      the newcomers of this release: number and respondent
                            newcomers.parquet   of every 8th, 64th, ... release: those of the last 8, 64, ...
                            memory-NAME.parquet what the method remembers of people, as numbers
                            published/public    what recipients get, byte for byte
                            published/private   what only the publisher reads, byte for byte
                            manifest.json       written only after the catalogue knows the release
    shelf/<series>/people.index                 a number for everyone in the series, for other series to compare
    shelf/.staging-<random>/lock, release/...   a release in the making
    shelf/.draft-<digest>/...                   a draft that waits for approval, with the files of a release

Every file is written under a temporary name, flushed to the disk and renamed: nobody sees half of one.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import secrets
import shutil
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from seriatim.errors import LedgerError, SeriatimError
from seriatim.ports import PUBLIC
from seriatim.storage.database import Database, held_session
from seriatim.storage.durable_files import (
    SHELF_MARK,
    flush_folder,
    make_private_folder,
    put_durably,
    refuse_kept_folder,
    write_durably,
)

GROUPS = "groups.parquet"
PEOPLE = "people.parquet"
NEWCOMERS = "newcomers.parquet"
PUBLISHED = "published"
MANIFEST = "manifest.json"

_MEMORY = re.compile(r"memory-([a-z0-9_]+)\.parquet")

_NEXT = ".next"
_STAGING = ".staging-"
_DRAFT = ".draft-"
_LOCK = "lock"
_ATTEMPTS = 10
_MAKING = os.O_RDWR | os.O_CREAT

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_DIGESTED = re.compile(r".*-[0-9a-f]{10}")


def release_file(series: str, number: int, file: str) -> str:
    """Return the name of a file of a release."""
    return f"{slug(series)}/{number:06d}/{file}"


def slug(series: str) -> str:
    """Return a folder name for a series: its own name if that is plain, else its safe letters and a digest.

    A plain name that ends like a digest gets one too, so that two names never share a folder.
    """
    if _PLAIN.fullmatch(series) and not _DIGESTED.fullmatch(series):
        return series
    letters = unicodedata.normalize("NFKD", series).encode("ascii", "ignore").decode().lower()
    safe = re.sub(r"[^a-z0-9]+", "-", letters).strip("-")[:40].strip("-") or "series"
    return f"{safe}-{hashlib.sha256(series.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"


def fingerprint(path: Path) -> dict[str, Any]:
    """Return sha256 and size of a file, as in entries and manifests."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"sha256": digest, "bytes": file.tell()}


def fingerprint_of(data: bytes) -> dict[str, Any]:
    """Return the same of bytes."""
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def files_under(folder: Path) -> Iterator[str]:
    """Yield all files of a folder, as sorted relative names with forward slashes. Links are not included."""
    found = []
    for here, _, names in os.walk(folder):
        found += [(Path(here) / name).relative_to(folder).as_posix() for name in names]
    return iter(sorted(found))


def is_split(files: Iterable[str]) -> bool:
    """Return whether the files of a release are split by who may read them; those before 0.2 are not."""
    return any(name.startswith(f"{PUBLIC}/") for name in files)


def memory_file(name: str) -> str:
    """Return the file that keeps a method's memory of this name."""
    file = f"memory-{name}.parquet"
    if not _MEMORY.fullmatch(file):
        raise SeriatimError("memory: a name must be made of a-z, 0-9 and _")
    return file


def memory_name(file: str) -> str | None:
    """Return the name of the memory that a file keeps; None for any other file."""
    found = _MEMORY.fullmatch(file)
    return found[1] if found else None


def is_unfinished(name: str) -> bool:
    """Return whether a crash in ``write_durably`` or an erasure left this file; the next attempt clears it."""
    last = name.rpartition("/")[2]
    return (last.startswith(".") and last.endswith(".partial")) or awaited(last) is not None


def pending(name: str) -> str:
    """Return the name under which the next version of a file waits until the chain knows it."""
    return f"{name}{_NEXT}"


def awaited(name: str) -> str | None:
    """Return the file whose next version has this name; None if it is no such name."""
    file = name.removesuffix(_NEXT)
    return file if file != name and (file in (PEOPLE, NEWCOMERS) or memory_name(file)) else None


class _Held(Protocol):
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Shelf:
    """``seriatim.ports.Shelf`` in a folder, and what only a folder has: releases in the making, and locks."""

    root: Path
    locks: Database | None = None
    """The database whose locks every machine sees; without one the files of the folder are locked, on one machine."""

    def create(self) -> None:
        if not (self.root / SHELF_MARK).exists():
            refuse_kept_folder(self.root, str(self.root))
        self.root.mkdir(mode=0o700, exist_ok=True)  # anyone who opens a new ledger at the same time may make it too

    def put(self, name: str, data: bytes) -> bool:
        """Keep bytes under a name; False, and nothing changed, if there are some already."""
        return put_durably(self._path(name), data)

    def replace(self, name: str, data: bytes) -> None:
        """Keep bytes under a name instead of those that may be there. The caller is the only writer."""
        path = self._path(name)
        make_private_folder(path.parent)
        write_durably(path, data)

    def read(self, name: str) -> bytes:
        """Return the bytes under a name; raise FileNotFoundError if there are none."""
        return self._path(name).read_bytes()

    def names(self, below: str = "") -> Sequence[str]:
        """Return the sorted names below a name; what is in the making has none."""
        folder = self._path(below) if below else self.root
        inside = f"{below}/" if below else ""
        return [f"{inside}{name}" for name in files_under(folder) if "/." not in f"/{inside}{name}"]

    def remove(self, name: str) -> None:
        """Remove what is under a name, if anything is."""
        path = self._path(name)
        if path.exists():
            path.unlink(missing_ok=True)
            flush_folder(path.parent)

    def where(self, name: str) -> str:
        """Return how a message calls what is under a name."""
        return str(self.root / name)

    def _path(self, name: str) -> Path:
        path = PurePosixPath(name)
        if path.is_absolute() or not path.parts or ".." in path.parts:
            raise ValueError(f"{name!r} is no name on a shelf")
        return self.root / path

    def series(self, name: str) -> Path:
        return self.root / slug(name)

    def release(self, series: str, number: int) -> Path:
        return self.series(series) / f"{number:06d}"

    def release_folders(self) -> Iterator[Path]:
        """Yield every folder that looks like a release, of any series."""
        for series in sorted(self.root.iterdir()) if self.root.is_dir() else ():
            if series.is_dir() and not series.name.startswith("."):
                yield from sorted(path for path in series.iterdir() if path.is_dir())

    def draft(self, digest: str) -> Path:
        """Return the folder of a draft that waits, by the digest of its entry."""
        return self.root / f"{_DRAFT}{digest[:16]}"

    def draft_folders(self) -> list[Path]:
        return sorted(self.root.glob(f"{_DRAFT}*"))

    def take(self, made: Path, target: Path) -> None:
        """Move a finished folder into place: one rename, flushed."""
        make_private_folder(target.parent)
        made.rename(target)
        flush_folder(target.parent)
        flush_folder(self.root)

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """Make a private folder for a release in the making, locked while its writer lives, removed on exit."""
        folder, held = self._new_staging()
        with closing(held):
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def _new_staging(self) -> tuple[Path, _Held]:
        for _ in range(_ATTEMPTS):
            folder = self.root / f"{_STAGING}{secrets.token_hex(8)}"
            held = self._shared_lock(folder)
            make_private_folder(folder)
            if self.locks is None:
                held = _locked_file(folder / _LOCK, _MAKING)
            if held is not None:
                return folder, held
        raise LedgerError(f"{self.root}: no folder for the release could be locked; try again")

    def clear_dead_stagings(self) -> None:
        for folder in self.root.glob(f"{_STAGING}*"):
            held = self._lock(folder, folder / _LOCK, _MAKING)
            if held is not None:  # its writer is gone, or has not begun and will make another
                with closing(held):
                    shutil.rmtree(folder, ignore_errors=True)

    def dead_stagings(self) -> list[Path]:
        """Return staging folders whose writer is gone."""
        return [path for path in sorted(self.root.glob(f"{_STAGING}*")) if self._dead(path)]

    def _dead(self, staging: Path) -> bool:
        if self.locks is None and not (staging / _LOCK).exists():
            return staging.exists()
        held = self._lock(staging, staging / _LOCK, os.O_RDONLY)
        if held is not None:
            held.close()
        return held is not None

    @contextmanager
    def sealing(self, patience: float = 60.0) -> Iterator[None]:
        """Seal alone; raise LedgerError if another one kept the lock throughout our patience."""
        deadline, mark = time.monotonic() + patience, self.root / SHELF_MARK
        if self.locks is not None and not mark.exists():
            put_durably(mark, b"")
        while (held := self._lock(mark, mark, _MAKING)) is None:
            if time.monotonic() >= deadline:
                raise LedgerError("another process is sealing a release; try again")
            time.sleep(0.05)
        with closing(held):
            yield

    def _lock(self, what: Path, file: Path, flags: int) -> _Held | None:
        """Return a lock that ends with its holder; None if another has it, or its file is gone."""
        return _locked_file(file, flags) if self.locks is None else self._shared_lock(what)

    def _shared_lock(self, what: Path) -> _Held | None:
        return None if self.locks is None else held_session(self.locks, f"\0shelf/{what.name}")


def _locked_file(path: Path, flags: int) -> _Held | None:
    """Lock a file; None if another has it, or has removed it meanwhile."""
    try:
        handle = os.open(path, flags, 0o600)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.stat().st_ino == os.fstat(handle).st_ino:
            return os.fdopen(handle, "rb")
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(handle)
    return None


_TOGETHER = 8

Facts = Mapping[str, Any]


# Every 8th release also keeps the newcomers of the last 8 releases together, every 64th those of the last 64, and so
# on: who is who after 100 releases is in nine files, and nobody is named in more than one file per power of 8.
def newcomers_since(number: int) -> int | None:
    """Return the first release whose newcomers this one keeps with its own; None if it keeps only its own."""
    span = 1
    while number % (span * _TOGETHER) == 0:
        span *= _TOGETHER
    return number - span + 1 if span > 1 else None


def naming_files(facts: Sequence[Facts]) -> list[tuple[Facts, str]]:
    """Return the fewest files that name everyone of these releases, in order, each with its release.

    A release with others after it is never recalled, so the newcomers that it keeps with its own all count.
    """
    found: list[tuple[Facts, str]] = []
    unread = facts[-1]["number"] if facts else 0
    for one in reversed(facts):
        if one["number"] <= unread:
            since = newcomers_since(one["number"]) if NEWCOMERS in one["private"] else None
            found.append((one, PEOPLE if since is None else NEWCOMERS))
            unread = (one["number"] if since is None else since) - 1
    return found[::-1]
