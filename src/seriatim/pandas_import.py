"""Whether Arrow loads pandas, which takes a command as long as all the rest of its start.

Arrow asks for pandas the first time that it is handed a list, in case the list holds something of pandas. A command
hands it none. Once Arrow has heard that there is no pandas, it asks again only when somebody wants a frame.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


class _NoPandas:
    """Finds no pandas, and leaves every other module to those who look after it."""

    def find_spec(self, name: str, *_: Any) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


@contextmanager
def _pandas_hidden() -> Iterator[None]:
    hides: Any = _NoPandas()
    sys.meta_path.insert(0, hides)
    try:
        yield
    finally:
        sys.meta_path.remove(hides)


def leave_pandas_out() -> None:
    """Let Arrow look for pandas now and find none, unless somebody has loaded it."""
    if "pandas" not in sys.modules:
        import pyarrow as pa

        with _pandas_hidden():
            pa.array([])


def let_pandas_in() -> None:
    """Let Arrow know pandas from now on, if it is installed: code of other packages may use both."""
    import pyarrow as pa

    with suppress(ImportError):
        pa.array([]).to_pandas()
