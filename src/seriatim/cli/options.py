"""Options that several commands share."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any

import typer

LEDGER = "sqlite:///ledger.db"


def new_file(context: typer.Context, parameter: typer.CallbackParam, path: Path | None) -> Path | None:  # noqa: ARG001
    """Refuse a file to write that holds something else, before any work is done."""
    if path is not None:
        from seriatim.storage.durable_files import refuse_foreign_file

        refuse_foreign_file(path, parameter.name or "out")
    return path


def new_report(context: typer.Context, parameter: typer.CallbackParam, path: Path | None) -> Path | None:
    """Refuse the same of the record that is written beside a page."""
    if path is not None and path.suffix == ".json":
        from seriatim.errors import Fault, InputError

        told = "the page would have the name of the record beside it"
        raise InputError(Fault("out", told, "a page, as in report.html", "name another"))
    new_file(context, parameter, path)
    new_file(context, parameter, path and path.with_suffix(".json"))
    return path


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
LedgerUrl = Annotated[
    str,
    typer.Option(
        "--ledger",
        envvar="SERIATIM_LEDGER",
        help="Ledger: sqlite:///file or postgresql://server/database; ?shelf=FOLDER behind it names the folder of its "
        "files (beside a SQLite ledger if omitted).",
    ),
]
PolicyFile = Annotated[Path, typer.Option("--policy", "-p", help="Policy, a TOML file.")]
CsvForm = Annotated[
    str | None,
    typer.Option("--csv", help="CSV separator, encoding or both, as ';' or 'tab cp1252' (detected if omitted)."),
]
ReportFile = Annotated[
    Path | None,
    typer.Option("--out", "-o", callback=new_report, help="Write the report here as HTML, and beside it as JSON."),
]


def csv_form(given: str | None) -> tuple[str | None, str | None]:
    """Return the separator and the encoding that --csv names: a separator is one character, or the word tab."""
    words = {"separator": None, "encoding": None}
    for word in (given or "").split():
        kind = "separator" if len(word) == 1 or word == "tab" else "encoding"
        if words[kind] is not None:
            from seriatim.errors import Fault, InputError

            raise InputError(Fault("--csv", f"two of a kind ({kind})", "a separator, an encoding or both"))
        words[kind] = "\t" if word == "tab" else word  # type: ignore[assignment]
    return words["separator"], words["encoding"]


def ledger_place(address: str) -> tuple[str, Path | None]:
    """Return the address of a ledger, and the folder of its files if it names one."""
    named = re.search(r"[?&]shelf=([^&]+)", address)
    folder = named[1] if named else os.environ.get("SERIATIM_SHELF")
    rest = address.replace(named[0], "", 1) if named else address
    if named and named[0].startswith("?"):
        rest = rest.replace("&", "?", 1)
    return rest, None if folder is None else Path(folder)


def allowed_words(given: list[str] | None, *known: str) -> set[str]:
    """Return what --allow names; a word that the command does not know is an error."""
    from seriatim.errors import Fault, InputError

    words = set(given or ())
    if unknown := sorted(words.difference(known)):
        raise InputError(Fault("--allow", f"{unknown[0]!r}", ", ".join(known)))
    return words


def inline_table(option: str, text: str) -> dict[str, Any]:
    """Return keys and values written on the command line as TOML has them: m = 4, odds = 1.5."""
    import tomllib

    from seriatim.errors import Fault, InputError

    try:
        given: dict[str, Any] = tomllib.loads(f"given = {{ {text} }}")["given"]
    except tomllib.TOMLDecodeError:
        allowed = "keys and values with commas, as in 'm = 4, odds = 1.5'"
        raise InputError(Fault(option, "cannot be read", allowed)) from None
    return given


def known_to_adversary(given: str | None) -> dict[str, Any]:
    """Return what an attacker knows: the keys of a file, or keys as an inline table has them."""
    from seriatim import api

    if given is None:
        return {}
    inline = "=" in given and not Path(given).exists()
    return inline_table("--adversary", given) if inline else api.load_adversary(given)


AdversaryKeys = Annotated[
    str | None,
    typer.Option(help="What the attacker knows: a file of [adversary] keys, or some, as in 'compromised = 0.04'."),
]
