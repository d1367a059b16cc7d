"""Figures without a threshold: leakage, equivocation, exposure, loss, query error."""

from seriatim import startup

__getattr__, __all__ = startup.public(__name__, __file__)
