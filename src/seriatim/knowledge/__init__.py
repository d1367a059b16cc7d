"""What an adversary believes, and how likely they are to succeed.

``posterior`` and ``SequenceModel`` are loaded at first use, since they bring compiled kernels.
"""

from seriatim import startup

__getattr__, __all__ = startup.public(__name__, __file__)
