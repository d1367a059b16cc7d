"""The shares of values that a history stores with its rows: whether they are those of its tables, and never fall."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model.history import JudgedHistory
from seriatim.promises.series.value_caps import value_caps_baseline

LongArray = npt.NDArray[np.int64]
MARK = "baseline"


def stored_shares(judged: JudgedHistory) -> tuple[LongArray, int]:
    """Return the largest stored share of every value, in millionths, and how many rows contradict another.

    A share must be the same for all rows of a value in a release and must never fall. Releases without shares, from
    before the series had caps, say nothing.
    """
    out, odd = np.zeros(max(len(judged.history.values), 1), dtype=np.int64), 0
    for past in judged.history.releases:
        share = past.marks.get(MARK)
        if share is None:
            odd += int(out.any())
            continue
        lowest = np.full(len(out), np.iinfo(np.int64).max)
        np.minimum.at(lowest, past.value, share)
        odd += int((share < out[past.value]).sum()) + int((share != lowest[past.value]).sum())
        np.maximum.at(out, past.value, share)
    return out, odd


def newcomer_shares_judged(judged: JudgedHistory) -> tuple[LongArray, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return the value of everyone in the draft's view (-1: never published), who is new, and who is withheld."""
    assert judged.draft is not None
    assert judged.view is not None
    rows = judged.draft.groups.slice(0, len(judged.view)).filter(pa.array(~judged.view.suppressed))
    values = pc.cast(judged.history.values, pa.string())
    code = pc.index_in(pc.cast(rows.column(judged.column), pa.string()), value_set=values).fill_null(-1)
    earlier = [past.person[past.person >= 0] for past in judged.history.releases[:-1]]
    known = np.unique(np.concatenate(earlier)) if earlier else np.empty(0, dtype=np.int64)
    old = pc.cast(judged.history.respondents.take(pa.array(known)), pa.string())
    new = pc.invert(pc.is_in(pc.cast(rows.column("respondent"), pa.string()), value_set=old))
    hidden = pc.is_null(rows.column("group"))
    return (
        code.to_numpy().astype(np.int64),
        new.to_numpy(zero_copy_only=False).astype(np.bool_),
        hidden.to_numpy(zero_copy_only=False).astype(np.bool_),
    )


def stored_shares_too_large(judged: JudgedHistory, stored: LongArray) -> int:
    """Count the values whose stored share is larger than the draft's people and those before allow."""
    if judged.draft is None or judged.view is None or judged.column is None:
        return 0
    before = np.zeros_like(stored)
    for past in judged.history.releases[:-1]:
        if MARK in past.marks:
            np.maximum.at(before, past.value, past.marks[MARK])
    value, new, _ = newcomer_shares_judged(judged)
    return int((stored > value_caps_baseline(value, new, before)).sum())
