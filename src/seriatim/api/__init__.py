"""The public functions of the package, and the public types of policies and histories."""

from seriatim import startup

__getattr__, __all__ = startup.public(__name__, __file__)
