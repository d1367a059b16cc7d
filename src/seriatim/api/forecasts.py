"""Forecast how a series goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from seriatim import wiring
from seriatim.api.ledgers import ledger_history
from seriatim.api.prepared import refuse_other_than_ledger
from seriatim.errors import Fault, InputError
from seriatim.model.policy_in_force import PolicyInForce, policy_in_force
from seriatim.ports import Ledger, Progress, no_progress

if TYPE_CHECKING:
    from seriatim.model.policy import SeriesTerms
    from seriatim.usecases.forecast.forecast import Forecast
    from seriatim.usecases.forecast.forecast_page import OutlookReport


_OF_THE_SERIES = ("breach_share", "sure", "sure_share", "raised", "harmless", "window")
"""What a forecast takes from the policy that a series is published under; files it names may lie elsewhere now."""


def forecast(
    ledger: Ledger,
    series: str,
    releases: int = 12,
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

    ``rules`` may have m, n, odds, compromised and priors; m is 3, n is 1 and compromised 0.04 if omitted, whatever
    the series' policy promises. ``m``, ``n`` and ``compromised`` may also be passed on their own.

    ``adversary`` has the keys of an ``[adversary]``: compromised, priors, both bounds and sequence knowledge are read.
    Only odds, breach_share (with compromised), sure, sure_share, raised, harmless and window default to what the
    series' own policy says. A forecast is held against these bounds; without any, nobody may be breached. If a method
    would breach someone, the forecast also tries what lasts longer: publishing half as often, a larger m or n, larger
    groups. ``sensitive`` is the column to follow, the first if omitted.
    """
    from seriatim.policies.questions import FORECAST_KEYS, RULE_KEYS, forecast_question, stated_keys
    from seriatim.usecases.forecast import forecast as forecast_case
    from seriatim.usecases.forecast.series_now import SeriesNow

    refuse_other_than_ledger(ledger)
    policy = policy_in_force(ledger.state(series).policy)
    promised = _promised(policy, sensitive)
    own = {key: getattr(policy.adversary, key) for key in _OF_THE_SERIES} | {"odds": promised.odds}
    if own["breach_share"] is not None:  # then the forecast judges as the series' verdicts do
        own["compromised"] = policy.adversary.share_known
    named = {"m": m, "n": n, "compromised": compromised}
    asked = {
        **own,
        **stated_keys("adversary", adversary, FORECAST_KEYS),
        **stated_keys("rules", rules, RULE_KEYS),
        **{key: value for key, value in named.items() if value is not None},
    }
    now = SeriesNow(policy.method, promised.m, promised.degree)
    outlook = replace(forecast_question(releases, asked), now=now)
    history = ledger_history(ledger, series, sensitive).in_common_bands()
    return forecast_case.forecast(history, outlook, wiring.wired_workers(), progress)


def _promised(policy: PolicyInForce, sensitive: str | None) -> SeriesTerms:
    """Return what a series' policy promises over its releases, for the column that is followed."""
    if policy.series_by_column and sensitive is None:
        columns = ", ".join(policy.sensitive)
        raise InputError(Fault("forecast", "columns with promises of their own", columns, "name one"))
    return policy.series_of(sensitive)


def forecast_report(found: Forecast, title: str) -> OutlookReport:
    from seriatim.usecases.forecast.forecast_page import OutlookReport

    return OutlookReport(title, found)
