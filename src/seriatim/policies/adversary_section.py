"""[adversary]: from its checked shape to an Adversary."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seriatim.model.adversary import Adversary, StatedKnowledge
from seriatim.model.policy import ColumnRule
from seriatim.policies.faults import Faults
from seriatim.policies.priors import priors_of


def adversary_of(
    section: Mapping[str, Any], base: Path | None, columns: Mapping[str, ColumnRule], faults: Faults
) -> Adversary:
    """Return the adversary of a section whose keys are valid."""
    attributes = section.get("attributes")
    return Adversary(
        compromised=section.get("compromised"),
        lifespan=section.get("lifespan"),
        breach=section.get("breach"),
        breach_share=section.get("breach_share"),
        sure=section.get("sure"),
        sure_share=section.get("sure_share"),
        raised=section.get("raised"),
        harmless=None if section.get("harmless") is None else tuple(map(str, section["harmless"])),
        window=section.get("window"),
        collusion=section.get("collusion"),
        attributes=None if attributes is None else tuple(attributes),
        priors=priors_of(section, base, columns, faults),
        value_priors=_stated(section.get("value_priors")),
        classes=_stated(section.get("classes"), base),
        sequence=_stated(section.get("sequence"), base),
        times=None if section.get("times") is None else tuple(section["times"]),
    )


def _stated(given: str | Mapping[str, Any] | None, base: Path | None = None) -> StatedKnowledge | None:
    if given is None or isinstance(given, str):
        return None if given is None else StatedKnowledge(file=str((base or Path()) / given))
    return StatedKnowledge(table=json.dumps(given, sort_keys=True, ensure_ascii=False))
