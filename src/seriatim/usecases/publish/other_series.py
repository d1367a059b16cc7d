"""Other series of the same ledger that hold these people: promises look at one series alone, a recipient does not."""

from __future__ import annotations

from seriatim.model import Policy, View
from seriatim.ports import Ledger


def other_series_notes(ledger: Ledger, policy: Policy, view: View) -> tuple[str, ...]:
    """Return a note for every other series of the ledger in which people of this view were published."""
    if policy.respondent is None or not len(view):
        return ()
    found = ledger.in_other_series(policy.series, view.cells(policy.respondent))
    return tuple(
        f"{n:,} of these people are also in the series {name!r} of this ledger: promises are about one series, "
        "and anyone who holds both can compare them"
        for name, n in found.items()
    )
