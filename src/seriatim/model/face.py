"""Faces: public names that stand for every value of a kind, and hold the ways such values come in."""

from __future__ import annotations


class Face(type):
    """The type of a face: ``isinstance`` holds for every value of the kind, whoever made it."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.__mro__[1])
