"""Reads policy files into Policy values, and reports all faults at once."""

from seriatim import startup

__getattr__, __all__ = startup.lazy(__name__, __file__)
