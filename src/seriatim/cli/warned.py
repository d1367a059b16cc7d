"""Warnings on the command line."""

from __future__ import annotations

import sys
import warnings
from typing import Any


def print_what_warned() -> None:
    """Show our own warnings on a line each on standard error, others as Python does."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **further: Any) -> None:
        if category.__module__.startswith("seriatim."):
            print(f"note: {message}", file=sys.stderr)  # noqa: T201
        else:
            usual(message, category, *where, **further)

    warnings.showwarning = show
