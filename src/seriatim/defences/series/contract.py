"""What every serial defence takes and returns: arrays, no frames and no names.

A serial defence gets a view as codes, the policy's settings, the memory of all earlier releases and the secret of the
series. It assigns each record a group or a reason why it is withheld, and says which counterfeits complete the groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, PolicyError, TableError
from seriatim.model.chance import secret_chance
from seriatim.model.scale import IntArray, Scale
from seriatim.model.table_faults import several_records_fault
from seriatim.ports import Workers

if TYPE_CHECKING:
    from seriatim.defences.series.inherited import ValuesLeft
    from seriatim.defences.series.memory import RememberedRows

LongArray = npt.NDArray[np.int64]
PlaceArray = npt.NDArray[np.float32]
BoolArray = npt.NDArray[np.bool_]

_OTHERWISE = "; median, curve and lattice accept several, without breach_share"


class WithheldReason(IntEnum):
    """Why a record is not published in this release."""

    NO = 0
    DEFERRED = 1
    """Its value is too frequent among the newcomers, or they are too few; it is tried again next time."""
    SUPPRESSED = 2
    """The same, and the policy says to suppress."""
    LIFESPAN = 3
    """It has been published as often as the policy allows."""
    UNSAFE = 5
    """No group could take it without a historical correlation below the degree."""
    SLOT_TAKEN = 6
    """The person returned, and their slot is gone."""


class WhenNotEligible(StrEnum):
    DEFER = "defer"
    COUNTERFEIT = "counterfeit"
    SUPPRESS = "suppress"


@dataclass(frozen=True, slots=True)
class SerialRules:
    """What the policy requires of a serial defence."""

    m: int
    n: int = 1
    """Degree of historical safety; used only by the historical defence."""
    _: KW_ONLY
    lifespan: int | None = None
    """How often a tuple may be published at most: the paper's L."""
    sticky: bool = True
    mode: str | None = None
    """The mode of the method, if it has several."""
    when_not_eligible: WhenNotEligible = WhenNotEligible.DEFER
    odds: float | None = None
    """How much the odds of a value above one m-th of the table may grow; None keeps 1/m for all."""
    cohort: int | None = None
    """Cohorts only: newcomers are dealt into cohorts of at least this size; None lets their values decide."""

    def __post_init__(self) -> None:
        faults = []
        if self.m < 2:
            faults.append(Fault("[promise] m", f"{self.m}", "2 or more", "raise m"))
        if not 1 <= self.n <= self.m:
            faults.append(Fault("[promise] n", f"{self.n}", f"1 to m ({self.m})", "lower n or raise m"))
        if self.lifespan is not None and self.lifespan < 1:
            faults.append(Fault("[adversary] lifespan", f"{self.lifespan}", "1 or more", "raise it"))
        if self.odds is not None and self.when_not_eligible is WhenNotEligible.COUNTERFEIT:
            where, found = "[defence] leftovers", '"counterfeit" beside [promise] odds'
            faults.append(Fault(where, found, '"defer" or "suppress"', "remove it: odds has room for them"))
        if faults:
            raise PolicyError(faults)

    @property
    def batch(self) -> int:
        """Return the least number of people who enter or leave a cohort together.

        Anyone who knows m - 1 of a batch of m solves it.
        """
        return max(2 * self.m, 12)

    @property
    def strangers(self) -> int:
        """Return how many people with other values are needed wherever a value is held and can be counted."""
        return self.batch - self.batch // self.m

    @property
    def leftover(self) -> WithheldReason:
        """Return the reason for newcomers who are not eligible."""
        suppress = self.when_not_eligible is WhenNotEligible.SUPPRESS
        return WithheldReason.SUPPRESSED if suppress else WithheldReason.DEFERRED


@dataclass(frozen=True, slots=True, eq=False)
class SerialPriors:
    """Sets of values that an adversary holds possible beforehand; each record refers to one of them."""

    of_record: IntArray
    possible: BoolArray
    """possible[set, value]"""
    known: BoolArray | None = None
    """For each set, whether the adversary knows its people's value; None if they know nobody."""

    @property
    def records_known(self) -> BoolArray:
        """Return for each record whether the adversary knows its value."""
        return np.zeros(len(self.of_record), dtype=np.bool_) if self.known is None else self.known[self.of_record]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SerialView:
    """The view of one release as codes."""

    quasi: IntArray
    """One row per record, one column per quasi-identifier: codes on its scale."""
    scales: tuple[Scale, ...]
    sensitive: IntArray
    n_values: int
    """Size of the sensitive domain."""
    person: LongArray
    """Number of the respondent, stable over the series: known ones first, then newcomers, without gaps."""
    priors: SerialPriors | None = None
    """If None, every value of the domain is possible for everyone."""
    first: tuple[int, ...] = ()
    """The quasi-identifiers whose relation to values matters most: cohorts are cut along them first."""
    plain: bool = False
    """Whether columns are published as they are beside the boxes."""
    inherited: ValuesLeft | None = None
    """What releases of another method leave possible, if the series was taken over from it."""

    def __len__(self) -> int:
        return len(self.sensitive)

    def place(self) -> PlaceArray:
        """Return the position of each record, with every quasi-identifier scaled to 0 .. 1."""
        out = np.empty(self.quasi.shape, dtype=np.float32)
        for d, scale in enumerate(self.scales):
            out[:, d] = _stretched(scale)[self.quasi[:, d]]
        return out

    def check(self, rules: SerialRules) -> None:
        """Raise an error for a view that no defence can handle; the message has counts, never values."""
        faults = []
        if self.n_values < rules.m:
            remedy = "lower m, or choose a column with more values"
            faults.append(Fault("sensitive column", f"{self.n_values} values", f"at least m = {rules.m}", remedy))
        if len(self) and not (self.sensitive.min() >= 0 and self.sensitive.max() < self.n_values):
            faults.append(Fault("sensitive column", "a record without a valid value", "", "fill or suppress it first"))
        if len(self) and self.person.min() < 0:
            faults.append(Fault("respondent", "a record without a respondent", "", "add it to every record"))
        elif len(self) and (several := several_records_fault("respondent", np.bincount(self.person), _OTHERWISE)):
            faults.append(several)
        if self.priors is not None:
            faults.extend(self._prior_faults(self.priors, rules.m))
        if faults:
            raise TableError(faults)

    def check_values(self, before: npt.NDArray[np.integer]) -> None:
        """Raise an error if a value changed; ``before`` is each record's value so far, -1 for newcomers."""
        changed = int(((before >= 0) & (before != self.sensitive)).sum())
        if changed:
            found = f"the value of {changed} people has changed since an earlier release"
            remedy = (
                "name values that were wrong in --corrections FILE; for one that changed start a new episode: another "
                "respondent, such as id and episode number; --private FILE lists who"
            )
            raise TableError(Fault("sensitive column", found, "values that do not change", remedy))

    def _prior_faults(self, priors: SerialPriors, m: int) -> list[Fault]:
        wrong = int((~priors.possible[priors.of_record, self.sensitive]).sum()) if len(self) else 0
        few = (priors.possible.sum(axis=1) < m)[priors.of_record] & ~priors.records_known
        small = int(few.sum()) if len(self) else 0
        out = []
        if wrong:
            out.append(Fault("priors", f"{wrong} records whose value is not in their prior set", "none"))
        if small:
            out.append(Fault("priors", f"{small} records with a prior set of fewer than m = {m} values", "none"))
        return out


def _stretched(scale: Scale) -> PlaceArray:
    """Return positions on 0 .. 1. Neighbours in a hierarchy are as far apart as the height at which they meet."""
    positions = np.asarray(scale.positions, dtype=np.float64)
    if scale.form == "node" and len(scale) > 1:
        codes = np.arange(len(scale), dtype=np.int32)
        positions = np.concatenate(([0.0], np.cumsum(scale.heights(codes[:-1], codes[1:]).astype(np.float64))))
    known = np.isfinite(positions)
    low, high = (positions[known].min(), positions[known].max()) if known.any() else (0.0, 0.0)
    width = high - low if high > low else 1.0
    # missing values lie at the far end
    return np.where(known, (positions - low) / width, 1.0).astype(np.float32)


@dataclass(frozen=True, slots=True)
class SerialDraw:
    """Protective randomness of one release: the same secret and release give the same draws."""

    secret: bytes = field(repr=False)
    release: int

    def chance(self, purpose: str) -> np.random.Generator:
        return secret_chance(self.secret, self.release, purpose)


@dataclass(frozen=True, slots=True, eq=False)
class SerialSlots:
    """Cohorts only: lasting numbers by which the next release finds everyone's slot."""

    cohort_of_group: LongArray
    slot_of_record: LongArray
    """-1 for a withheld record."""
    slot_of_counterfeit: LongArray
    baseline: LongArray | None = None
    """The share of every value from which its cap follows, in millionths; None where all caps are 1/m for good."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SerialGrouping:
    """A grouping with its counterfeits. Groups are numbered 0 .. n_groups - 1, and each has at least one record."""

    group: IntArray
    withheld: npt.NDArray[np.int8]
    """A reason of :class:`WithheldReason` for each record; NO if it is published."""
    n_groups: int
    counterfeit_group: IntArray
    counterfeit_value: IntArray
    box: IntArray
    """The records that share a published box: the group, or smaller boxes in cohorts and along hierarchies."""
    counters: Mapping[str, int] = field(default_factory=dict)
    slots: SerialSlots | None = None

    @property
    def n_counterfeits(self) -> int:
        return len(self.counterfeit_group)

    def n_withheld(self, reason: WithheldReason | None = None) -> int:
        return int((self.withheld != WithheldReason.NO if reason is None else self.withheld == reason).sum())


class SerialMethod(Protocol):
    """A method that looks back: the function that a ``series`` row of ``model.methods`` names."""

    def __call__(
        self, view: SerialView, rules: SerialRules, pasts: Sequence[RememberedRows], draw: SerialDraw, workers: Workers
    ) -> SerialGrouping: ...
