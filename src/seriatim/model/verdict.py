"""A verdict: what was found about a draft, and whether it may leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from seriatim.model.chart import Chart


@dataclass(frozen=True, slots=True)
class Finding:
    """What checking one promise found."""

    rule: str
    kept: bool
    worst: float
    """The figure of the worst class; infinite or nan where nothing could be measured."""
    threshold: float
    column: str | None = None
    n_classes: int = 0
    """Classes that break it."""
    n_people: int = 0
    """Records in those classes."""
    detail: str = ""
    """The reading that was used: kind, distance, prior."""
    remedy: str = ""
    """The smallest change that would pass."""
    classes: tuple[int, ...] = ()
    """Numbers of the classes that break it, worst first, the first few; numbered by their first records, from 0."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an attack found: a share of people, with its interval, and whether its inferences were right."""

    attack: str
    share: float
    low: float
    high: float
    n_people: int
    _: KW_ONLY
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
    """Who let a release out; with a reason when a refusal was overridden."""

    by: str
    override: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Findings, estimates and measures of a draft: release or refuse, with reasons and what would pass."""

    findings: tuple[Finding, ...]
    estimates: tuple[Estimate, ...]
    measures: tuple[Measure, ...]
    reasons: tuple[str, ...]
    """Why it is refused; empty when nothing stands against it."""
    remedies: tuple[str, ...] = ()
    approval: Approval | None = None
    charts: Mapping[str, Chart] = field(default_factory=dict)
    """Numbers for the report's pictures: histograms and curves, never a cell value."""
    notes: tuple[str, ...] = ()
    """What was asked for but could not be judged, and what the reader should know beside the findings."""

    @property
    def released(self) -> bool:
        """Whether the draft may leave: nothing stands against it, or a named person overrode the refusal."""
        return not self.reasons or self.overridden

    @property
    def overridden(self) -> bool:
        return bool(self.reasons) and self.approval is not None and bool(self.approval.override)

    def measure(self, name: str) -> Measure:
        return next(m for m in self.measures if m.name == name)
