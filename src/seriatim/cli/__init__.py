"""The command line: parse, call a use case, print. Every command has a Python twin."""

from __future__ import annotations

import gc
import os
import sys

_NEW_OBJECTS = 100_000
"""Loading modules makes many objects that all stay: searching them for garbage every 700 takes a tenth of the start."""

_WITHOUT_ARROW = frozenset({"--help", "-h", "--version", "serve", "study"})
"""What reads no table, and what reads tables of other packages with pandas."""


def main() -> None:
    """Run a command; whoever reads its output may leave early."""
    from seriatim.cli.closed_pipe import pipe_may_close

    with pipe_may_close():
        _main()


def _main() -> None:
    """Run a command. Print each of our errors on a line; of any other only its kind and where it arose, never data."""
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        # kept as a file, since building it loads every command; a test compares it with what typer prints
        with open(__file__.rpartition(os.sep)[0] + "/help.txt", encoding="utf-8") as page:  # noqa: PTH123 - loads less
            sys.stdout.write(page.read())
        sys.exit(0 if sys.argv[1:] else 2)
    gc.set_threshold(_NEW_OBJECTS)
    from seriatim.cli.app import cli_app_for
    from seriatim.cli.failure import (
        end_in_bug_failure,
        end_in_failure,
        end_in_outside_failure,
        end_in_usage_failure,
        fail_on_arguments,
    )
    from seriatim.cli.warned import print_what_warned
    from seriatim.errors import SeriatimError
    from seriatim.pandas_import import leave_pandas_out

    as_json = "--json" in sys.argv
    print_what_warned()
    try:
        fail_on_arguments(sys.argv[1:])
        if _WITHOUT_ARROW.isdisjoint(sys.argv[1:]):
            leave_pandas_out()
        cli_app_for(sys.argv[1:])()
    except SystemExit as left:
        sys.exit(end_in_usage_failure(left.code, as_json) if isinstance(left.code, int) else left.code)
    except SeriatimError as error:
        sys.exit(end_in_failure(error, as_json))
    except OSError as error:
        sys.exit(end_in_outside_failure(error, as_json))
    except Exception as error:
        # the message of any other exception may quote a cell: print only its kind and where it arose
        if os.environ.get("SERIATIM_DEBUG"):
            raise
        sys.exit(end_in_bug_failure(_kind_of(error), as_json))


def _kind_of(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" in {trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}" if trace else ""
    return f"unexpected {type(error).__name__}{where}"
