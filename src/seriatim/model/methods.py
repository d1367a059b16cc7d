"""One row per method. Whoever needs to know something about a method asks here, and nobody else lists methods."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Family(StrEnum):
    """What a method looks at, and so what its function at ``home`` takes and returns."""

    SINGLE = "single"
    """One release alone: ``ports.Defence``, from a view to a draft."""
    SERIES = "series"
    """All releases so far: ``defences.series.contract.SerialMethod``, from codes and a memory to groups."""


class Degree(StrEnum):
    """What [promise] n is to a method."""

    SOUGHT = "sought"
    """The method groups people so that n holds."""
    JUDGED = "judged"
    """n is judged, and the method does nothing for it."""
    MEANINGLESS = "meaningless"
    """Nobody ever changes group, so there is nothing to compare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """What the house knows about a method without loading it; ``home`` brings compiled kernels."""

    name: str
    home: str
    """``module:function``"""
    family: Family
    summary: str
    """One line for reports and pages."""
    options: tuple[str, ...] = ()
    """Keys of [defence] that it reads besides method, suppress and form."""
    modes: tuple[str, ...] = ()
    """What [defence] mode may say; the first is the default."""
    marks: tuple[str, ...] = ()
    """Lasting numbers that it leaves with its rows; a series without them cannot be taken over."""
    degree: Degree = Degree.JUDGED
    judged_by: tuple[str, ...] = ()
    """The promises that [promise] m stands for under this method."""
    past_keeps: str = ""
    """The promise that earlier releases must keep for it to take a series over."""
    leavers_known: bool = False
    """Whether a counterfeit is a leaver's slot: attackers are then told so, which is more than a reader can know."""

    @property
    def serial(self) -> bool:
        return self.family is Family.SERIES


_WEAK = ("weak_m_uniqueness", "weak_m_invariance")
_ROWS = (
    Method(
        name="median",
        home="seriatim.defences.single.median:median",
        family=Family.SINGLE,
        summary="cuts the table in halves as long as every half still keeps the promises",
        options=("mode",),
        modes=("strict", "relaxed"),
    ),
    Method(
        name="lattice",
        home="seriatim.defences.single.lattice.generalisation:lattice",
        family=Family.SINGLE,
        summary="raises whole columns level by level until the promises hold",
        options=("loss",),
    ),
    Method(
        name="curve",
        home="seriatim.defences.single.curve.segments:curve",
        family=Family.SINGLE,
        summary="lines people up by likeness and groups neighbours",
    ),
    Method(
        name="invariant",
        home="seriatim.defences.series.invariant:invariant",
        family=Family.SERIES,
        summary="keeps everyone among the same values in every release; groups may differ by a single person",
        options=("when_not_eligible",),
        judged_by=("m_uniqueness", "m_invariance"),
        past_keeps="m_uniqueness",
    ),
    Method(
        name="historical",
        home="seriatim.defences.series.historical.safe_groups:historical",
        family=Family.SERIES,
        summary="groups people so that no two groups of different releases have too much in common",
        options=("mode", "sticky", "group_cap", "when_not_eligible"),
        modes=("repair", "greedy"),
        degree=Degree.SOUGHT,
        judged_by=_WEAK,
        past_keeps="weak_m_uniqueness",
    ),
    Method(
        name="lineage",
        home="seriatim.defences.series.lineage.grouping:lineage",
        family=Family.SERIES,
        summary="people never change group; whoever leaves is followed by a counterfeit of the same value",
        options=("when_not_eligible", "lineage_size"),
        marks=("lineage", "slot"),
        degree=Degree.MEANINGLESS,
        judged_by=("closed_lineages", "fair_lineages", "lasting_places"),
        leavers_known=True,
    ),
)
METHODS: dict[str, Method] = {row.name: row for row in _ROWS}
KEPT_FOR_LATER = ("sequence", "sample", "noise")
"""Names that a policy may not use for anything else: their methods are still to come."""
JUDGED_ANYHOW = _WEAK
"""What [promise] m stands for under a method that looks at one release alone."""


def method_named(name: str) -> Method | None:
    return METHODS.get(name)


def serial_methods() -> tuple[str, ...]:
    """The methods that look back, the newest first."""
    return tuple(reversed([name for name, row in METHODS.items() if row.serial]))


def marks() -> tuple[str, ...]:
    """Every lasting number that any method leaves with its rows."""
    return tuple(dict.fromkeys(mark for row in METHODS.values() for mark in row.marks))
