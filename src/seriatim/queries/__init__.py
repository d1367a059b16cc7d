"""Answers to questions about a table that is not published: what all answers together reveal, and when to refuse."""

from seriatim import startup

__getattr__, __all__ = startup.public(__name__, __file__)
