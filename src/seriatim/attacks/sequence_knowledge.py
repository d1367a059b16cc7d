"""Sequence: follows people whose values change, as someone who knows how values follow each other.

Riboni, Pareschi and Bettini's attack (JS-reduce, section 4.5), made stronger: exact posteriors, gaps in dates, and
looking back, since a later release also reveals earlier values. People are people here, whatever their values do;
values that never change are the identity step, with the findings of the exclusion attack as evidence.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from seriatim.attacks.exclusion_rules import prepare
from seriatim.attacks.traces_by_person import trace_flags
from seriatim.attacks.twin_sets import determined
from seriatim.errors import AdversaryError, Fault
from seriatim.kernels.arrays import Bytes, Floats, Ints, Longs
from seriatim.knowledge.appearances import Appearances, appearances_of
from seriatim.knowledge.sequence_model import SequenceModel
from seriatim.knowledge.sequential_adversary import SequentialAdversary
from seriatim.knowledge.smoothing import (
    FADINGS,
    KnownBefore,
    SmoothedBeliefs,
    SweepPace,
    is_bold,
    look_back,
    look_forward,
    no_evidence,
    release_by_release,
    with_care,
)
from seriatim.model.history import History

Look = Literal["forward", "back"]
WRONG_TOO_OFTEN = 0.8
"""An adversary whose certain beliefs are right less often than this is tempered before it judges."""
MOST_VALUES = 100
"""With more values people are followed only when asked: the table of steps is a square, and learnt from little."""
_TEMPERED = (0.05, 0.1, 0.2, 0.4, 0.7)


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class SequenceBeliefs:
    """What is believed about every appearance. For the publisher's eyes only: it names people and values."""

    rows: Appearances
    values: pa.Array
    model: SequenceModel
    adversary: SequentialAdversary
    prior: Floats
    """What the class alone says, a row per appearance."""
    once: SmoothedBeliefs
    forward: SmoothedBeliefs
    back: SmoothedBeliefs | None
    known: Ints
    """Rows whose value the adversary was told."""

    @property
    def beliefs(self) -> Floats:
        """Return the beliefs asked for, a row per appearance: looking back, or forward only."""
        return self.forward.beliefs if self.back is None else self.back.beliefs

    @property
    def respondents(self) -> list[Any]:
        """Return the respondent of each row, None for a counterfeit."""
        ids = self.rows.respondents.to_pylist()
        return [ids[who] if who < len(ids) else None for who in self.rows.person.tolist()]

    @cached_property
    def judged(self) -> Longs:
        """Return the rows that count: no counterfeits, and nobody whose value was told."""
        counts = np.ones(len(self.rows.person), dtype=np.bool_)
        counts[self.known] = False
        return np.intersect1d(self.rows.real, np.flatnonzero(counts))

    def in_truth(self, beliefs: Floats) -> Floats:
        """Return the belief in the true value of each judged row."""
        if beliefs.shape != (len(self.rows.person), len(self.values)):
            raise AdversaryError(Fault("beliefs", f"shape {beliefs.shape}", "a row per row, a column per value"))
        return beliefs[self.judged, self.rows.value[self.judged]]

    def of(self, respondent: Hashable) -> list[dict[Any, float]]:
        """Return what is believed about each appearance of a person, in order of time."""
        ids = self.rows.respondents.to_pylist()
        if respondent not in ids:
            raise AdversaryError(Fault("respondent", "not in the history", "someone who was published"))
        at = ids.index(respondent)
        own, names = self.rows.people, self.values.to_pylist()
        found = self.beliefs[own.rows[own.ptr[at] : own.ptr[at + 1]]]
        return [{names[s]: float(row[s]) for s in np.flatnonzero(row > 0)} for row in found]


def sequence(
    history: History,
    adversary: SequentialAdversary | SequenceModel | None = None,
    look: Look = "forward",
    *,
    times: Sequence[int] | None = None,
) -> SequenceBeliefs:
    """Return what is believed about every appearance in a history.

    ``look = "back"`` uses later releases as well. ``times`` has a whole number for each release, in which gaps are
    counted; without it those of the adversary, or the number of the release.
    """
    if look not in ("forward", "back"):
        raise AdversaryError(Fault("look", "unknown", "forward, back"))
    known = adversary if isinstance(adversary, SequentialAdversary) else SequentialAdversary(model=adversary)
    if not any(len(past.person) for past in history):
        found = "releases that publish nobody" if len(history) else "no releases"
        raise AdversaryError(Fault("history", found, "at least one published record"))
    times = known.times_of(past.number for past in history) if times is None else times
    rows = appearances_of(history, times)
    model = known.model_for(rows, history)
    if known.classes:
        # classes are numbered as the model knows them, so they come after the model
        rows = appearances_of(history, times, known.class_numbers(history, model))
    return beliefs_of_case(KnownHistory(history=history, rows=rows, model=model, adversary=known, look=look))


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class KnownHistory:
    """A history, or the end of one, and what is known about it."""

    history: History
    rows: Appearances
    model: SequenceModel
    adversary: SequentialAdversary
    look: Look
    before: KnownBefore | None = None
    """What is known from releases before these."""


def beliefs_of_case(case: KnownHistory) -> SequenceBeliefs:
    """Return what is believed about every appearance of a case.

    Knowledge of runs of values is weighed with what it says of the last value alone, half and half: real people neither
    forget how long they stayed nor all follow the run. On real panels runs alone are certain too often, and the last
    value alone is certain and wrong about people who stay with something unusual.
    """
    found = _believed(case)
    shorter = case.model.of_last_value()
    if shorter is None:
        return found
    before = case.before
    if before is not None:
        # a shorter run has fewer states: what is believed of a run says what is believed of its last value
        before = KnownBefore(case.model.beliefs_of(before.state), before.met, before.last)
    other = _believed(replace(case, model=shorter, before=before))
    back = None if found.back is None or other.back is None else _weighed(found.back, other.back)
    return replace(found, forward=_weighed(found.forward, other.forward), back=back)


def _weighed(one: SmoothedBeliefs, other: SmoothedBeliefs) -> SmoothedBeliefs:
    return replace(one, beliefs=(one.beliefs + other.beliefs) / 2.0)


def _believed(case: KnownHistory) -> SequenceBeliefs:
    rows, known = case.rows, case.adversary
    model = case.model.with_gaps(np.unique(rows.people.gap))
    evidence = no_evidence(rows)
    told = _told(rows, known, evidence)
    if model.constant:
        _exclude(case.history, rows, evidence)
    once = release_by_release(rows, model, known.rule, evidence)
    forward = look_forward(rows, model, known.rule, evidence, case.before)
    found = SequenceBeliefs(
        rows=rows,
        values=case.history.values,
        model=model,
        adversary=known,
        prior=model.prior[rows.people.cls],
        once=once,
        forward=forward,
        back=None,
        known=told,
    )
    return found if case.look == "forward" else _looking_back(found, evidence)


def _looking_back(found: SequenceBeliefs, evidence: Bytes) -> SequenceBeliefs:
    """Return the beliefs with later releases as evidence; people who stay together count less if they claim too much.

    An attacker could see as much by publishing people they know. Otherwise being wrong would pass for safety.
    """
    rows, model = found.rows, found.model
    # only here can an attacker be careful: constants are exact, and runs are weighed with the last value below
    one_step = model.n_states == rows.n_values and not model.constant
    careful = look_back(rows, model, evidence, found.forward, SweepPace(fading=FADINGS[-1])) if one_step else None
    for fading in FADINGS:
        back = look_back(rows, model, evidence, found.forward, SweepPace(fading=fading))
        if careful is not None:  # runs of values are weighed with the last value alone instead
            back = with_care(back, careful)
        if model.constant or not is_bold(back.beliefs[found.judged], rows.value[found.judged]):
            break
    return replace(found, back=back)


def tempered_beliefs(case: KnownHistory) -> tuple[SequenceBeliefs, float]:
    """Return the beliefs of an adversary who is not over-confident, and how much it was tempered (0 for not at all).

    Gain rewards over-confidence: a bound that counts certain beliefs must not be judged by someone who is certain and
    wrong. Forced values (the identity step and its evidence) are never wrong.
    """
    found, weight = beliefs_of_case(case), 0.0
    for weight in (0.0, *_TEMPERED):
        if weight:
            found = beliefs_of_case(replace(case, model=case.model.tempered(weight)))
        sure = found.beliefs[found.judged].max(axis=1, initial=0.0) > found.adversary.sure
        right = found.in_truth(found.beliefs) > found.adversary.sure
        if not sure.any() or right.sum() >= WRONG_TOO_OFTEN * sure.sum():
            break
    return found, weight


def _told(rows: Appearances, known: SequentialAdversary, evidence: Bytes) -> Ints:
    """Write the values of compromised people into the evidence, and return their rows."""
    if not known.compromised and not known.share_known:
        return np.empty(0, dtype=np.int32)
    n_counterfeits = len(rows.people.ptr) - 1 - rows.n_people
    hit = np.append(known.knows(rows.respondents), np.zeros(n_counterfeits, dtype=np.bool_))
    told = np.flatnonzero(hit[rows.person]).astype(np.int32)
    # everything else is excluded for them, at every appearance
    evidence[told] = 0
    evidence[told, rows.value[told]] = 1
    return told


def _exclude(history: History, rows: Appearances, evidence: Bytes) -> None:
    """Exclude what the exclusion attack excludes and sums of groups forbid; only for values that never change."""
    names = {value: at for at, value in enumerate(history.values.to_pylist())}
    ids = {who: at for at, who in enumerate(rows.respondents.to_pylist())}
    for who, value in determined(history).items():
        at = ids.get(who)
        if at is None:
            continue  # erased
        own = rows.people.rows[rows.people.ptr[at] : rows.people.ptr[at + 1]]
        evidence[own] = 0
        evidence[own, names[value]] = 1
    ground = prepare(history)
    flags = trace_flags(ground.settled, rows.n_values)
    number = {int(first): at for at, first in enumerate(ground.traces.respondent)}
    for person in range(rows.n_people):
        found = number.get(int(rows.first_index[person]))
        if found is not None:
            own = rows.people.rows[rows.people.ptr[person] : rows.people.ptr[person + 1]]
            evidence[own] &= flags[found].astype(np.uint8)
