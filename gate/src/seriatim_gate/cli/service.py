"""seriatim gate serve, hold, show, verify and token"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from seriatim.cli.options import AsJson, CsvForm, csv_form

if TYPE_CHECKING:
    from seriatim_gate.journal.sql_journal import SqlJournal

Journal = Annotated[
    str, typer.Option("--journal", envvar="SERIATIM_JOURNAL", help="sqlite:///file or postgresql://server/database.")
]
GateName = Annotated[str, typer.Option("--gate", help="Name of the gate in the journal.")]
Number = Annotated[int, typer.Argument(help="Number of the token, as token list shows it.")]
HeadFile = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--head", help="File outside the journal that notes its newest entry (default: beside SQLite)."),
]
HERE = "sqlite:///journal.db"
DAMAGED = 4

token_app = typer.Typer(help="Make, rotate, revoke and list tokens.", rich_markup_mode=None, no_args_is_help=True)


def hold_command(
    table: Annotated[Path, typer.Argument(help="Records, one per person: a CSV or Parquet file.")],
    respondent: Annotated[str, typer.Option(help="Column with the person's id; it is never released.")],
    gate: GateName,
    journal: Journal = HERE,
    csv: CsvForm = None,
    as_json: AsJson = False,
) -> None:
    """Hold the records that requesters may ask for; requests then name the person only.

    Example: seriatim gate hold people.csv --respondent id --gate soldiers
    """
    from seriatim_gate import api

    n = api.gate_hold(table, respondent, journal, gate, *csv_form(csv))
    unknown = int(api.gate_show(journal, gate)["records_unknown"])
    _say({"held": n, "unknown": unknown}, _held_text(n, unknown), as_json)


def _held_text(n: int, unknown: int) -> str:
    never = f"; {unknown:,} of them can never leave: a cell is empty or not in the baseline" if unknown else ""
    return f"{n:,} records held{never}"


def show_command(gate: GateName, journal: Journal = HERE, as_json: AsJson = False) -> None:
    """List a gate's versions, and the values and targets of its baseline by number. For the officer only.

    Example: seriatim gate show --gate soldiers
    """
    from seriatim_gate import api

    found = api.gate_show(journal, gate)
    lines = [_held_text(found["records_held"], found["records_unknown"])]
    lines += [
        f"version {one['number']}: {', '.join(one['tests'])} at {one['alpha']:.0%}, baseline {one['baseline']} on "
        f"{', '.join(f'{n:,}' for n in one['records'])} records"
        for one in found["versions"]
    ]
    for one in found["dependencies"]:
        lines += ["", one["dependency"]]
        lines += [f"  value {number:>4}  {name}" for number, name in enumerate(one["values"], 1)]
        lines += [f"  target {number:>3}  {name}" for number, name in enumerate(one["targets"], 1)]
    _say(found, "\n".join(lines), as_json)


def serve_command(
    gate: GateName,
    expire_days: Annotated[float, typer.Option(help="Days after which a waiting request expires.")],
    journal: Journal = HERE,
    host: Annotated[str, typer.Option(help="Address to listen on (put a TLS proxy in front).")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on.")] = 8080,
    batch_seconds: Annotated[
        float, typer.Option(min=0.0, help="Show releases in shuffled batches every N seconds (0: immediately).")
    ] = 0.0,
    rate: Annotated[float, typer.Option(help="Requests per second that one token may send.")] = 100.0,
    standby: Annotated[
        bool, typer.Option("--standby", help="Wait for the running service to stop, then take over.")
    ] = False,
    head: HeadFile = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Log only what went wrong.")] = False,
) -> None:
    """Serve a gate over HTTP. Needs a stored replay and tokens.

    Example: seriatim gate serve --gate soldiers --expire-days 30
    """
    from seriatim_gate.journal.sql_journal import open_journal
    from seriatim_gate.web.server import serve
    from seriatim_gate.web.settings import Settings

    settings = Settings.of(
        gate, expire_days, host, port, batch_seconds=batch_seconds, rate=rate, standby=standby, head=head
    )
    serve(open_journal(journal), settings, quiet)


def verify_command(
    gate: GateName,
    journal: Journal = HERE,
    released: Annotated[
        Optional[list[Path]],  # noqa: UP045
        typer.Option("--released", help="A saved answer of /v1/released to compare with; may be repeated."),
    ] = None,
    head: HeadFile = None,
    as_json: AsJson = False,
) -> None:
    """Find changed entries, baselines, tokens or records, and a restored old backup.

    Example: seriatim gate verify --gate soldiers --released page.json
    """
    from dataclasses import asdict

    from seriatim_gate import api

    found = api.gate_verify(journal, gate, released or (), head)
    compared = f"{found.n_entries:,} entries, {found.n_records:,} held records; {found.n_heads} heads compared"
    lines = [f"{'sound' if found.sound else 'DAMAGED'}: {compared}"]
    lines += [f"  fault {fault}" for fault in found.faults]
    _say({**asdict(found), "sound": found.sound}, "\n".join(lines), as_json)
    if not found.sound:
        raise typer.Exit(DAMAGED)


@token_app.command("make")
def token_make_command(
    role: Annotated[str, typer.Option(help="requester, officer or auditor.")],
    gate: GateName,
    journal: Journal = HERE,
    label: Annotated[str, typer.Option(help="Name of the token's holder.")] = "",
    respondent: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--respondent", help="A person the requester may ask for; may be repeated (anyone if omitted)."),
    ] = None,
    quota: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(help="Total number of requests allowed."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a token and show it once; the journal stores only its SHA-256.

    Example: seriatim gate token make --role requester --gate soldiers
    """
    bound = frozenset(respondent) if respondent else None
    made, secret = _journal(journal).token_book.make_token(gate, role, label, bound, quota)
    _say({"number": made.number, "role": role, "token": secret}, secret, as_json)


@token_app.command("rotate")
def token_rotate_command(number: Number, gate: GateName, journal: Journal = HERE, as_json: AsJson = False) -> None:
    """Replace a token's secret and show the new one; its requests and quota stay.

    Example: seriatim gate token rotate 2 --gate soldiers
    """
    secret = _journal(journal).token_book.rotate_token(gate, number)
    _say({"number": number, "token": secret}, secret, as_json)


@token_app.command("revoke")
def token_revoke_command(number: Number, gate: GateName, journal: Journal = HERE, as_json: AsJson = False) -> None:
    """Revoke a token for good; a running service notices within a second or two.

    Example: seriatim gate token revoke 2 --gate soldiers
    """
    _journal(journal).token_book.revoke_token(gate, number)
    _say({"number": number, "revoked": True}, f"token {number} revoked", as_json)


@token_app.command("list")
def token_list_command(gate: GateName, journal: Journal = HERE, as_json: AsJson = False) -> None:
    """List tokens: number, role, label, how many people they are bound to, quota. Secrets are not stored.

    Example: seriatim gate token list --gate soldiers
    """
    found = [
        {
            "number": one.number, "role": one.role, "label": one.label,
            "bound_to": None if one.respondents is None else len(one.respondents), "quota": one.quota,
            "revoked": one.revoked_at is not None,
        }
        for one in _journal(journal).tokens(gate).values()
    ]  # fmt: skip
    lines = [
        f"{one['number']:>4}  {one['role']:10} {one['label']}{'  revoked' if one['revoked'] else ''}" for one in found
    ]
    _say({"tokens": found}, "\n".join(lines) or "no tokens", as_json)


def _journal(url: str) -> SqlJournal:
    from seriatim_gate.journal.sql_journal import open_journal

    return open_journal(url)


def _say(told: dict[str, object], text: str, as_json: bool) -> None:
    import json

    from seriatim.cli.output import print_text

    print_text(json.dumps(told) if as_json else text)
