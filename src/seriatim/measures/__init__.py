"""Figures without a threshold: leakage, equivocation, exposure, loss, query error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seriatim.lazy_names import public_names

if TYPE_CHECKING:
    from seriatim.measures._equivocation import Equivocation, equivocation
    from seriatim.measures._leakage import Leakage, leakage
    from seriatim.measures.equivocation_rows import Equivocations, equivocations

# loaded at first use: the kernels behind them bring a compiler
_HOMES = {
    "Equivocation": "seriatim.measures._equivocation",
    "Equivocations": "seriatim.measures.equivocation_rows",
    "Leakage": "seriatim.measures._leakage",
    "equivocation": "seriatim.measures._equivocation",
    "equivocations": "seriatim.measures.equivocation_rows",
    "leakage": "seriatim.measures._leakage",
}


__getattr__ = public_names(__name__, _HOMES)

__all__ = ["Equivocation", "Equivocations", "Leakage", "equivocation", "equivocations", "leakage"]
