"""Public types: names for every value of a kind, with the ways to make such values."""

from __future__ import annotations


class PublicType(type):
    """The type of a public type: ``isinstance`` is true for every value of the kind, whoever made it."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.__mro__[1])
