"""The record gate: release single records on demand while everything released stays unremarkable."""

from seriatim import startup

__getattr__, __all__ = startup.public(__name__, __file__)
