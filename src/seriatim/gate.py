"""The record gate, which is a package of its own: ``pip install "seriatim[gate]"`` brings it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from seriatim.errors import Fault, InputError


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name != "__all__":  # what Python asks every module for is not the package's
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        package = import_module("seriatim_gate")
    except ModuleNotFoundError:
        remedy = 'pip install "seriatim[gate]"'
        raise InputError(Fault("gate", "this part is in another package", "", remedy)) from None
    return getattr(package, name)
