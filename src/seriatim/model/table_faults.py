"""Faults of a table that show before its cells are read: no header line, cells of no single value, several records.

Without a header line the first record is in its place, and no message may print it.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from seriatim.errors import Fault, InputError, TableError
from seriatim.model.names import printable_file_name

LARGEST_DOCUMENT = 1 << 22
"""Bytes of a policy, an adversary, or the head of a knowledge file: more than 100,000 columns declare."""
LARGEST_RECORD = 1 << 25
"""Bytes of a file that Seriatim wrote as JSON: a baseline, a saved answer."""
LARGEST_HIERARCHY = 1 << 26
LARGEST_LIST = 1 << 28
"""Bytes of a list of people."""
DEEPEST = 50
"""Tables inside each other."""
LONGEST_ROW = 1 << 24
"""Bytes of one row of a table: long free text is no reason to reject a file."""
MOST_COLUMNS = 1 << 15
MOST_ROWS = 50_000_000
MOST_CELLS = 1_000_000_000
MOST_PAIRED = 200
"""Columns that are all compared with each other."""
LONGEST_NUMBER = 1_600
"""Characters of a number; the longest float needs 1,100."""

_KEY = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DEEP = re.compile(rf"(?<![\w-]){_KEY}(?:[ \t]*+\.[ \t]*+{_KEY}){{{DEEPEST}}}")


def given_file_bytes(path: Path, what: str, largest: int, error: type[InputError] = InputError) -> bytes:
    """Return the bytes of a file that a user names; ``what`` is its purpose, for messages."""
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode) and not path.is_dir():
            found, remedy = f"is a pipe or a device, no {what} file", "save it as a file and name that"
            raise error(Fault(printable_file_name(path), found, remedy=remedy))
        if state.st_size > largest:
            found = f"is larger than a {what} file may be: {largest >> 20} MB"
            raise error(Fault(printable_file_name(path), found, remedy="check the path"))
        return path.read_bytes()
    except FileNotFoundError:
        found, remedy = f"there is no such {what} file", "check the path"
    except IsADirectoryError:
        found, remedy = f"is a folder, no {what} file", "name the file in it"
    except PermissionError:
        found, remedy = f"this {what} file may not be read", "check its permissions"
    except (OSError, ValueError) as failed:
        reason = getattr(failed, "strerror", None) or "the path is not valid"
        found, remedy = f"this {what} file cannot be read ({reason})", "check the path"
    raise error(Fault(printable_file_name(path), found, remedy=remedy))


def is_too_deep(text: str) -> bool:
    """Return whether a TOML text has dotted keys deeper than any file of ours: readers take quadratic time for them."""
    return _DEEP.search(text) is not None


def size_fault(where: str, columns: int, rows: int = 0) -> Fault | None:
    """Return the fault that a table is too large, from what is known before its cells are read."""
    if columns > MOST_COLUMNS:
        return Fault(where, f"{columns:,} columns", f"at most {MOST_COLUMNS:,}", "leave out those that are not needed")
    if rows > MOST_ROWS or rows * columns > MOST_CELLS:
        allowed = f"at most {MOST_ROWS:,} rows, and {MOST_CELLS:,} cells"
        return Fault(where, f"{rows:,} rows of {columns:,} columns", allowed, "check that it is the right file")
    return None


MOST_NAMED = 20
"""The most faults about single columns to name: the wrong file would otherwise fill the screen."""
_NUMBER = re.compile(r"[-+]?(\d++([.,]\d++)*+|[.,]\d++)([eE][-+]?\d++)?\s?[%€$£]?")
_DAY = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([T ].*)?")
_ROWS = 100_000
_MANY = 4
"""If one name in this many looks like a cell, the table has no header."""
_REMEDY = "add a line with the column names above the first record"


@dataclass(frozen=True, slots=True)
class Header:
    """The names of a table's columns, and which of them look like cells."""

    where: str
    names: tuple[str, ...]
    cells: frozenset[int]

    @property
    def seems_missing(self) -> bool:
        """Return whether enough names look like cells to be the first record."""
        return bool(self.cells) and len(self.cells) * _MANY >= len(self.names)

    @property
    def missing(self) -> Fault:
        """Return the fault that there is no header, in counts."""
        found = f"{len(self.cells)} of the {len(self.names)} column names look like cells"
        return Fault(self.where, f"{found}: the header line seems to be missing", "names of columns", _REMEDY)

    def without(self, declared: Collection[str]) -> Fault | None:
        """Return the fault that the header has few of the declared names; None if it has at least half."""
        known = sum(name in declared for name in self.names)
        if known * 2 >= len(declared):
            return None
        why = "seems to be missing" if self.cells else "is missing, or this is another table"
        found = f"{known} of {len(declared)} expected columns are among its {len(self.names)} names"
        alike = f", of which {len(self.cells)} look like cells" if self.cells else ""
        few = len(declared) <= MOST_NAMED
        allowed = ", ".join(map(repr, sorted(declared))) if few else "the expected columns by name"
        return Fault(self.where, f"{found}{alike}: the header line {why}", allowed, _REMEDY)

    def place_of(self, name: str) -> str:
        """Name a column by its name, or by its position if the name looks like a cell."""
        at = self.names.index(name)
        return f"column {at + 1} (its name looks like a cell)" if at in self.cells else f"column {name!r}"


def header_of(where: str, data: pa.Table) -> Header:
    """Look at the names of a table. Numbers from 0 count as names: pandas names columns so."""
    names = tuple(data.column_names)
    if names == tuple(map(str, range(len(names)))):
        return Header(where, names, frozenset())
    return Header(where, names, frozenset(at for at, name in enumerate(names) if _is_cell(name, data, at)))


def _is_cell(name: str, data: pa.Table, at: int) -> bool:
    """Return whether a name is a number or a day, or occurs in the column below it."""
    text = name.strip()
    if _NUMBER.fullmatch(text) or _DAY.fullmatch(text):
        return True
    column = data.column(at).slice(0, _ROWS)
    if pat.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not text or not (pat.is_string(column.type) or pat.is_large_string(column.type)):
        return False
    return bool(pc.any(pc.equal(column, name)).as_py())


def check_header(where: str, data: pa.Table, wanted: Collection[str] = ()) -> None:
    """Raise if the header line is missing: it has few of the wanted names or, if none are known, looks like cells."""
    header = header_of(where, data)
    fault = header.without(wanted) if wanted else header.missing if header.seems_missing else None
    if fault is not None:
        raise TableError(fault)


def first_of_many(faults: Sequence[Fault], where: str) -> list[Fault]:
    """Return the first faults of many, and the number of the others."""
    if len(faults) <= MOST_NAMED:
        return list(faults)
    return [*faults[:MOST_NAMED], Fault(where, f"{len(faults) - MOST_NAMED} more faults of these kinds")]


def check_single_cells(where: str, table: pa.Table, names: Iterable[str]) -> None:
    """Raise for columns whose cells are lists, structures, maps or bytes: they are neither compared nor written."""
    kinds = {field.name: field.type for field in table.schema}
    faults = [
        Fault(f"{where}, column {name!r}", f"the column holds {kinds[name]}", "cells that hold one value",
              "turn it into text, or leave it out")
        for name in names if name in kinds and _is_several(kinds[name])
    ]  # fmt: skip
    if faults:
        raise TableError(first_of_many(faults, where))


def check_time_zones(where: str, table: pa.Table) -> None:
    """Raise for a time zone that this machine does not know: no cell of such a column can be read."""
    faults = [
        Fault(f"{where}, column {field.name!r}", "its time zone is not known here", "UTC, or a zone such as Asia/Tokyo",
              "write its times in another zone")
        for field in table.schema if not _zone_is_known(_words(field.type))
    ]  # fmt: skip
    if faults:
        raise TableError(first_of_many(faults, where))


def without_views(data: pa.Table) -> tuple[pa.Table, dict[str, pa.DataType]]:
    """Return a table with plain texts and bytes for views, from which Arrow cannot pick rows; and what they were."""
    kinds = {}
    for place, field in enumerate(data.schema):
        if pat.is_string_view(field.type) or pat.is_binary_view(field.type):
            kinds[field.name] = field.type
            plain = pa.large_string() if pat.is_string_view(field.type) else pa.large_binary()
            data = data.set_column(place, field.name, data.column(place).cast(plain))
    return data, kinds


def _words(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pat.is_dictionary(kind) else kind


def _is_several(kind: pa.DataType) -> bool:
    kind = _words(kind)
    return bool(
        pat.is_nested(kind) or pat.is_binary(kind) or pat.is_large_binary(kind) or pat.is_fixed_size_binary(kind)
    )


def _zone_is_known(kind: pa.DataType) -> bool:
    if not pat.is_timestamp(kind) or kind.tz is None:
        return True
    try:
        pc.cast(pa.array([0], kind), pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return True


REMEDY = (
    "keep one record per person, such as the first or the latest, or one that sums them up; or publish each kind of "
    "record as a series of its own name; or make a column of each record (visit_1, visit_2), which a serial method "
    "publishes in a table of its own"
)


def several_records_fault(where: str, records: npt.NDArray[np.integer], further: str = "") -> Fault | None:
    """Return the fault if anyone has several records, with how many people have, and the most that one has.

    ``records`` has the number of records of everyone.
    """
    several = int((records > 1).sum())
    if not several:
        return None
    found = f"{several} respondents with more than one record, up to {int(records.max())}"
    return Fault(where, found, "one each", f"{REMEDY}{further}")


def most_records_at_once(person: npt.NDArray[np.integer], release: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Return the most records that each person has in one release; an entry of both arrays per record."""
    pairs, counts = np.unique(np.stack((person, release)), axis=1, return_counts=True)
    _, number = np.unique(pairs[0], return_inverse=True)
    most = np.zeros(int(number.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(most, number, counts)
    return most
