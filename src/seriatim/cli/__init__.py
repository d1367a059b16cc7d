"""The command line: parse, call a use case, print. Every command has a Python twin."""

from __future__ import annotations

import gc
import os
import sys

_NEW_OBJECTS = 500_000
"""Loading modules makes many objects that all stay. A short command ends before it has made so many, and so never
searches them for garbage; one search would take a twentieth of its time."""

_WITHOUT_ARROW = frozenset({"--help", "-h", "--version", "serve", "study"})
"""What reads no table, and what reads tables of other packages with pandas."""


def program() -> None:
    """Run a command as a process of its own, and end that process as soon as the command has ended.

    Python would first take apart, piece by piece, all that was loaded: a fifth of what a short command takes. Threads
    are waited for, and what is registered for the end is done. Output that nobody could take, an error that nobody
    foresaw and SERIATIM_DEBUG are left to Python's own end.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices are small: a second thread mostly spins
    try:
        main()
        code: object = 0
    except SystemExit as left:
        code = left.code or 0
    if isinstance(code, int) and not os.environ.get("SERIATIM_DEBUG") and _all_is_done():
        os._exit(code)
    sys.exit(code)  # type: ignore[arg-type]


def _all_is_done() -> bool:
    """Wait for threads, do what is registered for the end, and say whether all output could be handed on."""
    import atexit

    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()  # as Python's own end does: it also wakes the idle threads of pools
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return False
    return True


def main() -> None:
    """Run a command; the reader of its output may leave early."""
    from seriatim.cli.closed_pipe import reader_may_leave

    with reader_may_leave():
        _main()


def _main() -> None:
    """Run a command. Print each of our errors on a line; of any other only its kind and where it arose, never data."""
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        # kept as a file, since building it loads every command; a test compares it with what typer prints
        with open(__file__.rpartition(os.sep)[0] + "/help.txt", encoding="utf-8") as page:  # noqa: PTH123 - loads less
            sys.stdout.write(page.read())
        sys.exit(0 if sys.argv[1:] else 2)
    gc.set_threshold(_NEW_OBJECTS)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")  # looking for some takes longer than reading a policy
    from seriatim.cli.app import typer_for
    from seriatim.cli.closed_pipe import print_what_warned
    from seriatim.cli.failure import (
        end_on_bug,
        end_on_outside_error,
        end_on_usage,
        end_with_faults,
        end_without_memory,
        fail_on_arguments,
        failed_options,
    )
    from seriatim.errors import SeriatimError
    from seriatim.startup import leave_pandas_out

    as_json = "--json" in sys.argv
    print_what_warned()
    try:
        fail_on_arguments(sys.argv[1:])
        if _WITHOUT_ARROW.isdisjoint(sys.argv[1:]):
            leave_pandas_out()
        typer_for(sys.argv[1:])()
    except SystemExit as left:
        sys.exit(end_on_usage(left.code, as_json) if isinstance(left.code, int) else left.code)
    except SeriatimError as error:
        options = failed_options(typer_for(sys.argv[1:]), sys.argv[1:])
        sys.exit(end_with_faults(error, as_json, options))
    except OSError as error:
        sys.exit(end_on_outside_error(error, as_json))
    except MemoryError:
        sys.exit(end_without_memory(as_json))
    except Exception as error:
        # the message of any other exception may quote a cell: print only its kind and where it arose
        if os.environ.get("SERIATIM_DEBUG"):
            raise
        sys.exit(end_on_bug(_kind_of(error), as_json))


def _kind_of(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" in {trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}" if trace else ""
    return f"unexpected {type(error).__name__}{where}"
