"""Forecast how a series goes on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from seriatim import wiring
from seriatim.api.ledgers import ledger_history
from seriatim.api.prepared import must_be_ledger
from seriatim.ports import Ledger, Progress, no_progress

if TYPE_CHECKING:
    from seriatim.usecases.forecast.as_now import Now
    from seriatim.usecases.forecast.forecast import Forecast
    from seriatim.usecases.forecast.forecast_page import ForecastReport


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
) -> Forecast:
    """Forecast the next releases of a series with its observed churn; ``rules`` may have m, n, compromised and priors.

    ``m``, ``n`` and ``compromised`` may also stand alone; ``adversary`` is an ``[adversary]`` of which they are read.
    If a method would breach someone, the forecast also tries what lasts longer: publishing half as often, a larger m or
    n.
    """
    from seriatim.policies.questions import forecast_question
    from seriatim.usecases.forecast import forecast as forecast_case

    must_be_ledger(ledger)
    declared = {key: (adversary or {}).get(key) for key in ("compromised", "priors", "impossible")}
    named = {"m": m, "n": n, "compromised": compromised}
    asked = declared | dict(rules or {}) | {key: value for key, value in named.items() if value is not None}
    outlook = replace(forecast_question(releases, asked), now=_published_now(ledger, series))
    return forecast_case.forecast(ledger_history(ledger, series), outlook, wiring.wired_workers(), progress)


def _published_now(ledger: Ledger, series: str) -> Now:
    """Return the method of a series' policy, with its m and n; nothing is known of imported releases."""
    from seriatim.usecases.forecast.as_now import Now

    policy = json.loads(ledger.state(series).policy or "{}")
    method, stated = (policy.get("defence") or {}).get("method"), (policy.get("promise") or {}).get("further") or {}
    degree = stated.get("n")
    return Now(method, stated.get("m"), degree if isinstance(degree, int) else None)


def forecast_report(found: Forecast, title: str) -> ForecastReport:
    from seriatim.usecases.forecast.forecast_page import ForecastReport

    return ForecastReport(title, found)
