"""Methods that make a draft from a view, a policy and the history of the series."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from seriatim.errors import PolicyError
from seriatim.model.methods import method_named, missing_method
from seriatim.ports import Defence


def defence_named(name: str) -> Defence:
    """Return the defence a policy names. Load it only now, since each brings its own compiled kernels."""
    row = method_named(name)
    if row is None or row.withdrawn:
        raise PolicyError(missing_method(name))
    if not row.serial:
        found: Defence = loaded(row.home)
        return found
    from seriatim.defences.series.request import serial_draft

    return partial(serial_draft, loaded(row.home))


def loaded(home: str) -> Any:
    """Load the function that a method's row names as ``module:function``."""
    module, _, name = home.partition(":")
    return getattr(import_module(module), name)
