"""Files at a path that a user names: each replaces an earlier one of its own kind, and nothing else.

Only their owner may read them. The kind of a file is read off its bytes, so that a table, a policy, a ledger or a page
of another kind never goes because its name was given by mistake.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from seriatim.errors import Fault, InputError
from seriatim.storage.durable_files import write_durably

PRIVATE_LIST, HEAD = "list of exposed people", "head of a series"
_READ = 1 << 26
"""So many bytes are read of what may be replaced: no file of ours is as long."""
_PAGE = re.compile(rb'<!doctype html>\n<html lang="en">\n<head>\n.*?<p class="kicker">([^<]+)</p>', re.DOTALL)
_RECORD = re.compile(rb'\{\n.*?^ {1,2}"schema": "(seriatim\.[a-z0-9./-]+)"', re.DOTALL | re.MULTILINE)
_OTHERS = {
    PRIVATE_LIST: re.compile(rb'"respondent","(?:since|promise)"|"row","promise"'),
    "knowledge file": re.compile(rb'format = "seriatim\.knowledge/'),
    "table of a knowledge file": re.compile(rb"PAR1.*seriatim\.knowledge/", re.DOTALL),
    HEAD: re.compile(rb'\{"chain":"[0-9a-f]{64}","release":\d+,"schema":"seriatim\.head/1","series":"'),
    "policy": re.compile(rb"[^\0]*?^\[series\][^\0]*?^\[columns", re.MULTILINE),
}


def own_kind(data: bytes) -> str | None:
    """Return what a file of ours is; None for any other file."""
    if page := _PAGE.match(data):
        return f"page ({page[1].decode(errors='replace')})"
    if record := _RECORD.match(data):
        return f"record ({record[1].decode()})"
    return next((kind for kind, beginning in _OTHERS.items() if beginning.match(data)), None)


def refuse_foreign_file(path: Path, where: str = "out", kind: str | None = None) -> None:
    """Refuse a path that can hold no file of ours, or holds something else than one of this kind, or of any."""
    if not path.absolute().parent.is_dir() or (os.path.lexists(path) and not path.is_file()):
        raise InputError(Fault(where, "not a file in a folder that exists", "a new file", "check the path"))
    if not path.exists() or path.stat().st_size == 0:
        return
    with path.open("rb") as file:
        found = own_kind(file.read(_READ))
    if found is None or (kind is not None and found != kind):
        told = f"{path.name} is another file, which would be lost"
        raise InputError(
            Fault(where, told, f"an earlier {kind or 'file of this command'}, or a new file", "name another")
        )


def write_own_files(files: dict[Path, bytes], where: str = "out") -> None:
    """Write files whole, for their owner alone, or none of them if one of their paths holds something else."""
    for path, data in files.items():
        refuse_foreign_file(path, where, own_kind(data))
    for path, data in files.items():
        write_durably(path, data)
