"""Files that a crash cannot halve: written under a temporary name, flushed to the disk, renamed.

Files at a path that a user names replace an earlier one of their own kind, and nothing else.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

from seriatim.errors import Fault, InputError, SeriatimError


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
            if is_of_group(path.parent):
                os.fchmod(handle, 0o660)
            file.write(data)
            file.flush()
            os.fsync(handle)
        temporary.rename(path)
    except OSError as error:
        error.filename = str(path)  # a full disk names no file, and nobody knows the temporary one
        raise
    finally:
        temporary.unlink(missing_ok=True)
    flush_folder(path.parent)


def is_of_group(folder: Path) -> bool:
    """Return whether a folder belongs to a group: it is setgid, as all that is made in it are."""
    return bool(folder.stat().st_mode & stat.S_ISGID)


def make_private_folder(folder: Path) -> None:
    """Make a folder, and those above it, for its owner alone; inside a folder of a group for the group."""
    if folder.is_dir():
        return
    make_private_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    if is_of_group(folder.parent):
        with suppress(PermissionError):  # another one has just made it
            folder.chmod(0o2770)


def put_durably(path: Path, data: bytes) -> bool:
    """Write all of the bytes under a name that nothing has; return False, and write nothing, if something has it."""
    if path.exists():
        return False
    make_private_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")
    try:
        write_durably(temporary, data)
        path.hardlink_to(temporary)  # of rivals one makes the link
    except FileExistsError:
        return False
    finally:
        temporary.unlink(missing_ok=True)
    flush_folder(path.parent)
    return True


def close_and_flush(folder: Path) -> None:
    """Set 0700 for folders and 0600 for files, 0770 and 0660 on a group's shelf; all flushed, from the leaves up."""
    of_group = folder.is_dir() and is_of_group(folder)  # an import publishes nothing
    for here, _, names in os.walk(folder, topdown=False):
        for name in names:
            path = Path(here) / name
            path.chmod(0o660 if of_group else 0o600)
            _flush_file(path)
        Path(here).chmod(0o2770 if of_group else 0o700)
        flush_folder(Path(here))


@contextmanager
def disk_errors(place: Path, then: str = "nothing was recorded") -> Iterator[None]:
    """Turn a full disk or missing permission into one line of ours that says what was recorded."""
    try:
        yield
    except OSError as error:
        said = os.strerror(error.errno) if error.errno else type(error).__name__
        raise SeriatimError(f"{error.filename or place}: {said}; {then}") from error


PRIVATE_LIST, HEAD = "list of exposed people", "head of a series"
SHELF_MARK = ".sealing.lock"
"""A file in a folder of a ledger: the lock of those who seal."""
_DATABASE = b"SQLite format 3\0"
_READ = 1 << 26
"""So many bytes are read of what may be replaced: no file of ours is as long."""
_PAGE = re.compile(rb'<!doctype html>\n<html lang="en">\n<head>\n.*?<p class="kicker">([^<]+)</p>', re.DOTALL)
_RECORD = re.compile(rb'\{\n.*?^ {1,2}"schema": "(seriatim\.[a-z0-9./-]+)"', re.DOTALL | re.MULTILINE)
_MANIFEST = re.compile(rb'\{"chain":"[0-9a-f]{64}","epoch":')
_OTHERS = {
    PRIVATE_LIST: re.compile(rb'"respondent","(?:since|promise)"|"row","promise"'),
    "knowledge file": re.compile(rb'format = "seriatim\.knowledge/'),
    "table of a knowledge file": re.compile(rb"PAR1.*seriatim\.knowledge/", re.DOTALL),
    HEAD: re.compile(rb'\{"chain":"[0-9a-f]{64}","release":\d+,"schema":"seriatim\.head/1","series":"'),
    "verdict for pipelines": re.compile(
        rb'<\?xml [^>]*>\n<testsuites name="seriatim check"|\{\n "\$schema": "https://json\.schemastore\.org/sarif'
    ),
    "policy": re.compile(rb"[^\0]*?^\[series\][^\0]*?^\[columns", re.MULTILINE),
}


def kind_of_bytes(data: bytes) -> str | None:
    """Return what a file of ours is; None for any other file."""
    if page := _PAGE.match(data):
        return f"page ({page[1].decode(errors='replace')})"
    if record := _RECORD.match(data):
        return f"record ({record[1].decode()})"
    return next((kind for kind, beginning in _OTHERS.items() if beginning.match(data)), None)


def kind_of_file(path: Path) -> str | None:
    """Return the same of a file on the disk."""
    with path.open("rb") as file:
        return kind_of_bytes(file.read(_READ))


def refuse_foreign_file(path: Path, where: str = "out", kind: str | None = None) -> None:
    """Refuse a path that can hold no file of ours, or holds something else than one of this kind, or of any."""
    if not path.name or not path.absolute().parent.is_dir() or (os.path.lexists(path) and not path.is_file()):
        raise InputError(Fault(where, "not a file in a folder that exists", "a new file", "check the path"))
    if path.is_symlink():
        raise InputError(Fault(where, f"{path.name} is a link", "a file", "name the file itself"))
    if not path.exists() or path.stat().st_size == 0:
        refuse_kept_folder(path.absolute().parent, where)
        refuse_name_beside_database(path, where)
        return
    found = kind_of_file(path)
    if found is None or (kind is not None and found != kind):
        told = f"{path.name} is another file, which would be lost"
        raise InputError(
            Fault(where, told, f"an earlier {kind or 'file of this command'}, or a new file", "name another")
        )


def refuse_kept_folder(folder: Path, where: str, remedy: str = "name another folder") -> None:
    """Refuse a folder, there or to be made, whose content a ledger or a release vouches for."""
    folder = folder.resolve()
    for above in (folder, *folder.parents):
        found = "a ledger's own folder" if (above / SHELF_MARK).exists() else _release_at(above)
        if found:
            raise InputError(Fault(where, f"inside {found}", "a folder beside it", remedy))


def refuse_name_beside_database(path: Path, where: str) -> None:
    """Refuse a name that a database next to it keeps for itself, as LEDGER.db-wal: SQLite removes what is there."""
    ends = [at for at, letter in enumerate(path.name) if at and letter == "-"]
    if any(_is_database(path.with_name(path.name[:at])) for at in ends):
        raise InputError(Fault(where, f"{path.name} belongs to the database beside it", "a new file", "name another"))


def _is_database(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_DATABASE)) == _DATABASE


def _release_at(folder: Path) -> str | None:
    for path in (folder / "manifest.json", folder / "public" / "manifest.json"):
        if path.is_file():
            with path.open("rb") as file:
                if _MANIFEST.match(file.read(100)):
                    return "a release"
    return None


def write_whole(files: dict[Path, bytes], where: str = "out") -> None:
    """Write files whole, for their owner alone, or none of them if one of their paths holds something else."""
    for path, data in files.items():
        refuse_foreign_file(path, where, kind_of_bytes(data))
    for path, data in files.items():
        write_durably(path, data)


def refuse_private_list(path: str | Path) -> None:
    """Refuse a private list that could not be written, before anything happens."""
    refuse_foreign_file(Path(path), "private", PRIVATE_LIST)


def write_private_list(table: Any, path: str | Path) -> None:
    """Write a private list as CSV that only its owner may read."""
    buffer = pa.BufferOutputStream()
    pacsv.write_csv(table, buffer)
    write_whole({Path(path): buffer.getvalue().to_pybytes()}, "private")


_SQLITE = "sqlite:///"


def sqlite_file(url: str | Path) -> Path | None:
    """Return the file of a SQLite ledger; None for a server, and for addresses that need a closer look."""
    if not isinstance(url, str | Path):
        return None
    text = str(url)
    if isinstance(url, str) and "://" in url:
        if not url.startswith(_SQLITE) or "?" in url or "%" in url:
            return None
        text = url.removeprefix(_SQLITE)
    return None if text in ("", ":memory:") else Path(text).expanduser().absolute()
