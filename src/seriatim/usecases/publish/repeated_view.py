"""Finds a view that comes again, or an older one after a newer: usually last month's file, taken by mistake.

The release would tell readers that nothing has changed, or that people have returned to what they were.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from seriatim.model import Verdict
from seriatim.model.history import PastView
from seriatim.model.name_order import name_order

_RULE = "view"
_YEAR_FIRST = re.compile(r"\D*(19|20)\d\d(\D|$|\d\d(\d\d)?(\D|$))")
"""Names that sort by time: the year is the first number in them. Other numbers may mean anything."""


def repeated_view(pasts: Sequence[PastView], digest: str, source: str) -> str | None:
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
