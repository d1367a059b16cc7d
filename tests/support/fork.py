"""Work in a child of this process, which may be killed."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable


def forked(work: Callable[[], None]) -> int:
    """Return the process id of a child that does ``work``; its exit code is 0 when the work ended well."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            if code:
                traceback.print_exc()
            os._exit(code)
    return child
