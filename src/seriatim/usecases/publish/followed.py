"""Follows people whose values change: what a sequential adversary believes about a draft and the releases before it.

The attack looks back over the newest releases only (``WINDOW``): evidence fades with every change of a value. What
older releases said about a person is kept in the ledger as one belief, with whether they were ever believed right with
certainty. So a late release costs what an early one does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from seriatim.attacks._sequence import SequenceBeliefs, SequenceCase, tempered_sequence
from seriatim.attacks._sequence_figures import sequence_certain_beliefs, sequence_figures
from seriatim.kernels.arrays import Flags
from seriatim.knowledge.appearances import Appearances, appearances_of
from seriatim.knowledge.knowledge_files import knowledge_of_adversary
from seriatim.knowledge.sequence_model import SequenceModel
from seriatim.knowledge.smoothing import Known
from seriatim.model import Estimate, Policy
from seriatim.model.history import History
from seriatim.model.judged import Judged

WINDOW = 8
"""Releases that are judged together; what came before counts as one belief per person."""


@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """What was found, and what the ledger keeps for the next release."""

    estimate: Estimate
    memory: pa.Table


def followed_name(column: str | None) -> str:
    """Return the name of a column's memory: letters, digits and _ only, since files are named after it."""
    text = (column or "").encode("utf-8").hex()
    return f"beliefs_{text}"


def followed_people(judged: Judged, policy: Policy, memory: Mapping[str, pa.Table]) -> Followed:
    """Run the sequence attack, looking back, on one sensitive column's history with the draft."""
    whole = judged.history
    kept = memory.get(followed_name(judged.column))
    first = max(len(whole) - WINDOW, 0)
    if first and (kept is None or not _continues(kept, whole, first)):
        first, kept = 0, None
    window = History(whole.respondents, whole.values, whole.releases[first:])
    known = knowledge_of_adversary(policy.adversary, _order_of(policy, judged.column))
    rows = appearances_of(window)
    model = known.model_for(rows, window)
    if known.classes:
        rows = appearances_of(window, None, known.class_numbers(window, model))
    before = _before(rows, model, kept, window) if first else None
    found, weight = tempered_sequence(SequenceCase(window, rows, model, known, "back", before))
    sure = _ever_sure(found, kept)
    n_people = len(np.unique(np.concatenate([past.person[past.person >= 0] for past in whole])))
    about = {"column": judged.column} if policy.sensitive[1:] else {}
    estimate = _estimate(found, int(sum(sure.values())), n_people, {"tempered": weight, **about})
    return Followed(estimate, _memory(found, sure, kept, window, first, len(whole)))


def _order_of(policy: Policy, column: str | None) -> tuple[str, ...] | None:
    rule = policy.columns.get(column or "")
    return rule.order if rule is not None else None


def _continues(kept: pa.Table, whole: History, first: int) -> bool:
    """Return whether a memory was written just before the releases that are looked at now."""
    upto = kept.column("upto").to_pylist()[:1]
    return bool(upto) and upto[0] == whole.releases[first - 1].number


def _before(rows: Appearances, model: SequenceModel, kept: pa.Table, window: History) -> Known:
    """Return what older releases say about the people of these."""
    known = Known.nothing(rows, model)
    place = {who: at for at, who in enumerate(rows.respondents.cast(pa.string()).to_pylist())}
    number = {str(value): at for at, value in enumerate(window.values.to_pylist())}
    columns = [kept.column(name).to_pylist() for name in ("respondent", "last", "values", "weights")]
    for who, last, values, weights in zip(*columns, strict=True):
        at = place.get(str(who))
        if at is not None and values:
            for value, weight in zip(values, weights, strict=True):
                if value in number:
                    known.state[at, model.start[number[value]]] = weight
            known.met[at], known.last[at] = known.state[at].sum() > 0, last
    return known


def _ever_sure(found: SequenceBeliefs, kept: pa.Table | None) -> dict[str, bool]:
    """Return for everyone in the window or the memory whether they were ever believed right with certainty."""
    _, right, raised = sequence_certain_beliefs(found, found.beliefs)
    flags: Flags = np.zeros(found.rows.n_people, dtype=np.bool_)
    flags[found.rows.person[found.judged[right & raised]]] = True
    ids = found.rows.respondents.cast(pa.string()).to_pylist()
    sure = (
        {}
        if kept is None
        else dict(zip(kept.column("respondent").to_pylist(), kept.column("sure").to_pylist(), strict=True))
    )
    for who, flag in zip(ids, flags.tolist(), strict=True):
        sure[who] = bool(sure.get(who)) or flag
    sure.pop(None, None)  # people who were erased
    return sure


def _memory(
    found: SequenceBeliefs, sure: dict[str, bool], kept: pa.Table | None, window: History, first: int, n_releases: int
) -> pa.Table:
    """Return what the next release needs: one belief per person from before its window, and who was ever sure."""
    moves = n_releases >= WINDOW  # the next window starts one release later
    after = found.forward.after_first
    names = [str(value) for value in window.values.to_pylist()]
    ids = found.rows.respondents.cast(pa.string()).to_pylist()
    state: dict[str, tuple[int, list[str], list[float]]] = {}
    if kept is not None and first:
        columns = [kept.column(name).to_pylist() for name in ("respondent", "last", "values", "weights")]
        state = {who: (last, values, weights) for who, last, values, weights in zip(*columns, strict=True)}
    if moves:
        beliefs = found.model.beliefs_of(after.state)
        for at in np.flatnonzero(after.met[: len(ids)]).tolist():
            held = np.flatnonzero(beliefs[at] > 0)
            state[ids[at]] = (int(after.last[at]), [names[s] for s in held], beliefs[at, held].tolist())
    upto = window.releases[0].number if moves else 0
    people = list(sure)
    empty: tuple[int, list[str], list[float]] = (0, [], [])
    held_by = [state.get(who, empty) for who in people]
    return pa.table(
        {
            "respondent": pa.array(people, pa.string()),
            "upto": pa.array([upto] * len(people), pa.int64()),
            "sure": pa.array([sure[who] for who in people], pa.bool_()),
            "last": pa.array([one[0] for one in held_by], pa.int64()),
            "values": pa.array([one[1] for one in held_by], pa.list_(pa.string())),
            "weights": pa.array([one[2] for one in held_by], pa.list_(pa.float64())),
        }
    )


def _estimate(found: SequenceBeliefs, n_sure: int, n_people: int, about: Mapping[str, object]) -> Estimate:
    figures = sequence_figures(found)
    share = n_sure / n_people if n_people else 0.0
    detail = {
        "sure": found.adversary.sure,
        "raised": found.adversary.raised,
        "people": n_sure,
        "hit_rate": figures.sure.hit_rate,
        "belief_before": figures.before,
        "belief_one_release": figures.one,
        "belief_series": figures.series,
        "belief_looking_back": figures.back,
        "expected_belief": figures.calibration.expected,
        "changed": figures.n_changed,
        "propagated": figures.propagated,
        "knowledge": found.model.kind,
        "releases": len(found.rows.group_of_release) - 1,
        **about,
    }
    return Estimate("sequence", share, share, share, n_people, detail=detail)
