"""Forecast how a series goes on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from seriatim import wiring
from seriatim.api.ledgers import ledger_history
from seriatim.api.prepared import prepared_as_ledger
from seriatim.errors import Fault, InputError
from seriatim.ports import Ledger, Progress, no_progress

if TYPE_CHECKING:
    from seriatim.usecases.forecast.forecast import Forecast
    from seriatim.usecases.forecast.forecast_page import ForecastReport
    from seriatim.usecases.forecast.series_now import SeriesNow


_OF_THE_SERIES = ("sure", "sure_share", "raised", "harmless", "window")
"""What a forecast takes from the policy that a series is published under; files it names may lie elsewhere now."""


def forecast(
    ledger: Ledger,
    series: str,
    releases: int,
    rules: Mapping[str, Any] | None = None,
    progress: Progress = no_progress,
    *,
    m: int | None = None,
    n: int | None = None,
    compromised: float | None = None,
    adversary: Mapping[str, Any] | None = None,
    sensitive: str | None = None,
) -> Forecast:
    """Forecast the next releases of a series with its observed churn.

    ``rules`` may have m, n, common, compromised and priors.

    ``m``, ``n`` and ``compromised`` may also stand alone; ``adversary`` is an ``[adversary]`` of which they are read,
    with the bound on certain beliefs and the knowledge of sequences. Otherwise the series' own policy says these.
    If a method would breach someone, the forecast also tries what lasts longer: publishing half as often, a larger m or
    n. ``sensitive`` is the column to follow, the first if omitted.
    """
    from seriatim.policies.questions import FORECAST_KEYS, forecast_question
    from seriatim.usecases.forecast import forecast as forecast_case

    prepared_as_ledger(ledger)
    policy = json.loads(ledger.state(series).policy or "{}")
    declared = {key: (adversary or {}).get(key) for key in FORECAST_KEYS}
    named = {"m": m, "n": n, "compromised": compromised}
    own = {key: value for key, value in (policy.get("adversary") or {}).items() if key in _OF_THE_SERIES}
    promised = _promised(policy, sensitive)
    own["common"] = promised.get("common")
    asked = own | {
        key: value
        for stated in (declared, dict(rules or {}), named)
        for key, value in stated.items()
        if value is not None
    }
    outlook = replace(forecast_question(releases, asked), now=_published_now(policy, promised))
    history = ledger_history(ledger, series, sensitive)
    return forecast_case.forecast(history, outlook, wiring.wired_workers(), progress)


def _promised(policy: Mapping[str, Any], sensitive: str | None) -> Mapping[str, Any]:
    """Return what a series' policy promises over its releases, for the column that is followed."""
    promise = policy.get("promise") or {}
    by_column = promise.get("further_by_column") or {}
    if by_column and sensitive is None:
        columns = [name for name, rule in policy["columns"].items() if rule["role"] == "sensitive"]
        raise InputError(Fault("forecast", "columns with promises of their own", ", ".join(columns), "name one"))
    return dict(by_column.get(sensitive) or promise.get("further") or {})


def _published_now(policy: Mapping[str, Any], promised: Mapping[str, Any]) -> SeriesNow:
    """Return the method of a series' policy, with its m and n; nothing is known of imported releases."""
    from seriatim.usecases.forecast.series_now import SeriesNow

    method, degree = (policy.get("defence") or {}).get("method"), promised.get("n")
    return SeriesNow(method, promised.get("m"), degree if isinstance(degree, int) else None)


def forecast_report(found: Forecast, title: str) -> ForecastReport:
    from seriatim.usecases.forecast.forecast_page import ForecastReport

    return ForecastReport(title, found)
