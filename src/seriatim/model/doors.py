"""Doors: a public function checks what it is handed against its own annotations, before an inner line fails on it.

The packages that users import from open every function and class at its door (``startup``); our own code, which mypy
checks, goes past it. What an annotation leaves open (``Any``, frames) the function itself must check.
"""

from __future__ import annotations

import functools
import inspect
import math
import os
import types
import typing
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from itertools import islice
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from seriatim.errors import AdversaryError, Fault, InputError
from seriatim.model.policy_keys import LARGEST_WORD, SHARE, NumberLimits, whole_from


def share_argument(where: str, value: Any) -> float:
    """Return a number from 0 to 1, or raise an error."""
    return float(limited_argument(where, value, SHARE))


def whole_argument(where: str, value: Any, least: int = 1) -> int:
    """Return a whole number of at least ``least``, or raise an error."""
    return int(limited_argument(where, value, whole_from(least, LARGEST_WORD)))


def limited_argument(where: str, value: Any, limits: NumberLimits, error: type[InputError] = AdversaryError) -> float:
    """Return a number within the limits, or raise an error."""
    if not limits.allow(value):
        raise error(Fault(where, shown_argument(value), limits.words))
    return int(value) if limits.whole else float(value)


def shown_argument(value: Any) -> str:
    """Write a number as it is and anything else by its type, since it may be a cell of a person's record."""
    if isinstance(value, Integral | float) and not isinstance(value, bool):
        return f"{value}" if not isinstance(value, float) or math.isfinite(value) else "not a finite number"
    if isinstance(value, str) and not _is_whole_text(value):
        return "a text with a NUL or half a character"
    return f"a {type(value).__name__}"


def _is_whole_text(text: str) -> bool:
    return "\0" not in text and (text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text))


Opened = TypeVar("Opened")
Check = Callable[[Any], bool]
Demand = tuple[Check, str]
"""Whether a value will do, and what will."""

_PLAIN: dict[Any, Demand] = {
    type(None): (lambda value: value is None, ""),
    bool: (lambda value: isinstance(value, bool | np.bool_), "True or False"),
    int: (lambda value: isinstance(value, Integral) and not isinstance(value, bool), "a whole number"),
    float: (lambda value: isinstance(value, Real) and not isinstance(value, bool), "a number"),
    str: (lambda value: isinstance(value, str) and _is_whole_text(value), "a text"),
    Path: (lambda value: _is_path(value) and not isinstance(value, str), "a path"),
    os.PathLike: (lambda value: _is_path(value) and not isinstance(value, str), "a path"),
    Hashable: (lambda value: isinstance(value, Hashable), "a name or a number"),
}
_PATHS = {Path, os.PathLike}
_REMEDIES = {
    "Policy": "sr.Policy.load or sr.Policy.from_dict makes one",
    "History": "sr.History.from_frame makes one",
    "Ledger": "sr.Ledger.open opens one",
    "Approval": "sr.Approval(by, override) makes one",
}


def _is_path(value: Any) -> bool:
    """Return whether it may name a file; names of files may hold what is half a character elsewhere."""
    return isinstance(value, str | os.PathLike) and "\0" not in str(value)


def at_door(public: Opened) -> Opened:
    """Return a function with its door, or a class whose public methods have theirs; anything else as it is."""
    if inspect.isfunction(public):
        return typing.cast(Opened, _with_door(public))
    if inspect.isclass(public) and not issubclass(public, BaseException):
        _open_methods(public)
    return public


def _open_methods(kind: type) -> None:
    for name, member in vars(kind).copy().items():
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(member, classmethod | staticmethod):
            setattr(kind, name, type(member)(_with_door(member.__func__)))
        elif inspect.isfunction(member):
            setattr(kind, name, _with_door(member))


def _with_door(function: Callable[..., Any]) -> Callable[..., Any]:
    if hasattr(function, "__wrapped__") or inspect.isgeneratorfunction(function):
        return function
    names = tuple(inspect.signature(function).parameters)
    demands: dict[str, Demand | None] = {}  # of the parameters that were ever given

    def fits(name: str, value: Any) -> bool:
        if name not in demands:
            demands[name] = _demand_of_parameter(function, name)
        return _all(demands[name], (value,))

    @functools.wraps(function)
    def door(*given: Any, **named: Any) -> Any:
        asked = dict(zip(names, given, strict=False)) | named
        if faults := [_fault(name, value, demands[name]) for name, value in asked.items() if not fits(name, value)]:
            raise InputError(faults)
        return function(*given, **named)

    return door


def _fault(name: str, value: Any, demand: Demand | None) -> Fault:
    assert demand is not None
    remedy = next((_REMEDIES[word] for word in demand[1].split() if word in _REMEDIES), "")
    return Fault(name, shown_argument(value), demand[1], remedy)


def _demand_of_parameter(function: Callable[..., Any], name: str) -> Demand | None:
    annotation = function.__annotations__.get(name)
    if isinstance(annotation, str):
        try:
            annotation = eval(annotation, inspect.unwrap(function).__globals__)  # noqa: S307 - our own annotation
        except (NameError, AttributeError, TypeError):
            return None  # a name that only the type checker loads
    return None if annotation is None else _demand_of(annotation)


def _demand_of(annotation: Any) -> Demand | None:
    """Return what an annotation demands; None if it says nothing that can be checked."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in _PLAIN or origin in _PLAIN:
        return _PLAIN[annotation if annotation in _PLAIN else origin]
    if origin in (typing.Union, types.UnionType):
        return _demand_of_one(inner)
    if origin is typing.Literal:
        return (lambda value: isinstance(value, str) and value in inner), ", ".join(map(str, inner))
    if origin is Callable:
        return callable, "a function"
    if origin is np.ndarray:
        return (lambda value: isinstance(value, np.ndarray) and (value.dtype.kind in "biuf")), "an array of numbers"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        each = _demand_of(inner[1])  # keys may be spelled as TOML has them
        return (lambda value: isinstance(value, Mapping) and _all(each, value.values())), "a mapping"
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return _demand_of_many(origin, inner)
    if isinstance(annotation, type) and annotation not in (Any, object):
        return _demand_of_class(annotation)
    return None


def _demand_of_one(kinds: Iterable[Any]) -> Demand | None:
    kinds = tuple(kinds)
    named = any(kind in _PATHS or typing.get_origin(kind) in _PATHS for kind in kinds)
    demands = [(_is_path, "a text") if kind is str and named else _demand_of(kind) for kind in kinds]
    if None in demands:
        return None
    known = [demand for demand in demands if demand is not None]
    words = " or ".join(dict.fromkeys(words for _, words in known if words))
    return (lambda value: any(check(value) for check, _ in known)), words


def _demand_of_many(kind: type, inner: Sequence[Any]) -> Demand:
    apart = issubclass(kind, tuple) and Ellipsis not in inner
    each = None if apart else _demand_of(inner[0])
    words = f"{len(inner)} values" if apart else f"a list, each {each[1]}" if each is not None else "a list"
    one_text = each is None or each is _PLAIN[Hashable] or (kind is Iterable and each is _PLAIN[str])

    def check(value: Any) -> bool:
        if isinstance(value, str):
            return one_text and not apart
        if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
            return False
        if getattr(value, "ndim", 1) != 1 or hasattr(value, "columns"):  # an array or a frame
            return False
        if apart:
            return isinstance(value, tuple | list) and len(value) == len(inner) and all(map(_fits, inner, value))
        if issubclass(kind, Sequence) and (isinstance(value, Set) or not hasattr(value, "__len__")):
            return False
        if isinstance(value, Sequence | Set):
            return _all(each, value)
        return not hasattr(value, "__len__") or _all(each, islice(value, 1))  # long columns hold one kind

    return check, words


def _fits(annotation: Any, value: Any) -> bool:
    return _all(_demand_of(annotation), (value,))


def _all(demand: Demand | None, values: Iterable[Any]) -> bool:
    return demand is None or all(map(demand[0], values))


def _demand_of_class(kind: type) -> Demand:
    words = f"a {kind.__name__}"
    if getattr(kind, "_is_protocol", False):
        members = [name for name in dir(kind) if not name.startswith("_")]
        return (lambda value: not isinstance(value, type) and all(hasattr(value, name) for name in members)), words
    return (lambda value: isinstance(value, kind)), words


class PublicType(type):
    """The type of a public type: ``isinstance`` is true for every value of the kind, whoever made it."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.__mro__[1])
