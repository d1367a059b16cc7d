"""What start-up costs, and how it is put off: a command waits for nothing that it does not call.

Names of a package are loaded at first use. Its stub, ``__init__.pyi``, is where they stand: type checkers read it, and
so does :func:`lazy`. Nothing else in the house knows about start-up time.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from typing import Any


def lazy(package: str, file: str) -> tuple[Callable[[str], Any], list[str]]:
    """Return a package's ``__getattr__`` and ``__all__``, as the stub beside ``file`` has them."""
    homes = _homes(file)

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, inner = homes[name]
        return import_module(f"{module}.{inner}") if module == package else getattr(import_module(module), inner)

    return load, sorted(homes)


def public(package: str, file: str) -> tuple[Callable[[str], Any], list[str]]:
    """Do the same for a package that users import from: each name comes with its door (``seriatim.model.doors``)."""
    load, names = lazy(package, file)
    homes = _homes(file)

    @cache
    def load_at_door(name: str) -> Any:
        at_door = import_module("seriatim.model.doors").at_door
        for other in names if name in names else ():
            if homes[other][0] == homes[name][0] and isinstance(load(other), type):
                at_door(load(other))  # what a function returns has methods
        return at_door(load(name))

    return load_at_door, names


@cache
def _homes(file: str) -> dict[str, tuple[str, str]]:
    """Return the module of each name that a package's stub imports, and the name there."""
    with open(file + "i", encoding="utf-8") as stub:  # noqa: PTH123 - pathlib takes as long as the help page
        imports = [node for node in ast.parse(stub.read()).body if isinstance(node, ast.ImportFrom)]
    return {one.asname or one.name: (str(node.module), one.name) for node in imports for one in node.names}


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
    """Let Arrow look for pandas now and find none, unless somebody has loaded it.

    Arrow loads pandas the first time that it is handed a list, in case the list holds something of pandas: half of a
    command's start. Once it has found none, it asks again only when somebody wants a frame.
    """
    if "pandas" not in sys.modules:
        import pyarrow as pa

        with _pandas_hidden():
            pa.array([])


def let_pandas_in() -> None:
    """Let Arrow know pandas from now on, if it is installed: code of other packages may use both."""
    import pyarrow as pa

    with suppress(ImportError):
        pa.array([]).to_pandas()
