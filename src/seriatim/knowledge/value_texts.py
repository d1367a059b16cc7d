"""Values as text: knowledge files hold text, and a history's values may be numbers, dates or truth values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import pyarrow as pa


def value_texts(values: Iterable[Hashable]) -> list[str]:
    """Return the text of each value as a table would show it: 1 and 1.0 are the same, a date is written 2024-03-01."""
    held = list(values)
    try:
        texts = pa.array(held).cast(pa.string()).to_pylist()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, UnicodeEncodeError):
        texts = [str(value) for value in held]
    return ["" if text is None else str(text) for text in texts]
