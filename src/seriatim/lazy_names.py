"""Names of a package that are loaded at first use: a command waits for nothing that it does not call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a package's ``__getattr__``; ``homes`` says in which module each name lives, beginning with seriatim."""

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return load


def lazy_names_by_home(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """Do as :func:`lazy_names` does, with the names of each module together."""
    return lazy_names(package, {name: home for home, names in homes.items() for name in names})
