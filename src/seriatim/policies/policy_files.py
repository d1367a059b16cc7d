"""Reads the steward's files, and reports what goes wrong in one line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from seriatim.errors import Fault, PolicyError
from seriatim.model.input_bounds import LARGEST_DOCUMENT, given_file_bytes, is_too_deep
from seriatim.policies.positions import KeyPath, Position, key_positions

_PLACE = re.compile(r"^(.*) \(at line (\d+), column (\d+)\)$", re.DOTALL)


def read_policy_bytes(path: Path, what: str, largest: int = LARGEST_DOCUMENT) -> bytes:
    """Return the file's bytes; ``what`` names its purpose: policy, hierarchy, adversary."""
    return given_file_bytes(path, what, largest, PolicyError)


def read_policy_toml(path: Path, what: str) -> tuple[dict[str, Any], dict[KeyPath, Position]]:
    """Return the document and the positions of its keys."""
    content = read_policy_bytes(path, what)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        column = error.start - (content.rfind(b"\n", 0, error.start) + 1) + 1
        raise PolicyError(Fault(f"{path}:{line}:{column}", "not UTF-8", remedy="save the file as UTF-8")) from None
    if not text.strip():
        raise PolicyError(Fault(f"{path}:1:1", "the file is empty", remedy="seriatim init writes one to start from"))
    too_deep = Fault(f"{path}:1:1", "values are nested too deeply", remedy="flatten them")
    if is_too_deep(text):
        raise PolicyError(too_deep)
    try:
        return tomllib.loads(text), key_positions(text)
    except RecursionError:
        raise PolicyError(too_deep) from None
    except ValueError as error:
        raise PolicyError(_syntax_fault(path, text, str(error))) from None


def _syntax_fault(path: Path, text: str, message: str) -> Fault:
    placed = _PLACE.match(message)
    if placed:
        message, line, column = placed[1], int(placed[2]), int(placed[3])
    else:
        message = message.removesuffix(" (at end of document)")
        lines = text.replace("\r\n", "\n").split("\n")
        line, column = len(lines), len(lines[-1]) + 1
    return Fault(f"{path}:{line}:{column}", f"not valid TOML: {message}", remedy="correct the line")
