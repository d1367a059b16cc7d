"""The order of a view's records, and the digest of what is in it: neither depends on how the extract was sorted.

Records are put in the order of a keyed number of their respondent, else of their content. The key is the series' secret
and the number of the release: nobody outside can predict the order, a re-run repeats it, and shuffling the extract
changes nothing. So a refused draft cannot be drawn again until it passes.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from seriatim.model import CodedColumn, View
from seriatim.model.text_hash import WordArray, text_hashes
from seriatim.ports import Workers

_ODD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_WITHHELD = np.uint64(0x5851F42D4C957F2D)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ViewKeys:
    """A keyed number of every record."""

    who: WordArray
    """Of the respondent alone; of the content if the view has none."""
    content: WordArray
    """Of everything that can be published, and the respondent."""
    names: tuple[str, ...]
    """The columns in it."""


def view_keys(view: View, secret: bytes, workers: Workers) -> ViewKeys:
    """Return the keyed numbers of a view's records, the same in every release of the series."""
    hidden = {column.name: column for column in view.quasi}
    names = tuple(sorted(view.published_names()))

    def numbers(name: str | None) -> WordArray:
        if name is not None:
            return _cells(view, name, hidden.get(name), _key(secret, f"column {name}"))
        if view.respondent is None:
            return np.zeros(len(view), dtype=np.uint64)
        return text_hashes(view.cells(view.respondent), _key(secret, "respondent"))

    known, *cells = workers.map(numbers, (None, *names))
    content = np.where(view.suppressed, known ^ _WITHHELD, known)
    for column in cells:
        content = _mixed(content, column)
    return ViewKeys(known if view.respondent is not None else content, content, names)


def _cells(view: View, name: str, hidden: CodedColumn | None, key: int) -> WordArray:
    """Return the numbers of a column's cells: quasi-identifiers by their values, all others as they are."""
    if hidden is None:
        return text_hashes(view.cells(name), key)
    return text_hashes(hidden.scale.texts, key)[hidden.codes]


def view_order_digest(keys: ViewKeys, secret: bytes) -> str:
    """Return a digest of the records in any order; only someone with the secret can compute it."""
    digest = hashlib.blake2b("\0".join(keys.names).encode(), key=_derived(secret, "view"), digest_size=32)
    digest.update(np.sort(keys.content).astype("<u8").tobytes())
    return digest.hexdigest()


def view_in_order(view: View, keys: ViewKeys, secret: bytes, number: int) -> View:
    """Return the view in the order of this release; its ``rows`` say which row of the source each record was."""
    key = np.uint64(_key(secret, f"order of release {number}"))
    order, once = _order(_mixed(keys.who, key), keys.content)
    return replace(view.taken(order), once=once and view.respondent is not None)


def _order(who: WordArray, content: WordArray) -> tuple[npt.NDArray[np.int64], bool]:
    """Return the records by ``who``, and whether all of them differ there."""
    order = np.argsort(who)
    once = not (who[order[1:]] == who[order[:-1]]).any()
    return (order if once else np.lexsort((content, who))).astype(np.int64), once


def _mixed(numbers: WordArray, further: WordArray | np.uint64) -> WordArray:
    mixed = (numbers ^ further) * _ODD
    return mixed ^ (mixed >> _HALF)


def _derived(secret: bytes, purpose: str) -> bytes:
    return hashlib.blake2b(purpose.encode(), key=secret, digest_size=32).digest()


def _key(secret: bytes, purpose: str) -> int:
    return int.from_bytes(_derived(secret, purpose)[:8], "little")
