"""Files at a path that a user names: each replaces an earlier one of its own kind, and nothing else.

Only their owner may read them. The kind of a file is read off its bytes, so that a table, a policy, a ledger or a page
of another kind never goes because its name was given by mistake. No new file goes into a ledger's own folder, which it
would damage, or into a release, whose readers it may not be for.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

from seriatim.errors import Fault, InputError
from seriatim.storage.durable_files import write_durably

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
