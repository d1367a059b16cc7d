"""Spellings of one value: promises count values, and ``flu`` beside ``flu `` would count as two."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.types as pat

from seriatim.errors import Fault

_NUMBER = re.compile(r"[-+]?(\d++(\.\d*+)?|\.\d++)([eE][-+]?\d++)?")


def spelling_faults(where: str, values: pa.Array) -> list[Fault]:
    """Report values of a sensitive text column that differ only in blanks or in how a number is written."""
    if not (pat.is_string(values.type) or pat.is_large_string(values.type)):
        return []
    n = _n_spellings(values.drop_null().to_pylist())
    if not n:
        return []
    found = f"{n} values differ from another one only in blanks or in how a number is written"
    return [
        Fault(where, found, "one spelling for each value", "clean the column: promises would count them as different")
    ]


def _n_spellings(texts: Iterable[str]) -> int:
    """Count the texts that are another spelling of one before them."""
    listed = list(texts)
    return len(listed) - len({_plain_spelling(text) for text in listed})


def _plain_spelling(text: str) -> str:
    plain = " ".join(unicodedata.normalize("NFC", text).split())
    return repr(float(plain)) if _NUMBER.fullmatch(plain) and not _is_code(plain) else plain


def _is_code(text: str) -> bool:
    """Return whether a number is written as codes are: 007 is not 7, and long digits are no measurement."""
    whole = text.lstrip("+-").split(".")[0]
    return len(text) > 15 or (len(whole) > 1 and whole.startswith("0"))
