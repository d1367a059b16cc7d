"""An attack's result as a page and as JSON: counts and pictures, no names and no values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from seriatim.attacks._intersection import Shrinking
from seriatim.report import Banner, Charts, Definitions, Filed, Grid, Note, Page, Section, Tile, Tiles
from seriatim.report.formats import percent, plain
from seriatim.usecases.attack.assembly import Assembled
from seriatim.usecases.attack.attack import AttackResult


@dataclass(frozen=True, slots=True)
class AttackReport(Filed):
    """What an adversary holding every release concludes."""

    title: str
    result: AttackResult
    files: Assembled | None = None
    """How a folder of releases was read; None for a series of a ledger."""
    by_register: tuple[Shrinking, ...] = ()
    """Intersection by somebody who has a register of people instead of the list of rows."""

    def name_of(self, number: int) -> str:
        """A release by the name of its file, or by its number."""
        return str(number) if self.files is None else self.files.names[number - 1]

    @property
    def notes(self) -> tuple[str, ...]:
        """How the files were read."""
        if self.files is None:
            return ()
        group = f"a group is the rows with equal {', '.join(self.files.known)}"
        return (f"sensitive column: {self.files.sensitive}", group, *self.files.notes)

    def record(self) -> dict[str, Any]:
        found = self.result
        return {
            "schema": "seriatim.attack/1",
            "people": found.n_people,
            "releases": [self._told(release) for release in found.releases],
            "by_register": [self._told(release) for release in self.by_register],
            "notes": list(self.notes),
            "once": plain(asdict(found.once)),
            "iterated": plain(asdict(found.iterated)),
            "twins": {"sets": found.n_twin_sets, "people": found.n_twins, "undecided": found.n_undecided},
            "joined": found.n_joined,
            "determined": found.n_determined,
            "wrong": found.wrong,
            "least": found.least,
        }

    def _told(self, release: Shrinking) -> dict[str, Any]:
        return {"name": self.name_of(release.number), **plain(asdict(release))}

    def page(self) -> Page:
        found = self.result
        head = ("release", "people", f"fewer than {found.least} values left", "one value left")
        grids = [Grid("Candidates left, from the groups people stood in", head, self._rows(found.releases), _NUMBERS)]
        if self.by_register:
            title = "The same for somebody who has a register of people, and not the list of rows"
            grids.append(Grid(title, head, self._rows(self.by_register), _NUMBERS))
        notes = (Note("How the files were read", self.notes),) if self.notes else ()
        return Page(
            title=self.title,
            sections=(
                Section("What all releases together give away", (self._tiles(), Charts(found.charts))),
                Section("Release by release", (*grids, *notes)),
                Section("How to read this", (Definitions(_words(found)),)),
            ),
            kicker="Attack report",
            banner=_banner(found),
            footer="This report holds counts only: no name, no row and no value of a person.",
        )

    def _tiles(self) -> Tiles:
        found = self.result
        last = found.releases[-1] if found.releases else None
        unsolved = f"not solved to the end for {found.n_undecided:,}" if found.n_undecided else ""
        return Tiles(
            (
                Tile("people ever published", f"{found.n_people:,}"),
                Tile("of the last release have one possible value left", f"{last.single if last else 0:,}"),
                Tile("certain to somebody who reasons on", percent(found.iterated.share), _interval(found)),
                Tile("must hold the same value as somebody else", f"{found.n_twins:,}", unsolved),
            )
        )

    def _rows(self, releases: tuple[Shrinking, ...]) -> tuple[tuple[str, ...], ...]:
        return tuple((self.name_of(r.number), f"{r.n_people:,}", f"{r.below:,}", f"{r.single:,}") for r in releases)


_NUMBERS = frozenset({1, 2, 3})


def _known(found: AttackResult) -> str:
    share = float(found.iterated.detail["compromised"])
    return f"and knew the values of {percent(share)} of them beforehand" if share else "and knew nothing else"


def _interval(found: AttackResult) -> str:
    if not found.iterated.detail["compromised"]:
        return ""
    draws = len(found.iterated.detail["seeds"])
    return f"95% interval {percent(found.iterated.low)} to {percent(found.iterated.high)}, {draws} draws"


def _banner(found: AttackResult) -> Banner:
    whom = f"somebody who kept every release {_known(found)}"
    exposed = found.releases[-1].below if found.releases else 0
    if found.iterated.share or exposed or found.n_determined or found.n_joined:
        sentence = f"The value of {percent(found.iterated.share)} of people becomes certain to {whom}."
        line = (
            f"{exposed:,} people of the last release have fewer than {found.least} values left by intersection alone."
        )
        return Banner("Exposed", sentence, "bad", (line,))
    return Banner("Nobody found", f"No value becomes certain to {whom}, by the attacks below.", "good")


def _words(found: AttackResult) -> tuple[tuple[str, str], ...]:
    return (
        (
            "intersection",
            "Everyone's value is among those published for their group, in every release: what remains is what all "
            "these groups have in common. Anybody can do this with a spreadsheet.",
        ),
        (
            "exclusion",
            f"{percent(found.once.share)} of people become certain when each conclusion is drawn once, "
            f"{percent(found.iterated.share)} when every value found is used to find the next: people whose value is "
            "known are taken out of their groups, and groups that differ in few people are compared.",
        ),
        (
            "twins",
            f"{found.n_twins:,} people in {found.n_twin_sets:,} sets must hold equal values, whatever it is: learn one "
            f"and you know all. Of {found.n_determined:,} people the value follows from such sums alone, of "
            f"{found.n_joined:,} more once what is possible of each twin is taken as possible of all.",
        ),
        (
            "what to do",
            "What has left the house cannot be called back. Bound what all releases together give away before the next "
            "one leaves ([adversary] breach_share), or begin a series under a new name with a method made for it "
            "(lineage).",
        ),
        ("checked", f"Every conclusion was compared with the truth: {found.wrong} of them were wrong."),
    )
