"""The command line as a user meets it."""

from __future__ import annotations

import contextlib
import gc
import io
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

import pandas  # noqa: F401 - a command leaves it out where nobody has loaded it, and other tests hand its frames to Arrow
from support.command_nursery import nursery

from seriatim.cli import main

POLICY = """
[series]
name = "{series}"
respondent = "who"

[columns]
age = {{ role = "quasi", kind = "number" }}
zip = {{ role = "quasi", hierarchy = {{ prefix = [3, 2, 0] }} }}
ill = {{ role = "sensitive" }}
note = {{ role = "plain" }}
name = {{ role = "drop" }}

[promise]
k = {k}
[promise.ill]
l = 2

[defence]
method = "median"
suppress = 0.1
"""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def seriatim(folder: Path, *arguments: str) -> Ran:
    """The command line in a folder, with its output piped: nobody watches."""
    out, err = io.StringIO(), io.StringIO()
    argv, sys.argv = sys.argv, ["seriatim", *arguments]
    searches = gc.get_threshold()
    code: int | str | None = 0
    try:
        with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as left:
        code = left.code
    finally:
        sys.argv = argv
        gc.set_threshold(*searches)
    assert isinstance(code, int | None)
    return Ran(code or 0, out.getvalue(), err.getvalue())


def seriatim_apart(folder: Path, *arguments: str) -> Ran:
    """The same in a process of its own, as a user has it."""
    with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        code = nursery().fork_command([*arguments], folder, out.fileno(), err.fileno()).wait(400)
        out.seek(0)
        err.seek(0)
        return Ran(code, out.read(), err.read())


def write_view(folder: Path, rows: int = 24, name: str = "view.csv") -> Path:
    path = folder / name
    lines = [f"p{i},{20 + i % 12},{10100 + i % 7},{('flu', 'gout', 'cold')[i % 3]},n{i},N{i}" for i in range(rows)]
    path.write_text("who,age,zip,ill,note,name\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_policy(folder: Path, k: int = 3, series: str = "ward-visits", name: str = "policy.toml") -> Path:
    path = folder / name
    path.write_text(POLICY.format(k=k, series=series), encoding="utf-8")
    return path
