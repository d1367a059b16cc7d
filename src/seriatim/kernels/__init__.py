"""Arrays in, arrays out, compiled by numba. Imports nothing of ours."""

import os


def n_cores() -> int:
    """Return on how many cores this process may run: those of the machine, or fewer if someone said so."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
