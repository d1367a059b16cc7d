"""A verdict: what was found about a draft, and whether it may be released."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

from seriatim.errors import Fault, InputError
from seriatim.model.chart import Chart
from seriatim.model.doors import at_door
from seriatim.model.names import visible_text


@dataclass(frozen=True, slots=True)
class Finding:
    """What checking one promise found."""

    rule: str
    kept: bool
    worst: float
    """The figure of the worst class; infinite or nan if nothing could be measured."""
    threshold: float
    _: KW_ONLY
    column: str | None = None
    n_classes: int = 0
    """Classes that break the promise."""
    n_people: int = 0
    """People in those classes."""
    detail: str = ""
    """The kind of promise that was checked: kind, distance, prior."""
    remedy: str = ""
    """The smallest change that would pass."""
    classes: tuple[int, ...] = ()
    """Numbers of the first few classes that break the promise, worst first; numbered by first record, from 0."""
    n_unjudged: int = 0
    """People whom the figure says nothing about."""

    @property
    def result(self) -> Literal["kept", "broken", "partly judged", "not judged"]:
        """Return the finding in a word: a promise that was judged about nobody, or about some, is not simply kept."""
        if not self.kept:
            return "broken"
        if self.n_unjudged:
            return "not judged" if math.isnan(self.worst) else "partly judged"
        return "kept"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an attack found: a share of people with its interval, and whether its inferences were right."""

    attack: str
    share: float
    low: float
    high: float
    _: KW_ONLY
    n_people: int
    wrong: int = 0
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure without a threshold."""

    name: str
    value: float
    unit: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Approval:
    """Who approved a release, with a reason if a refusal was overridden."""

    by: str
    override: str | None = None


def approval_given(approved_by: str | None, override: str | None) -> Approval | None:
    """Return who answers for a release or a delivery; a reason to override a refusal needs a name."""
    if override is not None and approved_by is None:
        raise InputError(Fault("override", "needs the name of who approves it (approved_by)"))
    return None if approved_by is None else checked_approval(Approval(approved_by, override))


def checked_approval(approval: Approval) -> Approval:
    """Return an approval whose name and reason can be read, or raise an error."""
    visible_text("approved_by", approval.by)
    if approval.override is not None:
        visible_text("override", approval.override)
    return approval


@at_door
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verdict:
    """Findings, estimates and measures of a draft: release or refuse, with reasons and what would pass."""

    findings: tuple[Finding, ...]
    estimates: tuple[Estimate, ...]
    measures: tuple[Measure, ...]
    reasons: tuple[str, ...]
    """Why it is refused; empty if it is not."""
    remedies: tuple[str, ...] = ()
    approval: Approval | None = None
    charts: Mapping[str, Chart] = field(default_factory=dict)
    """Numbers for the report's charts: histograms and curves, never a cell value."""
    notes: tuple[str, ...] = ()
    """What could not be judged, and what else the reader should know."""

    def __repr__(self) -> str:
        """Say in a few lines what was decided, and why."""
        word = "released by override" if self.overridden else "released" if self.released else "refused"
        kept, unjudged = sum(finding.result == "kept" for finding in self.findings), len(self.unjudged)
        beside = f", {unjudged} not judged for everyone" if unjudged else ""
        lines = [f"Verdict: {word}; {kept} of {len(self.findings)} promises kept{beside}"]
        lines += [f"  because {reason}" for reason in self.reasons]
        lines += [f"  what would pass: {remedy}" for remedy in self.remedies]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)

    @property
    def released(self) -> bool:
        """Return whether the draft may be released: no reason to refuse it, or a named person overrode the refusal."""
        return not self.reasons or self.overridden

    @property
    def overridden(self) -> bool:
        return bool(self.reasons) and self.approval is not None and bool(self.approval.override)

    @property
    def unjudged(self) -> tuple[Finding, ...]:
        """Return the findings that are not broken, but were judged about some people only, or about nobody."""
        return tuple(finding for finding in self.findings if finding.result in ("partly judged", "not judged"))

    def measure(self, name: str) -> Measure:
        known = {measure.name: measure for measure in self.measures}
        if name not in known:
            raise InputError(Fault("name", "not a measure of this verdict", ", ".join(known)))
        return known[name]
