"""The serial defences as a policy names them: invariant, historical, lineage. From a view and a history to a draft."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.defences.series.contract import (
    LINEAGE_SIZE,
    Draw,
    LongArray,
    Priors,
    SerialGrouping,
    SerialRules,
    WhenNotEligible,
)
from seriatim.defences.series.historical.safe_groups import historical_groups
from seriatim.defences.series.invariant import invariant_groups
from seriatim.defences.series.lineage.grouping import lineage_groups
from seriatim.defences.series.lineage.slots import Homes
from seriatim.defences.series.memory import Encounters, Memory, Published
from seriatim.defences.series.shuffle import Stage, serial_draft, stage_view
from seriatim.errors import Fault, PolicyError
from seriatim.model import Draft, History, Policy, PriorSets, SeriesState, View
from seriatim.model.history import no_history
from seriatim.model.identity import number_among
from seriatim.ports import Workers


def invariant(view: View, policy: Policy, state: SeriesState, workers: Workers) -> Draft:
    """m-invariance (Xiao and Tao 2007): people keep their set of values; see ``defences.invariant``."""
    stage, rules, draw = _ready(view, policy, state)
    memory = Memory.of(_pasts(state), stage.codes.person)
    return serial_draft(view, stage, invariant_groups(stage.codes, rules, memory, draw, workers), draw)


def historical(view: View, policy: Policy, state: SeriesState, workers: Workers) -> Draft:
    """(m, n)-historical safety (Riboni and Bettini): mode ``repair`` by default.

    Mode ``greedy`` is as printed, for comparison: it does not look at unions of groups, so that a draft of it may
    break ``union_safety`` and be refused.
    """
    assert policy.defence is not None
    stage, rules, draw = _ready(view, policy, state)
    greedy = policy.defence.mode == "greedy"
    memory = Encounters.of(_pasts(state), stage.codes.person)
    made = historical_groups(stage.codes, rules, memory, draw, workers, greedy)
    return serial_draft(view, stage, made, draw)


def lineage(view: View, policy: Policy, state: SeriesState, workers: Workers) -> Draft:
    """Closed lineages: nobody ever changes group, so a breach cannot spread."""
    stage, rules, draw = _ready(view, policy, state)
    made: SerialGrouping = lineage_groups(stage.codes, rules, Homes.of(_pasts(state)), draw, workers)
    return serial_draft(view, stage, made, draw)


def check_first(view: View, policy: Policy) -> None:
    """Refuse what a first release would be refused for before anything is made for it, a ledger least of all."""
    past = no_history()
    stage = stage_view(view, numbered(view, past), past.values)
    if policy.priors is not None:
        stage = _with_priors(view, stage, policy.priors)
    stage.codes.check(rules_of(policy))


def _ready(view: View, policy: Policy, state: SeriesState) -> tuple[Stage, SerialRules, Draw]:
    assert state.secret is not None
    history = state.history or no_history()
    draw = Draw(state.secret, state.n_releases + 1)
    stage = stage_view(view, numbered(view, history), history.values, chance=draw.chance("order"))
    if policy.priors is not None:
        stage = _with_priors(view, stage, policy.priors)
    return stage, rules_of(policy), draw


def _with_priors(view: View, stage: Stage, known: PriorSets) -> Stage:
    """The stage with everyone's set of possible values; different sets that say the same of this domain are one."""
    number, priors = known.of_rows(view.table.data, view.respondent)
    flags = np.array([prior.flags(stage.domain) for prior in priors], dtype=np.bool_).reshape(-1, len(stage.domain))
    possible, same = np.unique(flags, axis=0, return_inverse=True)
    of_record = same.reshape(-1)[number[stage.rows]].astype(np.int32)
    return replace(stage, codes=replace(stage.codes, priors=Priors(of_record, possible)))


def numbered(view: View, history: History) -> LongArray:
    """Everyone's number in the series: those known by their place in the history, newcomers after them."""
    if view.respondent is None:
        raise PolicyError(Fault("policy: series.respondent", "missing", "the column that names the person", "name it"))
    column = view.table.data.column(view.respondent)
    column = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    number, _ = number_among(pc.cast(history.respondents, pa.string()), pc.cast(column, pa.string()))
    return number.astype(np.int64)


def rules_of(policy: Policy) -> SerialRules:
    """What ``[promise] m, n``, ``[defence]`` and ``[adversary]`` say; publishing has chosen n by then."""
    assert policy.defence is not None
    asked, further, known = policy.terms.further, policy.defence.further, policy.adversary or {}
    if "m" not in asked:
        raise PolicyError(Fault("policy: promise.m", "missing", "2 or more", "say how many values must stay possible"))
    m = int(asked["m"])
    return SerialRules(
        m,
        int(asked.get("n") or 1),
        known.get("lifespan"),
        further.get("group_cap"),
        bool(further.get("sticky", True)),
        WhenNotEligible(further.get("when_not_eligible", "defer")),
        int(further.get("lineage_size") or LINEAGE_SIZE),
    )


def _pasts(state: SeriesState) -> list[Published]:
    return [Published.of(past) for past in state.history or no_history()]
