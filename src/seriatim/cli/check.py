"""seriatim check: the verdict on a table, for pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seriatim.cli.options import LEDGER, AsJson, CsvForm, LedgerUrl, csv_form, ledger_place, new_file
from seriatim.cli.publish import REFUSED

Junit = Annotated[
    Path | None, typer.Option(callback=new_file, help="Write the promises as tests to this JUnit file (XML).")
]
Sarif = Annotated[
    Path | None, typer.Option(callback=new_file, help="Write what is not kept to this SARIF file (JSON).")
]


def command(
    policy: Annotated[Path, typer.Argument(help="Policy file (TOML).")],
    table: Annotated[Path, typer.Argument(help="Table that would be published.")],
    ledger: LedgerUrl = LEDGER,
    junit: Junit = None,
    sarif: Sarif = None,
    csv: CsvForm = None,
    as_json: AsJson = False,
) -> None:
    """Judge a table as publish would, for a pipeline: record nothing.

    Example: seriatim check policy.toml visits.csv --junit verdict.xml

    Exit codes are those of publish: 0 would be released, 2 bad input, 3 would be refused.
    """
    from seriatim import api
    from seriatim.cli import output
    from seriatim.storage.durable_files import write_whole

    loaded = api.load_policy(policy)
    ready = api.prepare(table, loaded, *csv_form(csv))
    made = api.publish(ready, loaded, api.ledger_to_publish(*ledger_place(ledger), ready, dry_run=True), dry_run=True)
    files = {junit: made.report.to_junit(), sarif: made.report.to_sarif(policy.as_posix())}
    write_whole({path: text.encode() for path, text in files.items() if path is not None})
    with output.already_done():
        if as_json:
            output.print_text(made.report.to_json())
        else:
            output.print_verdict(made, None, True)
    if not made.verdict.released:
        raise typer.Exit(REFUSED)
