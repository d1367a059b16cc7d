"""Prints results to a terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from seriatim.model.names import printable_file_name
from seriatim.ports import PRIVATE, PUBLIC, DraftRecord, LedgerCheck, ReleaseRecord, no_progress
from seriatim.ports import Progress as Steps

if TYPE_CHECKING:
    from seriatim.api import Published
    from seriatim.model import Draft, Finding, Verdict
    from seriatim.report import FiledReport


console = Console(highlight=False, emoji=False)
NOTICED = 0.01
"""Published values that are off by less are not worth a word in the summary; the report has the figure."""


@contextmanager
def progress_bar(silent: bool = False) -> Iterator[Steps]:
    """Show a bar on standard error during long work, nothing when piped. SERIATIM_PROGRESS names a file instead."""
    if noted := os.environ.get("SERIATIM_PROGRESS"):
        yield lambda step, share: _note_progress(Path(noted), step, share)
        return
    if silent or not sys.stderr.isatty():
        yield no_progress
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True, emoji=False), transient=True) as progress:
        task = progress.add_task("starting", total=1.0)
        current = ["starting"]

        def show(step: str, share: float) -> None:
            current[0] = step
            progress.update(task, description=step, completed=share)

        with compile_notice(lambda: progress.update(task, description=f"{current[0]} ({NOTICE})")):
            yield show


def _note_progress(path: Path, step: str, share: float) -> None:
    with suppress(OSError), os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(f"{share:.3f} {step}\n")


@contextmanager
def already_done() -> Iterator[None]:
    """Print what has happened: no full disk or closed pipe behind the output can undo it or change the exit code."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        with suppress(OSError, ValueError):  # else the interpreter would try, and fail, once more at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        why = os.strerror(error.errno) if error.errno else type(error).__name__
        with suppress(OSError):
            said = f"note: could not write the output ({why}); the command itself was completed"
            print(said, file=sys.stderr)  # noqa: T201


def print_json(value: Any) -> None:
    print_text(json.dumps(value, indent=1, sort_keys=True, default=str))


def print_text(text: str) -> None:
    print(text)  # noqa: T201 - rich would wrap and colour it


def write_report(report: FiledReport, out: Path | None) -> None:
    """Write a report as HTML and beside it as JSON, if a file is named."""
    if out is not None:
        from seriatim.storage.durable_files import write_whole

        write_whole({out: report.to_html().encode(), out.with_suffix(".json"): report.to_json().encode()})


def print_verdict(made: Published, folder: Path | None, dry_run: bool) -> None:
    """Print the verdict, the finding of every promise, and where the files are."""
    verdict = made.verdict
    word, colour = ("RELEASED", "green") if verdict.released else ("REFUSED", "red")
    if verdict.overridden:
        word, colour = "RELEASED BY OVERRIDE", "yellow"
    if made.draft_digest is not None:
        word = "WAITS FOR APPROVAL"
    if dry_run:
        word = {"RELEASED": "WOULD BE RELEASED", "REFUSED": "WOULD BE REFUSED"}.get(word, word)
    number = f", release {made.number}" if made.number else ""
    console.print(f"[bold {colour}]{word}[/]  {escape(made.policy.series)}{number}")
    console.print(findings_table(verdict.findings))
    for column, draft in made.release.draft.tables.items():
        console.print(_summary(column, draft, verdict), soft_wrap=True)
    for reason in verdict.reasons:
        console.print(f"  [red]because[/] {escape(reason)}", soft_wrap=True)
    for remedy in verdict.remedies:
        console.print(f"  [cyan]what would pass:[/] {escape(remedy)}", soft_wrap=True)
    for note in verdict.notes:
        console.print(f"  note  {escape(note)}", soft_wrap=True)
    if made.draft_digest is not None:
        print_text(f"  draft     {made.draft_digest[:12]}; seriatim ledger approve releases it")
    if folder is not None:
        print_files(folder)
    elif not verdict.released:
        for path in made.papers:
            print_text(f"  {PRIVATE:8} {path}")


def _summary(column: str | None, draft: Draft, verdict: Verdict) -> str:
    """Say in a line what a table has and lacks; ``column`` names it if there are several."""
    figures = {one.name: one.value for one in verdict.measures if column in (None, one.detail.get("column"))}
    return (
        f"{f'{escape(column)}: ' if column else ''}{draft.n_records - draft.grouping.n_suppressed:,} of "
        f"{draft.n_records:,} records in {draft.grouping.n_groups:,} groups; certainty lost {figures['gcp']:.1%}"
        f"{_relation(figures)}{_off(figures)}{_beside(draft)}"
    )


def _relation(figures: Mapping[str, float]) -> str:
    """Say how much ties values to columns still, if anything did."""
    return f", relation kept {max(figures['relation_kept'], 0.0):.0%}" if "relation_kept" in figures else ""


def _off(figures: Mapping[str, float]) -> str:
    """Say how far the published values are from the truth, if anyone would notice."""
    off = figures.get("margin_error", 0.0)
    noise = ""
    if "noise_near" in figures:
        near, guessed = figures["noise_near"], figures["noise_hit_chance"]
        noise = f"; {near:.1%} of noisy numbers are near the truth, {guessed:.1%} by the best guess"
    return noise + (f"; values off by {off:.1%}" if off >= NOTICED else "")


def _beside(draft: Draft) -> str:
    """Say how many people of the view are not in the table, and how many of its rows are counterfeits."""
    n_withheld, n_counterfeits = draft.grouping.n_suppressed, draft.groups.column("counterfeit").to_pylist().count(True)
    if not (draft.serial or n_withheld):
        return ""
    beside = f"; {n_withheld:,} withheld ({draft.suppressed_share:.1%})"
    return f"{beside}, {n_counterfeits:,} counterfeits" if draft.serial else beside


def print_files(folder: Path) -> None:
    """Print where the files are, those for recipients first."""
    for part in (PUBLIC, PRIVATE):
        for path in sorted(path for path in (folder / part).rglob("*") if path.is_file()):
            print_text(f"  {part:8} {path}")


def findings_table(findings: Sequence[Finding]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("promise", "column", "required", "found", "", "people"):
        table.add_column(name, justify="right" if name in ("required", "found", "people") else "left")
    for finding in findings:
        colour = {"kept": "green", "broken": "red"}.get(finding.result, "yellow")
        kept = f"[{colour}]{finding.result}[/]"
        people = f"{finding.n_people or finding.n_unjudged:,}" if finding.n_people or finding.n_unjudged else ""
        table.add_row(
            escape(finding.rule),
            escape(finding.column or ""),
            f"{finding.threshold:.4g}",
            "" if finding.result == "not judged" else f"{finding.worst:.4g}",
            kept,
            people,
        )
    return table


def figures_table(figures: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return the worst figures: a row for each, a column per sensitive column."""
    table = Table(box=None, pad_edge=False)
    table.add_column("worst")
    for name in figures:
        table.add_column(escape(name), justify="right")
    for name in next(iter(figures.values()), {}):
        cells = (each[name] for each in figures.values())
        table.add_row(name, *(f"{cell:.4g}" if isinstance(cell, float) else f"{cell:,}" for cell in cells))
    return table


def print_changed(records: ReleaseRecord | Sequence[ReleaseRecord], as_json: bool) -> None:
    """Print what the ledger now says of one release, or of several: it has happened, whatever becomes of the output."""
    with already_done():
        if not as_json:
            records_table([records] if isinstance(records, ReleaseRecord) else records)
        elif isinstance(records, ReleaseRecord):
            print_json(fields_of_record(records))
        else:
            print_json([fields_of_record(record) for record in records])


def records_table(records: Sequence[ReleaseRecord]) -> None:
    table = Table(box=None, pad_edge=False)
    for name in ("series", "release", "state", "epoch", "rows", "received by", "approved by", "reserved"):
        table.add_column(name, overflow="fold")
    for record in records:
        approved = "" if record.approval is None else record.approval.by
        if record.approval is not None and record.approval.override:
            approved += f" (override: {record.approval.override})"
        cells = (
            record.series,
            str(record.number),
            f"recalled: {record.recalled}" if record.recalled else record.state,
            str(record.epoch),
            f"{record.n_published:,}",
            ", ".join(record.recipients),
            approved,
            record.reserved_at[:16].replace("T", " "),
        )
        table.add_row(*(escape(printable_file_name(cell)) for cell in cells))  # older ledgers took any text
    print_whole(table) if records else console.print("no releases yet")


def print_drafts(drafts: Sequence[DraftRecord]) -> None:
    """Print a line for each draft: what became of it, and by whom."""
    for draft in drafts:
        ended = f" by {draft.ended_by}" if draft.ended_by else ""
        why = f": {draft.reason}" if draft.reason else ""
        told = f"{draft.series}, release {draft.number}: {draft.state}{ended}{why}"
        print_text(f"  draft     {told}; drafted by {draft.author}, {draft.drafted_at[:16].replace('T', ' ')}")
        print_text(f"            digest {draft.digest[:12]}, input {draft.input_name or 'a table in memory'}")


def print_whole(table: Table) -> None:
    """Print a table without cutting any cell: folded in a terminal, at full width in a file."""
    width = console.width if console.is_terminal else max(console.width, _full_width(table))
    Console(highlight=False, emoji=False, width=width, file=console.file).print(table)


def _full_width(table: Table) -> int:
    return console.measure(table, options=console.options.update(width=10_000)).maximum


def print_check(check: LedgerCheck) -> None:
    """Print the result of verifying a ledger, with every fault on a line of its own."""
    word = "[green]sound[/]" if check.sound else "[red]DAMAGED[/]"
    console.print(
        f"{word}: {check.n_entries} entries, {check.n_releases} releases, {check.n_files} files, "
        f"{check.n_copies} published copies"
    )
    for fault in check.faults:
        console.print(f"  [red]fault[/] {escape(fault)}", soft_wrap=True)
    for note in check.notes:
        console.print(f"  note  {escape(note)}", soft_wrap=True)


def fields_of_record(record: ReleaseRecord | DraftRecord) -> Mapping[str, Any]:
    from dataclasses import asdict

    return asdict(record)


NOTICE = "compiling, once on this machine"


@contextmanager
def compile_notice(say: Callable[[], None]) -> Iterator[None]:
    """Call ``say`` whenever a kernel is compiled inside the block; loading one from the cache does not count."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc, unused-ignore]
        def on_start(self, event: object) -> None:  # noqa: ARG002
            say()

        def on_end(self, event: object) -> None:
            """Do nothing: the next step updates the line."""

    with event.install_listener("numba:compile", Listener()):
        yield
