"""An adversary at work on releases. Each attack says who is breached, and whether its inferences are right."""

from seriatim import startup

__getattr__, __all__ = startup.public(__name__, __file__)
