"""Prepares what a serial method takes from a view, a policy and a history, and makes a draft of its groups."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.defences.series.contract import (
    LongArray,
    SerialDraw,
    SerialMethod,
    SerialPriors,
    SerialRules,
    WhenNotEligible,
)
from seriatim.defences.series.inherited import ValuesLeft
from seriatim.defences.series.known_apart import known_apart
from seriatim.defences.series.memory import RememberedRows
from seriatim.defences.series.shuffle import ShuffledView, code_view, shuffled_draft
from seriatim.errors import Fault, PolicyError
from seriatim.model import Draft, History, Policy, PriorSets, SeriesState, View
from seriatim.model.candidate_values import Candidates
from seriatim.model.history import nothing_published
from seriatim.model.methods import method_named
from seriatim.model.text_hash import identity_numbers
from seriatim.ports import Workers


def serial_draft(method: SerialMethod, view: View, policy: Policy, state: SeriesState, workers: Workers) -> Draft:
    """Make a draft by a serial method: codes and memory go in, groups come out, rows are shuffled."""
    stage, rules, draw = _ready(view, policy, state)
    made = known_apart(method)(stage.codes, rules, _pasts(policy, state), draw, workers)
    return shuffled_draft(view, stage, made, draw, workers)


def check_first_release(view: View, policy: Policy) -> None:
    """Raise the errors that would stop a first release, before anything is made for it, such as a ledger."""
    past = nothing_published()
    stage = code_view(view, _number_request(view, past), past.values)
    if policy.adversary.priors is not None:
        stage = _with_priors(view, stage, policy.adversary.priors)
    stage.codes.check(_rules_of(policy))


def _ready(view: View, policy: Policy, state: SeriesState) -> tuple[ShuffledView, SerialRules, SerialDraw]:
    assert state.secret is not None
    history = state.history or nothing_published()
    draw = SerialDraw(state.secret, state.n_releases + 1)
    stage = code_view(view, _number_request(view, history), history.values, chance=draw.chance("order"))
    if policy.adversary.priors is not None:
        stage = _with_priors(view, stage, policy.adversary.priors)
    if state.candidates is not None:
        stage = _with_inherited(view, stage, history, state.candidates)
    stage = replace(stage, codes=replace(stage.codes, first=_first_cut(view, policy)))
    return stage, _rules_of(policy), draw


def _first_cut(view: View, policy: Policy) -> tuple[int, ...]:
    """Return the places of the columns that ``[defence] relation`` names."""
    assert policy.defence is not None
    relation = policy.defence.options.relation or ()
    return tuple(at for at, column in enumerate(view.quasi) if column.name in relation)


def _with_inherited(view: View, stage: ShuffledView, history: History, left: Candidates) -> ShuffledView:
    """Add what releases of another method leave possible to the stage."""
    assert view.respondent is not None
    of_record = left.sets_of(view.cells(view.respondent))[stage.rows]
    flags = left.flags(stage.domain)
    single = flags.sum(axis=1) == 1
    single[-1] = False  # strangers, though the table may have one value only
    inherited = ValuesLeft(of_record, flags, single[left.sets_of(history.respondents)])
    return replace(stage, codes=replace(stage.codes, inherited=inherited))


def _with_priors(view: View, stage: ShuffledView, known: PriorSets) -> ShuffledView:
    """Add everyone's set of possible values to the stage; sets that are equal on this domain become one."""
    number, priors = known.of_rows(view)
    flags = np.array([prior.flags(stage.domain) for prior in priors], dtype=np.bool_)
    told = np.array([prior.is_known for prior in priors], dtype=np.bool_)
    flags = np.column_stack((flags.reshape(len(priors), len(stage.domain)), told))
    sets, same = np.unique(flags, axis=0, return_inverse=True)
    of_record = same.reshape(-1)[number[stage.rows]].astype(np.int32)
    return replace(stage, codes=replace(stage.codes, priors=SerialPriors(of_record, sets[:, :-1], sets[:, -1])))


def _number_request(view: View, history: History) -> LongArray:
    """Return everyone's number in the series: known people by their position in the history, then newcomers."""
    if view.respondent is None:
        raise PolicyError(Fault("[series] respondent", "missing", "the column that identifies people", "add it"))
    column = view.cells(view.respondent)
    column = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    number, _ = identity_numbers(pc.cast(history.respondents, pa.string()), pc.cast(column, pa.string()))
    return number.astype(np.int64)


def _rules_of(policy: Policy) -> SerialRules:
    """Return what ``[promise]`` m and n, ``[defence]`` and ``[adversary]`` say; n is chosen by then."""
    assert policy.defence is not None
    terms, options = policy.terms.series, policy.defence.options
    if terms.m is None:
        raise PolicyError(Fault("[promise] m", "missing", "2 or more", "set how many values stay possible"))
    return SerialRules(
        terms.m,
        1 if terms.degree is None else terms.degree,
        lifespan=policy.adversary.lifespan,
        sticky=True if options.sticky is None else options.sticky,
        mode=policy.defence.mode,
        when_not_eligible=WhenNotEligible(policy.defence.leftovers or WhenNotEligible.DEFER),
        odds=terms.odds,
        cohort=options.cohort_size,
    )


def _pasts(policy: Policy, state: SeriesState) -> list[RememberedRows]:
    """Return the releases that the method goes on from; the marks of another method mean nothing to it."""
    first = 0 if state.candidates is None else state.candidates.until + 1
    row = method_named(policy.defence.method) if policy.defence is not None else None
    pasts = (past for past in state.history or nothing_published() if past.number >= first)
    return [
        RememberedRows.of(past if row is None or past.continued_by(row) else replace(past, marks={})) for past in pasts
    ]
