"""Reads the arguments of an attack or a forecast: mappings with the keys of ``[adversary]`` and ``[promise]``."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from seriatim.defences.series.contract import SerialRules
from seriatim.errors import AdversaryError, Fault
from seriatim.knowledge.knowledge_files import declared_adversary
from seriatim.knowledge.sequential_adversary import SequentialAdversary
from seriatim.model.doors import limited_argument, shown_argument
from seriatim.model.policy_keys import ARGUMENT_LIMITS, PolicySection
from seriatim.policies.adversary import adversary_by_name, priors_for_attack
from seriatim.policies.shapes import rows_of
from seriatim.usecases.attack.attack import AdversaryPlan
from seriatim.usecases.forecast.forecast import SURE_SHARE, OutlookQuestion

LEAST, REPETITIONS, M, N = 3, 5, 3, 1
COMPROMISED = 0.04
"""The default of a forecast: a series that is safe only from someone who knows nobody is not safe."""
_OF_SEQUENCES = ("sure", "raised", "harmless", "window", "sequence", "value_priors", "classes", "times")
_LISTS = ("harmless", "times")
ATTACK_KEYS = ("compromised", "known", "priors", "impossible", "collusion", *_OF_SEQUENCES, "least", "repetitions")
"""What an attack reads: keys of ``[adversary]``, and two of its own."""
FORECAST_KEYS = ("compromised", "known", "priors", "impossible", "breach_share", "sure_share", *_OF_SEQUENCES)
"""The keys of ``[adversary]`` that a forecast reads."""
RULE_KEYS = ("m", "n", "odds", *FORECAST_KEYS)
"""The keys of the rules of a forecast."""


class AdversaryKeysUnread(UserWarning):
    """Keys of an ``[adversary]`` that bound a release, and say nothing to an attack or a forecast."""


def stated_plan(adversary: Mapping[str, Any] | None) -> AdversaryPlan:
    """Return the plan of an attack: ``[adversary]`` keys, and ``least`` and ``repetitions``."""
    known = stated_keys("adversary", adversary, ATTACK_KEYS)
    return AdversaryPlan(
        float(known.get("compromised", 0.0)),
        tuple(range(1, int(known.get("repetitions", REPETITIONS)) + 1)),
        int(known.get("least", LEAST)),
        priors_for_attack(known),
        _sequential(known),
    )


def forecast_question(releases: int, rules: Mapping[str, Any] | None) -> OutlookQuestion:
    """Return what to forecast: ``m``, ``n``, ``odds`` and the ``[adversary]`` keys that a forecast reads."""
    asked = stated_keys("rules", rules, RULE_KEYS)
    m, n = int(asked.get("m", M)), int(asked.get("n", N))
    if n > m:
        raise AdversaryError(Fault("n", f"{n} with m = {m}", "a whole number from 1 to m", "lower n or raise m"))
    return OutlookQuestion(
        int(limited_argument("releases", releases, ARGUMENT_LIMITS["releases"])),
        rules=SerialRules(m, n, odds=asked.get("odds")),
        compromised=float(asked.get("compromised", COMPROMISED)),
        priors=priors_for_attack(asked),
        sequential=_sequential(asked),
        sure_share=float(asked.get("sure_share", SURE_SHARE)),
        breach_share=asked.get("breach_share", None if "sure_share" in asked else 0.0),
    )


def _sequential(known: dict[str, Any]) -> SequentialAdversary | None:
    """Return the sequential adversary that is declared; None leaves it to the history."""
    if not any(key in known for key in _OF_SEQUENCES):
        return None
    keys = {key: known.get(key) for key in ("compromised", *_OF_SEQUENCES)}
    return declared_adversary(adversary_by_name(keys, priors=priors_for_attack(known)))


def stated_keys(where: str, given: Mapping[str, Any] | None, keys: tuple[str, ...]) -> dict[str, Any]:
    """Return the keys that are set, their numbers and lists checked; None counts as not set.

    A key that no ``[adversary]`` has is an error. One that is not read here is not: an adversary file may belong to a
    policy, whose bounds it holds as well. A warning names it, so that nobody assumes it took effect.
    """
    if not isinstance(given, Mapping | None):
        raise AdversaryError(Fault(where, f"a {type(given).__name__}", 'a mapping, as in {"compromised": 0.04}'))
    others = sorted(str(key) for key in set(given or {}) - set(keys))
    unknown = [key for key in others if key not in rows_of(PolicySection.ADVERSARY)]
    if unknown:
        raise AdversaryError(Fault(where, f"unknown: {', '.join(unknown)}", ", ".join(sorted(keys))))
    if others:
        warn_of_unread(where, others)
    return {key: _checked(key, value) for key, value in (given or {}).items() if key in keys and value is not None}


def warn_of_unread(where: str, keys: Iterable[str]) -> None:
    warnings.warn(f"{where}: not read here: {', '.join(keys)}", AdversaryKeysUnread, stacklevel=4)


def _checked(key: str, value: Any) -> Any:
    rows = {**rows_of(PolicySection.PROMISE), **rows_of(PolicySection.ADVERSARY)}
    limits = rows[key].limits if key in rows else ARGUMENT_LIMITS.get(key)
    if limits is not None:
        return limited_argument(key, value, limits)
    if key not in _LISTS:
        return value
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise AdversaryError(Fault(f"[adversary] {key}", shown_argument(value), "a list"))
    return (tuple(map(str, value)) if key == "harmless" else tuple(value)) or None
