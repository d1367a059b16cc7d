"""Faults of a policy: collected until the end, each with its position, in the steward's words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from seriatim.errors import Fault, PolicyError
from seriatim.model.policy_keys import RETIRED
from seriatim.model.promises import PROMISES
from seriatim.policies.shapes import Rows, shape_of

SECTIONS = ("series", "columns", "promise", "defence", "adversary")
_LONGEST = 60

KeyPath = tuple[str | int, ...]
Position = tuple[int, int]


class Faults:
    """Collects every fault of one policy. ``positions`` is None if the policy came as a mapping."""

    def __init__(self, source: str, positions: dict[KeyPath, Position] | None = None) -> None:
        self.source, self.positions = source, positions
        self.found: dict[Fault, Position] = {}
        """Each fault once, with the position it is sorted by."""
        self.faulty: set[KeyPath] = set()
        """Keys with an invalid value: checks between keys skip them."""

    def where(self, path: KeyPath) -> str:
        if self.positions is None:
            return self.source
        line, column = nearest_position(self.positions, path)
        return f"{self.source}:{line}:{column}"

    def add(self, path: KeyPath, says: str, allowed: str = "", remedy: str = "") -> None:
        """Add a fault of the key at this path; the message names the key and goes on with ``says``."""
        self._note(path, f"{fault_path(path)} {says}".lstrip(), allowed, remedy)

    def add_table(self, path: KeyPath, says: str, allowed: str = "", remedy: str = "") -> None:
        """Add a fault of the table at this path."""
        self._note(path, f"{fault_table(path)} {says}", allowed, remedy)

    def _note(self, path: KeyPath, found: str, allowed: str, remedy: str) -> None:
        self.extend(path, [Fault(self.where(path), found, allowed, remedy)])

    def extend(self, path: KeyPath, faults: Iterable[Fault]) -> None:
        """Add the faults of a file that is named at this path."""
        place = nearest_position(self.positions, path) if self.positions is not None else (0, 0)
        for fault in faults:
            self.found.setdefault(fault, place)

    def raise_if_any(self) -> None:
        if self.found:
            raise PolicyError(sorted(self.found, key=self.found.__getitem__))

    def check(self, rows: Rows, data: Mapping[Any, Any], path: KeyPath) -> dict[str, Any] | None:
        """Return the keys that are set, with defaults, or None after noting every fault."""
        try:
            return shape_of(rows.values()).model_validate(dict(data)).model_dump(exclude_none=True)
        except ValidationError as error:
            seen: set[KeyPath] = set()
            for detail in error.errors(include_url=False, include_context=False):
                inner = _inside(data, detail["loc"])
                if (*path, *inner) not in seen:
                    seen.add((*path, *inner))
                    self.faulty.add((*path, *inner[:1]))
                    self._explain(rows, path, inner, detail["type"], _at(data, inner))
            return None

    def sound(self, rows: Rows, data: Mapping[str, Any], path: KeyPath) -> dict[str, Any]:
        """Return the keys of the data that are valid, with defaults, once :meth:`check` has seen it."""
        rest = {key: value for key, value in data.items() if (*path, key) not in self.faulty and key in rows}
        known = [replace(row, required=False) for row in rows.values()]
        return shape_of(known).model_validate(rest).model_dump(exclude_none=True)

    def _explain(self, rows: Rows, path: KeyPath, inner: KeyPath, kind: str, value: Any) -> None:
        key, full = str(inner[0]) if inner else "", (*path, *inner)
        if kind == "extra_forbidden":
            self.unknown(full, list(rows))
        elif kind == "missing":
            self.add((*path, key), "is missing", rows[key].allowed, f"add {key} = ...")
        elif kind == "invalid_key":
            self.add(path, f"has a key that is not text: {fault_value(inner[-1] if inner else '')}", "text")
        else:
            self.add(full, f"is {fault_value(value)}", rows[key].allowed, fault_did_you_mean(value, rows[key].words))

    def unknown(self, path: KeyPath, allowed: list[str]) -> None:
        """Report a key that nothing reads: a misspelt promise must not pass unnoticed."""
        remedy = RETIRED.get(str(path[-1])) or fault_did_you_mean(path[-1], allowed) or "remove or rename it"
        self._note(path, f"unknown key {fault_path(path)}", ", ".join(allowed), remedy)


def fault_did_you_mean(value: Any, choices: Iterable[str]) -> str:
    """Return a hint if the word is close to one that is allowed."""
    close = get_close_matches(value.lower(), [*choices], n=1, cutoff=0.6) if isinstance(value, str) else []
    return f"did you mean {close[0]}?" if close else ""


def fault_value(value: Any) -> str:
    """Write a value of the policy in one short line."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        text = f"of type {type(value).__name__}"
    text = "".join(mark if mark.isprintable() else "?" for mark in text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def fault_path(path: KeyPath) -> str:
    """Return the name of a key as messages write it: ``[columns.age] order[2]``; of a section: ``[promise]``."""
    depth = _table_depth(path)
    table, key = _dotted(path[:depth]), _dotted(path[depth:])
    return f"[{table}] {key}".rstrip() if table else key


def fault_table(path: KeyPath) -> str:
    """Return the name of a table of the policy: ``[promise.disease]``."""
    return f"[{_dotted(path)}]"


def _table_depth(path: KeyPath) -> int:
    """Return how many parts name the table; the keys of an adversary file are in none."""
    if not path or path[0] not in SECTIONS:
        return 0
    of_a_column = path[0] == "columns" or (path[0] == "promise" and len(path) > 2 and path[1] not in PROMISES)
    return 2 if of_a_column else 1


def _dotted(path: KeyPath) -> str:
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            plain = part.isprintable() and len(part) <= _LONGEST and not any(mark in part for mark in ' ."[]')
            text += ("." if text else "") + (part if plain and part else fault_value(part))
    return text


def _inside(data: Any, loc: tuple[str | int, ...]) -> KeyPath:
    """Return the part of an error's path that exists in the data: the rest names branches of a union."""
    inner: KeyPath = ()
    for part in loc:
        in_list = isinstance(data, list | tuple) and isinstance(part, int) and part < len(data)
        if not in_list and not (isinstance(data, Mapping) and part in data):
            return inner or (part,)
        data = data[part]
        inner += (part,)
    return inner


def _at(data: Any, path: KeyPath) -> Any:
    for part in path:
        data = data.get(part) if isinstance(data, Mapping) else data[part]
    return data


def nearest_position(positions: dict[KeyPath, Position], path: KeyPath) -> Position:
    """Return the position of the path, or of the closest table around it."""
    while path and path not in positions:
        path = path[:-1]
    return positions.get(path, (1, 1))
