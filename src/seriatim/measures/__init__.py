"""Figures without a threshold: leakage, exposure, loss, query error."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seriatim.measures._leakage import Leakage, leakage

# loaded at first use: the kernels behind them bring a compiler
_HOMES = {"Leakage": "_leakage", "leakage": "_leakage"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'seriatim.measures' has no attribute {name!r}")
    return getattr(import_module(f"seriatim.measures.{_HOMES[name]}"), name)


__all__ = ["Leakage", "leakage"]
