"""Names of a package that are loaded at first use: a command waits for nothing that it does not call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a package's ``__getattr__``; ``homes`` says in which module each name lives, beginning with seriatim."""

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return load


def public_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Do the same for a package that users import from: each name comes with its door (``seriatim.model.doors``)."""
    load = lazy_names(package, homes)

    @cache
    def load_at_door(name: str) -> Any:
        at_door = import_module("seriatim.model.doors").at_door
        for other in homes if name in homes else ():
            if homes[other] == homes[name] and isinstance(load(other), type):
                at_door(load(other))  # what a function returns has methods
        return at_door(load(name))

    return load_at_door


def lazy_names_by_home(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """Do as :func:`lazy_names` does, with the names of each module together."""
    return lazy_names(package, {name: home for home, names in homes.items() for name in names})
