"""Debian's chromium, without anything that would ask the network."""

from __future__ import annotations

import shutil
from typing import Any

CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TRIES = 3


def picture(page: Any, **how: Any) -> bytes:
    """Return a picture of a page. Under load chromium may have no frame to give yet, and says so; it is asked again."""
    from playwright.sync_api import Error

    for left in reversed(range(TRIES)):
        try:
            return bytes(page.screenshot(**how))
        except Error as error:
            if "Unable to capture screenshot" not in str(error) or not left:
                raise
            page.wait_for_timeout(500)
    raise AssertionError("the last try returns or raises")
