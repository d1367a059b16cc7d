"""Use all cores for the compiler at a first use."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from pathlib import Path

from seriatim.kernels import n_cores

# a kernel of each step that is compiled late in it: where it is kept, there is nothing to do
_LAST = {
    "cutting": ("single", "cut_rows"),
    "accepting": ("single", "passes_tests"),
    "judging": ("check", "rows_by_class"),
    "figures": ("check", "class_figures"),
    "conclusions": ("deduce", "compare_groups"),
    "narrowing": ("deduce", "narrow_fully"),
    "twins": ("deduce", "peel_lone_columns"),
}


def compile_ahead(*steps: str) -> None:
    """Start compiling what this command needs later; see ``seriatim.kernels.warm_up``.

    The first step, the longest, gets a process for itself, the others share one. Nothing is started on one core, where
    kernels cannot be kept, and where they are kept already. The other processes end with this one at the latest.
    """
    if n_cores() < 2 or os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        return
    missing = [step for step in steps if not _kept(*_LAST[step])]
    if not missing:
        return
    for share in filter(None, (missing[:1], missing[1:])):
        command = [sys.executable, "-m", "seriatim.kernels.warm_up", *share]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)  # noqa: S603 - our own module
        atexit.register(process.kill)


def _kept(room: str, kernel: str) -> bool:
    """Say whether a kernel was compiled before, or cannot be kept at all."""
    from seriatim.kernels import compiled

    folder = compiled.cache_folder(Path(compiled.__file__).parent / room)
    return folder is None or any(folder.glob(f"*.{kernel}-*.nbi"))
