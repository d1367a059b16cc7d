"""What `seriatim demo` does: a made-up hospital publishes; one release is refused, one leaves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seriatim.errors import Fault, InputError
from seriatim.ports import Progress

if TYPE_CHECKING:
    from seriatim.wiring import Published


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """The demo's two releases and where everything is."""

    folder: Path
    refused: Published
    released: Published
    release_folder: Path

    def fields(self) -> dict[str, Any]:
        return {
            "refused": list(self.refused.verdict.reasons),
            "released": self.released.verdict.released,
            "files": sorted(str(path) for path in self.release_folder.iterdir()),
            "view": str(self.folder / "visits.csv"),
            "policy": str(self.folder / "policy.toml"),
            "ledger": f"sqlite:///{self.folder / 'ledger.db'}",
        }

    def print(self) -> None:
        from seriatim.cli import printing

        say = printing.console.print
        say("\nA made-up hospital publishes its visits. First it asks for too much:\n")
        printing.print_verdict(self.refused, None, dry_run=False)
        say("\nNothing was written, nothing was recorded. It asks for what the data can bear:\n")
        printing.print_verdict(self.released, self.release_folder, dry_run=False)
        say("\nOpen the report in a browser. Look around:")
        ledger = self.folder / "ledger.db"
        printing.print_json_text(f"  seriatim ledger show --ledger sqlite:///{ledger}")
        printing.print_json_text(f"  seriatim ledger verify --ledger sqlite:///{ledger}")
        printing.print_json_text(
            f"  seriatim publish {self.folder / 'visits.csv'} --policy {self.folder / 'policy.toml'} --dry-run"
        )


def demonstrate(folder: Path, patients: int, progress: Progress) -> Shown:
    """Make the hospital's table and policy, try a policy that cannot hold, then publish under one that does."""
    import shutil

    from seriatim import wiring
    from seriatim.ledger import slug_of
    from seriatim.studies.worlds.hospital import POLICY, hospital
    from seriatim.tables.writing import CsvWriter

    marker = folder / "made-by-seriatim-demo"
    if folder.exists() and not marker.exists():
        raise InputError(Fault(str(folder), "exists and was not made by the demo", "a new folder", "choose --out"))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    marker.touch()
    CsvWriter()(hospital(patients), folder / "visits.csv")
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    (folder / "too-much.toml").write_text(POLICY.replace("l = 3 ", "l = 13 "), encoding="utf-8")
    ledger = wiring.open_ledger(folder / "ledger.db")
    releases = folder / "releases"
    refused = wiring.publish(
        folder / "visits.csv", wiring.load_policy(folder / "too-much.toml"), ledger, out=releases, progress=progress
    )
    policy = wiring.load_policy(folder / "policy.toml")
    released = wiring.publish(folder / "visits.csv", policy, ledger, out=releases, progress=progress)
    return Shown(folder, refused, released, releases / f"{slug_of(policy.series)}-{released.number:04d}")
