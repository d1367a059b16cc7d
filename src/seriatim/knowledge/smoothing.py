"""Beliefs about every appearance in a history: forward in time, and looking back from the end.

Forward is exact inside each group and along each person's chain (Riboni, Pareschi and Bettini, sections 5.2 and 5.3,
with a filter instead of the product of marginals). Later releases also say something about EARLIER values: messages
then travel along chains and through groups until they settle. A pair of people who meet again would be counted again;
the messages of a group therefore weigh less the more its people stay together, and the less values change in between
(``SequenceModel.coupling``). That weight was fitted to exact joint models, not derived; at 15 people and more in
a group the result is a lower bound of what an ideal adversary would know.

Revised beliefs are what is believed about people before a release, from the releases so far. Both the defence
``sequence`` and the promise ``j`` need it; it is a function of the history alone, so that they agree. Only the newest
releases count (``WINDOW``): evidence fades with every change of a value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.kernels.arrays import Bytes, Flags, Floats, Ints
from seriatim.kernels.belief.chains import (
    ChainEvidence,
    filter_states,
    repeated_meeting_weights,
    smooth_messages,
    start_states,
)
from seriatim.kernels.belief.group_messages import EXACT, IMPOSSIBLE, PROPAGATED
from seriatim.knowledge._posterior import (
    MessageGroups,
    Rule,
    beliefs_after_groups,
    beliefs_after_messages,
    write_messages,
)
from seriatim.knowledge.appearances import Appearances, appearances_of
from seriatim.knowledge.sequence_model import SequenceModel
from seriatim.knowledge.sequential_adversary import SequentialAdversary
from seriatim.model.history import History

SWEEPS = 8
FADINGS = (1.5, 1.0, 0.5, 0.0)
"""Powers of the coupling with which a group's evidence fades over a step, the boldest first; 0 never fades.

Against exact joint models with the steps of three real panels, 1 counts people who stay together too little and looks
back too cautiously, 2 and more counts stable groups too often. Over 24 releases of a made-up world in which a disease
never changes, 1.5 counts them too often as well: :func:`is_bold` tells.
"""
_BOLD = 0.02
CAREFUL = 0.2
"""The weight of the careful reading, in which people who meet again never say anything new: their evidence never fades.

Messages in loops count some evidence twice however they are weighed, which shows in beliefs that are nearly certain:
where the boldest reading is above .99, exact joint models with the steps of four real panels believe .96 to .99. With a
fifth of the careful one, which is then above .95 itself, they believe .998 and more.
"""
_DAMPED = 0.5
_LEAST = 1e-12
_SETTLED = 1e-4


class SweepPace(NamedTuple):
    """How looking back goes: sweeps over people and groups, and how fast what a group said fades."""

    sweeps: int = SWEEPS
    fading: float = FADINGS[0]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class KnownBefore:
    """What is known about people from releases before: states, whom it is about, and when they appeared last."""

    state: Floats
    met: Flags
    last: Ints

    @classmethod
    def nothing(cls, rows: Appearances, model: SequenceModel) -> KnownBefore:
        """Return that nobody was met before."""
        n = len(rows.people.ptr) - 1
        return cls(np.zeros((n, model.n_states)), np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.int32))

    def copy(self) -> KnownBefore:
        return KnownBefore(self.state.copy(), self.met.copy(), self.last.copy())


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class SmoothedBeliefs:
    """Beliefs about appearances, a row each, and how they were computed."""

    beliefs: Floats
    log_messages: Floats
    """What groups said last, as logarithms; the largest of a row is 0."""
    n_propagated: int
    """Appearances in groups too large for exact counting."""
    n_impossible: int
    """Groups that contradict the knowledge."""
    begin: Floats
    """(people, states): what was known before everyone's first appearance here."""
    after_first: KnownBefore
    """What is known about everyone after the first release here."""
    after_last: KnownBefore
    """What is known about everyone after the last one."""


_NONE = KnownBefore(np.empty((0, 0)), np.empty(0, dtype=np.bool_), np.empty(0, dtype=np.int32))


def no_evidence(rows: Appearances) -> Bytes:
    """Return evidence that says nothing: every value that a person's group published is possible."""
    shown = np.diff(rows.groups.val_ptr)
    of_group = np.zeros((len(shown), rows.n_values), dtype=np.uint8)
    of_group[np.repeat(np.arange(len(shown)), shown), rows.groups.val] = 1
    evidence: Bytes = of_group[rows.group]
    return evidence


def release_by_release(rows: Appearances, model: SequenceModel, rule: Rule, evidence: Bytes) -> SmoothedBeliefs:
    """Return beliefs after each release alone: the class prior and the group, without any history."""
    prior = model.prior[rows.people.cls] * evidence
    return _of_groups(rows.groups, prior, rule)


def look_forward(
    rows: Appearances, model: SequenceModel, rule: Rule, evidence: Bytes, before: KnownBefore | None = None
) -> SmoothedBeliefs:
    """Return beliefs about each appearance, from its release and those before; ``before`` is known from older ones."""
    known = KnownBefore.nothing(rows, model) if before is None else before.copy()
    first, begin, begun = known, np.zeros_like(known.state), np.zeros_like(known.met)
    beliefs = np.zeros((len(rows.person), rows.n_values))
    messages = np.zeros_like(beliefs)
    propagated = impossible = 0
    bounds = np.searchsorted(rows.release, np.arange(len(rows.group_of_release)))
    for at in range(len(rows.group_of_release) - 1):
        here = slice(int(bounds[at]), int(bounds[at + 1]))
        who, now = rows.person[here], rows.time[here]
        # one release at a time: what it says about somebody is known before the next
        ahead = predicted_states(model, known.state[who], known.met[who], now - known.last[who], rows.people.cls[here])
        fresh = ~begun[who]
        begin[who[fresh]], begun[who] = ahead[fresh], True
        found = _of_groups(_groups_of_release(rows, at), model.beliefs_of(ahead) * evidence[here], rule)
        beliefs[here], messages[here] = found.beliefs, found.log_messages
        propagated, impossible = propagated + found.n_propagated, impossible + found.n_impossible
        after = np.empty_like(ahead)
        filter_states(model.chain, ahead, found.beliefs, after)
        known.state[who], known.met[who], known.last[who] = after, True, now
        first = known.copy() if at == 0 else first
    return SmoothedBeliefs(
        beliefs=beliefs,
        log_messages=messages,
        n_propagated=propagated,
        n_impossible=impossible,
        begin=begin,
        after_first=first,
        after_last=known,
    )


def predicted_states(model: SequenceModel, state: Floats, met: Flags, gap: Ints, cls: Ints) -> Floats:
    """Return the states before an appearance: from the last one, or from the prior for people not met yet."""
    cls, fresh = np.ascontiguousarray(cls), np.empty_like(state)
    ahead = model.carried(state, cls, np.maximum(np.where(met, gap, 1), 1).astype(np.int32))
    start_states(model.chain, cls, fresh)
    lost = ahead.sum(axis=1) <= 0.0  # the knowledge says that nobody is seen again: it was wrong about them
    chosen: Floats = np.where((met & ~lost)[:, None], ahead, fresh)
    return chosen


def look_back(
    rows: Appearances,
    model: SequenceModel,
    evidence: Bytes,
    forward: SmoothedBeliefs,
    pace: SweepPace | None = None,
) -> SmoothedBeliefs:
    """Return beliefs about each appearance from all releases, also the later ones."""
    own = rows.people
    sweeps, fading = pace or SweepPace()
    # values that change soon say little about other releases
    c = model.coupling**fading
    rho = repeated_meeting_weights(rows.groups.ptr, rows.person, own, rows.group, rows.time, c)[rows.group]
    possible, log_lam = evidence.copy(), forward.log_messages.copy()
    to_group, lam, beliefs = (np.zeros_like(forward.beliefs) for _ in range(3))
    how = np.zeros(0, dtype=np.int8)
    for _ in range(sweeps):
        before = beliefs.copy()
        smooth_messages(model.chain, own, forward.begin, ChainEvidence(possible, log_lam, rho), to_group, beliefs)
        if np.abs(beliefs - before).max(initial=0.0) < _SETTLED:
            break
        how = write_messages(to_group, rows.groups, lam)
        _narrow(possible, lam, (how == EXACT)[rows.group])
        # undamped, messages between groups that share people swing without end
        log_lam = _DAMPED * log_lam + (1.0 - _DAMPED) * np.log(np.maximum(lam, _LEAST))
    smooth_messages(model.chain, own, forward.begin, ChainEvidence(possible, log_lam, rho), to_group, beliefs)
    return SmoothedBeliefs(
        beliefs=beliefs,
        log_messages=log_lam,
        n_propagated=int(rows.groups.sizes[how == PROPAGATED].sum()) if len(how) else forward.n_propagated,
        n_impossible=max(forward.n_impossible, int((how == IMPOSSIBLE).sum())),
        begin=forward.begin,
        after_first=forward.after_first,
        after_last=forward.after_last,
    )


def is_bold(beliefs: Floats, truth: Ints) -> bool:
    """Return whether beliefs claim more than they know: sum p^2 exceeds belief in the truth by more than chance would.

    Calibrated beliefs have equal means of both; ``truth`` has the true value of each row.
    """
    if len(truth) < 2:
        return False
    # a calibrated belief p is right with p: its mean square is its mean in the truth
    excess = (beliefs**2).sum(axis=1) - beliefs[np.arange(len(truth)), truth]
    return bool(excess.mean() > _BOLD + 2.0 * excess.std() / np.sqrt(len(truth)))


def with_care(bold: SmoothedBeliefs, careful: SmoothedBeliefs) -> SmoothedBeliefs:
    """Return beliefs of which a share of ``CAREFUL`` is the careful reading."""
    return replace(bold, beliefs=(1.0 - CAREFUL) * bold.beliefs + CAREFUL * careful.beliefs)


def _narrow(possible: Bytes, lam: Floats, exact: Flags) -> None:
    """Exclude what no assignment of a group allows; keep what is left of a row if that would be nothing."""
    left = possible.astype(np.bool_) & ((lam > 0.0) | ~exact[:, None])
    keeps = left.any(axis=1)
    possible[keeps] = left[keeps]


def _of_groups(groups: MessageGroups, known: Floats, rule: Rule) -> SmoothedBeliefs:
    lam = np.empty_like(known)
    how = write_messages(known, groups, lam)
    told = np.log(np.maximum(lam, _LEAST))
    if rule == "bayes":
        found = beliefs_after_messages(known, groups, lam, how)
    else:
        found = beliefs_after_groups(known, groups, rule)
    return SmoothedBeliefs(
        beliefs=found.beliefs,
        log_messages=told,
        n_propagated=int(groups.sizes[how == PROPAGATED].sum()),
        n_impossible=found.n_impossible,
        begin=_NONE.state,
        after_first=_NONE,
        after_last=_NONE,
    )


def _groups_of_release(rows: Appearances, at: int) -> MessageGroups:
    first, last = int(rows.group_of_release[at]), int(rows.group_of_release[at + 1])
    ptr, val_ptr = rows.groups.ptr[first : last + 1], rows.groups.val_ptr[first : last + 1]
    val = rows.groups.val[val_ptr[0] : val_ptr[-1]] if last > first else rows.groups.val[:0]
    cnt = rows.groups.cnt[val_ptr[0] : val_ptr[-1]] if last > first else rows.groups.cnt[:0]
    return MessageGroups(ptr - ptr[0], val_ptr - val_ptr[0], np.ascontiguousarray(val), np.ascontiguousarray(cnt))


WINDOW = 8


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RevisedBeliefs:
    """Beliefs about people before a release."""

    beliefs: Floats
    """(people, values), rows sum to 1."""
    values: pa.Array


def revised_beliefs(
    history: History, respondents: pa.Array, values: pa.Array, known: SequentialAdversary
) -> RevisedBeliefs:
    """Return what is believed about ``respondents`` before the release after ``history``.

    ``values`` are those that occur in the release; ones that the history does not have are added to its own.
    """
    # those of the history keep their places: its states are numbered by them
    fresh = [value for value in values.to_pylist() if value not in set(history.values.to_pylist())]
    domain = pa.array([*history.values.to_pylist(), *fresh])
    window = History(history.respondents, domain, history.releases).newest(WINDOW)
    rows = appearances_of(window, known.times_of(past.number for past in window))
    model = replace(known, classes={}).model_for(rows, window)  # one class: the defence and the promise must agree
    found = look_forward(rows, model, known.rule, no_evidence(rows)).after_last
    texts = pc.cast(rows.respondents, pa.string()) if len(rows.respondents) else pa.array([], pa.string())
    place = pc.index_in(pc.cast(respondents, pa.string()), value_set=texts).fill_null(-1).to_numpy(zero_copy_only=False)
    met, n = place >= 0, len(place)
    (now,) = known.times_of([history.releases[-1].number + 1 if len(history) else 1])
    state, last = np.zeros((n, model.n_states)), np.zeros(n, dtype=np.int32)
    state[met], last[met] = found.state[place[met]], found.last[place[met]]
    ahead = predicted_states(model, state, met, now - last, np.zeros(n, dtype=np.int32))
    beliefs = model.beliefs_of(ahead)
    return RevisedBeliefs(beliefs / np.maximum(beliefs.sum(axis=1, keepdims=True), 1e-300), domain)
