"""An attack's result as a page and as JSON: counts and pictures, no names and no values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from seriatim.report import Filed, Grid, Page, Pictures, Prose, Section, Tile, Tiles
from seriatim.report.figures import percent, plain
from seriatim.usecases.attacking import AttackResult


@dataclass(frozen=True, slots=True)
class AttackReport(Filed):
    """What an adversary holding every release concludes."""

    title: str
    result: AttackResult

    def record(self) -> dict[str, Any]:
        found = self.result
        return {
            "schema": "seriatim.attack/1",
            "people": found.n_people,
            "releases": [plain(asdict(release)) for release in found.releases],
            "once": plain(asdict(found.once)),
            "iterated": plain(asdict(found.iterated)),
            "twins": {"sets": found.n_twin_sets, "people": found.n_twins, "undecided": found.n_undecided},
            "determined": found.n_determined,
            "wrong": found.wrong,
            "least": found.least,
        }

    def page(self) -> Page:
        found = self.result
        last = found.releases[-1] if found.releases else None
        tiles = Tiles(
            (
                Tile("people ever published", f"{found.n_people:,}"),
                Tile("left with one possible value by the last release", f"{last.single if last else 0:,}"),
                Tile("breached by an adversary who goes on", percent(found.iterated.share)),
                Tile("must hold the value of somebody else", f"{found.n_twins:,}"),
            )
        )
        rows = tuple((str(r.number), f"{r.n_people:,}", f"{r.below:,}", f"{r.single:,}") for r in found.releases)
        head = ("release", "people", f"fewer than {found.least} values left", "one value left")
        story = (
            "Each release may pass its own check. Here they are taken together, as somebody who kept them all would.",
            "Intersection uses the published groups alone. Exclusion also knows the values of some people and goes on "
            "from what it found. Every conclusion was compared with the truth: "
            f"{found.wrong} of them were wrong.",
        )
        return Page(
            title=self.title,
            sections=(
                Section("What all releases together give away", (tiles, Prose(story), Pictures(found.charts))),
                Section("Release by release", (Grid("Candidates left", head, rows, frozenset({0, 1, 2, 3})),)),
            ),
            kicker="Attack report",
            footer="This report holds counts only: no name, no row and no value of a person.",
        )
