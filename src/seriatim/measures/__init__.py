"""Figures without a threshold: leakage, equivocation, exposure, loss, query error."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seriatim.measures._equivocation import Equivocation, equivocation
    from seriatim.measures._leakage import Leakage, leakage
    from seriatim.measures.equivocation_rows import Equivocations, equivocations

# loaded at first use: the kernels behind them bring a compiler
_HOMES = {
    "Equivocation": "_equivocation",
    "Equivocations": "equivocation_rows",
    "Leakage": "_leakage",
    "equivocation": "_equivocation",
    "equivocations": "equivocation_rows",
    "leakage": "_leakage",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'seriatim.measures' has no attribute {name!r}")
    return getattr(import_module(f"seriatim.measures.{_HOMES[name]}"), name)


__all__ = ["Equivocation", "Equivocations", "Leakage", "equivocation", "equivocations", "leakage"]
