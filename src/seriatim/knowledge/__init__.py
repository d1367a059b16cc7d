"""What an adversary believes, and how likely they are to succeed.

``posterior`` and ``SequenceModel`` are loaded at first use, since they bring compiled kernels.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from seriatim.knowledge._posterior import posterior
    from seriatim.knowledge.sequence_model import Revision, SequenceModel

_HOMES = {"Revision": "sequence_model", "SequenceModel": "sequence_model", "posterior": "_posterior"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'seriatim.knowledge' has no attribute {name!r}")
    at_door = import_module("seriatim.model.doors").at_door
    value = at_door(getattr(import_module(f"seriatim.knowledge.{_HOMES[name]}"), name))
    globals()[name] = value
    return value


__all__ = ["Revision", "SequenceModel", "posterior"]
