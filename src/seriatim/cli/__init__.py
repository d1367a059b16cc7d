"""The command line: parse, call a use case, print. Every command has a Python twin."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """The entry point: our own errors are one line each, anything else says where but never what data."""
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        # kept ready, since making it means loading every command; a test holds it to what typer would print
        with open(__file__.rpartition(os.sep)[0] + "/help.txt", encoding="utf-8") as page:  # noqa: PTH123 - loads less
            sys.stdout.write(page.read())
        sys.exit(0 if sys.argv[1:] else 2)
    from seriatim.cli.app import app
    from seriatim.cli.warned import say_warnings
    from seriatim.errors import InputError, SeriatimError

    say_warnings()
    try:
        app()
    except InputError as error:
        for fault in error.faults:
            print(f"error: {fault}", file=sys.stderr)  # noqa: T201
        sys.exit(error.exit_code)
    except SeriatimError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(error.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        # the message of a foreign exception may quote a cell, so only its kind and place are shown
        if os.environ.get("SERIATIM_DEBUG"):
            raise
        print(f"error: {_place(error)}; set SERIATIM_DEBUG=1 for the traceback (it may show data)", file=sys.stderr)  # noqa: T201
        sys.exit(1)


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" in {trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}" if trace else ""
    return f"unexpected {type(error).__name__}{where}"
