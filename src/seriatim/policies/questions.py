"""Reads the arguments of an attack or a forecast: mappings with the keys of ``[adversary]`` and ``[promise]``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from seriatim.defences.series.contract import SerialRules
from seriatim.errors import AdversaryError, Fault
from seriatim.knowledge.knowledge_files import knowledge_of_adversary
from seriatim.knowledge.sequential_adversary import SequentialAdversary
from seriatim.model.adversary import Adversary, StatedKnowledge
from seriatim.model.arguments import share_argument, shown_argument, whole_argument
from seriatim.policies.priors import priors_for_attack
from seriatim.policies.shapes import AdversaryShape
from seriatim.usecases.attack.attack import AttackPlan
from seriatim.usecases.forecast.forecast import SURE_SHARE, ForecastOutlook

LEAST, REPETITIONS, M, N = 3, 5, 3, 1
COMPROMISED = 0.04
"""The default of a forecast: a series that is safe only from someone who knows nobody is not safe."""
_OF_ATTACKS = ("least", "repetitions")
_OF_SEQUENCES = ("sure", "raised", "harmless", "window", "sequence", "value_priors", "classes", "times")
FORECAST_KEYS = ("compromised", "priors", "impossible", "sure_share", *_OF_SEQUENCES)
"""The keys of ``[adversary]`` that a forecast reads."""


def questions_about_attack(adversary: Mapping[str, Any] | None) -> AttackPlan:
    """Return the plan of an attack: ``[adversary]`` keys, and ``least`` and ``repetitions``."""
    known = _stated("adversary", adversary, (*AdversaryShape.model_fields, *_OF_ATTACKS))
    return AttackPlan(
        share_argument("compromised", known.get("compromised", 0.0)),
        tuple(range(1, whole_argument("repetitions", known.get("repetitions", REPETITIONS)) + 1)),
        whole_argument("least", known.get("least", LEAST)),
        priors_for_attack(known),
        _sequential(known),
    )


def _sequential(known: dict[str, Any]) -> SequentialAdversary | None:
    """Return the sequential adversary that is declared; None leaves it to the history."""
    if not any(key in known for key in _OF_SEQUENCES):
        return None
    return knowledge_of_adversary(
        Adversary(
            sure=known.get("sure"),
            raised=known.get("raised"),
            harmless=tuple(map(str, _listed("harmless", known.get("harmless", ())))) or None,
            window=None if known.get("window") is None else whole_argument("window", known["window"], 0),
            sequence=_stated_knowledge(known.get("sequence")),
            value_priors=_stated_knowledge(known.get("value_priors")),
            classes=_stated_knowledge(known.get("classes")),
            compromised=known.get("compromised"),
            times=tuple(_listed("times", known.get("times", ()))) or None,
        )
    )


def _listed(where: str, given: Any) -> Iterable[Any]:
    """Return what was given as a list; a word is no list of letters."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise AdversaryError(Fault(f"[adversary] {where}", shown_argument(given), "a list"))
    return given


def _stated_knowledge(given: Any) -> StatedKnowledge | None:
    if given is None:
        return None
    return (
        StatedKnowledge(table=json.dumps(given, sort_keys=True))
        if isinstance(given, Mapping)
        else StatedKnowledge(file=str(given))
    )


def forecast_question(releases: int, rules: Mapping[str, Any] | None) -> ForecastOutlook:
    """Return what to forecast: ``m``, ``n``, ``common`` and the ``[adversary]`` keys that a forecast reads."""
    asked = _stated("rules", rules, ("m", "n", "common", *FORECAST_KEYS))
    m, n = whole_argument("m", asked.get("m", M), 2), whole_argument("n", asked.get("n", N))
    return ForecastOutlook(
        whole_argument("releases", releases),
        rules=SerialRules(m, n, common=_growth(asked.get("common"))),
        compromised=share_argument("compromised", asked.get("compromised", COMPROMISED)),
        priors=priors_for_attack(asked),
        sequential=_sequential(asked),
        sure_share=share_argument("sure_share", asked.get("sure_share", SURE_SHARE)),
    )


def _growth(common: Any) -> float | None:
    if common is None or (isinstance(common, int | float) and not isinstance(common, bool) and common >= 1):
        return common
    raise AdversaryError(Fault("common", "not a number from 1 on", "1 or more", "1.5, for example"))


def _stated(where: str, given: Mapping[str, Any] | None, keys: tuple[str, ...]) -> dict[str, Any]:
    """Return the keys that are set; None counts as not set."""
    if not isinstance(given, Mapping | None):
        raise AdversaryError(Fault(where, f"a {type(given).__name__}", 'a mapping, as in {"compromised": 0.04}'))
    unknown = sorted(str(key) for key in set(given or {}) - set(keys))
    if unknown:
        raise AdversaryError(Fault(where, f"unknown: {', '.join(unknown)}", ", ".join(sorted(keys))))
    return {key: value for key, value in (given or {}).items() if value is not None}
