"""Reads hierarchy files in ARX's form: one line per value, its labels level by level, ``*`` at the end."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from seriatim.errors import Fault, PolicyError
from seriatim.model.hierarchies import PathHierarchy, path_hierarchy
from seriatim.model.input_bounds import LARGEST_HIERARCHY
from seriatim.model.scale import TOP
from seriatim.policies.policy_files import read_policy_bytes

_SEPARATORS = (";", "\t", ",")
_MOST_FAULTS = 20
"""The most faults per file to report: a wrong separator would otherwise fill the screen."""


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    cells: list[str]


def read_arx(path: Path) -> PathHierarchy:
    """Return the hierarchy of an ARX file; every fault names file and line."""
    text = _decoded(path, read_policy_bytes(path, "hierarchy", LARGEST_HIERARCHY))
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
