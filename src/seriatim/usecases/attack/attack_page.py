"""Writes an attack's result as a page and as JSON: counts and charts, no names and no values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from seriatim.attacks.group_intersection import ShrinkingCounts
from seriatim.attacks.proved_presence import ProvedPresence
from seriatim.attacks.withheld_guesses import WithheldGuess, WithheldGuesses
from seriatim.report import Banner, Charts, Definitions, FiledReport, Grid, Note, Page, Section, Tile, Tiles
from seriatim.report.words import format_count, format_percent, format_plain
from seriatim.usecases.attack.assembly import GROUP, AssembledHistory
from seriatim.usecases.attack.attack import AdversaryResult
from seriatim.usecases.attack.attack_words import (
    about_learnt,
    about_method,
    about_other_series,
    about_presence,
    about_sequence,
    about_unfollowed,
    about_withheld,
)


@dataclass(frozen=True, slots=True)
class HistoryReport(FiledReport):
    """What an adversary with every release concludes."""

    title: str
    result: AdversaryResult
    files: AssembledHistory | None = None
    """How a folder of releases was read; None for a series of the ledger."""
    by_register: tuple[ShrinkingCounts, ...] = ()
    """Intersection by someone who has a register of people instead of the list of rows."""

    presence: ProvedPresence | None = None
    """Whose presence the same person can prove."""

    HOLDERS: ClassVar[tuple[str, ...]] = ("held by", "releases", "people", "breached")

    @property
    def holders(self) -> tuple[tuple[str, ...], ...]:
        """Return a row for each recipient, or each set of recipients, that was attacked, worst first."""
        return tuple(
            (one.holder.name, one.holder.numbered, f"{one.iterated.n_people:,}", format_percent(one.iterated.share))
            for one in self.result.holders
        )

    @property
    def worst(self) -> str:
        """Name the recipient whose releases the figures are about."""
        held = self.result.holders[0].holder
        return f"{held.name}, who hold{'' if len(held.names) > 1 else 's'} {held.numbered}"

    def name_of(self, number: int) -> str:
        """Return the name of a release's file, or its number."""
        return str(number) if self.files is None else self.files.names[number - 1]

    @property
    def notes(self) -> tuple[str, ...]:
        """Say how the files were read."""
        if self.files is None:
            return ()
        group = f"a group is the rows with equal {', '.join(self.files.known)}"
        if self.files.known == (GROUP,):
            group += " (if that is a column of your own, name the columns others may know: --quasi)"
        unplaced = (
            f"{format_count(one.unplaced)} people of the register fit no row of {self.name_of(one.number)}, so nothing "
            "is said about them: a label cannot be read, or their cells are wrong"
            for one in self.by_register
            if one.unplaced
        )
        told = about_presence(self.presence)
        return (f"sensitive column: {self.files.sensitive}", group, *self.files.notes, *unplaced, *told)

    def record(self) -> dict[str, Any]:
        found = self.result
        return {
            "schema": "seriatim.attack/1",
            "people": found.n_people,
            "releases": [self._figures(release) for release in found.releases],
            "by_register": [self._figures(release) for release in self.by_register],
            "presence": None if self.presence is None else format_plain(asdict(self.presence.estimate)),
            "notes": list(self.notes),
            "recipients": [
                {
                    "names": list(one.holder.names),
                    "releases": sorted(one.holder.releases),
                    "iterated": format_plain(asdict(one.iterated)),
                }
                for one in found.holders
            ],
            "beside": None if found.beside is None else format_plain(asdict(found.beside)),
            "once": format_plain(asdict(found.once)),
            "iterated": format_plain(asdict(found.iterated)),
            "twins": {"sets": found.n_twin_sets, "people": found.n_twins, "undecided": found.n_undecided},
            "joined": found.n_joined,
            "determined": found.n_determined,
            "method": None if found.method is None else format_plain(asdict(found.method)),
            "learnt": None if found.learnt is None else format_plain(asdict(found.learnt)),
            "wrong": found.wrong,
            "withheld": None if found.withheld is None else _withheld_record(found.withheld),
            "sequence": None if found.sequence is None else format_plain(asdict(found.sequence)),
            "unfollowed": found.n_unfollowed,
            "least": found.least,
        }

    def _figures(self, release: ShrinkingCounts) -> dict[str, Any]:
        return {"name": self.name_of(release.number), **format_plain(asdict(release))}

    def page(self) -> Page:
        found = self.result
        head = ("release", "people", f"fewer than {found.least} values left", "one value left")
        grids = [Grid("Possible values, from the groups people were in", head, self._rows(found.releases), _NUMBERS)]
        if self.by_register:
            title = "The same for someone who has a register of people instead of the list of rows"
            grids.append(Grid(title, head, self._rows(self.by_register), _NUMBERS))
        notes = (Note("How the files were read", self.notes),) if self.notes else ()
        return Page(
            title=self.title,
            sections=(
                Section(_HEADING[bool(found.holders)], (self._tiles(), Charts(found.charts))),
                *self._other_series(),
                *self._recipients(),
                *_people_who_change(found),
                *self._people_withheld(),
                *self._method(),
                *self._learnt(),
                Section("Release by release", (*grids, *notes)),
                Section("How to read this", (Definitions(_words(found)),)),
            ),
            kicker="Attack report",
            banner=_banner(found, self.worst if found.holders else "someone who kept every release"),
            footer="This report has counts only: no name, no row and no value of a person.",
        )

    def _other_series(self) -> tuple[Section, ...]:
        lines = about_other_series(self.result)
        return (Section("Other series of the same people", (Note("Found", lines),)),) if lines else ()

    def _recipients(self) -> tuple[Section, ...]:
        if not self.holders:
            return ()
        lead = "Releases that went to nobody on record count as held by everyone. The figures above are of the first."
        heads = tuple(name.capitalize() for name in self.HOLDERS)
        return (Section("Recipients", (Grid("What each can conclude", heads, self.holders, _NUMBERS - {1}),), lead),)

    def _people_withheld(self) -> tuple[Section, ...]:
        found = self.result.withheld
        if found is None or not found.series.n_withheld:
            return ()
        head = ("release", "people withheld", "best guess right", "best guess about anyone right")
        rows = [
            (self.name_of(one.number or 0), f"{one.n_withheld:,}", _share(one.hit_share, one), _share(one.margin_share))
            for one in found.releases
        ]
        whole = found.series
        rows.append(("all", f"{whole.n_withheld:,}", _share(whole.hit_share, whole), _share(whole.margin_share)))
        grid = Grid("People who were in the view and not in the release", head, tuple(rows), _NUMBERS)
        return (Section("What being withheld reveals", (grid,), about_withheld(found)),)

    def _method(self) -> tuple[Section, ...]:
        lines = about_method(self.result)
        lead = "Someone who knows the algorithm, everyone's quasi-identifiers and who is in which group."
        return (Section("What the method's own cuts reveal", (Note("Found", lines),), lead),) if lines else ()

    def _learnt(self) -> tuple[Section, ...]:
        lines = about_learnt(self.result)
        lead = "Someone who knows everyone's quasi-identifiers and who is in which group, and trains a classifier."
        return (Section("What a model learns from the releases", (Note("Found", lines),), lead),) if lines else ()

    def _tiles(self) -> Tiles:
        found = self.result
        last = found.releases[-1] if found.releases else None
        unsolved = f"not fully solved for {found.n_undecided:,}" if found.n_undecided else ""
        return Tiles(
            (
                Tile("people published", f"{found.n_people:,}"),
                Tile("have one possible value left in the last release", f"{last.single if last else 0:,}"),
                Tile("breached at the fixed point", format_percent(found.iterated.share), _interval(found)),
                Tile("must hold the same value as someone else", f"{found.n_twins:,}", unsolved),
                *self._sure_tile(),
            )
        )

    def _sure_tile(self) -> tuple[Tile, ...]:
        """Return the share of people inferred with certainty, where values change."""
        found = self.result.sequence
        if found is None:
            return ()
        hit = f"such beliefs are right {found.sure.hit_rate:.0%} of the time" if found.sure.n_beliefs else ""
        return (Tile("ever inferred with certainty", format_percent(found.sure.share), hit),)

    def _rows(self, releases: tuple[ShrinkingCounts, ...]) -> tuple[tuple[str, ...], ...]:
        return tuple((self.name_of(r.number), f"{r.n_people:,}", f"{r.below:,}", f"{r.single:,}") for r in releases)


_NUMBERS = frozenset({1, 2, 3})
_HEADING = {False: "What all releases reveal together", True: "What the worst recipient can conclude"}


def _share(share: float, guess: WithheldGuess | None = None) -> str:
    return "–" if guess is not None and not guess.n_withheld else format_percent(share)


def _withheld_record(found: WithheldGuesses) -> dict[str, Any]:
    def told(one: WithheldGuess) -> dict[str, Any]:
        shares = {"hit_share": one.hit_share, "margin_share": one.margin_share}
        return format_plain({**asdict(one), **shares})  # type: ignore[no-any-return]

    estimate = format_plain(asdict(found.estimate))
    return {
        "releases": [told(one) for one in found.releases],
        "series": told(found.series),
        "estimate": estimate,
        "risk": list(found.risk),
    }


def _people_who_change(found: AdversaryResult) -> tuple[Section, ...]:
    """Return the section on values that change; exclusion is told when they do, which is more than anyone knows."""
    if found.sequence is None:
        if not found.n_unfollowed:
            return ()
        note = Note("Not judged", (about_unfollowed(found.n_unfollowed),))
        return (Section("People whose values change", (note,)),)
    people = tuple((str(at), f"{n:,}") for at, n in enumerate(found.sequence.sure_by_release, 1))
    sure = Grid(
        "People whose value is inferred with certainty, up to each release",
        ("release", "people"),
        people,
        frozenset({1}),
    )
    head = ("appearances", "people", "gain")
    rows = tuple((label, f"{n:,}", f"{gain:.3f}") for label, n, gain in found.sequence.by_appearances)
    told = "The exclusion attack is told when values change; a real attacker would not know."
    lines = (*about_sequence(found.sequence), told)
    grid = Grid("Gain by the number of a person's appearances", head, rows, frozenset({1, 2}))
    return (
        Section("What an attacker who knows how values usually change can infer", (Note("Found", lines), sure, grid)),
    )


_TOLD = ", and when a value changes"


def _known(found: AdversaryResult) -> str:
    share = float(found.iterated.detail["compromised"])
    told = found.sequence is not None or found.n_unfollowed
    if share:
        return f"and knew the values of {format_percent(share)} of them beforehand" + (_TOLD if told else "")
    return f"and knew nothing else{' but when a value changes' if told else ''}"


def _interval(found: AdversaryResult) -> str:
    if not found.iterated.detail["compromised"]:
        return ""
    draws = len(found.iterated.detail["seeds"])
    return f"95% interval {format_percent(found.iterated.low)} to {format_percent(found.iterated.high)}, {draws} draws"


def _banner(found: AdversaryResult, who: str) -> Banner:
    attacker = f"{who} {_known(found)}"
    exposed = found.releases[-1].below if found.releases else 0
    sure = 0 if found.sequence is None else found.sequence.sure.right
    cut = found.method.iterated.share if found.method is not None else 0.0
    more = found.beside.iterated.share if found.beside is not None else 0.0
    if found.iterated.share or exposed or found.n_determined or found.n_joined or sure or cut or more:
        sentence = f"{format_percent(found.iterated.share)} of people are breached by {attacker}."
        few = f"have fewer than {found.least} values left by intersection alone"
        reasons = (
            (exposed, f"{exposed:,} people of the last release {few}."),
            (found.n_determined, f"The value of {found.n_determined:,} people follows from the groups alone."),
            (found.n_joined, f"{found.n_joined:,} people are breached once twins share what is known about them."),
            (sure, f"{sure:,} people are inferred with certainty by an attacker who knows how values usually change."),
            (cut, f"{format_percent(cut)} of people are breached by an attacker who knows the algorithm as well."),
            (more, f"{format_percent(more)} of people are breached together with other series of the ledger."),
        )
        return Banner("Exposed", sentence, "bad", tuple(reason for count, reason in reasons if count))
    if found.n_unfollowed:
        return Banner("Not everyone was judged", about_unfollowed(found.n_unfollowed), "warn")
    return Banner("Nobody exposed", f"Nobody is breached by {attacker}, using the attacks below.", "good")


def _words(found: AdversaryResult) -> tuple[tuple[str, str], ...]:
    return (
        (
            "intersection",
            "In every release, a person's value is among those published for their group. The values common to all "
            "their groups remain. Anyone can do this with a spreadsheet.",
        ),
        (
            "exclusion",
            f"{format_percent(found.once.share)} of people are breached when each conclusion is drawn once, "
            f"{format_percent(found.iterated.share)} when every value found is used to find the next: people whose "
            "value is "
            "known are removed from their groups, and groups that differ in few people are compared.",
        ),
        (
            "twins",
            f"{found.n_twins:,} people in {found.n_twin_sets:,} sets must hold equal values: anyone who learns one "
            f"knows them all. The value of {found.n_determined:,} people follows from such sums alone, that of "
            f"{found.n_joined:,} more from the values their twins can hold.",
        ),
        (
            "what to do",
            "What is published cannot be taken back. Before the next release, bound the share of people breached by "
            "all releases together ([adversary] breach_share), or let method cohort take over the series. Where "
            "values change, bound the share inferred with certainty instead (sure_share).",
        ),
        ("checked", f"Every conclusion was compared with the truth: {found.wrong} were wrong."),
    )
