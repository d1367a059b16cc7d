"""Says what attacks found, a sentence each, for the terminal and the page: counts, no names and no values."""

from __future__ import annotations

from seriatim.attacks.belief_figures import SequenceFigures
from seriatim.attacks.proved_presence import ProvedPresence
from seriatim.attacks.sequence_knowledge import MOST_VALUES
from seriatim.attacks.withheld_guesses import WithheldGuesses
from seriatim.model.verdict import Estimate
from seriatim.report.words import format_percent
from seriatim.usecases.attack.attack import AdversaryResult


def about_sequence(found: SequenceFigures) -> list[str]:
    """Return what an attacker who knows how values usually change believes, the most important first."""
    back = "" if found.back is None else f", {found.back:.3f} looking back"
    hit = f", and such certainty is right {found.sure.hit_rate:.0%} of the time" if found.sure.n_beliefs else ""
    return [
        f"belief in the truth: {found.before:.3f} before any release, {found.one:.3f} after one, "
        f"{found.series:.3f} after the series{back}",
        f"{found.sure.right:,} of {found.n_people:,} people ({found.sure.share:.2%}) are inferred with certainty "
        f"({found.sure_one.right:,} after one release){hit}",
        f"{found.n_changed:,} people changed their value; belief in rare values {found.rare[0]:.3f} after one release, "
        f"{found.rare[1]:.3f} at the end; in common ones {found.common[0]:.3f} and {found.common[1]:.3f}",
        *([] if found.window is None else [f"belief within one band of the truth: {found.window:.3f}"]),
        f"calibration: belief {found.calibration.belief:.3f}, expected {found.calibration.expected:.3f}, log-loss "
        f"{found.calibration.log_loss:.3f}; the paper's gain {found.gain:.3f}; "
        f"{found.propagated:.0%} of appearances judged by belief propagation",
    ]


def about_appearances(found: SequenceFigures) -> str:
    """Return what was gained about people by how often they appeared, in a line."""
    told = ", ".join(f"{label}: {gain:.3f} ({n:,} people)" for label, n, gain in found.by_appearances)
    return f"gain by number of appearances: {told}"


def about_unfollowed(n_people: int) -> str:
    """Say who was not judged, and what would help."""
    return (
        f"{n_people:,} people changed their value and were not judged, since the column has more than {MOST_VALUES} "
        "values: declare sequence knowledge (--adversary), or publish values in bands"
    )


def about_method(found: AdversaryResult) -> tuple[str, ...]:
    """Return what the method's own cuts reveal, in a sentence; nothing for groups whose numbers do not last."""
    if found.n_unseen:
        told = "not attacked: what the method's own cuts revealed (lineage and cohort used to cut by values)"
        return (f"{told}; give a table that a release was made from (--view) and its policy",)
    if found.method is None:
        return ()
    refused = () if found.method.refused is None else (about_refused(found.method.refused),)
    if not found.method.n_cuts:
        return ("knowing the algorithm: no cuts by values explain these groups, as far as this view shows", *refused)
    return (
        f"knowing the algorithm: {found.method.n_cuts:,} cuts by values rebuilt; "
        f"{found.method.iterated.share:.2%} of people breached, {found.method.below:.2%} with fewer than "
        f"{found.least} values left",
        *refused,
    )


def about_learnt(found: AdversaryResult) -> tuple[str, ...]:
    """Return what a learnt model guesses, each rate beside its control."""
    one = found.learnt
    if one is None:
        return ()
    if not one.n_people:
        return ("a learnt model: not judged, since nobody of the view is in a release, or its groups are too large",)
    return (
        f"a learnt model guesses {one.rate:.1%} of {one.n_people:,} people right in their groups; the groups alone "
        f"{one.by_groups:.1%}, without the releases {one.before:.1%}, people who are not in them {one.outside:.1%}",
        f"risk of being in the releases: {_within(one.risk)}; gain of learning: {_within(one.gain)}",
    )


def _within(one: Estimate) -> str:
    return f"{one.share:.1%} (95% interval {one.low:.1%} to {one.high:.1%})"


def about_refused(found: Estimate) -> str:
    """Return what their waiting reveals about leavers, in a sentence."""
    if not found.n_people:
        return "knowing the algorithm: no leavers had to wait because a value was too frequent"
    unjudged = f"; {found.detail['unjudged']:,} people of other cohorts not judged" if found.detail["unjudged"] else ""
    return (
        f"knowing the algorithm: {found.n_people:,} leavers had to wait; a belief about {found.share:.1%} of them is "
        f"over a tenth above its cap (95% interval {found.low:.1%} to {found.high:.1%}; not knowing the algorithm "
        f"{found.detail['control']:.1%}), at most {found.detail['worst_in_caps']:.2f} caps{unjudged}"
    )


def about_other_series(found: AdversaryResult) -> tuple[str, ...]:
    """Return what other series of the ledger add, in a sentence."""
    if found.beside is None:
        return ()
    names, share = ", ".join(map(repr, found.beside.names)), found.beside.iterated.share
    return (f"together with series {names}, about the same people: {format_percent(share)} of people breached",)


def about_withheld(found: WithheldGuesses) -> str:
    """Return what being withheld reveals, in a sentence."""
    one = found.series
    if not one.n_withheld:
        return "nobody was withheld"
    estimate, risk = found.estimate, Estimate("withheld", *found.risk, n_people=one.n_withheld)
    return (
        f"{one.n_withheld:,} people were in a view and withheld: the best guess of their value is right for "
        f"{one.hit_share:.1%} of them (95% interval {estimate.low:.1%} to {estimate.high:.1%}), and the best guess "
        f"about anyone for {one.margin_share:.1%}; risk beyond that: {_within(risk)}"
    )


def about_presence(found: ProvedPresence | None) -> tuple[str, ...]:
    """Return whose presence labels prove to someone with a register, in a sentence."""
    if found is None:
        return ()
    return (
        f"presence: {len(found.since) - found.wrong:,} of {found.n_listed:,} people of a release are proved to be in it"
        + (f" (ends of labels used in {', '.join(found.tight)})" if found.tight else "; no ends of labels were used")
        + (
            f"; {found.wrong:,} people who are not in it seem to be, so the register lacks people"
            if found.wrong
            else ""
        )
        + (f"; {found.unexplained:,} classes hold people who are not on it" if found.unexplained else "")
        + (f"; {found.undecided:,} classes not fully solved" if found.undecided else ""),
    )
