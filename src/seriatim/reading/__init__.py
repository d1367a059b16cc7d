"""For users of published tables: estimates that account for boxes and counterfeits."""

from seriatim import startup

__getattr__, __all__ = startup.public(__name__, __file__)
