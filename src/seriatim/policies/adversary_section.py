"""[adversary]: from its checked keys to an Adversary."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from seriatim.model.adversary import Adversary, PriorSets, StatedKnowledge
from seriatim.model.policy import ColumnRule
from seriatim.policies.faults import Faults
from seriatim.policies.priors import priors_of

_KNOWLEDGE = ("value_priors", "classes", "sequence")
"""Keys whose file or table is kept as it was declared; its users read it."""


def adversary_of(
    section: Mapping[str, Any], base: Path | None, columns: Mapping[str, ColumnRule], faults: Faults
) -> Adversary:
    """Return the adversary of a section whose keys are valid."""
    return adversary_by_name(section, base, priors_of(section, base, columns, faults))


def adversary_by_name(keys: Mapping[str, Any], base: Path | None = None, priors: PriorSets | None = None) -> Adversary:
    """Return the adversary whose fields have the values of the keys of the same name; files are in ``base``."""
    named = (one.name for one in fields(Adversary) if one.name != "priors")
    return Adversary(**{name: _frozen(name, keys.get(name), base) for name in named}, priors=priors)


def _frozen(name: str, value: Any, base: Path | None) -> Any:
    if value is None:
        return None
    if name in _KNOWLEDGE:
        return _stated(value, base)
    return tuple(value) if isinstance(value, list | tuple) else value


def _stated(given: str | os.PathLike[str] | Mapping[str, Any], base: Path | None) -> StatedKnowledge:
    if isinstance(given, Mapping):
        return StatedKnowledge(table=json.dumps(given, sort_keys=True, ensure_ascii=False))
    return StatedKnowledge(file=str((base or Path()) / given))
