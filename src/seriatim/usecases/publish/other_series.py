"""Other series of the same ledger that hold these people: promises look at one series alone, a recipient does not."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model import Policy, View
from seriatim.ports import Ledger


def other_series_notes(ledger: Ledger, policy: Policy, view: View) -> tuple[str, ...]:
    """Return a note for every other series of the ledger in which people of this view were published."""
    if policy.respondent is None or not len(view):
        return ()
    people = pc.cast(view.cells(policy.respondent), pa.string())
    found = []
    for name in ledger.series():
        if name == policy.series:
            continue
        known = pc.cast(ledger.history(name, newest=1).respondents, pa.string())
        n = pc.sum(pc.is_in(people, value_set=known, skip_nulls=True)).as_py() or 0
        if n:
            found.append(
                f"{n:,} of these people are also in the series {name!r} of this ledger: promises are about one series, "
                "and anyone who holds both can compare them"
            )
    return tuple(found)
