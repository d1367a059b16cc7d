"""seriatim desk"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from seriatim.cli.options import LEDGER, LedgerUrl, ledger_place


def command(
    ledger: LedgerUrl = LEDGER,
    user: Annotated[
        str | None, typer.Option(help="Your name, as the ledger keeps it (your login name if omitted).")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port on this computer (0: a free one).")] = 0,
) -> None:
    """Open the desk: the monthly work in a browser, on this computer only.

    Example: seriatim desk --ledger sqlite:///ledger.db --user "A. Ortiz"

    It prints an address that works once. Policies are looked for in the current folder, and releases go below it.
    """
    from seriatim.api import open_ledger
    from seriatim.errors import SeriatimError

    try:
        from seriatim.web.desk.application import serve
    except ModuleNotFoundError:
        raise SeriatimError("the desk needs the extra: pip install 'seriatim[desk]'") from None
    serve(open_ledger(*ledger_place(ledger)), ledger, _say, user, port)


def _say(address: str) -> None:
    from seriatim.cli.output import print_text

    print_text(f"The desk is open. This address works once:\n  {address}\nCtrl-C ends it.")
    sys.stdout.flush()
    if sys.stdout.isatty():
        import webbrowser

        webbrowser.open_new_tab(address)
