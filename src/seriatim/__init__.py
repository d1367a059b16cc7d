"""Publish data about people again and again, and keep the releases safe together.

import seriatim as sr
policy = sr.Policy.load("policy.toml")
ledger = sr.Ledger.open("sqlite:///ledger.db")
release = sr.publish(view, policy, ledger)
"""

from seriatim import startup

__version__ = "0.1.0"
__getattr__, __all__ = startup.public(__name__, __file__)


def __dir__() -> list[str]:
    return __all__
