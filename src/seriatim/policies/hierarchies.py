"""The ``hierarchy`` of a column: a file in ARX's form, or a builder's table."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from seriatim.errors import Fault, PolicyError
from seriatim.model.hierarchies import (
    DATE_PARTS,
    DateHierarchy,
    Hierarchy,
    IntervalHierarchy,
    PathHierarchy,
    PrefixHierarchy,
    path_hierarchy,
    text_runs,
    text_sets,
)
from seriatim.model.policy_keys import PolicySection
from seriatim.model.scale import TOP
from seriatim.model.table_faults import LARGEST_HIERARCHY
from seriatim.policies.faults import Faults, KeyPath, fault_value
from seriatim.policies.policy_files import bytes_within_bounds
from seriatim.policies.shapes import rows_of

_SEPARATORS = (";", "\t", ",")
_MOST_FAULTS = 20
"""The most faults per file to report: a wrong separator would otherwise fill the screen."""


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    cells: list[str]


def read_arx(path: Path) -> PathHierarchy:
    """Return the hierarchy of an ARX file; every fault names file and line."""
    text = _decoded(path, bytes_within_bounds(path, "hierarchy", LARGEST_HIERARCHY))
    lines = _parsed(path, text)
    if not lines:
        raise PolicyError(Fault(str(path), "the file holds no values", remedy="write value;level1;...;* on each line"))
    faults = _width_faults(path, lines)
    if not faults:
        lines = _topped(lines)
        faults = [*_empty_labels(path, lines), *_conflicts(path, lines), *_crossings(path, lines)]
    if len(faults) > _MOST_FAULTS:
        left = len(faults) - _MOST_FAULTS
        faults = [*faults[:_MOST_FAULTS], Fault(str(path), f"{left} more faults of these kinds")]
    if faults:
        raise PolicyError(faults)
    return path_hierarchy(path.name, {line.cells[0]: tuple(line.cells[1:]) for line in lines})


def _decoded(path: Path, content: bytes) -> str:
    if b"\0" in content:
        raise PolicyError(Fault(str(path), "holds zero bytes: not a text, or UTF-16", remedy="save the file as UTF-8"))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass  # files from older office programs: the next encoding decides
    try:
        return content.decode("cp1252")
    except UnicodeDecodeError as error:
        raise PolicyError(
            Fault(str(path), f"byte {error.start} is neither UTF-8 nor Windows-1252", remedy="save the file as UTF-8")
        ) from None


def _parsed(path: Path, text: str) -> list[_Line]:
    """Return the lines, split by the separator that fits: all equally wide, and best if they end in ``*``."""
    best: tuple[int, list[_Line]] = (-1, [])
    broken: PolicyError | None = None
    for separator in _SEPARATORS:
        try:
            lines = _split(path, text, separator)
        except PolicyError as error:
            broken = broken or error
            continue
        best = max(best, (_fit(lines), lines), key=lambda reading: reading[0])
        if best[0] > 2 * len(lines):  # even and ending in ``*``: no other separator can fit better
            break
    if broken is not None and best[0] <= 0:
        raise broken
    return best[1]


def _fit(lines: list[_Line]) -> int:
    """Return how well a separator fits; 0 if it never occurs."""
    widths = Counter(len(line.cells) for line in lines)
    if not widths or max(widths) == 1:
        return 0
    starred = all(line.cells[-1] == TOP for line in lines)
    return ((len(widths) == 1) + starred) * (len(lines) + 1) + max(widths.values())


def _split(path: Path, text: str, separator: str) -> list[_Line]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    lines: list[_Line] = []
    start = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return lines
        except csv.Error as error:
            fault = Fault(f"{path}:{start}", f"not readable as CSV ({error})", remedy="close or double the quotes")
            raise PolicyError(fault) from None
        if any(cell.strip() for cell in cells):
            lines.append(_Line(start, cells))
        start = reader.line_num + 1


def _width_faults(path: Path, lines: list[_Line]) -> list[Fault]:
    usual = Counter(len(line.cells) for line in lines).most_common(1)[0][0]
    return [
        Fault(
            f"{path}:{line.number}",
            f"{len(line.cells)} cells where other lines have {usual}",
            "the same number of levels for every value",
            "complete the line",
        )
        for line in lines
        if len(line.cells) != usual
    ]


def _topped(lines: list[_Line]) -> list[_Line]:
    if len(lines[0].cells) > 1 and all(line.cells[-1] == TOP for line in lines):
        return lines
    return [_Line(line.number, [*line.cells, TOP]) for line in lines]


def _empty_labels(path: Path, lines: list[_Line]) -> list[Fault]:
    return [
        Fault(f"{path}:{line.number}", f"the label at level {level} is empty", "a text", "name the level or repeat *")
        for line in lines
        for level, label in enumerate(line.cells)
        if level and not label
    ]


def _conflicts(path: Path, lines: list[_Line]) -> list[Fault]:
    first: dict[str, _Line] = {}
    return [
        Fault(
            f"{path}:{line.number}",
            f"this value has another path on line {first[line.cells[0]].number}",
            "one path per value",
            "remove one of the lines",
        )
        for line in lines
        if first.setdefault(line.cells[0], line).cells != line.cells
    ]


def _crossings(path: Path, lines: list[_Line]) -> list[Fault]:
    """Report equal labels at a level that differ above it: the level would not be one node."""
    faults = []
    for level in range(1, len(lines[0].cells) - 1):
        first: dict[str, _Line] = {}
        for line in lines:
            other = first.setdefault(line.cells[level], line)
            if other.cells[level + 1] != line.cells[level + 1]:
                found = f"the label at level {level} has another label above it here than on line {other.number}"
                faults.append(Fault(f"{path}:{line.number}", found, "one label above each label", "rename one of them"))
    return faults


def build_hierarchy(column: Mapping[str, Any], base: Path | None, path: KeyPath, faults: Faults) -> Hierarchy | None:
    """Return the column's hierarchy; None if it has none or a fault was noted."""
    given = column.get("hierarchy")
    if given is None:
        return None
    if isinstance(given, str | Path):
        return _from_file(given, base, path, faults)
    if not isinstance(given, Mapping):
        faults.add(path, f"is {fault_value(given)}", rows_of(PolicySection.COLUMNS)["hierarchy"].allowed)
        return None
    stated = faults.check(rows_of(PolicySection.HIERARCHY), given, path)
    return None if stated is None else _built(stated, column, path, faults)


def _from_file(given: str | Path, base: Path | None, path: KeyPath, faults: Faults) -> Hierarchy | None:
    if not str(given).strip():
        faults.add(path, "is empty", "the path of a hierarchy file", "name the file")
        return None
    try:
        return read_arx((base or Path()) / given)
    except PolicyError as error:
        faults.add(path, "cannot be used", remedy="see the lines about the file")
        faults.extend(path, error.faults)
        return None


def _built(stated: dict[str, Any], column: Mapping[str, Any], path: KeyPath, faults: Faults) -> Hierarchy | None:
    builders = [name for name in rows_of(PolicySection.HIERARCHY) if name != "origin"]
    asked = [name for name in builders if name in stated]
    if len(asked) != 1:
        allowed = f"exactly one of {', '.join(builders)}"
        faults.add(path, f"names {len(asked)} builders", allowed, "keep one")
        return None
    name = asked[0]
    inner = (*path, name)
    if "origin" in stated and name != "interval":
        faults.add((*path, "origin"), "is allowed beside interval only", remedy="remove origin")
    if name == "group" and all(isinstance(size, int) for size in stated[name]) and not column.get("order"):
        faults.add(inner, "needs the column's order", "order = [...]", "add the order, low to high")
        return None
    misfit = {"interval": ("date", "category"), "date": ("number",)}.get(name, ())
    if column.get("kind") in misfit:
        faults.add(inner, f"cannot read the kind {column['kind']}", remedy="correct kind or the builder")
    try:
        return _make(name, stated, column.get("order") or ())
    except ValueError as error:
        allowed = rows_of(PolicySection.HIERARCHY)[name].allowed
        faults.add(inner, f"is {fault_value(stated[name])}", allowed, str(error))
        return None


def _make(name: str, stated: Mapping[str, Any], order: Sequence[str]) -> Hierarchy:
    chosen = stated[name]
    if name == "interval":
        return IntervalHierarchy(
            tuple(_builder_decimal(width) for width in chosen), _builder_decimal(stated.get("origin", 0))
        )
    if name == "prefix":
        return PrefixHierarchy(tuple(chosen))
    if name == "group":
        return text_sets(chosen) if chosen and isinstance(chosen[0], list) else text_runs(order, chosen)
    return DateHierarchy(tuple(part for part in chosen if part in DATE_PARTS))


def _builder_decimal(number: float) -> Fraction:
    """Return the decimal that was written: 0.1 is a tenth here, not the float nearest to it."""
    return Fraction(Decimal(repr(number)))
