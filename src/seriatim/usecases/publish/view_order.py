"""The order of a view's records, and the digest of what is in it: neither depends on how the extract was sorted.

Records are put in the order of a keyed number of their respondent, else of their content. The key is the series' secret
and the number of the release: nobody outside can predict the order, a re-run repeats it, and shuffling the extract
changes nothing. So a refused draft cannot be drawn again until it passes.

By its digest a view that comes again is found, or an older one after a newer: usually last month's file, taken by
mistake. The release would tell readers that nothing has changed, or that people have returned to what they were.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from seriatim.model import CodedColumn, Verdict, View
from seriatim.model.history import PastView
from seriatim.model.names import name_order
from seriatim.model.text_hash import WordArray, hashes_of
from seriatim.ports import Workers

_ODD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_WITHHELD = np.uint64(0x5851F42D4C957F2D)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordKeys:
    """A keyed number of every record."""

    who: WordArray
    """Of the respondent alone; of the content if the view has none."""
    content: WordArray
    """Of everything that can be published, and the respondent."""
    names: tuple[str, ...]
    """The columns in it."""


def record_keys(view: View, secret: bytes, workers: Workers) -> RecordKeys:
    """Return the keyed numbers of a view's records, the same in every release of the series."""
    hidden = {column.name: column for column in view.quasi}
    names = tuple(sorted(view.published_names()))

    def numbers(name: str | None) -> WordArray:
        if name is not None:
            return _cells(view, name, hidden.get(name), _key(secret, f"column {name}"))
        if view.respondent is None:
            return np.zeros(len(view), dtype=np.uint64)
        return hashes_of(view.cells(view.respondent), _key(secret, "respondent"))

    known, *cells = workers.map(numbers, (None, *names))
    # a record withheld from the start differs from the same record published: both are views of their own
    content = np.where(view.suppressed, known ^ _WITHHELD, known)
    for column in cells:
        content = _mixed(content, column)
    return RecordKeys(known if view.respondent is not None else content, content, names)


def _cells(view: View, name: str, hidden: CodedColumn | None, key: int) -> WordArray:
    """Return the numbers of a column's cells: quasi-identifiers by their values, all others as they are."""
    if hidden is None:
        return hashes_of(view.cells(name), key)
    return hashes_of(hidden.scale.texts, key)[hidden.codes]


def digest_in_any_case(keys: RecordKeys, secret: bytes) -> str:
    """Return a digest of the records in any order; only someone with the secret can compute it."""
    digest = hashlib.blake2b("\0".join(keys.names).encode(), key=_derived(secret, "view"), digest_size=32)
    digest.update(np.sort(keys.content).astype("<u8").tobytes())
    return digest.hexdigest()


def sorted_for_release(view: View, keys: RecordKeys, secret: bytes, number: int) -> View:
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


_RULE = "view"
_YEAR_FIRST = re.compile(r"\D*(19|20)\d\d(\D|$|\d\d(\d\d)?(\D|$))")
"""Names that sort by time: the year is the first number in them. Other numbers may mean anything."""


def found_again(pasts: Sequence[PastView], digest: str, source: str) -> str | None:
    """Say which release was made from this view, or from one whose file has a later date; None if none was."""
    if not pasts:
        return None
    same = [past.number for past in pasts if past.digest == digest]
    newest = pasts[-1]
    if same and same[-1] == newest.number:
        return f"the view is the same as that of the newest release, {newest.number}"
    if same:
        return f"the view is an older one, that of release {same[-1]}; the newest release is {newest.number}"
    if _is_older(source, newest.source):
        return f"the name of the view's file is older than that of the newest release, {newest.number}"
    return None


def judged_as_repeated(verdict: Verdict, found: str | None, again: bool) -> Verdict:
    """Return the verdict with the repetition: a note if it was asked for, else a reason to refuse."""
    if found is None:
        return verdict
    if again:
        return replace(verdict, notes=(*verdict.notes, f"{found}; it was published on request (--allow again)"))
    remedy = f"{_RULE}: check the file; if this is intended, use --allow again (again=True)"
    reasons = (*verdict.reasons, f"{_RULE}: {found}")
    return replace(verdict, reasons=reasons, remedies=(*verdict.remedies, remedy))


def _is_older(source: str, newest: str) -> bool:
    """Say whether one name sorts before another that differs from it in numbers only, the year first."""
    if not (_YEAR_FIRST.match(source) and _YEAR_FIRST.match(newest)):
        return False
    one, other = name_order(source), name_order(newest)
    return len(one) == len(other) and one[::2] == other[::2] and one[1::2] < other[1::2]
