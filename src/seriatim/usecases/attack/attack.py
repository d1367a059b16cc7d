"""Attacks a history, whoever made its releases: what an adversary with every release concludes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from seriatim.attacks.belief_figures import SequenceFigures, sequence_figures
from seriatim.attacks.exclusion_rules import PreparedHistory, estimate_once, estimate_share, prepare
from seriatim.attacks.group_intersection import ShrinkingCounts, shrinking, shrinking_by_register
from seriatim.attacks.method import rebuilt_cuts
from seriatim.attacks.refusals import ExitRule, refused_exits
from seriatim.attacks.sequence_knowledge import MOST_VALUES, sequence
from seriatim.attacks.twin_sets import certain_by_sharing, forced_and_determined
from seriatim.attacks.withheld_guesses import WithheldGuesses, withheld
from seriatim.defences import loaded
from seriatim.defences.series.caps import Caps
from seriatim.defences.series.contract import SerialRules, SerialView
from seriatim.errors import Fault, InputError, TableError
from seriatim.kernels.arrays import Longs, Singles
from seriatim.knowledge.appearances import appearances_of
from seriatim.knowledge.sequential_adversary import SequentialAdversary
from seriatim.knowledge.value_texts import value_texts
from seriatim.model.adversary import PriorSets
from seriatim.model.chart import Bars, Chart, ChartAxis, Line, Lines
from seriatim.model.history import History, people_numbered
from seriatim.model.methods import method_named
from seriatim.model.policy import Policy
from seriatim.model.recipients import Holder, Holdings
from seriatim.model.table_faults import header_of
from seriatim.model.verdict import Estimate
from seriatim.model.view import View
from seriatim.ports import Progress, no_progress
from seriatim.usecases.attack.assembly import AssembledHistory
from seriatim.usecases.other_series import OtherSeries, names_beside, together

if TYPE_CHECKING:
    from seriatim.attacks.learnt_guesses import LearntGuesses


@dataclass(frozen=True, slots=True)
class AdversaryPlan:
    """What the adversary knows, and how few possible values count."""

    compromised: float = 0.0
    """Share of people whose value the adversary knows beforehand."""
    seeds: tuple[int, ...] = (1, 2, 3, 4, 5)
    least: int = 3
    """People with fewer possible values than this are counted in the report."""
    priors: PriorSets | None = None
    """The values each person can have."""
    sequential: SequentialAdversary | None = None
    """The attacker who knows how values change; None runs it only where they do, with the history's own steps."""


@dataclass(frozen=True, slots=True)
class KnownAlgorithm:
    """What someone knows of how releases were made: the table behind one of them, and its policy."""

    view: View
    policy: Policy


@dataclass(frozen=True, slots=True)
class MethodFigures:
    """What the cuts that made the groups reveal to someone who knows the algorithm and where everyone lies."""

    n_cuts: int
    """Cuts by values that could be rebuilt; with none, the groups say no more than their values."""
    iterated: Estimate
    """People breached at the fixed point of cuts and exclusion."""
    below: float
    """The share of people not compromised who have fewer than ``least`` values left, over the same draws."""
    refused: Estimate | None = None
    """What it says about leavers that they had to wait; None unless the method decides by values when they go."""


@dataclass(frozen=True, slots=True)
class HeldShare:
    """What a holder of some releases concludes from them."""

    holder: Holder
    iterated: Estimate


@dataclass(frozen=True, slots=True)
class SeriesBeside:
    """What follows about the people of a series from the releases of others as well."""

    names: tuple[str, ...]
    iterated: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class AdversaryResult:
    """What the attacks found: counts only, no names and no values."""

    n_people: int
    releases: tuple[ShrinkingCounts, ...]
    """Intersection for each release, from the published groups alone."""
    once: Estimate
    """People breached when every conclusion is drawn once."""
    iterated: Estimate
    """People breached at the fixed point."""
    n_twin_sets: int
    n_twins: int
    """People who must hold the same value as someone else."""
    n_determined: int
    """People whose value follows from the groups alone by linear combination."""
    least: int
    charts: Mapping[str, Chart] = field(default_factory=dict)
    n_undecided: int = 0
    """People whose twins may not all have been found, because they are in parts too large for elimination."""
    sequence: SequenceFigures | None = None
    """What someone believes who knows how values follow each other; None where values never change, or are too many."""
    n_unfollowed: int = 0
    """People whose values change and who were not followed, since there are too many values and nobody asked."""
    n_joined: int = 0
    """People breached once twins share the values that exclusion and priors leave possible, with nobody compromised."""
    withheld: WithheldGuesses | None = None
    """What being withheld reveals; None if the history does not say who was."""
    method: MethodFigures | None = None
    """What the method's own cuts reveal; None unless it is known where people lay."""
    learnt: LearntGuesses | None = None
    """What a model that is learnt from the releases guesses; None unless people's quasi-identifiers are known."""
    n_unseen: int = 0
    """Groups with numbers that last, whose cuts were not looked at since nobody said where people lay."""
    beside: SeriesBeside | None = None
    """Other series of the ledger that say something about the same people; None if there are none."""
    holders: tuple[HeldShare, ...] = ()
    """Recipients, or several of them together, worst first; the figures are those of the first. Empty for everyone."""

    def held_of(self, history: History) -> History:
        """Return the part of a history that was attacked: what the worst recipient holds, or all of it."""
        return self.holders[0].holder.part_of(history) if self.holders else history

    @property
    def wrong(self) -> int:
        """Count the wrong inferences: 0 if the history is true."""
        return self.once.wrong + self.iterated.wrong + (self.method.iterated.wrong if self.method else 0)


def attack(
    history: History, plan: AdversaryPlan, progress: Progress = no_progress, algorithm: KnownAlgorithm | None = None
) -> AdversaryResult:
    """Run every serial attack on a history, and those of someone who knows the algorithm if it is given.

    Twins follow from the groups alone; priors and exclusion then apply to all.
    """
    progress("intersection", 0.0)
    priors = plan.priors.of_history(history) if plan.priors else None
    releases = shrinking(history, plan.least, priors)
    progress("exclusion", 0.1)
    ground = prepare(history, priors)
    seeds = plan.seeds if plan.compromised > 0 else plan.seeds[:1]
    iterated = estimate_share(ground, plan.compromised, seeds)
    progress("one round", 0.5)
    once = estimate_once(ground, plan.compromised, seeds)
    progress("twins", 0.7)
    found = forced_and_determined(history)
    progress("sequence", 0.8)
    followed, n_unfollowed = _followed(history, plan)
    progress("done", 1.0)
    return AdversaryResult(
        n_people=len(ground.traces.order),
        releases=releases,
        once=once,
        iterated=iterated,
        n_twin_sets=len(found.twins),
        n_twins=sum(len(held) for held in found.twins),
        n_determined=len(found.determined),
        least=plan.least,
        charts={"shrinking": _shrinking_chart(releases, plan.least), "breaches": _breach_chart(once, iterated)},
        sequence=followed,
        n_unfollowed=n_unfollowed,
        n_undecided=found.twins.undecided,
        withheld=withheld(history) if any(past.withheld is not None for past in history) else None,
        n_joined=len(
            certain_by_sharing(ground.traces, ground.settled, found.twins) - {*found.determined, *ground.told_ids}
        ),
        method=None if algorithm is None else _method_figures(ground, algorithm, plan, seeds),
        learnt=None if algorithm is None else _learnt(history, algorithm.view),
        n_unseen=0 if algorithm is not None else _lasting_groups(history),
    )


def _learnt(history: History, view: View) -> LearntGuesses | None:
    from seriatim.attacks.learnt_guesses import learnt, quasi_of_people  # publish loads this module, and never learns

    people = quasi_of_people(view)
    return None if people is None else learnt(history, people)


def places_of_respondents(history: History, view: View) -> Singles:
    """Return where the respondents of a history lie along the quasi-identifiers of a view; nan for all others."""
    place = np.full((len(history.respondents), max(len(view.quasi), 1)), np.nan, dtype=np.float32)
    if view.respondent is None or not view.quasi:
        return place
    _, person = people_numbered(history.respondents, view.cells(view.respondent))
    known = np.flatnonzero((person >= 0) & (person < len(place)) & ~view.suppressed)
    nothing = np.zeros(len(known), dtype=np.int32)
    codes = np.column_stack([column.codes[known] for column in view.quasi])
    scales = tuple(column.scale for column in view.quasi)
    seen = SerialView(quasi=codes, scales=scales, sensitive=nothing, n_values=1, person=nothing.astype(np.int64))
    place[person[known]] = seen.place()
    return place


def exit_rule_of(history: History, policy: Policy) -> ExitRule | None:
    """Return by which rule the method of a policy gives leavers up together; None for one that does not."""
    row = method_named(policy.defence.method) if policy.defence is not None else None
    m, odds = policy.terms.series.m, policy.terms.series.odds
    if row is None or "baseline" not in row.marks or m is None or not history.releases:
        return None
    if any("baseline" not in past.marks for past in history):
        return None
    rules, baseline, caps = SerialRules(m, odds=odds), np.zeros(len(history.values), dtype=np.int64), []
    for past in history:
        np.maximum.at(baseline, past.value, past.marks["baseline"])
        # a cap counts what was published up to then, and the array goes on growing
        caps.append(Caps.of(baseline.copy(), m, odds))

    def limits(at: int, size: int) -> Longs:
        return caps[at].limit(size, rules.strangers)

    return ExitRule(least=rules.batch, limits=limits, caps=caps[-1].num / caps[-1].den)


def _lasting_groups(history: History) -> int:
    # a group with a number that lasts can be followed, so its cuts could be rebuilt by who knows where people lay
    numbers = [np.unique(past.marks["lineage"]) for past in history if "lineage" in past.marks]
    return len(np.unique(np.concatenate(numbers))) if numbers else 0


def ground_with_cuts(ground: PreparedHistory, algorithm: KnownAlgorithm) -> PreparedHistory:
    """Return the ground of someone who knows the algorithm as well, and rebuilds its cuts."""
    row = method_named(algorithm.policy.defence.method) if algorithm.policy.defence is not None else None
    further = loaded(row.halvings) if row is not None and row.halvings else None
    place = places_of_respondents(ground.traces.history, algorithm.view)
    return ground.knowing(rebuilt_cuts(ground.traces, place, further=further))


def _method_figures(
    ground: PreparedHistory, algorithm: KnownAlgorithm, plan: AdversaryPlan, seeds: Sequence[int]
) -> MethodFigures:
    """Attack as someone who knows the algorithm as well."""
    history, knowing = ground.traces.history, ground_with_cuts(ground, algorithm)
    rule = exit_rule_of(history, algorithm.policy)
    runs = [knowing.compromise(knowing.draw(plan.compromised, seed), keep_log=False) for seed in seeds]
    # those compromised have one value left by assumption, and would count as breached
    few = [float((run.sizes < plan.least)[~run.compromised].mean()) for run in runs if not run.compromised.all()]
    return MethodFigures(
        n_cuts=0 if knowing.cuts is None else len(knowing.cuts.starts) - 1,
        iterated=estimate_share(knowing, plan.compromised, seeds),
        below=float(np.mean(few)) if few else 0.0,
        refused=None if rule is None else refused_exits(history, rule).estimate,
    )


def _followed(history: History, plan: AdversaryPlan) -> tuple[SequenceFigures | None, int]:
    """Follow people whose values change, looking back over all releases; also return how many were not followed.

    Unless knowledge of sequences was given, a column with more than ``MOST_VALUES`` values is left: the steps between
    them would be learnt from next to nothing, and take minutes.
    """
    if not any(len(past.person) for past in history):
        return None, 0
    if plan.sequential is not None:
        plan.sequential.check_harmless(value_texts(history.values.to_pylist()), "the releases or the knowledge")
    else:
        changed = appearances_of(history, range(len(history))).changed()
        if not changed or len(history.values) > MOST_VALUES:
            return None, changed
    return sequence_figures(sequence(history, plan.sequential, "back")), 0


def intersected_by_register(files: AssembledHistory, register: pa.Table, least: int) -> tuple[ShrinkingCounts, ...]:
    """Run intersection for someone who has a list of people, but does not know who is in which row.

    ``register`` has a column ``respondent`` and columns of the releases; anyone who fits a box may be in it.
    """
    names = [name for name in register.column_names if name != "respondent"]
    header = header_of("register", register)
    if header.seems_missing and "respondent" not in register.column_names:
        raise TableError(header.missing)
    allowed = ", ".join(name for name in files.tables[0].column_names if name != files.sensitive)
    strange = [name for name in names if any(name not in table.column_names for table in files.tables)]
    faults = [
        Fault("register", f"{header.place_of(name)} is not in every release", allowed, "remove it") for name in strange
    ]
    if "respondent" not in register.column_names:
        faults.append(Fault("register", "no column respondent", "respondent, and columns of the releases", "add it"))
    if not names:
        faults.append(Fault("register", "no column of the releases", allowed, "add columns that describe people"))
    if faults:
        raise TableError(faults)
    found = shrinking_by_register(files.history, files.tables, register, least)
    allowed = "values under the labels of the releases"
    remedy = "compare a row of both: the labels cannot be read, or the register holds other values"
    faults = [
        Fault("register", f"nobody fits a row of {files.names[one.number - 1]}", allowed, remedy)
        for one in found
        if one.unplaced and not one.n_people
    ]
    if faults:
        raise TableError(faults)
    return found


def _shrinking_chart(releases: Sequence[ShrinkingCounts], least: int) -> Chart:
    numbers = tuple(float(release.number) for release in releases)
    below = tuple(release.below / max(release.n_people, 1) for release in releases)
    single = tuple(release.single / max(release.n_people, 1) for release in releases)
    return Chart(
        "Values that all releases together leave possible",
        Lines((Line(f"fewer than {least} values left", numbers, below), Line("one value left", numbers, single))),
        x=ChartAxis("release"),
        y=ChartAxis("share of its people", "percent"),
        caption="Values common to all groups a person was in, up to this release.",
        topic="attack",
    )


def _breach_chart(once: Estimate, iterated: Estimate) -> Chart:
    return Chart(
        "People breached",
        Bars(("one round", "fixed point"), (once.share, iterated.share)),
        x=ChartAxis("how far the adversary goes"),
        y=ChartAxis("share of people not compromised", "percent"),
        caption="When each conclusion is drawn once, and when every value found is used to find the next. "
        "Mean over seeded draws of compromised people.",
        topic="attack",
    )


def chosen_recipients(holdings: Holdings, recipient: str | None, collusion: int | None) -> tuple[Holder, ...]:
    """Return the holders to attack: one recipient, any ``collusion`` of them, or one with any others."""
    where = "recipient" if recipient is not None else "collusion"
    names = [name for name in holdings.names if max(holdings.received[name]) > 0]  # not only other series' releases
    if not names:
        remedy = "name them when you publish or deliver (to)"
        raise InputError(Fault(where, "no release of this series has a recipient on record", "", remedy))
    name = None if recipient is None else recipient.strip()
    if name is not None and name not in names:
        found = "received no release of this series"
        raise InputError(Fault("recipient", found, ", ".join(names), "check the name"))
    return holdings.holders(1 if collusion is None else collusion, names if name is None else (name,))


def worst_holder_attacked(
    history: History,
    plan: AdversaryPlan,
    holders: Sequence[Holder],
    progress: Progress = no_progress,
    algorithm: KnownAlgorithm | None = None,
    others: Sequence[OtherSeries] = (),
) -> AdversaryResult:
    """Attack what each holder has. Return the figures of the worst, and the shares of all, worst first.

    Without holders everyone holds everything. What ``others`` say about the same people is one figure more; all other
    figures are of this series.
    """
    joint = together(history, others)
    if not holders:
        found, names = attack(history, plan, progress, algorithm), names_beside(joint, others)
        return replace(found, beside=_beside(names, joint, plan, len(history.respondents))) if names else found
    shares = _shares(joint, plan, holders, progress, len(history.respondents))
    worst = shares[0].holder
    found, names = attack(worst.part_of(history), plan, progress, algorithm), names_beside(worst.part_of(joint), others)
    return replace(found, holders=shares, beside=SeriesBeside(names, shares[0].iterated) if names else None)


def _beside(names: tuple[str, ...], joint: History, plan: AdversaryPlan, counted: int) -> SeriesBeside:
    seeds = plan.seeds if plan.compromised > 0 else plan.seeds[:1]
    ground = prepare(joint, plan.priors.of_history(joint) if plan.priors else None)
    return SeriesBeside(names, estimate_share(replace(ground, counted=counted), plan.compromised, seeds))


def _shares(
    history: History, plan: AdversaryPlan, holders: Sequence[Holder], progress: Progress, counted: int
) -> tuple[HeldShare, ...]:
    """Return every holder with the share of people they breach, worst first; equal holdings are attacked once."""
    seeds = plan.seeds if plan.compromised > 0 else plan.seeds[:1]
    priors = plan.priors.of_history(history) if plan.priors else None
    found: dict[frozenset[int], Estimate] = {}
    for holder in holders:
        if holder.releases not in found:
            progress("recipients", len(found) / len(holders))
            ground = replace(prepare(holder.part_of(history), priors), counted=counted)
            found[holder.releases] = estimate_share(ground, plan.compromised, seeds)
    shares = [HeldShare(holder, found[holder.releases]) for holder in holders]
    return tuple(sorted(shares, key=lambda one: (-one.iterated.share, -one.iterated.n_people)))
