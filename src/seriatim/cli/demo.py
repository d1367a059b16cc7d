"""`seriatim demo`: a made-up hospital publishes every month, naively and with a promise over time."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seriatim.cli.options import AsJson
from seriatim.errors import Fault, InputError

if TYPE_CHECKING:
    from seriatim.api import Published
    from seriatim.ports import Progress
    from seriatim.usecases.attack.attack import AdversaryResult

MONTHS = 5
OVER_TIME = """
[adversary]
breach_share = 0.01   # at most one person in a hundred breached by all releases together
"""


def command(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for everything the demo makes.")] = Path(
        "seriatim-demo"
    ),
    patients: Annotated[int, typer.Option(min=100, help="Number of made-up patients.")] = 3_000,
    as_json: AsJson = False,
) -> None:
    """Publish a made-up hospital's months and show what leaks.

    Example: seriatim demo --out seriatim-demo
    """
    from seriatim.cli import output

    with output.progress_bar(silent=as_json) as progress:
        shown = publish_months(out, patients, progress)
    if as_json:
        output.print_json(shown.fields())
    else:
        shown.print()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MonthsPublished:
    """The demo's releases, what the attacks found, and where the files are."""

    folder: Path
    first: Published
    refused: Published
    naive: AdversaryResult
    safe: AdversaryResult
    release_folder: Path

    def fields(self) -> dict[str, Any]:
        return {
            "released": self.first.verdict.released,
            "refused": list(self.refused.verdict.reasons),
            "naive": {"months": MONTHS, "breached": self.naive.iterated.share},
            "cohort": {"months": MONTHS, "breached": self.safe.iterated.share},
            "files": sorted(str(path) for path in self.release_folder.glob("*/*")),
            "views": str(self.folder / "views"),
            "policies": [str(path) for path in sorted(self.folder.glob("*.toml"))],
            "ledger": f"sqlite:///{self.folder / 'ledger.db'}",
        }

    def print(self) -> None:
        from seriatim.cli import output

        say, write = output.console.print, output.print_text
        say("\nA made-up hospital publishes its visits of the first month:\n")
        output.print_verdict(self.first, self.release_folder, dry_run=False)
        say("\nEvery month a tenth of the patients leave and others join. Each month passes the same check again.")
        say("Comparing the groups each patient was in leaves fewer possible diseases (intersection):\n")
        say(_table(self.naive))
        share = self.naive.iterated.share
        say(
            "\nBuilding on each finding until nothing new follows (exclusion to the fixed point),\n"
            f"[bold red]someone who merely kept every month breaches {share:.0%} of the patients[/]."
        )
        say("\nA policy that bounds this share refuses the second month:\n")
        output.print_verdict(self.refused, None, dry_run=False)
        say("\nThe method cohort keeps three diseases possible for everyone over all months:\n")
        say(_table(self.safe))
        say(f"\n[bold green]{self.safe.iterated.share:.0%} breached[/] by the same attack after {MONTHS} months.")
        say("\nLook around:")
        ledger, run = f"sqlite:///{self.folder / 'ledger.db'}", _program()
        write(f"  {self.release_folder / 'private' / 'report.html'}    (open it in a browser)")
        write(f"  {run} ledger show --ledger {ledger}")
        monthly, who = self.folder / "monthly", self.folder / "who.csv"
        known = "--adversary 'compromised = 0.04'"
        write(f"  {run} attack --history {monthly} --respondents {who} {known} --out attack.html")
        write(f"  {run} forecast ward-visits-safe --ledger {ledger} --out forecast.html")


def _program() -> str:
    """Return how this program was called, for lines to copy."""
    called = Path(sys.argv[0])
    if shutil.which("seriatim") or called.name not in ("seriatim", "__main__.py"):
        return "seriatim"
    return "python -m seriatim" if called.name == "__main__.py" else str(called)


def _table(result: AdversaryResult) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("month", "patients", "fewer than 3 diseases possible", "one disease possible"):
        table.add_column(name, justify="right")
    for release in result.releases:
        table.add_row(str(release.number), f"{release.n_people:,}", f"{release.below:,}", f"{release.single:,}")
    return table


def publish_months(out: Path, patients: int = 3_000, progress: Progress = lambda *_: None) -> MonthsPublished:
    """Publish the same months naively and safely, attack both, and let a promise over time refuse the naive one."""
    from seriatim import api
    from seriatim.cli.compile_ahead import compile_ahead
    from seriatim.ledger import shelf
    from seriatim.testing.hospital import hospital_months

    compile_ahead("cutting", "accepting", "judging", "figures", "conclusions", "narrowing", "twins")
    views = _prepare(out, hospital_months(patients, MONTHS))
    naive, over_time, safe = (api.load_policy(path) for path in write_policies(out))
    ledger, releases = api.open_ledger(out / "ledger.db"), out / "releases"

    def published(month: int, policy: Any, share: float) -> Published:
        progress(f"month {month + 1}, {policy.series}", share)
        return api.publish(views[month], policy, ledger, out=releases)

    naively = [published(month, naive, 0.05 * month) for month in range(MONTHS)]
    write_months(out, naively)
    first = naively[0]
    _, refused = (published(month, over_time, 0.4 + 0.05 * month) for month in range(2))
    for month in range(MONTHS):
        published(month, safe, 0.5 + 0.05 * month)
    progress("attacking", 0.8)
    attacked = [api.attack(ledger, series=policy.series) for policy in (naive, safe)]
    return MonthsPublished(
        folder=out,
        first=first,
        refused=refused,
        naive=attacked[0],
        safe=attacked[1],
        release_folder=releases / f"{shelf.slug(naive.series)}-{first.number:04d}",
    )


def write_policies(folder: Path) -> list[Path]:
    """Write three policies for the same table: month by month, bounded over time, and with method cohort."""
    from seriatim.testing.hospital import POLICY, SERIES

    policies = {
        "policy.toml": POLICY,
        "over-time.toml": POLICY.replace('"ward-visits"', '"ward-visits-over-time"') + OVER_TIME,
        "safe.toml": SERIES.replace('"ward-visits"', '"ward-visits-safe"'),
    }
    for name, text in policies.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in policies]


def write_months(folder: Path, releases: list[Published]) -> None:
    """Write the naive months as someone without Seriatim has them: plain files, and a list of who is in which row."""
    import pyarrow as pa

    from seriatim.tables.writer import write_csv

    (folder / "monthly").mkdir()
    listed: dict[str, list[Any]] = {"release": [], "row": [], "respondent": []}
    for number, made in enumerate(releases, 1):
        draft = made.release.draft
        rows = draft.groups.filter(draft.groups.column("group").is_valid())
        group_of = rows.column("group").to_numpy()
        columns = {
            column.name: [column.labels[at] for at in column.label_of_group[group_of].tolist()]
            for column in draft.generalised
        }
        columns["disease"] = rows.column("disease").to_pylist()
        name = f"2024-{number:02d}"
        write_csv(pa.table(columns), folder / "monthly" / f"{name}.csv")
        listed["release"] += [name] * len(rows)
        listed["row"] += range(1, len(rows) + 1)
        listed["respondent"] += rows.column("respondent").to_pylist()
    write_csv(pa.table(listed), folder / "who.csv")


def _prepare(folder: Path, tables: list[Any]) -> list[Path]:
    """Make an empty folder with the views. A folder that the demo did not make is left alone."""
    from seriatim.storage.durable_files import refuse_kept_folder
    from seriatim.tables.writer import write_csv

    marker = folder / "made-by-seriatim-demo"
    if folder.exists() and not marker.exists():
        raise InputError(
            Fault(str(folder), "exists and was not made by the demo", "a new folder", "choose another --out")
        )
    refuse_kept_folder(folder, str(folder))
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "views").mkdir(parents=True)
    marker.touch()
    paths = [folder / "views" / f"month-{number}.csv" for number in range(1, len(tables) + 1)]
    for table, path in zip(tables, paths, strict=True):
        write_csv(table, path)
    return paths
