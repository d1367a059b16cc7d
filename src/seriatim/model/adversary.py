"""An adversary: what the attacker knows, and which conclusions are bounded."""

from __future__ import annotations

from dataclasses import dataclass, field

from seriatim.model.priors import PriorSets

SURE, RAISED = 0.9, 10.0


@dataclass(frozen=True, slots=True)
class StatedKnowledge:
    """Knowledge as declared: the path of a file, or a table as canonical JSON. Its users read it."""

    file: str | None = None
    table: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Adversary:
    """The ``[adversary]`` of a policy, or an adversary file. ``None`` says nothing."""

    compromised: float | None = None
    """Share of people whose value the attacker knows."""
    lifespan: int | None = None
    """Number of releases a person stays in."""
    breach: float | None = None
    """Bound on the closed-form probability of a breach."""
    breach_share: float | None = None
    """Bound on the simulated share of people breached."""
    sure: float | None = None
    """Beliefs above this count as certain (0.9 if omitted)."""
    sure_share: float | None = None
    """Bound on the share of people inferred with certainty, over all releases."""
    raised: float | None = None
    """Certainty counts only where its odds are this many times those before any release (10 if omitted)."""
    harmless: tuple[str, ...] | None = None
    """Values that nobody minds being believed to have."""
    window: int | None = None
    """For values in an order: how many bands either side of the truth count as near it (0 if omitted)."""
    collusion: int | None = None
    """Recipients who put their releases together, for ``breach_share``; None for all of them."""
    priors: PriorSets | None = field(default=None, compare=False)
    """Which values are possible for whom. The people named may change without a new epoch, so it does not compare."""
    value_priors: StatedKnowledge | None = None
    """How likely each value is before any release."""
    classes: StatedKnowledge | None = None
    """The class of each respondent, for knowledge by class."""
    sequence: StatedKnowledge | None = None
    """How values follow each other; without it, what the series itself tells."""

    times: tuple[int, ...] | None = None
    """When each release is, in whole steps of the knowledge (years, months); the number of the release if omitted."""

    @property
    def share_known(self) -> float:
        """Return the compromised share to simulate: 0 if none is declared."""
        return 0.0 if self.compromised is None else self.compromised

    @property
    def together(self) -> int:
        """Return how many recipients put their releases together: 1 if nothing is declared."""
        return 1 if self.collusion is None else self.collusion

    @property
    def certain_above(self) -> float:
        """Return the belief above which someone is certain."""
        return SURE if self.sure is None else self.sure

    @property
    def counts_when_raised(self) -> float:
        """Return how many times the odds of a certain belief must have grown to count."""
        return RAISED if self.raised is None else self.raised

    @property
    def bands_near(self) -> int:
        """Return how many bands either side of the truth count as near it."""
        return 0 if self.window is None else self.window


NOBODY_KNOWN = Adversary()
