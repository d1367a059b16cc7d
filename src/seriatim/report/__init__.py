"""Writes verdicts and releases as HTML and JSON. Never sees a row: only counts, figures and column names."""

from seriatim import startup

__getattr__, __all__ = startup.lazy(__name__, __file__)
